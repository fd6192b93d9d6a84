"""The review queue: verdicts of a ledger taken one by one, decided, skipped, and taken back.

Everything that reviewers do is appended to the chain of the verdict, so the ledger proves it; who has what in hand is
in the same database, so several servers agree. Not supported: reviewing what is no verdict, such as the items of a
checklist; assigning verdicts to a reviewer (Argilla and Label Studio do).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, exists, func, insert, select

from vouching.errors import ConfigError, InputError, VouchError
from vouching.ledger.ledger import Ledger
from vouching.ledger.tables import REVIEW_EVENTS, REVIEW_ITEMS, REVIEW_LOCKS
from vouching.review.conditions import (
    conditions_of,
    has_place,
    is_state,
    locks_item,
    now_of,
    of_item,
    offered,
    order_of,
)
from vouching.review.projection import lock_cursor, read_on, refresh, resolved
from vouching.review.reading import item_of, line_of, read_reviews
from vouching.review.refusals import refuse_decision, refuse_name, refuse_note
from vouching.types.ledger import Entry
from vouching.types.review import (
    Decision,
    ItemId,
    ItemLine,
    Policy,
    QueueCounts,
    QueueFilters,
    Review,
    ReviewAction,
    ReviewItem,
    ReviewState,
)


class ItemTakenError(VouchError):
    """Somebody else has the verdict in hand, or has decided it meanwhile: take another one."""


class ReviewQueue:
    """The verdicts of a ledger that people review.

    Args:
        ledger: where they are; opened with the key of its chains.
        reviewers: how many people decide each verdict, 1 or 2; where two disagree, a third one is asked.
        lock_seconds: how long a taken verdict stays with whoever took it.
        seed: which random order the policy "sampled" follows.

    Every method raises LedgerError if the database fails.

    >>> import tempfile
    >>> from vouching import Checker
    >>> from vouching.ledger import open_ledger
    >>> ledger = open_ledger(f"{tempfile.mkdtemp()}/verdicts.db")
    >>> _ = Checker("embedded:rules", ledger=ledger).check("It opened in 1937.", "It opened in 1973.")
    >>> queue = ReviewQueue(ledger)
    >>> item = queue.take("ann")
    >>> item.verdict.label, queue.take("bob")
    ('Not Attributable', None)
    >>> queue.decide("ann", item.id, Decision(note="The year is wrong.")).state
    'final'
    >>> queue.undo("ann").state
    'open'
    """

    def __init__(self, ledger: Ledger, reviewers: int = 1, lock_seconds: float = 600.0, seed: int = 0) -> None:
        if reviewers not in (1, 2):
            raise ConfigError(f"reviewers must be 1 or 2, got {reviewers}")
        if not lock_seconds > 0:
            raise ConfigError(f"lock_seconds must be above 0, got {lock_seconds}")
        self.ledger = ledger
        self.reviewers = reviewers
        self.lock_seconds = lock_seconds
        self.seed = seed

    def refresh(self) -> None:
        """Read what was appended to the chains since; every other method does so by itself."""
        refresh(self.ledger.store)

    def take(
        self, reviewer: str, policy: Policy = "uncertain", filters: QueueFilters | None = None
    ) -> ReviewItem | None:
        """The next verdict for a reviewer, who has it in hand until ``lock_seconds`` are over; None if none is left.

        Whoever took one by this policy gets it again if it fits, else puts it back. No one gets a verdict that they
        decided or skipped, unless a caller objected since. Raises InputError for an unknown policy or a reviewer
        without a name.
        """
        refuse_name(reviewer)
        if policy not in get_args(Policy):
            raise InputError(f"unknown policy {policy!r}: expected one of {', '.join(get_args(Policy))}")
        self.refresh()
        by_outcome = filters is not None and (filters.label or filters.error_type)  # no sample of anything else
        by = ("" if policy == "sampled" and by_outcome else policy, self.seed)
        with self.ledger.store.write() as connection:
            now = now_of(connection)
            asked = offered(reviewer, policy, self.reviewers, filters).order_by(*order_of(policy, self.seed))
            mine = exists().where(
                locks_item(),
                REVIEW_LOCKS.c.reviewer == reviewer,
                REVIEW_LOCKS.c.until > now,
                REVIEW_LOCKS.c.policy == policy,
                REVIEW_LOCKS.c.seed == self.seed,
            )
            held = connection.execute(asked.where(mine).limit(1)).first()
            found = ItemId(*held) if held else self._free(connection, asked, reviewer, now)
            connection.execute(delete(REVIEW_LOCKS).where(REVIEW_LOCKS.c.reviewer == reviewer))
            if found is not None:
                self._lock(connection, found, reviewer, now, by)
        return None if found is None else self.get(found, reviewer)

    def _free(self, connection: Connection, asked: Select[Any, Any], reviewer: str, now: float) -> ItemId | None:
        """The first of the verdicts that are asked for which has a place for a reviewer; its row is locked."""
        tried: list[ItemId] = []
        while True:
            free = asked.where(
                has_place(reviewer, self.reviewers, now), *(~of_item(REVIEW_ITEMS, one) for one in tried)
            )
            row = connection.execute(free.limit(1).with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            item = ItemId(*row)
            if self._place(connection, item, reviewer, now):  # asked again now that its row is locked
                return item
            tried.append(item)

    def take_item(self, reviewer: str, item: ItemId) -> ReviewItem:
        """One verdict, also a decided one, to decide it or to decide it anew.

        Raises ItemTakenError if others have it in hand, and InputError if there is none.
        """
        refuse_name(reviewer)
        return self._take_item(reviewer, item, ("", self.seed))

    def _take_item(self, reviewer: str, item: ItemId, by: tuple[str, int]) -> ReviewItem:
        self.refresh()
        with self.ledger.store.write() as connection:
            now = now_of(connection)
            self._locked_row(connection, item)
            if not self._place(connection, item, reviewer, now):
                raise ItemTakenError(f"somebody else has {item} in hand: take another one, or wait")
            connection.execute(delete(REVIEW_LOCKS).where(REVIEW_LOCKS.c.reviewer == reviewer))
            self._lock(connection, item, reviewer, now, by)
        return self.get(item, reviewer)

    def release(self, reviewer: str) -> None:
        """Put back what a reviewer has in hand."""
        with self.ledger.store.write() as connection:
            connection.execute(delete(REVIEW_LOCKS).where(REVIEW_LOCKS.c.reviewer == reviewer))

    def decide(
        self, reviewer: str, item: ItemId, decision: Decision, taken: tuple[Policy, int] | None = None
    ) -> ReviewItem:
        """Confirm or correct a verdict; returns it with its new state.

        ``taken`` is the policy and the seed by which it was taken elsewhere, for a decision that comes from outside.

        Raises ItemTakenError if the reviewer does not have it in hand and others took it or, without ``taken``, made it
        final, and InputError for a decision
        that does not fit the verdict.
        """
        refuse_name(reviewer)
        current = self.get(item)
        refuse_decision(decision, current)
        verdict = {"label": current.verdict.label, "error_type": current.verdict.error_type}
        label, error_type = resolved(decision.label, decision.error_type, verdict)
        said: dict[str, Any] = {
            "label": label,
            "error_type": error_type,
            "span": None if decision.span is None else list(decision.span),
            "fix": decision.fix,
            "note": decision.note,
            "before": verdict,
        }
        if taken is not None:
            said |= {"policy": taken[0], "seed": taken[1]}
        self._append(reviewer, item, current.stream, "decide", said)
        return self.get(item)

    def skip(self, reviewer: str, item: ItemId, note: str = "") -> None:
        """Put a verdict back, not to be offered to this reviewer again. Raises as :meth:`decide`."""
        refuse_name(reviewer)
        refuse_note(note)
        self._append(reviewer, item, self.get(item).stream, "skip", {"note": note})

    def object(self, caller: str, item: ItemId, note: str = "") -> ReviewItem:
        """Record that a caller does not accept a verdict: it is disputed until somebody decides it after that."""
        refuse_name(caller)
        refuse_note(note)
        self._append(caller, item, self.get(item).stream, "object", {"note": note})
        return self.get(item)

    def undo(self, reviewer: str) -> ReviewItem | None:
        """Take back what a reviewer did last (decide, skip or object), by a further entry; None if there is nothing.

        The verdict is then in their hand again, by the same policy, unless others took it meanwhile.
        """
        refuse_name(reviewer)
        self.refresh()
        last = (
            select(REVIEW_EVENTS)
            .where(
                REVIEW_EVENTS.c.reviewer == reviewer,
                REVIEW_EVENTS.c.action.in_(["decide", "skip", "object"]),
                ~REVIEW_EVENTS.c.undone,
            )
            .order_by(REVIEW_EVENTS.c.id.desc())
            .limit(1)
        )
        with self.ledger.store.read() as connection:
            found = connection.execute(last).one_or_none()
        if found is None:
            return None
        item = ItemId(found.row_id, found.finding)
        self._append(reviewer, item, self.get(item).stream, "undo", {"undoes": found.id})
        try:
            return self._take_item(
                reviewer, item, (found.policy or "", self.seed if found.seed is None else found.seed)
            )
        except ItemTakenError:
            return self.get(item)

    def get(self, item: ItemId, reviewer: str | None = None) -> ReviewItem:
        """A verdict with its texts and reviews. Raises InputError if there is none, or its texts were erased."""
        self.refresh()
        with self.ledger.store.read() as connection:
            row = connection.execute(select(REVIEW_ITEMS).where(of_item(REVIEW_ITEMS, item))).mappings().one_or_none()
            if row is None:
                raise InputError(f"the ledger has no verdict {item} to review: see  vouch ledger list")
            reviews = read_reviews(connection, of_item(REVIEW_EVENTS, item))
            lock = select(REVIEW_LOCKS.c.until).where(of_item(REVIEW_LOCKS, item), REVIEW_LOCKS.c.reviewer == reviewer)
            until = connection.execute(lock).scalar() if reviewer is not None else None
        return item_of(self.ledger.get(item.row), row, self.state(dict(row)), tuple(reversed(reviews)), until)

    def lines(
        self,
        policy: Policy = "uncertain",
        filters: QueueFilters | None = None,
        state: ReviewState | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[ItemLine]:
        """Verdicts in the order of a policy, without texts; by default of every state."""
        self.refresh()
        asked = select(REVIEW_ITEMS).where(*conditions_of(filters), *(() if state is None else (self.is_state(state),)))
        with self.ledger.store.read() as connection:
            ordered = asked.order_by(*order_of(policy, self.seed))
            rows = connection.execute(ordered.limit(limit).offset(offset)).mappings()
            return [line_of(row, self.state(dict(row))) for row in rows]

    def counts(self, filters: QueueFilters | None = None) -> QueueCounts:
        """How many verdicts are open, disputed, final, and in somebody's hand."""
        self.refresh()
        states: tuple[ReviewState, ...] = get_args(ReviewState)
        with self.ledger.store.read() as connection:
            numbers = [
                connection.execute(
                    select(func.count()).select_from(REVIEW_ITEMS).where(self.is_state(state), *conditions_of(filters))
                ).scalar_one()
                for state in states
            ]
            live = exists().where(locks_item(), REVIEW_LOCKS.c.until > now_of(connection))
            held = select(func.count()).select_from(REVIEW_ITEMS).where(live, *conditions_of(filters))
            opened, disputed, final = numbers
            return QueueCounts(opened, disputed, final, connection.execute(held).scalar_one())

    def audit(
        self, item: ItemId | None = None, reviewer: str | None = None, limit: int = 100, before: int | None = None
    ) -> list[Review]:
        """Who changed what: every entry, the newest first, those taken back and what took them back included."""
        self.refresh()
        conditions: list[ColumnElement[bool]] = [] if item is None else [of_item(REVIEW_EVENTS, item)]
        conditions += [] if reviewer is None else [REVIEW_EVENTS.c.reviewer == reviewer]
        conditions += [] if before is None else [REVIEW_EVENTS.c.id < before]
        with self.ledger.store.read() as connection:
            return read_reviews(connection, and_(True, *conditions), limit)

    def state(self, row: Mapping[str, Any]) -> ReviewState:
        """The state of a row of the items."""
        if row["contested"] or row["objected"]:
            return "disputed"
        return "final" if row["decided"] >= self.reviewers else "open"

    def is_state(self, state: ReviewState) -> ColumnElement[bool]:
        """The condition that an item is in a state."""
        return is_state(state, self.reviewers)

    def _place(self, connection: Connection, item: ItemId, reviewer: str, now: float) -> bool:
        asked = select(REVIEW_ITEMS.c.row_id).where(
            of_item(REVIEW_ITEMS, item), has_place(reviewer, self.reviewers, now)
        )
        return connection.execute(asked).first() is not None

    def _lock(self, connection: Connection, item: ItemId, reviewer: str, now: float, by: tuple[str, int]) -> None:
        lock = {
            "row_id": item.row,
            "finding": item.finding,
            "reviewer": reviewer,
            "until": now + self.lock_seconds,
            "policy": by[0],
            "seed": by[1],
        }
        connection.execute(insert(REVIEW_LOCKS), lock)

    def _locked_row(self, connection: Connection, item: ItemId) -> None:
        found = connection.execute(
            select(REVIEW_ITEMS.c.row_id).where(of_item(REVIEW_ITEMS, item)).with_for_update()
        ).first()
        if found is None:
            raise InputError(f"the ledger has no verdict {item} to review: see  vouch ledger list")

    def _refuse_late(self, connection: Connection, item: ItemId, reviewer: str, until: float, outside: bool) -> None:
        """Refuse who no longer has a verdict in hand, if others have it or, unless it is from outside, settled it."""
        now = now_of(connection)
        if not self._place(connection, item, reviewer, now):
            raise ItemTakenError(f"{item} was not in your hand for too long, and somebody else took it meanwhile")
        if until > now or outside:
            return
        others = exists().where(
            REVIEW_EVENTS.c.row_id == REVIEW_ITEMS.c.row_id,
            REVIEW_EVENTS.c.finding == REVIEW_ITEMS.c.finding,
            REVIEW_EVENTS.c.reviewer != reviewer,
            REVIEW_EVENTS.c.action == "decide",
            ~REVIEW_EVENTS.c.undone,
        )
        settled = select(REVIEW_ITEMS.c.row_id).where(of_item(REVIEW_ITEMS, item), self.is_state("final"), others)
        if connection.execute(settled).first() is not None:
            raise ItemTakenError(f"{item} is not in your hand, and somebody else decided it: take it to decide it anew")

    def _append(self, reviewer: str, item: ItemId, stream: str, action: ReviewAction, said: Mapping[str, Any]) -> None:
        """Append one entry and apply it, in one transaction, if the reviewer may do so."""
        with self.ledger.store.write() as connection:
            lock_cursor(connection, stream)
            read_on(connection, stream)
            self._locked_row(connection, item)
            mine = and_(of_item(REVIEW_LOCKS, item), REVIEW_LOCKS.c.reviewer == reviewer)
            held = connection.execute(select(REVIEW_LOCKS).where(mine)).mappings().one_or_none()
            if action == "undo":
                undone = select(REVIEW_EVENTS.c.undone).where(REVIEW_EVENTS.c.id == said["undoes"])
                if connection.execute(undone).scalar_one():
                    return  # taken back in another window meanwhile
            elif action != "object":
                self._refuse_late(connection, item, reviewer, held["until"] if held else 0.0, "policy" in said)
            kept = {
                "action": action,
                "finding": item.finding,
                "policy": (held["policy"] or None) if held else None,
                "seed": held["seed"] if held else None,
                **{name: said[name] for name in ("label", "error_type", "undoes", "policy", "seed") if name in said},
            }
            record = {"kind": "review", **kept, **said}
            entry = Entry(stream, "review", {}, record, reviewer, provenance={"review": kept}, about=item.row)
            self.ledger.append_within(connection, [entry])
            read_on(connection, stream)
            if action != "object":
                connection.execute(delete(REVIEW_LOCKS).where(mine))
