"""Whether blocking is audited for a caller: enough sampled reviews to know how often right claims are blocked.

Two things must hold for claims that reviewers call Attributable, from the random sample, about verdicts for this caller
by the same model. There are ``ENOUGH`` = 100 different ones: a claim judged against the same sources again is the same.
And the 95 % interval of the share that was rejected is at most ``WIDEST`` = 20 percentage points wide. 100 independent
claims always reach that, and without a single rejection the share is then below 4 %; with 30, these are 34 points and
11 %, which cannot tell a policy that blocks one right claim in fifty from one that blocks one in nine. Claims of one
response depend on each other, so that 100 of ten responses may say no more than ten. Claims that reviewers call Not
Attributable do not count, since they do not inform about right claims. Claims whose texts were erased cannot be
compared: those of one row count as one.
"""

from __future__ import annotations

from dataclasses import dataclass

from vouching.metrics import Interval
from vouching.review.queue import ReviewQueue
from vouching.review.reviewed import read_reviewed, share_of
from vouching.types.review import QueueFilters

ENOUGH = 100
"""Different reviewed claims of the sample that are Attributable."""
WIDEST = 0.2
"""Widest interval of the share of them that was rejected."""


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
    distinct: int
    """Of these, how many are different: the same claim and sources count once."""
    rejected: int
    """Those Attributable ones that the verifier rejected."""
    rate: Interval
    """rejected / attributable: how often a right claim is rejected, with an interval over groups of claims."""
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
    rate = share_of((row.group, not row.right) for row in attributable)
    distinct = len({row.said for row in attributable})
    lack = _lack(distinct, rate)
    warning = f"it is not known how often right claims of {caller or 'this caller'} are blocked: {lack}"
    warning += f"{f', judged by {model}' if model else ''}; review more, or do not block"
    return BlockingAudit(
        caller, model, len(rows), len(attributable), distinct, rejected, rate, warning if lack else None
    )


def _lack(distinct: int, rate: Interval) -> str:
    """What the reviews lack; empty if they suffice."""
    if distinct < ENOUGH:
        return f"the ledger has {distinct:,} of {ENOUGH:,} sampled reviews of different Attributable claims"
    if rate.low is None or rate.high is None or rate.high - rate.low > WIDEST:
        width = 100 if rate.low is None or rate.high is None else 100 * (rate.high - rate.low)
        return (
            f"the ledger has {distinct:,} sampled reviews of different Attributable claims, but their interval is "
            f"{width:.0f} points wide, more than {100 * WIDEST:.0f}, since many are of the same responses"
        )
    return ""
