"""The routes that read the ledger, and take reviews of what is in it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request

from vouching.errors import ConfigError
from vouching.serve import bodies
from vouching.serve.recording import Recorder
from vouching.types.ledger import Entry, Filters, LedgerRow

if TYPE_CHECKING:
    from vouching.serve.service import Service

_MAX_ROWS = 500
LARGEST = 2**63 - 1
"""The largest number that a database has."""


def add_history(app: FastAPI, service: Service, described: Any) -> None:
    """Add the routes to an application."""

    @app.get("/v1/verdicts", response_model=bodies.Rows, **described)
    async def verdicts(
        filters: Annotated[Asked, Query()],
    ) -> bodies.Rows:
        """What was judged, the newest first: filter it, search in its texts, and page through it."""
        return await rows_of(service, filters, None)

    @app.get("/v1/verdicts/{id}", response_model=LedgerRow, **described)
    async def verdict(id: int) -> LedgerRow:
        """One row, with its inputs and record unless they were erased or never kept."""
        return await ledger_of(service).reads(lambda ledger: ledger.get(id))

    @app.get("/v1/reviews", response_model=bodies.Rows, **described)
    async def reviews(filters: Annotated[Asked, Query()]) -> bodies.Rows:
        """The reviews, the newest first; `about` names the row that they are about."""
        return await rows_of(service, filters, "review")

    @app.post("/v1/reviews", response_model=LedgerRow, status_code=201, **described)
    async def review(body: bodies.ReviewBody, request: Request) -> LedgerRow:
        """Confirm or correct a verdict. The row itself stays as it is."""
        recorder = ledger_of(service)
        row = await recorder.reads(lambda ledger: ledger.get(body.about))
        record = {"kind": "review", **body.model_dump(mode="json", exclude={"about"})}
        entry = Entry(row.stream, "review", {}, record, request.state.key.name, about=row.id)
        kept = await recorder.keep(entry)
        return await recorder.reads(lambda ledger: ledger.get(kept))


class Asked(bodies.Body):
    """What to find; ``text`` as for :meth:`vouching.ledger.Ledger.search`."""

    text: str | None = None
    caller: str | None = None
    stream: str | None = None
    kind: str | None = None
    about: Annotated[int | None, Query(ge=1, le=LARGEST)] = None
    label: str | None = None
    error_type: str | None = None
    model: str | None = None
    passed: bool | None = None
    since: str | None = None
    until: str | None = None
    max_confidence: float | None = None
    limit: Annotated[int, Query(ge=1, le=_MAX_ROWS)] = 100
    before: Annotated[int | None, Query(ge=1, le=LARGEST)] = None


def ledger_of(service: Service) -> Recorder:
    """The ledger of a server. Raises ConfigError if it keeps none."""
    if service.recorder is None:
        raise ConfigError("this server keeps no ledger: set serve.ledger in its policy file, or pass --ledger")
    return service.recorder


async def rows_of(service: Service, asked: Asked, kind: str | None) -> bodies.Rows:
    """A page of the rows that match, of one kind or of all."""
    given: dict[str, Any] = {field.name: getattr(asked, field.name) for field in fields(Filters)}
    given["kind"] = kind or asked.kind
    filters = Filters(**given)
    rows = await ledger_of(service).reads(
        lambda ledger: ledger.search(filters, asked.text, asked.limit + 1, asked.before)
    )
    shown = rows[: asked.limit]
    return bodies.Rows(rows=shown, next=shown[-1].id if len(rows) > len(shown) else None)
