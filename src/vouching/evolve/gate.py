"""Gate: whether a round is accepted, set by set, from paired answers to the same rows before and after it.

A set refuses a round by its interval: under "harm" if the whole interval is below the allowed loss, under "safety"
unless the whole interval is above it. The first accepts losses that may be chance; the second needs many rows: a set of
100 can hardly rule out a loss of two points. A round that answers fewer rows is refused by the same rule, since the
rows that it fails on are in no accuracy. Not supported: a correction for many sets, and one for small ones. If all
changes are chance and no loss is allowed, about one set in twenty refuses under "harm" (4.7 % of 1,500 simulated ones
of 40 to 400 rows, 2.5 % expected), and with twenty sets three rounds in five. In a small set three rows that change for
the worse are enough to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from vouching import metrics
from vouching.bench.intervals import Figure, intervals, plain
from vouching.errors import ConfigError, InputError
from vouching.evolve.records import GateDecision, Judged, SetChange
from vouching.metrics.arrays import FloatArray
from vouching.metrics.intervals import MIN_RESAMPLES

Rule: TypeAlias = Literal["harm", "safety"]
Pair: TypeAlias = tuple[Judged, Judged]
ALL = "all"
"""Name of the change over all rows, which is reported and refuses nothing unless it is watched."""
RESAMPLES = 2_000


def gate(
    before: Sequence[Judged],
    after: Sequence[Judged],
    *,
    max_loss: float = 0.02,
    watched: Collection[str] = (),
    rule: Rule = "harm",
    resamples: int = RESAMPLES,
) -> GateDecision:
    """Whether a round is accepted.

    Args:
        before: answers of the verifier that it started from, or of round 0, to rows that may guide training.
        after: answers of the new one to the same rows, in the same order.
        max_loss: what a set may lose of macro F1 (of accuracy, if it has one class), and of the share of rows that are
            answered, in [0, 1).
        watched: sets that can refuse; empty for every set. "all" means all rows together.
        rule: see above.
        resamples: of the paired intervals, at least 100.
    """
    if not 0 <= max_loss < 1 or resamples < MIN_RESAMPLES:
        raise ConfigError(
            f"max_loss must be at least 0 and below 1, and resamples at least {MIN_RESAMPLES}, got {max_loss} and "
            f"{resamples}"
        )
    pairs = paired(before, after)
    names = sorted({one.row.data_set for one, _ in pairs})
    by_set = {name: [pair for pair in pairs if pair[0].row.data_set == name] for name in names}
    if len(names) > 1 or ALL in watched:
        by_set[ALL] = pairs
    if unknown := sorted({*watched} - {*by_set}):
        raise InputError(f"unknown set {unknown[0]!r} in watched; expected one of {', '.join(by_set)}")
    strict = tuple(name for name in by_set if (name in watched if watched else name != ALL))
    changes = [
        _change(name, several, max_loss if name in strict else None, rule, resamples)
        for name, several in by_set.items()
    ]
    return GateDecision(
        accepted=all(change.refused is None for change in changes),
        max_loss=max_loss,
        rule=rule,
        changes=tuple(changes),
        watched=strict,
    )


def paired(before: Sequence[Judged], after: Sequence[Judged]) -> list[Pair]:
    """Both answers to each row. Raises InputError if the rows differ, or there are none."""
    if not before:
        raise InputError("got no rows: measuring a change requires at least one row")
    if len(before) != len(after):
        raise InputError(
            f"got {len(before):,} answers before the change and {len(after):,} after it: judge the same rows"
        )
    for one, other in zip(before, after, strict=True):
        if one.row != other.row:
            raise InputError(
                f"the answers are to different rows, such as {one.row.id!r} and {other.row.id!r}: judge the same rows"
            )
    return [*zip(before, after, strict=True)]


def _change(name: str, pairs: Sequence[Pair], max_loss: float | None, rule: Rule, resamples: int) -> SetChange:
    """The change of one set; with ``max_loss`` None it refuses nothing."""
    groups = metrics.document_numbers(one.row.keys for one, _ in pairs)
    share = [float(other.unverified is None) - float(one.unverified is None) for one, other in pairs]
    answered = intervals({"answered": partial(metrics.mean, share)}, groups, resamples)["answered"]
    both = [place for place, (one, other) in enumerate(pairs) if one.unverified is None and other.unverified is None]
    gold = np.array([pairs[place][0].row.attributable for place in both], dtype=bool)
    labels = [np.array([pairs[place][side].label == "Attributable" for place in both], dtype=bool) for side in (0, 1)]
    metric = "macro_f1" if len({*gold.tolist()}) == 2 else "accuracy"
    measure = metrics.macro_f1 if metric == "macro_f1" else metrics.accuracy
    lost = round(-sum(share))
    if not both:
        why = "no row was answered both before and after the change"
        nothing: Figure = {"estimate": None, "low": None, "high": None, "why_not": why}
        refused = None if max_loss is None else why
        return SetChange(name, metric, 0, lost, None, None, nothing, answered, refused)
    first, second = (partial(measure, gold, label) for label in labels)
    numbers = metrics.document_numbers((int(groups[place]),) for place in both)
    difference = intervals({"difference": less(second, first)}, numbers, resamples)["difference"]
    ones = np.ones((1, len(both)))
    refused = None
    if max_loss is not None:
        same = np.array_equal(labels[0], labels[1])
        refused = _refusal(difference, metric, max_loss, rule, same) or _refusal(
            answered, "the share of answered rows", max_loss, rule, not any(share)
        )
    values = (plain(first(ones)[0]), plain(second(ones)[0]))
    return SetChange(name, metric, len(both), lost, *values, difference, answered, refused)


def less(one: Callable[[FloatArray], FloatArray], other: Callable[[FloatArray], FloatArray]) -> metrics.Statistic:
    """The difference of two statistics of the same rows."""
    return lambda weights: one(weights) - other(weights)


def _refusal(difference: Figure, what: str, max_loss: float, rule: Rule, same: bool) -> str | None:
    """Why a difference refuses a round, if it does; ``same`` answers never do."""
    estimate, low, high = difference["estimate"], difference["low"], difference["high"]
    if same:
        return None
    if low is None or high is None:
        lost = estimate is None or estimate < -max_loss
        if rule == "harm" and not lost:
            return None
        change = "undefined" if estimate is None else f"{estimate:+.3f}"
        return f"the change in {what} is {change} and has no interval: {difference['why_not']}"
    if rule == "harm":
        refused, shown = high < -max_loss, "is"
    else:
        refused, shown = low < -max_loss, "does not rule out"
    if not refused:
        return None
    change = f"{estimate:+.3f} ({low:+.3f} to {high:+.3f})"
    return f"the change in {what} is {change}, which {shown} a loss of more than {max_loss:.3f}"
