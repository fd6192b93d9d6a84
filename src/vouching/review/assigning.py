"""Assigning verdicts: a lead gives single ones, or the next ones of an order, to a reviewer.

What is assigned comes first in the reviewer's queue, and no one else gets it until it is decided, skipped or released.
Each assignment is an entry of the verdict's chain, so the audit shows who assigned what to whom, and when. A verdict is
assigned to one person at a time: where two decide each verdict, the second one can be assigned once the first decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, func, select

from vouching.errors import InputError
from vouching.ledger.tables import REVIEW_ITEMS, REVIEW_LOCKS
from vouching.review.conditions import conditions_of, has_place, now_of, of_item, offered, order_of
from vouching.review.projection import lock_cursor, read_on
from vouching.review.queue import ReviewQueue
from vouching.review.refusals import refuse_name
from vouching.types.ledger import Entry
from vouching.types.review import ItemId, Policy, QueueFilters

MOST = 500
"""Verdicts that are assigned at once."""


def assign(queue: ReviewQueue, lead: str, reviewer: str, items: Sequence[ItemId]) -> list[ItemId]:
    """Assign verdicts to a reviewer, all or none; returns those that were not theirs before.

    Raises InputError for a verdict that this reviewer could not get now: there is none, its texts were erased, others
    have it in hand or assigned, it is decided, or the reviewer has decided or skipped it.

    >>> import tempfile
    >>> from vouching import Checker
    >>> from vouching.ledger import open_ledger
    >>> ledger = open_ledger(f"{tempfile.mkdtemp()}/verdicts.db")
    >>> _ = Checker("embedded:rules", ledger=ledger).check("It opened in 1937.", "It opened in 1973.")
    >>> queue = ReviewQueue(ledger)
    >>> assign(queue, "lead", "ann", [queue.lines()[0].id])
    [ItemId(row=1, finding=0)]
    >>> queue.take("bob") is None, queue.take("ann").assignee
    (True, 'ann')
    """
    _refuse(lead, reviewer, len(items))
    queue.refresh()
    with queue.ledger.store.write() as connection:
        streams = _locked(connection, items)
        for item in streams:  # what the lead has in hand, it passes on
            connection.execute(delete(REVIEW_LOCKS).where(of_item(REVIEW_LOCKS, item), REVIEW_LOCKS.c.reviewer == lead))
        free = _free(connection, queue, reviewer, items)
        missing = [item for item in items if item not in free]
        if missing:
            raise InputError(_why_not(connection, queue, reviewer, missing[0]))
        new = [item for item in dict.fromkeys(items) if not free[item]]
        _append(connection, queue, lead, {item: streams[item] for item in new}, reviewer)
    return new


def assign_next(
    queue: ReviewQueue, lead: str, reviewer: str, number: int, policy: Policy = "uncertain",
    filters: QueueFilters | None = None,
) -> list[ItemId]:  # fmt: skip
    """Assign the next verdicts that are free, in the order of a policy, to a reviewer; returns them.

    Decisions on what was chosen by "sampled" belong to the random sample, whoever makes them.
    """
    _refuse(lead, reviewer, number)
    queue.refresh()
    by_outcome = filters is not None and (filters.label or filters.error_type)  # no sample of anything else
    by = ("" if policy == "sampled" and by_outcome else policy, queue.seed)
    with queue.ledger.store.read() as connection:
        wanted = _open(connection, queue, reviewer, policy, filters).where(REVIEW_ITEMS.c.assignee.is_(None))
        rows = connection.execute(wanted.order_by(*order_of(policy, queue.seed)).limit(number))
        items = [ItemId(row[0], row[1]) for row in rows]
    with queue.ledger.store.write() as connection:
        streams = _locked(connection, items)
        free = _free(connection, queue, reviewer, items)  # others may have taken some meanwhile
        new = [item for item in items if free.get(item) is False]
        _append(connection, queue, lead, {item: streams[item] for item in new}, reviewer, by)
    return new


def unassign(queue: ReviewQueue, lead: str, items: Sequence[ItemId]) -> list[ItemId]:
    """Release verdicts from whom they are assigned to, so that anybody gets them; returns those that were assigned."""
    _refuse(lead, lead, len(items))
    queue.refresh()
    with queue.ledger.store.write() as connection:
        streams = _locked(connection, items)
        asked = select(REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.finding).where(REVIEW_ITEMS.c.assignee.is_not(None))
        held = {ItemId(row[0], row[1]) for row in connection.execute(asked)} & {*streams}
        _append(connection, queue, lead, {item: stream for item, stream in streams.items() if item in held}, None)
    return sorted(held)


def assigned(queue: ReviewQueue, filters: QueueFilters | None = None) -> dict[str, int]:
    """How many verdicts each reviewer has assigned, by name."""
    queue.refresh()
    name = REVIEW_ITEMS.c.assignee
    asked = select(name, func.count()).where(name.is_not(None), *conditions_of(filters)).group_by(name).order_by(name)
    with queue.ledger.store.read() as connection:
        return {str(who): int(number) for who, number in connection.execute(asked)}


def _refuse(lead: str, reviewer: str, number: int) -> None:
    refuse_name(lead)
    refuse_name(reviewer)
    if not 1 <= number <= MOST:
        raise InputError(f"1 to {MOST} verdicts can be assigned at once, got {number}: assign them in parts")


def _locked(connection: Connection, items: Sequence[ItemId]) -> dict[ItemId, str]:
    """The chain of each verdict; the chains are read on and locked, in the order of their names."""
    rows = sorted({item.row for item in items})
    asked = select(REVIEW_ITEMS.c.row_id, REVIEW_ITEMS.c.finding, REVIEW_ITEMS.c.stream)
    found = connection.execute(asked.where(REVIEW_ITEMS.c.row_id.in_(rows))).all()
    streams = {ItemId(row.row_id, row.finding): str(row.stream) for row in found}
    for item in items:
        if item not in streams:
            raise InputError(f"the ledger has no verdict {item} to review: see  vouch ledger list")
    for stream in sorted({streams[item] for item in items}):
        lock_cursor(connection, stream)
        read_on(connection, stream)
    return {item: streams[item] for item in items}


def _free(connection: Connection, queue: ReviewQueue, reviewer: str, items: Sequence[ItemId]) -> dict[ItemId, bool]:
    """The verdicts that a reviewer could get now, and whether each is already assigned to them."""
    asked = _open(connection, queue, reviewer).add_columns(REVIEW_ITEMS.c.assignee)
    rows = connection.execute(asked.where(REVIEW_ITEMS.c.row_id.in_(sorted({item.row for item in items}))))
    return {ItemId(row[0], row[1]): row[2] is not None for row in rows}


def _open(
    connection: Connection, queue: ReviewQueue, reviewer: str, policy: Policy | None = None,
    filters: QueueFilters | None = None,
) -> Select[Any, Any]:  # fmt: skip
    """The verdicts that a reviewer could get now and that no one else has in hand."""
    alone = has_place(reviewer, 1, now_of(connection))
    return offered(reviewer, policy, queue.reviewers, filters).where(alone)


def _append(
    connection: Connection, queue: ReviewQueue, lead: str, streams: Mapping[ItemId, str], to: str | None,
    by: tuple[str, int] = ("", 0),
) -> None:  # fmt: skip
    """Append an entry for each verdict to its chain, and apply it."""
    for item, stream in sorted(streams.items(), key=lambda pair: (pair[1], pair[0])):
        kept = {"finding": item.finding, "assignee": to, "policy": by[0] or None, "seed": by[1] if by[0] else None}
        record = {"kind": "assignment", **kept}
        entry = Entry(stream, "assignment", {}, record, lead, provenance={"review": kept}, about=item.row)
        queue.ledger.append_within(connection, [entry])
    for stream in sorted({*streams.values()}):
        read_on(connection, stream)


def _why_not(connection: Connection, queue: ReviewQueue, reviewer: str, item: ItemId) -> str:
    """Why a verdict cannot be assigned to a reviewer."""
    row = connection.execute(select(REVIEW_ITEMS).where(of_item(REVIEW_ITEMS, item))).mappings().one()
    if row["assignee"] not in {None, reviewer}:
        return f"{item} is assigned to {row['assignee']}: release it first"
    if queue.state(dict(row)) == "final":
        return f"{item} is decided already: assign one that is open or disputed"
    return (
        f"{item} cannot be assigned to {reviewer}: they have decided or skipped it, somebody else has it in hand, or "
        "its texts were erased; choose another one"
    )
