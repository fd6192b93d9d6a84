"""The queue's tables, read from the chains: each row of a chain is applied once, in the chain's order.

The chains are the truth. What a review does is in the part of its row that an erasure keeps, so that agreement and
rates stay when texts go. The rows of a chain are committed in their order, so a cursor per chain misses none.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from sqlalchemy import Connection, RowMapping, and_, insert, select, update
from sqlalchemy.dialects.postgresql import insert as insert_postgres
from sqlalchemy.dialects.sqlite import insert as insert_sqlite

from vouching.errors import InputError
from vouching.ledger.store import Store
from vouching.ledger.tables import CONTENTS, REVIEW_CURSORS, REVIEW_EVENTS, REVIEW_ITEMS, ROWS, STREAMS
from vouching.review.conditions import of_item
from vouching.text.json_values import parse_json
from vouching.types.review import ItemId
from vouching.types.serial import from_json
from vouching.types.spans import ERROR_TYPES, Label
from vouching.types.verdict import Verdict

_CHECKS = ("check", "check-response")
_SAID = ("decide", "skip", "object", "undo")
"""What a reviewer can do."""
_PAGE = 500
_LARGEST_FINDING = 2**31 - 1
_COLUMNS = (
    ROWS.c.id,
    ROWS.c.seq,
    ROWS.c.at,
    ROWS.c.kind,
    ROWS.c.caller,
    ROWS.c.about,
    ROWS.c.details,
    ROWS.c.mac,
    CONTENTS.c.record,
)


def refresh(store: Store) -> None:
    """Apply what was appended since; returns at once if nothing was."""
    for stream in behind(store):
        more = True
        while more:
            with store.write() as connection:
                more = read_on(connection, stream, _PAGE)


def behind(store: Store) -> list[str]:
    """The chains with rows that were not applied yet."""
    joined = STREAMS.outerjoin(REVIEW_CURSORS, REVIEW_CURSORS.c.stream == STREAMS.c.stream)
    asked = select(STREAMS.c.stream, STREAMS.c.seq, REVIEW_CURSORS.c.seq.label("read")).select_from(joined)
    with store.read() as connection:
        return [row.stream for row in connection.execute(asked) if row.read is None or row.read < row.seq]


def read_on(connection: Connection, stream: str, limit: int | None = None) -> bool:
    """Apply the next rows of a chain, all of them without a limit; whether there may be more.

    The chain's cursor is locked until the end of the transaction: lock it before anything else of the queue.
    """
    read = lock_cursor(connection, stream)
    asked = select(*_COLUMNS).select_from(ROWS.outerjoin(CONTENTS, CONTENTS.c.id == ROWS.c.id))
    asked = asked.where(ROWS.c.stream == stream, ROWS.c.seq > read).order_by(ROWS.c.seq)
    rows = connection.execute(asked if limit is None else asked.limit(limit)).mappings().all()
    if not rows:
        return False
    for row in rows:
        if row["kind"] in _CHECKS:
            _add_items(connection, stream, row)
        elif row["kind"] == "review" and row["about"] is not None:
            _add_review(connection, row)
    moved = update(REVIEW_CURSORS).where(REVIEW_CURSORS.c.stream == stream).values(seq=rows[-1]["seq"])
    connection.execute(moved)
    return limit is not None and len(rows) == limit


def lock_cursor(connection: Connection, stream: str) -> int:
    """The place up to which a chain was read; no other process reads on until the end of the transaction."""
    make = insert_postgres if connection.dialect.name == "postgresql" else insert_sqlite
    connection.execute(make(REVIEW_CURSORS).values(stream=stream, seq=0).on_conflict_do_nothing())
    asked = select(REVIEW_CURSORS.c.seq).where(REVIEW_CURSORS.c.stream == stream).with_for_update()
    return connection.execute(asked).scalar_one()


def verdicts_in(record: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """The verdicts of a record by their place: its findings, or 0 for the record itself."""
    findings: Any = record.get("findings") if record.get("kind") in {"report", "outcomes"} else [record]
    members = cast("list[Any]", findings) if isinstance(findings, list) else []
    return {
        place: cast("Mapping[str, Any]", one)
        for place, one in enumerate(members)
        if isinstance(one, Mapping) and _is_verdict(cast("Mapping[str, Any]", one))
    }


def _is_verdict(finding: Mapping[str, Any]) -> bool:
    """Whether it is a whole verdict, as :mod:`vouching.types` has it."""
    if finding.get("kind") != "verdict":
        return False
    try:
        from_json(Verdict, json.dumps(finding))
    except InputError:
        return False
    return True


def draw_of(mac: str, finding: int) -> float:
    """A number in [0, 1) for a verdict, uniform and independent of what was judged: its place in a random order."""
    return int.from_bytes(hashlib.sha256(f"draw {mac} {finding}".encode()).digest()[:6]) / 2**48


def _add_items(connection: Connection, stream: str, row: RowMapping) -> None:
    record = kept_object(row["record"])
    items: list[dict[str, Any]] = []
    for place, verdict in verdicts_in(record).items():
        provenance = cast("dict[str, Any]", verdict["provenance"])
        confidence = float(verdict["confidence"])
        items.append(
            {
                "row_id": row["id"],
                "finding": place,
                "stream": stream,
                "at": row["at"],
                "caller": row["caller"],
                "model": provenance.get("model"),
                "label": verdict["label"],
                "error_type": _type_of(verdict.get("error_type")),
                "score": float(verdict["score"]),
                "confidence": confidence,
                "doubt": abs(confidence - 0.5),
                "draw": draw_of(row["mac"], place),
                "decided": 0,
                "contested": False,
                "objected": False,
                "gold_label": None,
                "gold_type": None,
            }
        )
    if items:
        connection.execute(insert(REVIEW_ITEMS), items)


def _add_review(connection: Connection, row: RowMapping) -> None:
    given = review_fields(row["details"], row["record"])
    item = ItemId(row["about"], given["finding"])
    found = connection.execute(select(REVIEW_ITEMS).where(of_item(REVIEW_ITEMS, item))).mappings().one_or_none()
    if found is None:
        return  # a review of something that is no verdict
    action = given["action"]
    event = {
        "id": row["id"],
        "row_id": item.row,
        "finding": item.finding,
        "at": row["at"],
        "reviewer": row["caller"],
        "action": action,
        "label": None,
        "error_type": None,
        "policy": given["policy"],
        "seed": given["seed"],
        "undone": False,
    }
    if action == "decide":
        event["label"], event["error_type"] = resolved(given["label"], given["error_type"], dict(found))
    connection.execute(insert(REVIEW_EVENTS), event)
    if action == "undo":
        mine = and_(REVIEW_EVENTS.c.id == given["undoes"], REVIEW_EVENTS.c.reviewer == row["caller"])
        connection.execute(update(REVIEW_EVENTS).where(mine, of_item(REVIEW_EVENTS, item)).values(undone=True))
    _update_state(connection, item)


def review_fields(details: str, record: str | None) -> dict[str, Any]:
    """What a row of a review says; a review that was not made here is a decision."""
    provenance: Any = kept_object(details).get("provenance")
    kept: Any = cast("dict[str, Any]", provenance).get("review") if isinstance(provenance, dict) else None
    given: dict[str, Any] = cast("dict[str, Any]", kept) if isinstance(kept, dict) else kept_object(record)
    finding, action = given.get("finding"), given.get("action")
    known = isinstance(finding, int) and 0 <= finding <= _LARGEST_FINDING
    return {
        "action": action if action in _SAID else "decide",
        "finding": finding if known else 0,
        **{name: given.get(name) for name in ("label", "error_type", "policy", "seed", "undoes")},
    }


def resolved(label: str | None, error_type: str | None, verdict: Mapping[str, Any]) -> tuple[str, str | None]:
    """Label and error type of a decision: what is not given confirms the verdict, as far as it fits the label.

    >>> resolved(None, None, {"label": "Not Attributable", "error_type": "fabrication"})
    ('Not Attributable', 'fabrication')
    """
    final = str(label if label in get_args(Label) else verdict["label"])
    if final == "Attributable":
        return final, None
    confirmed = verdict["error_type"] if final == verdict["label"] else None
    return final, _type_of(error_type) or confirmed


@dataclass(frozen=True, slots=True)
class Vote:
    """The newest decision of a reviewer."""

    id: int
    label: str
    error_type: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the decisions on a verdict add up to."""

    decided: int
    contested: bool
    label: str | None
    error_type: str | None


def outcome_of(votes: Sequence[Vote]) -> Outcome:
    """The rule by which reviews become gold.

    The newest decision of each reviewer counts. The label is the one that more than half of them gave; without one, the
    verdict is contested until a further reviewer decides, or one of them decides anew. The error type is the one that
    more than half of those with that label gave. Where two reviewers agree on the label and not on the type, a third
    one is asked; if there is still no majority, the type stays open and the label counts.

    >>> outcome_of([Vote(1, "Attributable", None), Vote(2, "Not Attributable", "fabrication")])
    Outcome(decided=2, contested=True, label=None, error_type=None)
    >>> votes = [Vote(n, "Not Attributable", kind) for n, kind in enumerate(["fabrication", "negation_flip", None])]
    >>> outcome_of(votes[:2]).contested, outcome_of(votes)
    (True, Outcome(decided=3, contested=False, label='Not Attributable', error_type=None))
    """
    label = _majority(vote.label for vote in votes)
    if label is None:
        return Outcome(len(votes), len(votes) > 1, None, None)
    types = [vote.error_type for vote in votes if vote.label == label]
    kind = _majority(types)
    return Outcome(len(votes), len(votes) == 2 and len(set(types)) == 2, label, kind)


def _majority(given: Iterable[str | None]) -> str | None:
    """What more than half of them are; None without that."""
    counts = Counter(given)
    name, number = counts.most_common(1)[0] if counts else (None, 0)
    return name if 2 * number > counts.total() else None


def votes_of(events: Iterable[Mapping[str, Any]]) -> list[Vote]:
    """The newest decision of each reviewer that was not taken back, by id."""
    newest: dict[str, Vote] = {}
    for event in sorted(events, key=lambda one: one["id"]):
        if event["action"] == "decide" and not event["undone"]:
            newest[event["reviewer"]] = Vote(event["id"], event["label"], event["error_type"])
    return sorted(newest.values(), key=lambda vote: vote.id)


def _update_state(connection: Connection, item: ItemId) -> None:
    events = connection.execute(select(REVIEW_EVENTS).where(of_item(REVIEW_EVENTS, item))).mappings().all()
    votes = votes_of(cast("Sequence[Mapping[str, Any]]", events))
    found = outcome_of(votes)
    newest = max((vote.id for vote in votes), default=0)
    objected = any(e["action"] == "object" and not e["undone"] and e["id"] > newest for e in events)
    state = {
        "decided": found.decided,
        "contested": found.contested,
        "objected": objected,
        "gold_label": found.label,
        "gold_type": found.error_type,
    }
    connection.execute(update(REVIEW_ITEMS).where(of_item(REVIEW_ITEMS, item)).values(state))


def _type_of(given: Any) -> str | None:
    return given if given in ERROR_TYPES else None


def kept_object(text: str | None) -> dict[str, Any]:
    """The object in a text that the ledger keeps; empty where it was erased or is no object."""
    try:
        found: Any = parse_json(text or "{}")
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
