"""Which models wrote the answers at each rank, counted by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from recipes.rank.models_by_rank import models_by_rank, table
from vouching.errors import InputError

ANSWERS = [{"generator": "a"}, {"generator": "b"}, {"generator": "a"}]


def test_each_rank_counts_the_models_of_its_answers() -> None:
    # "ranking" names answers, best first: of the first row b, a, a; of the second a, b, a.
    rows = [{"answers": ANSWERS, "ranking": [2, 3, 1]}, {"answers": ANSWERS, "ranking": [1, 2, 3]}]
    ranks = models_by_rank(rows)
    assert ranks == [Counter(a=1, b=1), Counter(a=1, b=1), Counter(a=2)]
    assert [*table(ranks)] == [
        "| model | rank 1 | rank 2 | rank 3 |",
        "| -- | -: | -: | -: |",
        "| a | 0.500 | 0.500 | 1.000 |",
        "| b | 0.500 | 0.500 | 0.000 |",
    ]


def test_an_answer_without_a_model_is_refused() -> None:
    with pytest.raises(InputError, match="generator"):
        models_by_rank([{"answers": [{"text": "x"}], "ranking": [1]}])
