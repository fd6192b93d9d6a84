"""Two runs on the same rankings: does one rank better, and could that be luck?

Differences are those of the second run against the first, with paired BCa intervals over groups of rows; a failed
ranking counts as wrong in both. Left out: the rows without failed rankings, which differ from run to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching import metrics
from vouching.bench.compare import same_data
from vouching.bench.evaluate import mean_over
from vouching.bench.folder import RUN, Record, read_record, read_scored
from vouching.bench.intervals import RESAMPLES, intervals, plain, verdict_of
from vouching.bench.ranking_figures import MEANS, METRICS, Ranked, ranked
from vouching.bench.ranking_score import ScoredRanking
from vouching.bench.rankings import PARTS
from vouching.errors import InputError


def are_rankings(folder: Path) -> bool:
    """Whether a folder holds a run on answers to be ranked. Raises InputError if it holds no run."""
    settings: Mapping[str, Any] = read_record(folder, RUN).get("settings") or {}
    return "score_model" in settings


def compare_rankings(first: Path, second: Path, resamples: int = RESAMPLES) -> Record:
    """Compare two runs set by set, and over FGVeriBench's parts by the means of the paper.

    Args:
        first: the folder of a run on answers to be ranked.
        second: the folder of another on the same rows.
        resamples: of the bootstrap.

    Returns:
        first and second (their settings) and sets: for each its rows, and for "all rows" and each mean first, second
        and difference with its verdict by metric. A set without a gold ranking is left out.

    Raises:
        InputError: a folder holds no such run, or the runs are on different rows.
    """
    runs = [read_record(folder, RUN) for folder in (first, second)]
    sets: dict[str, Any] = {}
    for name in same_data(runs, first, second):
        one, other = (read_scored(folder, name) for folder in (first, second))
        if [(row["id"], row["worth"]) for row in one] != [(row["id"], row["worth"]) for row in other]:
            raise InputError(f"{name} differs between the runs: run both on the same data, and finish both")
        kept = [pair for pair in zip(one, other, strict=True) if pair[0]["worth"] is not None]
        if kept:
            sets[name] = {"rows": len(kept), **_compared(kept, resamples)}
    return {"first": runs[0]["settings"], "second": runs[1]["settings"], "sets": sets}


Pairs = Sequence[tuple[ScoredRanking, ScoredRanking]]


def _compared(pairs: Pairs, resamples: int) -> Record:
    found = {"all rows": _difference([pairs], resamples)}
    parts = {name: [pair for pair in pairs if pair[0]["part"] == name] for name in PARTS}
    if all(parts.values()):
        found |= {mean: _difference([parts[name] for name in members], resamples) for mean, members in MEANS.items()}
    return found


def _difference(parts: Sequence[Pairs], resamples: int) -> Record:
    """Each metric of both runs and its difference, by the mean over parts; one part is its own mean."""
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
