"""The page of what was judged: search it, filter it, and read an entry beside its sources."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args
from urllib.parse import urlencode

from fastapi import FastAPI, Query, Request
from fastapi.responses import HTMLResponse, Response

from vouching.errors import InputError
from vouching.inputs import as_sources, row_sources
from vouching.report.page import Entry, workspace_html
from vouching.review.projection import review_fields, verdicts_in
from vouching.rows.shapes import as_row
from vouching.serve.frame import json_text, page, piece
from vouching.serve.history import Asked, ledger_of, rows_of
from vouching.serve.work import Rejected
from vouching.types import Report, Source, Unverified, Verdict
from vouching.types.ledger import EntryKind, Filters, LedgerRow
from vouching.types.review import ItemId
from vouching.types.serial import from_json
from vouching.types.spans import ERROR_TYPES
from vouching.types.visible import shorten, visible_line

if TYPE_CHECKING:
    from vouching.ledger import Ledger
    from vouching.serve.service import Service

_REVIEWS = 100
"""Reviews of an entry that are shown."""
_LONGEST_LINE = 300
_LONGEST_TITLE = 90
"""Characters of the heading of an entry: on a phone, three lines."""
_LABELS = ("Attributable", "Not Attributable", "passed", "failed", "unverified")
_STATES = {
    "Attributable": "match",
    "passed": "match",
    "Not Attributable": "mismatch",
    "failed": "mismatch",
    "unverified": "unverified",
}
_SUBJECTS = ("claim", "response", "question", "instruction", "note")


@dataclass(frozen=True, slots=True)
class Line:
    """An entry in the list."""

    row: LedgerRow
    state: str
    """Its status as in reports; empty for what has none."""
    text: str
    """What was judged, on one line."""
    extent: str
    """How many findings, if it is a report."""


def add_history_page(app: FastAPI, service: Service) -> None:
    """Add the page and its entries to an application."""

    @app.get("/history", response_class=HTMLResponse, include_in_schema=False)
    async def history(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        if service.recorder is None or not request.state.key.allows("read"):
            return page(request, service, "read", "history.html.jinja")
        listed = asked.model_copy(update={name: None for name, value in asked if value == ""})
        found = await rows_of(service, listed, listed.kind)
        values = {
            "lines": [line_of(row) for row in found.rows],
            "older": f"/history?{_query(listed, found.next)}" if found.next else "",
            "newest": f"/history?{_query(listed, None)}" if listed.before else "",
        }
        if "x-part" in request.headers:  # the list alone, for the script of the page
            return piece("history_rows.html.jinja", **values)
        return page(
            request,
            service,
            "read",
            "history.html.jinja",
            title="History",
            given=listed,
            kinds=get_args(EntryKind),
            labels=_LABELS,
            error_types=ERROR_TYPES,
            **values,
        )

    @app.get("/history/{id}", response_class=HTMLResponse, include_in_schema=False)
    async def entry(request: Request, id: str) -> Response:
        if service.recorder is None or not request.state.key.allows("read"):
            return page(request, service, "read", "entry.html.jinja")
        row, about = await ledger_of(service).reads(lambda ledger: _entry(ledger, id))
        reviews = [one for one in about if one.kind == "review"]
        key = request.state.key
        shown = _shown_reviews(reviews, key.name) if key.allows("review") else reviews
        title = _title(line_of(row).text) or f"Entry {id}"
        return page(
            request,
            service,
            "read",
            "entry.html.jinja",
            title=title,
            row=row,
            reviews=shown,
            hidden=len(reviews) - len(shown),
            workspace=_workspace(service, row),
            raw=json_text(row),
            reviewable=_reviewable(row),
        )


def _title(text: str) -> str:
    """The beginning of a text, to its last whole word.

    >>> _title("The bridge opened to traffic in 1973, and it has three towers, of which two can be visited in summer.")
    'The bridge opened to traffic in 1973, and it has three towers, of which two can be …'
    """
    return text if len(text) <= _LONGEST_TITLE else f"{text[:_LONGEST_TITLE].rpartition(' ')[0] or text[:40]} …"


def _entry(ledger: Ledger, id: str) -> tuple[LedgerRow, list[LedgerRow]]:
    """An entry and what is about it. Raises Rejected if there is none."""
    try:
        row = ledger.get(int(id) if re.fullmatch("[0-9]{1,18}", id) else 0)
    except InputError:
        words = f"the ledger has no entry {visible_line(id)[:40]}: search for it in the history, or check the address"
        raise Rejected(words, HTTPStatus.NOT_FOUND) from None
    return row, ledger.search(Filters(about=row.id), limit=_REVIEWS)


def line_of(row: LedgerRow) -> Line:
    """An entry as a line of the list."""
    record: Mapping[str, Any] = row.record or {}
    inputs: Mapping[str, Any] = row.inputs or {}
    given: list[Any] = [inputs.get(name) for name in _SUBJECTS]
    given += [cast("Any", record.get("claim") or {}).get("text"), record.get("response")]
    texts = [text for text in given if isinstance(text, str) and text]
    claims = cast("list[object]", inputs["claim"]) if isinstance(inputs.get("claim"), list) else []
    findings = record.get("findings")
    number = len(cast("Sequence[object]", findings)) if isinstance(findings, list) else 0
    extent = f"{number:,} finding{'' if number == 1 else 's'}" if number else ""
    text = texts[0] if texts else " · ".join(map(str, claims)) or str(inputs.get("method", ""))
    if row.kind == "review":
        text = f"Review of entry {row.about}{': ' if record.get('note') else ''}{record.get('note') or ''}"
    shown = shorten(visible_line(text), _LONGEST_LINE) or ("Texts erased" if row.erased else "Texts not kept")
    return Line(row, _STATES.get(row.label or "", ""), shown, extent)


def entries_of(row: LedgerRow, sources: Sequence[Source]) -> list[Entry]:
    """The findings of an entry with their sources, as a report shows them; empty for records of another kind."""
    record: Mapping[str, Any] = row.record or {}
    findings = cast("list[Mapping[str, Any]]", record["findings"] if record.get("kind") == "outcomes" else [record])
    given = tuple(sources)
    found: list[Entry] = []
    for one in findings:
        text = json.dumps(one)
        if one.get("kind") == "verdict":
            found.append(Entry(from_json(Verdict, text), given))
        elif one.get("kind") == "unverified":
            found.append(Entry(from_json(Unverified, text), given))
        elif one.get("kind") == "report":
            found.append(Entry(from_json(Report, text)))
    return found


def _shown_reviews(reviews: Sequence[LedgerRow], reviewer: str) -> list[LedgerRow]:
    """What a reviewer may read: their own reviews, and those of others on verdicts that they have decided."""
    said_in = {
        one.id: review_fields(json.dumps({"provenance": dict(one.provenance)}), json.dumps(one.record))
        for one in reviews
    }
    own = [(one.id, said_in[one.id]) for one in reviews if one.caller == reviewer]
    undone = {said["undoes"] for _, said in own if said["action"] == "undo"}
    decided = {said["finding"] for id, said in own if said["action"] == "decide" and id not in undone}
    return [one for one in reviews if one.caller == reviewer or said_in[one.id]["finding"] in decided]


def _reviewable(row: LedgerRow) -> str:
    """The id in the review queue of the first verdict that is Not Attributable, else of the first one; else empty."""
    found = verdicts_in(row.record or {}) if row.kind in ("check", "check-response") else {}
    first = sorted(found, key=lambda place: (found[place].get("label") == "Attributable", place))
    return str(ItemId(row.id, first[0])) if first else ""


def _workspace(service: Service, row: LedgerRow) -> str:
    """The findings beside their sources as HTML; empty for an entry without such."""
    try:
        entries = entries_of(row, sources_of_row(service, row))
    except InputError:  # a record of an older or a newer version: its JSON is shown
        return ""
    return workspace_html(entries) if entries else ""


def sources_of_row(service: Service, row: LedgerRow) -> Sequence[Source]:
    """What was judged against, as far as the ledger or the server still has it."""
    fields: dict[str, Any] = dict(row.inputs or {})
    sources = fields.get("sources")
    if isinstance(sources, list):
        given = cast("list[str | dict[str, Any]]", sources)
        fields["sources"] = [_with_text(service, one, number) for number, one in enumerate(given, 1)]
    try:
        found = row_sources(as_row(fields), needed=False)
        return as_sources(found) if found else ()
    except InputError:
        return ()


def _with_text(service: Service, source: str | dict[str, Any], number: int) -> dict[str, Any]:
    """A source of a request with its text, if the server has it, under the id that the judge gave it."""
    given = {"text": source} if isinstance(source, str) else dict(source)
    digest = given.pop("digest", None)
    if digest:
        try:
            given["text"] = service.kept.text(str(digest))
        except InputError:
            given["text"] = "This source was named by its digest, and the server no longer has its text."
    return {"id": f"source-{number}", **given}


def _query(asked: Asked, before: int | None) -> str:
    given = asked.model_dump(exclude={"limit", "before"}, exclude_none=True)
    return urlencode(given if before is None else {**given, "before": before})
