"""Everything that reviews say about the verdicts of a ledger, in one record."""

from __future__ import annotations

from dataclasses import dataclass

from vouching.review.agreement import Agreement, agreement
from vouching.review.audits import BlockingAudit, blocking_audit
from vouching.review.drift import Drift, drift
from vouching.review.queue import ReviewQueue
from vouching.review.rates import (
    FalsePositives,
    Period,
    Reliability,
    false_positives_by_caller,
    false_positives_by_overlap,
    periods,
    reliability,
)
from vouching.types.review import QueueCounts, QueueFilters


@dataclass(frozen=True, slots=True)
class ReviewStatus:
    """What is left, how reviewers agree, and what their reviews show."""

    counts: QueueCounts
    agreement: Agreement
    weeks: tuple[Period, ...]
    """Labels and error types of all verdicts, by week."""
    reliability: Reliability
    by_caller: tuple[FalsePositives, ...]
    by_overlap: tuple[FalsePositives, ...]
    drift: Drift
    """The last 7 days beside the 28 before them."""
    audits: tuple[BlockingAudit, ...]
    """For each caller with a reviewed verdict, whether blocking is audited."""


def status_of(queue: ReviewQueue, filters: QueueFilters | None = None, every: bool = False) -> ReviewStatus:
    """The status of a queue; calibration and false positives from the random sample, or from ``every`` review."""
    callers = false_positives_by_caller(queue, filters, every)
    model = filters.model if filters is not None else None
    return ReviewStatus(
        queue.counts(filters), agreement(queue, filters), tuple(periods(queue, "week", filters)),
        reliability(queue, filters, every), tuple(callers), tuple(false_positives_by_overlap(queue, filters, every)),
        drift(queue, filters=filters), tuple(blocking_audit(queue, one.name, model) for one in callers),
    )  # fmt: skip
