"""A data set checks itself, without a model: its fields, labels and spans, its ids, and that the figures are right.

The last is tried with perfect answers, which must score 1, and with answers of which a tenth is wrong, which must not.
Left out: whether the gold labels are true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vouching.bench.catalog import DataSet
from vouching.bench.evaluate import set_figures
from vouching.bench.ranking_figures import METRICS, ranking_figures
from vouching.bench.ranking_score import ScoredRanking
from vouching.bench.rankings import RankingRow
from vouching.bench.rows import BenchRow, Fault, Split
from vouching.bench.score import Scored, span_counts_of
from vouching.errors import InputError

SPOILED = 10
"""One of so many answers is made wrong."""


def validate(data_set: DataSet[Any], folder: Path, split: Split) -> Iterator[Fault]:
    """What is wrong with one split of a set, in the order of its rows; nothing if it is sound.

    Args:
        data_set: the set.
        folder: the folder with the data sets.
        split: which split.

    Raises:
        InputError: the set has no such split or is not here.
    """
    claims: list[BenchRow] = []
    rankings: list[RankingRow] = []
    found = data_set.rows(folder, split)
    sound = True
    try:
        for row in found:
            if isinstance(row, Fault):
                sound = False
                yield row
            elif isinstance(row, RankingRow):
                rankings.append(row)
            else:
                claims.append(row)
    except InputError as error:
        sound = False
        yield Fault("the whole set", str(error))
    yield from id_faults([*claims, *rankings])
    if rankings:
        yield from ranking_faults(rankings)
    elif claims or sound:
        yield from figure_faults(claims)


def id_faults(rows: Sequence[BenchRow | RankingRow]) -> Iterator[Fault]:
    """Ids that several rows have.

    >>> row = BenchRow("a", "It opened.", ("It opened.",), True)
    >>> [str(fault) for fault in id_faults([row, row])]
    ['row a: 2 rows have this id, wanted one']
    """
    for name, count in Counter(row.id for row in rows).items():
        if count > 1:
            yield Fault(f"row {name}", f"{count} rows have this id, wanted one")


def figure_faults(rows: Sequence[BenchRow]) -> Iterator[Fault]:
    """Figures that are not 1 for perfect answers, or still 1 when a tenth of the answers is wrong.

    >>> row = BenchRow("a", "It opened.", ("It opened.",), True)
    >>> [*figure_faults([row])]
    []
    """
    if not rows:
        yield Fault("the whole set", "it has no row that can be used")
        return
    perfect = _values([_answer(row, right=True) for row in rows])
    spoiled = _values([_answer(row, right=number % SPOILED != 0) for number, row in enumerate(rows)])
    for name, value in perfect.items():
        if value != 1.0:
            yield Fault("the whole set", f"perfect answers have {name} {value}, wanted 1")
        elif spoiled[name] == 1.0:
            yield Fault("the whole set", f"answers of which a tenth is wrong have {name} 1, wanted less")
    if not perfect:
        yield Fault("the whole set", "no figure is defined on it: it has neither labels nor whole pairs")


def ranking_faults(rows: Sequence[RankingRow]) -> Iterator[Fault]:
    """The same of rankings: the gold one must have P@1 1 and tau 1, and less where a tenth is turned around.

    >>> row = RankingRow("a", "When?", ("1937", "1973"), (1.0, 2.0))
    >>> [*ranking_faults([row])]
    []
    """
    gold = [row for row in rows if row.worth is not None]
    perfect = ranking_figures([_ranking(row, right=True) for row in gold], resamples=0)["metrics"]
    spoiled = ranking_figures([_ranking(row, right=n % SPOILED != 0) for n, row in enumerate(gold)], resamples=0)
    for name in METRICS if gold else ():
        value = perfect[name]["estimate"]
        if value != 1.0:
            yield Fault("the whole set", f"gold rankings have {name} {value}, wanted 1")
        elif spoiled["metrics"][name]["estimate"] == 1.0:
            yield Fault("the whole set", f"rankings of which a tenth is turned around have {name} 1, wanted less")


def _ranking(row: RankingRow, *, right: bool) -> ScoredRanking:
    """The row as ranked by someone who knows the gold, or by one who has it the wrong way round."""
    worth = row.worth or ()
    scores = [value if right else -value for value in worth]
    return {
        "id": row.id, "part": row.part, "worth": worth, "labels": row.labels, "scores": scores, "failed": None,
        "found": None, "supported": None, "longest": scores, "overlap": scores, "token_f1": None, "seconds": 0.0,
        "keys": [row.id],
    }  # fmt: skip


def _answer(row: BenchRow, *, right: bool) -> Scored:
    """The row as scored by someone who knows the gold, or by one who is wrong about it."""
    # With neither a label nor a pair, the figure is the share judged Attributable.
    gold = next((known for known in (row.attributable, row.preferred) if known is not None), True)
    label = gold is right
    predicted = row.spans or () if right else tuple((end, end + 1) for _, end in row.spans or ())
    return {
        "id": row.id,
        "is_response": row.is_response,
        "attributable": row.attributable,
        "score": float(label),
        "label": label,
        "unverified": None,
        "error_types": [],
        "overlap": 0.0,
        "length": 0,
        "spans": None if row.spans is None else span_counts_of(row, predicted),
        "structure": None,
        "seconds": 0.0,
        "part": None,
        "keys": [],
        "pair": row.pair,
        "preferred": row.preferred,
    }


def _values(rows: Sequence[Scored]) -> dict[str, float]:
    """The figures that answers decide, by name; those that are undefined on the set left out."""
    figures = set_figures(rows, resamples=0)
    places = {
        "accuracy": ("metrics", "accuracy"),
        "auroc": ("metrics", "auroc"),
        "span F1": ("spans", "f1"),
        "pair accuracy": ("pairs", "pair_accuracy"),
    }
    found = {name: figures[group][key]["estimate"] for name, (group, key) in places.items() if figures[group]}
    if figures["share_attributable"]:
        found["share Attributable"] = figures["share_attributable"]["estimate"]
    return {name: value for name, value in found.items() if value is not None}
