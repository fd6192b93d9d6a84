"""Comparison of two runs on the same rows.

Differences are second run minus first, with paired BCa intervals over groups of rows; for labels also an exact McNemar
test. Rows without a verdict in either run are excluded and counted; a failed ranking counts as wrong. Not supported:
corrections for comparing many sets; among ten equal sets, chance alone shows a difference in four runs of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching import metrics
from vouching.bench.catalog import DATA_SETS
from vouching.bench.evaluate import main_statistics, mean_over
from vouching.bench.intervals import RESAMPLES, intervals, plain, verdict_of
from vouching.bench.own import relabelled
from vouching.bench.ranking_figures import MEANS, METRICS, Ranked, ranked
from vouching.bench.rankings import PARTS, ScoredRanking
from vouching.bench.run import RESULTS, RUN, Record, read_record, read_scored
from vouching.bench.score import Labelled, Scored, labelled
from vouching.bench.task import ROWS, Kind
from vouching.errors import InputError
from vouching.metrics.intervals import Statistic

COMPARED = ("auroc", "macro_f1", "balanced_accuracy")
"""Metrics whose difference is reported."""


def compare(first: Path, second: Path, resamples: int = RESAMPLES) -> tuple[Kind, Record]:
    """The kind of two runs and their comparison. Raises InputError if they are not runs of a kind on the same rows."""
    kind, other = _kind(first), _kind(second)
    if kind != other:
        raise InputError(f"{first} and {second} are runs on sets of different kinds: compare runs on the same sets")
    if kind not in _COMPARE:
        got = f"{first} and {second} are runs on {ROWS[kind]}"
        raise InputError(f"{got}, which cannot be compared: expected runs on claims or rankings")
    return kind, _COMPARE[kind](first, second, resamples)


def _kind(folder: Path) -> Kind:
    run = read_record(folder, RUN)
    settings: Mapping[str, Any] = run.get("settings") or {}
    if "responses" in settings:
        return "ifeval"
    return "rankings" if "score_model" in settings else "claims"


def compare_runs(first: Path, second: Path, resamples: int = RESAMPLES) -> Record:
    """Compare two runs on claims by set, pooled, and by the mean over sets.

    A tuned threshold applies, and the rows on which either run tuned it are excluded.

    Returns:
        first and second (their settings), sets, pooled and mean_of_sets (both over sets with both classes and without a
        remark; None for fewer than two). Each has first, second and difference with its verdict by metric; a set and
        pooled also rows and mcnemar, a set excluded.
    """
    runs = [read_record(folder, RUN) for folder in (first, second)]
    names = same_data(runs, first, second)
    both = {name: _paired(name, first, second) for name in names}
    measured = {name: pair for name in names if (pair := _arrays(both[name])) is not None}
    pooled = [name for name, pair in measured.items() if pair[0].both_classes and not _remark(name)]
    together = _arrays([pair for name in pooled for pair in both[name]]) if len(pooled) > 1 else None
    each = [measured[name] for name in pooled]
    return {
        "first": runs[0]["settings"],
        "second": runs[1]["settings"],
        "sets": {
            name: {"excluded": _without_verdict(both[name]), **_comparison(*pair, resamples)}
            for name, pair in measured.items()
        },
        "pooled": _comparison(*together, resamples) if together else None,
        "mean_of_sets": _mean_comparison(each, *together, resamples) if together else None,
    }


def same_data(runs: Sequence[Record], first: Path, second: Path) -> list[str]:
    """The names of the sets of both runs. Raises InputError if their data differ."""
    try:
        data, others = ({**run["data"], **_drawn(run["settings"])} for run in runs)
    except (KeyError, TypeError):
        raise InputError(f"{first} or {second} has a damaged {RUN}: repeat that run") from None
    for name in {**data, **others}:
        if name not in data or name not in others:
            raise InputError(f"only {first if name in data else second} has {name}: compare runs on the same sets")
        if data.get(name) != others.get(name):
            raise InputError(
                f"{first} and {second} have different rows, because their {name} differs: compare runs with the same "
                "sets, split and limit"
            )
    return [*runs[0]["data"]]


def _remark(name: str) -> str:
    return DATA_SETS[name].remark if name in DATA_SETS else ""


def _drawn(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"split": settings["split"], "limit": settings["limit"]}


Pairs = list[tuple[Scored, Scored]]


def _paired(name: str, first: Path, second: Path) -> Pairs:
    """The rows of a set as both runs judged them, without those that either tuned its threshold on.

    Raises InputError if the rows differ.
    """
    rows, others = read_scored(first, name), read_scored(second, name)
    if len(rows) != len(others):
        raise InputError(f"{name}: one run has {len(rows):,} rows and the other {len(others):,}; finish both runs")
    for one, other in zip(rows, others, strict=True):
        if (one["id"], one["attributable"]) != (other["id"], other["attributable"]):
            raise InputError(f"{name} differs between the runs at row {one['id']!r}: run both on the same data")
    judged = zip(_judged(first, name, rows), _judged(second, name, others), strict=True)
    return [(one, other) for one, other in judged if one is not None and other is not None]


def _judged(folder: Path, name: str, rows: Sequence[Scored]) -> Sequence[Scored | None]:
    """The rows with the labels of the run's figures; None for a row that its threshold was tuned on."""
    results = read_record(folder, RESULTS) if (folder / RESULTS).exists() else {}
    how = results.get("sets", {}).get(name, {}).get("tuned")
    return relabelled(rows, how["share"])[0] if how else rows


def _without_verdict(pairs: Pairs) -> int:
    return sum(None in (one["score"], other["score"]) for one, other in pairs)


def _arrays(pairs: Pairs) -> tuple[Labelled, Labelled] | None:
    """The labelled rows with a verdict in both runs; None without any."""
    kept = [pair for pair in pairs if None not in (pair[0]["score"], pair[1]["score"])]
    one, other = labelled([pair[0] for pair in kept]), labelled([pair[1] for pair in kept])
    return None if one is None or other is None else (one, other)


def _difference(first: Statistic, second: Statistic) -> Statistic:
    return lambda weights: second(weights) - first(weights)


def _comparison(first: Labelled, second: Labelled, resamples: int) -> Record:
    return {
        "rows": len(first.gold),
        **_differences(main_statistics(first), main_statistics(second), (first, second), resamples),
        "mcnemar": asdict(metrics.mcnemar_exact(first.right, second.right)),
    }


def _mean_comparison(
    each: Sequence[tuple[Labelled, Labelled]], first: Labelled, second: Labelled, resamples: int
) -> Record:
    """The same for the mean over sets; ``first`` and ``second`` are all their rows."""
    sizes = [len(one.gold) for one, _ in each]
    one, other = (
        {name: mean_over([main_statistics(arrays)[name] for arrays in sets], sizes) for name in COMPARED}
        for sets in zip(*each, strict=True)
    )
    return _differences(one, other, (first, second), resamples)


def _differences(
    one: Mapping[str, Statistic], other: Mapping[str, Statistic], rows: tuple[Labelled, Labelled], resamples: int
) -> Record:
    """Each metric of both runs, and the difference with its verdict; ``rows`` has the rows of the metrics."""
    first, second = rows
    found = intervals({name: _difference(one[name], other[name]) for name in COMPARED}, first.group, resamples)
    ones = np.ones((1, len(first.gold)))
    equal = {name: np.array_equal(first.label, second.label) for name in COMPARED}
    equal["auroc"] = np.array_equal(first.score, second.score)
    return {
        name: {
            "first": plain(one[name](ones)[0]),
            "second": plain(other[name](ones)[0]),
            "difference": {**found[name], "verdict": verdict_of(found[name], equal[name])},
        }
        for name in COMPARED
    }


def compare_rankings(first: Path, second: Path, resamples: int = RESAMPLES) -> Record:
    """Compare two runs on rankings by set, and over FGVeriBench's parts by the means of the paper.

    Returns:
        first and second (their settings) and sets: for each its rows, and for "all rows" and each mean first, second
        and difference with its verdict by metric. Sets without a gold ranking are excluded.
    """
    runs = [read_record(folder, RUN) for folder in (first, second)]
    sets: dict[str, Any] = {}
    for name in same_data(runs, first, second):
        one, other = (read_scored(folder, name) for folder in (first, second))
        if [(row["id"], row["worth"]) for row in one] != [(row["id"], row["worth"]) for row in other]:
            raise InputError(f"{name} differs between the runs: finish both, on the same data")
        kept = [pair for pair in zip(one, other, strict=True) if pair[0]["worth"] is not None]
        if kept:
            sets[name] = {"rows": len(kept), **_compared(kept, resamples)}
    return {"first": runs[0]["settings"], "second": runs[1]["settings"], "sets": sets}


RankingPairs = Sequence[tuple[ScoredRanking, ScoredRanking]]


def _compared(pairs: RankingPairs, resamples: int) -> Record:
    found = {"all rows": _ranking_difference([pairs], resamples)}
    parts = {name: [pair for pair in pairs if pair[0]["part"] == name] for name in PARTS}
    if all(parts.values()):
        found |= {
            mean: _ranking_difference([parts[name] for name in members], resamples) for mean, members in MEANS.items()
        }
    return found


def _ranking_difference(parts: Sequence[RankingPairs], resamples: int) -> Record:
    """Each metric of both runs and its difference, by the mean over parts."""
    each: list[tuple[Ranked, Ranked]] = [
        (ranked([one for one, _ in part]), ranked([other for _, other in part])) for part in parts
    ]
    sizes = [len(part) for part in parts]
    groups = ranked([one for part in parts for one, _ in part]).group
    statistics = {
        f"{metric} {way}": mean_over([partial(metrics.mean, _values(pair, metric)[way]) for pair in each], sizes)
        for metric in METRICS
        for way in ("first", "second", "difference")
    }
    ones = np.ones((1, len(groups)))
    found = intervals({metric: statistics[f"{metric} difference"] for metric in METRICS}, groups, resamples)
    equal = {m: all(np.array_equal(getattr(one, m), getattr(other, m)) for one, other in each) for m in METRICS}
    return {
        metric: {
            "first": plain(statistics[f"{metric} first"](ones)[0]),
            "second": plain(statistics[f"{metric} second"](ones)[0]),
            "difference": {**found[metric], "verdict": verdict_of(found[metric], equal[metric])},
        }
        for metric in METRICS
    }


def _values(pair: tuple[Ranked, Ranked], metric: str) -> dict[str, NDArray[np.float64]]:
    first, second = (getattr(one, metric) for one in pair)
    return {"first": first, "second": second, "difference": second - first}


_COMPARE: Mapping[Kind, Callable[[Path, Path, int], Record]] = {
    "claims": compare_runs,
    "rankings": compare_rankings,
}
