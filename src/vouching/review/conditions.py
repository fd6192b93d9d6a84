"""Conditions of the queue's queries."""

from __future__ import annotations

import time

from sqlalchemy import ColumnElement, Connection, Table, and_, text

from vouching.ledger.filters import as_time
from vouching.ledger.tables import REVIEW_ITEMS, REVIEW_LOCKS
from vouching.types.review import ItemId, QueueFilters


def conditions_of(filters: QueueFilters | None) -> list[ColumnElement[bool]]:
    """The conditions that a row of the items must meet. Raises InputError for a time that cannot be read."""
    given = {} if filters is None else {name: getattr(filters, name) for name in QueueFilters.__dataclass_fields__}
    found: list[ColumnElement[bool]] = []
    for name, value in given.items():
        if value is None:
            continue
        if name in {"since", "until"}:
            at = as_time(value)
            found.append(REVIEW_ITEMS.c.at >= at if name == "since" else REVIEW_ITEMS.c.at < at)
        else:
            found.append(REVIEW_ITEMS.c[name] == value)
    return found


def locks_item() -> ColumnElement[bool]:
    """The condition that a lock is of the item of the outer query."""
    return and_(REVIEW_LOCKS.c.row_id == REVIEW_ITEMS.c.row_id, REVIEW_LOCKS.c.finding == REVIEW_ITEMS.c.finding)


def of_item(table: Table, item: ItemId) -> ColumnElement[bool]:
    """The condition that a row of the items, the reviews or the locks is of an item."""
    return and_(table.c.row_id == item.row, table.c.finding == item.finding)


def now_of(connection: Connection) -> float:
    """Seconds since 1970 by the clock that every server shares: the database's, or this machine's for a file."""
    if connection.dialect.name == "postgresql":
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
    return time.time()
