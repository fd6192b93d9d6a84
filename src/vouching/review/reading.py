"""Rows of the queue's tables as records, with the texts of the ledger."""

from __future__ import annotations

import json
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, RowMapping, select

from vouching.errors import InputError
from vouching.inputs import as_sources, row_sources
from vouching.ledger.tables import CONTENTS, REVIEW_EVENTS, REVIEW_ITEMS
from vouching.review.projection import kept_object, verdicts_in
from vouching.rows.shapes import as_row
from vouching.types.ledger import LedgerRow
from vouching.types.review import ItemId, ItemLine, Review, ReviewItem, ReviewState
from vouching.types.serial import from_json
from vouching.types.spans import Source
from vouching.types.verdict import Verdict

_LARGEST = 2**63 - 1


def item_of(
    row: LedgerRow, found: RowMapping, state: ReviewState, reviews: tuple[Review, ...], locked_until: float | None
) -> ReviewItem:
    """An item with the texts of its row. Raises InputError if they were erased or never kept."""
    item = ItemId(row.id, found["finding"])
    verdict = verdicts_in(row.record or {}).get(item.finding)
    if verdict is None:
        why = "were erased" if row.erased else "were not kept"
        raise InputError(f"the texts of {item} {why}, so it cannot be reviewed: take another one")
    inputs, record = row.inputs or {}, row.record or {}
    question, response = inputs.get("question"), inputs.get("response", record.get("response"))
    return ReviewItem(
        item,
        row.at,
        row.stream,
        row.caller,
        from_json(Verdict, json.dumps(verdict)),
        sources_of(row),
        question if isinstance(question, str) else None,
        response if isinstance(response, str) else None,
        state,
        reviews,
        locked_until,
    )


def sources_of(row: LedgerRow) -> tuple[Source, ...]:
    """What was judged against; empty where the ledger does not have all texts, for example only digests."""
    for part in (row.inputs, row.record):
        try:
            given = row_sources(as_row(dict(part or {})), needed=False)
            if given:
                return as_sources(given)
        except InputError:
            continue
    return ()


def line_of(row: RowMapping, state: ReviewState) -> ItemLine:
    """A row of the items as a line of a list."""
    names = (
        "at",
        "stream",
        "caller",
        "model",
        "label",
        "error_type",
        "score",
        "confidence",
        "decided",
        "objected",
        "gold_label",
        "gold_type",
    )
    return ItemLine(ItemId(row["row_id"], row["finding"]), state=state, **{name: row[name] for name in names})


def read_reviews(connection: Connection, which: ColumnElement[bool], limit: int = _LARGEST) -> list[Review]:
    """The entries of the audit that meet a condition, the newest first."""
    joined = REVIEW_EVENTS.outerjoin(CONTENTS, CONTENTS.c.id == REVIEW_EVENTS.c.id).outerjoin(
        REVIEW_ITEMS,
        (REVIEW_ITEMS.c.row_id == REVIEW_EVENTS.c.row_id) & (REVIEW_ITEMS.c.finding == REVIEW_EVENTS.c.finding),
    )
    asked = select(
        *REVIEW_EVENTS.c,
        CONTENTS.c.record,
        REVIEW_ITEMS.c.label.label("was"),
        REVIEW_ITEMS.c.error_type.label("was_type"),
    )
    asked = asked.select_from(joined).where(which).order_by(REVIEW_EVENTS.c.id.desc()).limit(limit)
    return [_review_of(row) for row in connection.execute(asked).mappings()]


def _review_of(row: RowMapping) -> Review:
    said = kept_object(row["record"])
    span, fix, note, undoes = (said.get(name) for name in ("span", "fix", "note", "undoes"))
    return Review(
        row["id"],
        ItemId(row["row_id"], row["finding"]),
        row["at"],
        row["reviewer"],
        row["action"],
        row["label"],
        row["error_type"],
        row["undone"],
        row["policy"],
        {"label": row["was"], "error_type": row["was_type"]},
        _span(span),
        fix if isinstance(fix, str) else None,
        note if isinstance(note, str) else "",
        undoes if isinstance(undoes, int) else None,
    )


def _span(given: Any) -> tuple[int, int] | None:
    members = cast("list[Any]", given) if isinstance(given, list) else []
    return (members[0], members[1]) if len(members) == 2 and all(isinstance(one, int) for one in members) else None
