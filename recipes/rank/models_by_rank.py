"""Which models wrote the best, the middle and the worst answers of a ranking set (DiVA, Fig. 5).

    python recipes/rank/models_by_rank.py $VOUCH_DATA/fgveribench/{nq,triviaqa,popqa,hotpotqa,musique,2wiki}.jsonl.gz

Prints a Markdown table: for each rank, every model's share of the answers there. A row needs ``answers`` with a
``generator``, and ``ranking``, the numbers of the answers from 1, best first.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from vouching.bench.rankings import worth_of  # noqa: E402
from vouching.bench.rows import list_of, records, text_of  # noqa: E402
from vouching.errors import InputError  # noqa: E402


def models_by_rank(rows: Iterable[Mapping[str, Any]]) -> list[Counter[str]]:
    """The number of answers of each model at each rank, best first.

    Raises InputError for an answer without a model, and a ranking that does not name each answer once.

    >>> answers = [{"generator": "a"}, {"generator": "b"}, {"generator": "a"}]
    >>> [dict(one) for one in models_by_rank([{"answers": answers, "ranking": [2, 3, 1]}] * 5)]
    [{'b': 5}, {'a': 5}, {'a': 5}]
    """
    found: list[Counter[str]] = []
    for row in rows:
        answers = list_of(row, "answers")
        worth = worth_of(list_of(row, "ranking"), len(answers))
        for rank, place in enumerate(sorted(range(len(answers)), key=lambda at: -worth[at])):
            found += [Counter[str]()] * (rank == len(found))
            found[rank][text_of(answers[place], "generator")] += 1
    return found


def table(ranks: list[Counter[str]]) -> Iterator[str]:
    """A Markdown table of shares, the model with most answers first."""
    yield f"| model | {' | '.join(f'rank {rank}' for rank in range(1, len(ranks) + 1))} |"
    yield f"| -- |{' -: |' * len(ranks)}"
    for model, _ in sum(ranks, Counter[str]()).most_common():
        yield f"| {model} | {' | '.join(f'{one[model] / one.total():.3f}' for one in ranks)} |"


if __name__ == "__main__":
    try:
        print(*table(models_by_rank(record for path in sys.argv[1:] for _, record in records(Path(path)))), sep="\n")
    except InputError as error:
        sys.exit(f"{error}")
