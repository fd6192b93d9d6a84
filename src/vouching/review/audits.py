"""Whether blocking is audited for a caller: enough sampled reviews to know how often right claims are blocked.

Sufficient are ``ENOUGH`` = 100 claims that reviewers call Attributable, from the random sample, about verdicts for this
caller by the same model. With 100 of them, the 95 % Wilson interval of the share that was rejected is at most 20
percentage points wide, and without a single rejection the share is below 4 %; with 30, these are 34 points and 11 %,
which cannot tell a policy that blocks one right claim in fifty from one that blocks one in nine. Claims that reviewers
call Not Attributable do not count, since they do not inform about right claims.
"""

from __future__ import annotations

from dataclasses import dataclass

from vouching.metrics import Interval, wilson
from vouching.review.queue import ReviewQueue
from vouching.review.reviewed import read_reviewed
from vouching.types.review import QueueFilters

ENOUGH = 100
"""Reviewed claims of the sample that are Attributable."""


@dataclass(frozen=True, slots=True)
class BlockingAudit:
    """What reviews say about blocking for a caller."""

    caller: str
    model: str | None
    """The model whose verdicts count; None for every model."""
    reviewed: int
    """Verdicts of the sample that are final."""
    attributable: int
    """Of these, those that reviewers call Attributable."""
    rejected: int
    """Of these, those that the verifier rejected."""
    rate: Interval
    """rejected / attributable: how often a right claim is rejected."""
    warning: str | None
    """What to say wherever answers are blocked; None if there are enough reviews."""

    @property
    def sufficient(self) -> bool:
        """Whether there are enough reviews."""
        return self.warning is None


def blocking_audit(queue: ReviewQueue, caller: str, model: str | None = None) -> BlockingAudit:
    """The audit of blocking for a caller, by the sampled reviews in the ledger."""
    rows = read_reviewed(queue, QueueFilters(caller=caller, model=model))
    attributable = [row for row in rows if row.attributable]
    rejected = sum(not row.right for row in attributable)
    rate, number = wilson(rejected, len(attributable)), len(attributable)
    warning = unaudited(caller, model, number) if number < ENOUGH else None
    return BlockingAudit(caller, model, len(rows), number, rejected, rate, warning)


def unaudited(caller: str, model: str | None, attributable: int) -> str:
    """The warning where blocking is not audited."""
    return (
        f"it is not known how often right claims of {caller or 'this caller'} are blocked: the ledger has "
        f"{attributable:,} of {ENOUGH:,} sampled reviews of Attributable claims"
        f"{f' judged by {model}' if model else ''}; review more, or do not block"
    )
