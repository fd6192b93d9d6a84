"""Rankings of answers and the words of an answer, by hand and against scipy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import kendalltau

from vouching import metrics as m
from vouching.errors import InputError
from vouching.metrics import token_f1
from vouching.metrics.arrays import FloatArray


def test_repeated_words_count() -> None:
    # "new york new york" against "new york": 2 in both, of 4 and of 2: 2 * 2 / (4 + 2).
    assert token_f1("New York, New York!", ["the New York"]) == pytest.approx(2 / 3)


def test_the_closest_reference_counts() -> None:
    # "paris" is in neither of the first, and all of the last; against "city of paris" it would be 2 * 1 / (1 + 3).
    assert token_f1("Paris", ["London", "City of Paris"]) == 0.5
    assert token_f1("Paris", ["London", "City of Paris", "a Paris."]) == 1.0


def test_texts_without_words_equal_only_each_other() -> None:
    assert token_f1("The", ["a"]) == 1.0
    assert token_f1("?", ["Paris"]) == 0.0


def test_a_missing_reference_is_rejected() -> None:
    with pytest.raises(InputError, match="at least one reference"):
        token_f1("Paris", [])


@given(st.text("ab c"), st.text("ab c"))
def test_f1_is_between_0_and_1_and_symmetric(answer: str, reference: str) -> None:
    assert 0.0 <= token_f1(answer, [reference]) == token_f1(reference, [answer]) <= 1.0


RANKS = st.integers(0, 3).map(float)


@given(pairs=st.lists(st.tuples(RANKS, RANKS), min_size=1, max_size=8))
def test_tau_b_equals_that_of_scipy_ties_and_constants_included(pairs: list[tuple[float, float]]) -> None:
    gold, scores = zip(*pairs, strict=True)
    theirs = kendalltau(gold, scores).statistic if len(pairs) > 1 else np.nan
    assert_allclose(m.kendall_tau_b(gold, scores), theirs, atol=1e-12)


def test_many_rankings_give_one_tau_each() -> None:
    gold = [[3, 2, 1], [3, 2, 1], [3, 2, 1]]
    scores = [[0.9, 0.5, 0.1], [0.1, 0.5, 0.9], [0.4, 0.4, 0.4]]
    assert_allclose(m.kendall_tau_b(gold, scores), [1, -1, np.nan])


def test_the_first_place_is_a_hit_a_miss_or_shared() -> None:
    gold = [[3, 2, 1]] * 4
    scores = [[0.9, 0.5, 0.1], [0.5, 0.9, 0.1], [0.9, 0.9, 0.1], [0.4, 0.4, 0.4]]
    assert_allclose(m.precision_at_1(gold, scores), [1, 0, 1 / 2, 1 / 3])


def test_any_of_several_best_answers_is_a_hit() -> None:
    assert m.precision_at_1([3, 3, 1], [0.1, 0.9, 0.5]) == 1


@given(scores=st.permutations([1.0, 1.0, 2.0, 3.0]), best=st.integers(0, 3))
def test_a_tie_at_the_top_counts_as_the_mean_over_all_tie_breaks(scores: list[float], best: int) -> None:
    top = [place for place, score in enumerate(scores) if score == max(scores)]
    gold = np.eye(4)[best]
    assert_allclose(m.precision_at_1(gold, scores), np.mean([place == best for place in top]))


@pytest.mark.parametrize("metric", [m.kendall_tau_b, m.precision_at_1])
def test_rankings_that_cannot_be_compared_are_rejected(metric: Callable[..., FloatArray]) -> None:
    for gold, scores in (([], []), ([1, 2], [1]), (1.0, 2.0)):
        with pytest.raises(InputError, match="one value per answer"):
            metric(gold, scores)
    with pytest.raises(InputError, match="gold and scores must be finite"):
        metric([1, 2], [0.5, float("nan")])
