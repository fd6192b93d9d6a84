"""What a ledger shows over time, and what reviews show about it: rates, calibration, and false positives.

Verdicts of one response, and those on the same claim and sources, are not independent: shares have Wilson intervals by
groups (:func:`vouching.metrics.clustered_wilson`), ECE and Brier score BCa intervals over groups. Calibration and false
positives use the random sample of the reviews unless told otherwise (:mod:`vouching.review.reviewed`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Literal

from sqlalchemy import case, func, select

from vouching.errors import InputError
from vouching.ledger.tables import REVIEW_ITEMS
from vouching.metrics import Interval, bca, brier, clustered_wilson, ece, reliability_bins
from vouching.review.conditions import conditions_of
from vouching.review.queue import ReviewQueue
from vouching.review.reviewed import Reviewed, share_of
from vouching.text.words import lower_words
from vouching.types.review import QueueFilters


@dataclass(frozen=True, slots=True)
class Period:
    """The verdicts of a day or a week (from Monday), in UTC."""

    start: str
    """Its first day, for example 2026-05-04."""
    verdicts: int
    """Number of verdicts."""
    labels: dict[str, int]
    """Verdicts by label."""
    error_types: dict[str, int]
    """Verdicts by error type; those without one are not in it."""
    not_attributable: Interval
    """Share that is Not Attributable, with an interval over rows of the ledger."""


def periods(
    queue: ReviewQueue, by: Literal["day", "week"] = "day", filters: QueueFilters | None = None
) -> list[Period]:
    """Labels and error types of all verdicts over time, reviewed or not; days without a verdict are not listed."""
    if by not in {"day", "week"}:
        raise InputError(f"periods are by day or week, got {by!r}")
    queue.refresh()
    day, wrong = func.substr(REVIEW_ITEMS.c.at, 1, 10).label("day"), REVIEW_ITEMS.c.label == "Not Attributable"
    kinds = select(day, REVIEW_ITEMS.c.label, REVIEW_ITEMS.c.error_type, func.count()).where(*conditions_of(filters))
    rows = select(
        func.min(day).label("day"), func.sum(case((wrong, 1), else_=0)).label("hits"), func.count().label("n")
    )
    each = rows.where(*conditions_of(filters)).group_by(REVIEW_ITEMS.c.row_id).subquery()
    alike = select(each.c.day, each.c.hits, each.c.n, func.count()).group_by(each.c.day, each.c.hits, each.c.n)
    counts: dict[str, Counter[tuple[str, str | None]]] = defaultdict(Counter)
    sizes: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    with queue.ledger.store.read() as connection:
        for at, label, kind, number in connection.execute(
            kinds.group_by(day, REVIEW_ITEMS.c.label, REVIEW_ITEMS.c.error_type)
        ):
            counts[_start(at, by)][label, kind] += number
        for at, *size in connection.execute(alike):
            sizes[_start(at, by)].append(tuple(map(int, size)))  # type: ignore[arg-type]
    return [_period(start, counts[start], sizes[start]) for start in sorted(counts)]


def _start(day: str, by: str) -> str:
    at = date.fromisoformat(day)
    return (at - timedelta(days=at.weekday())).isoformat() if by == "week" else day


def _period(start: str, counts: Counter[tuple[str, str | None]], sizes: Sequence[tuple[int, int, int]]) -> Period:
    """A period of verdicts by label and type, and of rows as (Not Attributable, verdicts, how many rows)."""
    labels: Counter[str] = Counter()
    types: Counter[str] = Counter()
    for (label, kind), number in counts.items():
        labels[label] += number
        if kind is not None:
            types[kind] += number
    hits, verdicts, rows = zip(*sizes, strict=True)
    share = clustered_wilson(hits, verdicts, rows)
    return Period(start, labels.total(), dict(labels.most_common()), dict(types.most_common()), share)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The reviewed verdicts with scores in [low, high)."""

    low: float
    high: float
    count: int
    mean_score: float
    """What the scores say; nan in an empty bin."""
    attributable: Interval
    """Share that reviewers call Attributable."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Whether a score of .8 is right in 80 of 100 cases, by reviews."""

    rows: int
    """Reviewed verdicts."""
    bins: tuple[ReliabilityBin, ...]
    """All bins, empty ones too."""
    ece: Interval
    """Expected calibration error; chance alone makes it some hundredths with few reviews."""
    brier: Interval
    """Brier score."""
    accuracy: Interval
    """Share of labels that reviewers confirmed."""


def reliability(rows: Sequence[Reviewed], bins: int = 10, resamples: int = 2000) -> Reliability:
    """Calibration of the scores by reviews."""
    if not rows:
        nothing = Interval(float("nan"), None, None, 0.95, "BCa", "no verdict of the sample was reviewed")
        return Reliability(0, (), nothing, nothing, share_of([]))
    truth, scores, groups = [r.attributable for r in rows], [r.score for r in rows], [r.group for r in rows]
    found: list[ReliabilityBin] = []
    for one in reliability_bins(truth, scores, bins):
        last = one.high >= 1.0
        members = [r for r in rows if one.low <= r.score and (r.score < one.high or last)]
        share = share_of((r.group, r.attributable) for r in members)
        found.append(ReliabilityBin(one.low, one.high, one.count, one.mean_score, share))
    return Reliability(
        len(rows),
        tuple(found),
        bca(partial(ece, truth, scores, bins=bins), groups, resamples=resamples),
        bca(partial(brier, truth, scores), groups, resamples=resamples),
        share_of((r.group, r.right) for r in rows),
    )


@dataclass(frozen=True, slots=True)
class FalsePositives:
    """Claims that reviewers call Attributable: how many of them the verifier rejected."""

    name: str
    """The caller, or the verbatim overlap."""
    reviewed: int
    """Reviewed verdicts."""
    attributable: int
    """Of these, those that reviewers call Attributable."""
    rejected: int
    """Of these, those that the verifier called Not Attributable: its false positives."""
    rate: Interval
    """rejected / attributable."""


def false_positives_by_caller(rows: Sequence[Reviewed]) -> list[FalsePositives]:
    """The rate for each caller, the one with the most reviews first."""
    return _false_positives(rows, lambda row: row.caller)


OVERLAPS = ((0.25, "below 25 %"), (0.75, "25 to 75 %"), (1.01, "75 % or more"))
"""Groups of verbatim overlap, by their upper ends."""


def false_positives_by_overlap(queue: ReviewQueue, rows: Sequence[Reviewed]) -> list[FalsePositives]:
    """The rate by how much of the claim is copied from the sources (:func:`verbatim_overlap`).

    Reads the texts of each reviewed verdict; those whose texts were erased or never kept are "unknown".
    """
    found = _false_positives(rows, lambda row: _overlap_name(queue, row))
    order = [*(name for _, name in OVERLAPS), "unknown"]
    return sorted(found, key=lambda one: order.index(one.name))


def _overlap_name(queue: ReviewQueue, row: Reviewed) -> str:
    try:
        item = queue.get(row.id)
    except InputError:
        return "unknown"
    if not item.sources:
        return "unknown"
    share = verbatim_overlap(item.verdict.claim.text, [source.text for source in item.sources])
    return next(name for end, name in OVERLAPS if share < end)


def verbatim_overlap(claim: str, sources: Sequence[str]) -> float:
    """Share of the claim's runs of three words that occur in a source, without case and punctuation; in [0, 1].

    Of a claim with fewer than three words, 1 if a source has them in a row, else 0.

    >>> verbatim_overlap("The bridge opened in 1937.", ["The bridge opened in 1973, it says."])
    0.6666666666666666
    """
    words = lower_words(claim)
    size = max(1, min(3, len(words)))
    wanted = [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]
    there: set[tuple[str, ...]] = set()
    for source in sources:
        read = lower_words(source)
        there.update(tuple(read[at : at + size]) for at in range(len(read) - size + 1))
    return sum(run in there for run in wanted) / len(wanted) if wanted else 0.0


def _false_positives(rows: Sequence[Reviewed], name_of: Callable[[Reviewed], str]) -> list[FalsePositives]:
    groups: dict[str, list[Reviewed]] = defaultdict(list)
    for row in rows:
        groups[name_of(row)].append(row)
    found: list[FalsePositives] = []
    for name, members in groups.items():
        attributable = [row for row in members if row.attributable]
        rejected = sum(not row.right for row in attributable)
        rate = share_of((row.group, not row.right) for row in attributable)
        found.append(FalsePositives(name, len(members), len(attributable), rejected, rate))
    return sorted(found, key=lambda one: (-one.reviewed, one.name))
