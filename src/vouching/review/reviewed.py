"""Reviewed verdicts as numbers, and which of them are a random sample.

Verdicts that were reviewed because they were uncertain or disputed are not typical: a rate over them is not the rate
over all. Rates and calibration therefore use a sample by default. The policy "sampled" offers verdicts in a random
order that does not depend on them, so everything up to the last one that was taken by it is a random sample, also what
had been reviewed for another reason and was therefore not offered again.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, select

from vouching.ledger.tables import REVIEW_EVENTS, REVIEW_ITEMS
from vouching.review.conditions import conditions_of
from vouching.review.projection import start_of
from vouching.review.queue import ReviewQueue
from vouching.types.review import ItemId, QueueFilters


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A verdict whose reviews are final."""

    id: ItemId
    at: str
    """When the verdict was appended."""
    caller: str
    model: str | None
    label: str
    """The verdict's."""
    error_type: str | None
    """The verdict's."""
    score: float
    confidence: float
    gold_label: str
    """The reviewers'."""
    gold_type: str | None
    """The reviewers'; None if they gave none, or do not agree."""
    sampled: bool
    """Whether it belongs to the random sample."""

    @property
    def right(self) -> bool:
        """Whether the verdict has the reviewers' label."""
        return self.label == self.gold_label

    @property
    def attributable(self) -> bool:
        """Whether the reviewers say that it is Attributable."""
        return self.gold_label == "Attributable"


def read_reviewed(queue: ReviewQueue, filters: QueueFilters | None = None, every: bool = False) -> list[Reviewed]:
    """The final verdicts of the random sample, or with ``every`` all of them, in the order of the ledger."""
    queue.refresh()
    columns = (
        REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.finding, REVIEW_ITEMS.c.at, REVIEW_ITEMS.c.caller, REVIEW_ITEMS.c.model,
        REVIEW_ITEMS.c.label, REVIEW_ITEMS.c.error_type, REVIEW_ITEMS.c.score, REVIEW_ITEMS.c.confidence,
        REVIEW_ITEMS.c.gold_label, REVIEW_ITEMS.c.gold_type, REVIEW_ITEMS.c.draw,
    )  # fmt: skip
    asked = select(*columns).where(queue.is_state("final"), *conditions_of(filters))
    asked = asked.order_by(REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.finding)
    ends = _ends(queue, filters)
    found: list[Reviewed] = []
    with queue.ledger.store.read() as connection:
        for row in connection.execute(asked).mappings():
            values = {name: row[name] for name in Reviewed.__dataclass_fields__ if name not in {"id", "sampled"}}
            sampled = any(place(row["draw"], seed) <= end for seed, end in ends.items())
            if every or sampled:
                found.append(Reviewed(ItemId(row["row_id"], row["finding"]), sampled=sampled, **values))
    return found


def place(draw: float, seed: int) -> float:
    """The place in the random order of a seed, in [0, 1)."""
    return (draw - start_of(seed)) % 1.0


def _ends(queue: ReviewQueue, filters: QueueFilters | None) -> dict[int, float]:
    """How far the sample of each seed goes: the place of the last verdict that was taken by it and decided."""
    on = and_(REVIEW_ITEMS.c.row_id == REVIEW_EVENTS.c.row_id, REVIEW_ITEMS.c.finding == REVIEW_EVENTS.c.finding)
    asked = (
        select(REVIEW_EVENTS.c.seed, REVIEW_ITEMS.c.draw)
        .join(REVIEW_ITEMS, on)
        .where(
            REVIEW_EVENTS.c.action == "decide", REVIEW_EVENTS.c.policy == "sampled", REVIEW_EVENTS.c.seed.is_not(None),
            ~REVIEW_EVENTS.c.undone, *conditions_of(filters),
        )
    )  # fmt: skip
    ends: dict[int, float] = {}
    with queue.ledger.store.read() as connection:
        for seed, draw in connection.execute(asked):
            ends[seed] = max(ends.get(seed, 0.0), place(draw, seed))
    return ends
