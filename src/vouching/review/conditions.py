"""Conditions and orders of the queue's queries: which verdicts a reviewer may get, and which comes first."""

from __future__ import annotations

import hashlib
import time
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, exists, func, or_, select, text

from vouching.ledger.filters import as_time
from vouching.ledger.tables import CONTENTS, REVIEW_EVENTS, REVIEW_ITEMS, REVIEW_LOCKS
from vouching.types.review import ItemId, Policy, QueueFilters, ReviewState


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


def start_of(seed: int) -> float:
    """Where the random order of a seed starts, in [0, 1)."""
    return int.from_bytes(hashlib.sha256(f"start {seed}".encode()).digest()[:6]) / 2**48


def is_state(state: ReviewState, reviewers: int) -> ColumnElement[bool]:
    """The condition that an item, which so many reviewers decide, is in a state."""
    disputed = or_(REVIEW_ITEMS.c.contested, REVIEW_ITEMS.c.objected)
    if state == "disputed":
        return disputed
    done = REVIEW_ITEMS.c.decided >= reviewers
    return and_(~disputed, done if state == "final" else ~done)


def has_place(reviewer: str, reviewers: int, now: float) -> ColumnElement[bool]:
    """The condition that fewer others have an item in hand than may decide it."""
    others = (
        select(func.count())
        .select_from(REVIEW_LOCKS)
        .where(locks_item(), REVIEW_LOCKS.c.reviewer != reviewer, REVIEW_LOCKS.c.until > now)
        .scalar_subquery()
    )
    return or_(others == 0, others < reviewers - REVIEW_ITEMS.c.decided)


def offered(reviewer: str, policy: Policy, reviewers: int, filters: QueueFilters | None) -> Select[Any, Any]:
    """The items that a reviewer may get by a policy; those in others' hands too."""
    has_texts = exists().where(CONTENTS.c.id == REVIEW_ITEMS.c.row_id, CONTENTS.c.record.is_not(None))
    theirs = and_(
        REVIEW_EVENTS.c.row_id == REVIEW_ITEMS.c.row_id,
        REVIEW_EVENTS.c.finding == REVIEW_ITEMS.c.finding,
        REVIEW_EVENTS.c.reviewer == reviewer,
        ~REVIEW_EVENTS.c.undone,
    )
    skipped = exists().where(theirs, REVIEW_EVENTS.c.action == "skip")
    decided = exists().where(theirs, REVIEW_EVENTS.c.action == "decide")
    objected = exists().where(theirs, REVIEW_EVENTS.c.action == "object")
    wanted = is_state("disputed", reviewers) if policy == "disputed" else ~is_state("final", reviewers)
    return select(REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.finding).where(
        wanted,
        has_texts,
        ~skipped,
        ~objected,
        or_(~decided, REVIEW_ITEMS.c.objected),
        *conditions_of(filters),
    )


def order_of(policy: Policy, seed: int) -> tuple[Any, ...]:
    """What a policy orders by."""
    if policy == "sampled":
        return (REVIEW_ITEMS.c.draw < start_of(seed), REVIEW_ITEMS.c.draw)
    if policy == "disputed":
        return (REVIEW_ITEMS.c.objected.desc(), REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.finding)
    return (REVIEW_ITEMS.c.doubt, REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.finding)
