"""Everything that a ledger and its reviews show, in one record: what ``vouch review status`` shows."""

from __future__ import annotations

from dataclasses import dataclass

from vouching.review.agreement import Agreement, agreement
from vouching.review.audits import BlockingAudit, blocking_audit
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
from vouching.review.reviewed import read_reviewed
from vouching.types.review import QueueCounts, QueueFilters

_AUDITED = 20
"""Callers whose audits are shown: those with the most reviews."""


@dataclass(frozen=True, slots=True)
class ReviewStatus:
    """What is left, how reviewers agree, and what their reviews show."""

    counts: QueueCounts
    agreement: Agreement
    periods: tuple[Period, ...]
    """Labels and error types of all verdicts over time."""
    reliability: Reliability
    """Scores against reviews."""
    by_caller: tuple[FalsePositives, ...]
    by_overlap: tuple[FalsePositives, ...]
    """By how much of the claim is copied from its sources."""
    audits: tuple[BlockingAudit, ...]
    """Whether blocking is audited: for each caller with a reviewed verdict, at most the 20 with the most."""


def status_of(queue: ReviewQueue, filters: QueueFilters | None = None, every: bool = False) -> ReviewStatus:
    """The status of a queue; calibration and false positives from the random sample, or from ``every`` review."""
    rows = read_reviewed(queue, filters, every)
    callers = false_positives_by_caller(rows)
    model = filters.model if filters is not None else None
    return ReviewStatus(
        queue.counts(filters),
        agreement(queue, filters),
        tuple(periods(queue, "week", filters)),
        reliability(rows),
        tuple(callers),
        tuple(false_positives_by_overlap(queue, rows)),
        tuple(blocking_audit(queue, one.name, model) for one in callers[:_AUDITED]),
    )
