"""People review verdicts of a ledger: a queue, their agreement, rates and calibration, and gold rows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.review.queue import ItemTakenError, ReviewQueue
    from vouching.types.review import (
        Decision,
        ItemId,
        ItemLine,
        QueueCounts,
        QueueFilters,
        Review,
        ReviewItem,
    )

__all__ = [
    "Decision",
    "ItemId",
    "ItemLine",
    "ItemTakenError",
    "QueueCounts",
    "QueueFilters",
    "Review",
    "ReviewItem",
    "ReviewQueue",
]

__getattr__, __dir__ = lazily(__name__)
