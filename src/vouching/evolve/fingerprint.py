"""Fingerprint: the change of each set in each round, against round 0, with paired intervals (SEVA, Tables 2 and 22).

Three numbers summarise a round. The mean change over sets shows whether it is better overall. The spread is the
standard deviation of the true changes between sets, net of sampling error (DerSimonian & Laird 1986, as between the
trials of a meta-analysis): 0 if all sets changed alike or the differences are within chance, and large for a round that
specialised. Saturation is the last round whose gain in the mean is significant. Not supported: a correction for many
sets; among twenty intervals one excludes 0 by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vouching import metrics
from vouching.bench.evaluate import mean_over
from vouching.bench.intervals import Figure, intervals, plain
from vouching.errors import InputError
from vouching.evolve.gate import less
from vouching.evolve.records import Judged
from vouching.metrics.intervals import Statistic
from vouching.types.spans import ERROR_TYPES

MEAN = "mean of sets"
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Line:
    """One metric of one set, or of the mean of sets, over the rounds."""

    data_set: str
    """Name of the set; "mean of sets" for the mean, in which each counts the same."""
    metric: str
    """"macro_f1", "accuracy" for a set with one class, or "auroc"."""
    rows: int
    """Rows that every round answered."""
    levels: tuple[float | None, ...]
    """The metric in each round, from 0."""
    changes: tuple[Figure, ...]
    """Rounds 1, 2, ... minus round 0, with paired intervals."""
    steps: tuple[Figure, ...] = ()
    """Rounds 1, 2, ... minus the round that each started from; only of the mean."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How differently a round changed the sets."""

    sets: int
    spread: float | None
    """Standard deviation of the true changes between sets, in the unit of the metric; None with fewer than 3 sets."""
    heterogeneity: float | None
    """Share of the variance between sets that is not chance, in [0, 1] (I squared)."""
    gained: tuple[str, ...]
    """Sets whose interval is above 0."""
    lost: tuple[str, ...]
    """Sets whose interval is below 0."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The effects of the rounds of an evolution."""

    rounds: tuple[int, ...]
    """From 0."""
    bases: tuple[int | None, ...]
    """The round that each started from."""
    stays: tuple[bool, ...]
    """Whether the gate accepted it."""
    lines: tuple[Line, ...]
    """Label metrics of every set, then of their mean, then the same for AUROC."""
    types: Mapping[str, tuple[float | None, ...]]
    """Share of errors of each known type that are called Not Attributable, by round."""
    spreads: tuple[Spread, ...]
    """Of rounds 1, 2, ..., by label metrics."""
    saturated_after: int | None
    """The last round whose mean is significantly above that of the round it started from; 0 if none; None if the mean
    has no interval."""
    excluded: int
    """Rows that a round failed on; they are in no figure."""
    type_rows: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows of each known type."""

    def line(self, data_set: str, metric: str | None = None) -> Line:
        """The line of a set by its label metric, or by ``metric``. Raises KeyError if there is none."""
        for line in self.lines:
            if line.data_set == data_set and (metric == line.metric or (metric is None and line.metric != "auroc")):
                return line
        raise KeyError(data_set, metric)


def fingerprint_of(
    judged: Sequence[Sequence[Judged]], bases: Sequence[int | None], stays: Sequence[bool], resamples: int = 2_000
) -> Fingerprint:
    """The fingerprint of rounds, from 0, by their answers to the same rows; ``bases`` are the rounds they started from.

    Raises InputError if the rows differ, or there are none.
    """
    rows = [one.row for one in judged[0]]
    if not rows or any([one.row for one in several] != rows for several in judged):
        raise InputError(
            "the rounds must have answers to the same rows, and to at least one row: judge the same rows in every round"
        )
    kept = [place for place in range(len(rows)) if all(several[place].label is not None for several in judged)]
    answers = [[several[place] for place in kept] for several in judged]
    lines = [line for metric in ("label", "auroc") for line in _lines(answers, bases, metric, resamples)]
    spreads = tuple(
        spread_of({line.data_set: (line.changes[number], line.rows) for line in lines if _is_set(line)})
        for number in range(len(judged) - 1)
    )
    return Fingerprint(
        rounds=tuple(range(len(judged))),
        bases=tuple(bases),
        stays=tuple(stays),
        lines=tuple(lines),
        types={kind: levels for kind in ERROR_TYPES if (levels := _found(answers, kind))},
        spreads=spreads,
        saturated_after=_saturated(next((line.steps for line in lines if line.data_set == MEAN), ())),
        excluded=len(rows) - len(kept),
        type_rows=dict(Counter(kind for one in answers[0] if (kind := one.row.error_type))),
    )


def spread_of(changes: Mapping[str, tuple[Figure, int]]) -> Spread:
    """How differently sets changed: ``tau^2 = max(0, (Q - (k - 1)) / (sum w - sum w^2 / sum w))``, w = 1 / variance.

    The variance of a change is that of its interval, or of one row for a set without a change; sets without an interval
    are excluded.
    """
    known = {
        name: (one, rows) for name, (one, rows) in changes.items() if one["low"] is not None or one["estimate"] == 0
    }
    gained = tuple(name for name, (one, _) in known.items() if one["low"] is not None and one["low"] > 0)
    lost = tuple(name for name, (one, _) in known.items() if one["high"] is not None and one["high"] < 0)
    if len(known) < 3:
        return Spread(len(known), None, None, gained, lost)
    values = np.array([one["estimate"] for one, _ in known.values()])
    errors = np.array(
        [(one["high"] - one["low"]) / (2 * _Z) if one["low"] is not None else 0.0 for one, _ in known.values()]
    )
    weight = np.maximum(errors, [1 / rows for _, rows in known.values()]) ** -2.0
    centre = float((weight * values).sum() / weight.sum())
    q, free = float((weight * (values - centre) ** 2).sum()), len(values) - 1
    variance = max(0.0, (q - free) / float(weight.sum() - (weight**2).sum() / weight.sum()))
    return Spread(len(known), round(variance**0.5, 4), round(max(0.0, 1 - free / q) if q else 0.0, 4), gained, lost)


def alike(one: Fingerprint, other: Fingerprint, number: int) -> float | None:
    """Pearson correlation over sets of the changes in the same round of two evolutions; None if undefined."""
    names = [line.data_set for line in one.lines if _is_set(line)]
    pairs = [
        (one.line(name).changes[number - 1]["estimate"], other.line(name).changes[number - 1]["estimate"])
        for name in names
    ]
    first, second = np.array([pair for pair in pairs if None not in pair], dtype=float).reshape(-1, 2).T
    if len(first) < 3 or not first.std() or not second.std():
        return None
    return plain(np.corrcoef(first, second)[0, 1])


def _is_set(line: Line) -> bool:
    return line.data_set != MEAN and line.metric != "auroc"


def _lines(answers: Sequence[Sequence[Judged]], bases: Sequence[int | None], metric: str, resamples: int) -> list[Line]:
    """The lines of every set and of their mean, by labels or by AUROC."""
    names = sorted({one.row.data_set for one in answers[0]})
    places = {name: [i for i, one in enumerate(answers[0]) if one.row.data_set == name] for name in names}
    groups = metrics.document_numbers(one.row.keys for one in answers[0])
    by_set: dict[str, list[Statistic]] = {}
    lines: list[Line] = []
    for name, at in places.items():
        named, statistics = _statistics([[several[place] for place in at] for several in answers], metric)
        if not statistics:
            continue
        by_set[name] = statistics
        numbers = metrics.document_numbers((int(groups[place]),) for place in at)
        lines.append(_line(name, named, len(at), statistics, numbers, bases, resamples))
    if len(by_set) > 1:
        at = [place for name in by_set for place in places[name]]
        sizes = [len(places[name]) for name in by_set]
        means = [mean_over(round_, sizes) for round_ in zip(*by_set.values(), strict=True)]
        numbers = metrics.document_numbers((int(groups[place]),) for place in at)
        named = "auroc" if metric == "auroc" else "macro_f1"
        lines.append(_line(MEAN, named, len(at), means, numbers, bases, resamples))
    return lines


def _line(
    name: str,
    metric: str,
    rows: int,
    statistics: Sequence[Statistic],
    groups: NDArray[np.intp],
    bases: Sequence[int | None],
    resamples: int,
) -> Line:
    expected = {f"change {number}": less(one, statistics[0]) for number, one in enumerate(statistics)}
    if name == MEAN:
        expected |= {f"step {k}": less(one, statistics[bases[k] or 0]) for k, one in enumerate(statistics)}
    found = intervals({key: one for key, one in expected.items() if not key.endswith(" 0")}, groups, resamples)
    ones = np.ones((1, len(groups)))
    return Line(
        name,
        metric,
        rows,
        tuple(plain(one(ones)[0]) for one in statistics),
        tuple(found[f"change {k}"] for k in range(1, len(statistics))),
        tuple(found[f"step {k}"] for k in range(1, len(statistics))) if name == MEAN else (),
    )


def _statistics(answers: Sequence[Sequence[Judged]], metric: str) -> tuple[str, list[Statistic]]:
    """The metric of each round on the rows of one set; no statistics if it is undefined."""
    gold = np.array([one.row.attributable for one in answers[0]], dtype=bool)
    one_class = len(set(gold.tolist())) < 2
    if metric == "auroc":
        scores = [np.array([one.score for one in several], dtype=float) for several in answers]
        return "auroc", [] if one_class else [partial(metrics.auroc, gold, score) for score in scores]
    labels = [np.array([one.label == "Attributable" for one in several], dtype=bool) for several in answers]
    measure = metrics.accuracy if one_class else metrics.macro_f1
    return ("accuracy" if one_class else "macro_f1"), [partial(measure, gold, label) for label in labels]


def _found(answers: Sequence[Sequence[Judged]], kind: str) -> tuple[float | None, ...]:
    return tuple(
        plain(np.mean(right))
        for several in answers
        if (right := [bool(one.right) for one in several if one.row.error_type == kind])
    )


def _saturated(steps: Sequence[Figure]) -> int | None:
    if not steps or all(step["low"] is None for step in steps):
        return None
    return max((k for k, step in enumerate(steps, 1) if step["low"] is not None and step["low"] > 0), default=0)
