"""The routes of the review queue: take the next verdict, decide it, skip it, take back; who did what.

A reviewer is the name of an API key or, on a server without keys, the name that a session states. With the header
``Accept: text/html`` an item is answered as the page draws it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from fastapi import FastAPI, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from vouching.errors import InputError
from vouching.review import ItemTakenError, ReviewQueue
from vouching.serve import bodies
from vouching.serve.history import LARGEST, ledger_of
from vouching.serve.keys import Key, caller_of
from vouching.serve.review_page import item_piece
from vouching.serve.work import Rejected
from vouching.types import Source, Verdict
from vouching.types.review import (
    Decision,
    ItemId,
    ItemLine,
    Policy,
    QueueCounts,
    QueueFilters,
    Review,
    ReviewItem,
    ReviewState,
)
from vouching.types.spans import ErrorType, Label

if TYPE_CHECKING:
    from vouching.serve.service import Service

T = TypeVar("T")
_Id = Annotated[str, BeforeValidator(str), Field(description="Row of the ledger and finding of its report: 17.2.")]
_CONFLICT = 409


class _Read(BaseModel):
    """A record of the library as JSON."""

    model_config = ConfigDict(from_attributes=True)


class ReviewEntry(_Read):
    """One entry of the audit, as :class:`vouching.review.Review`."""

    id: int
    item: _Id
    at: str
    reviewer: str
    action: str
    label: str | None
    error_type: str | None
    undone: bool
    policy: str | None
    before: dict[str, Any]
    span: tuple[int, int] | None
    fix: str | None
    note: str
    undoes: int | None


class Item(_Read):
    """A verdict to review, as :class:`vouching.review.ReviewItem`."""

    id: _Id
    at: str
    stream: str
    caller: str
    verdict: Verdict
    sources: tuple[Source, ...]
    question: str | None
    response: str | None
    state: ReviewState
    reviews: list[ReviewEntry]
    locked_until: float | None


class Taken(BaseModel):
    """The item that the reviewer has in hand, and how much is left."""

    item: Item | None = Field(description="Null if none is left.")
    counts: QueueCounts


class Line(_Read):
    """A verdict in a list, as :class:`vouching.review.ItemLine`."""

    id: _Id
    at: str
    stream: str
    caller: str
    model: str | None
    label: str
    error_type: str | None
    score: float
    confidence: float
    state: ReviewState
    decided: int
    objected: bool
    gold_label: str | None
    gold_type: str | None


class Lines(BaseModel):
    """A part of the queue."""

    items: list[Line]
    counts: QueueCounts


class NextBody(bodies.FilteredBody):
    """Which verdict comes next."""

    model_config = bodies.example({"policy": "uncertain"})
    policy: Policy = Field("uncertain", description="uncertain: confidence nearest to one half; disputed; sampled.")


class _Listed(bodies.FilteredBody):
    policy: Policy = "uncertain"
    state: ReviewState | None = None
    limit: Annotated[int, Query(ge=1, le=500)] = 100
    offset: Annotated[int, Query(ge=0, le=LARGEST)] = 0


class DecisionBody(bodies.Body):
    """What a reviewer says; an empty object confirms the verdict."""

    model_config = bodies.example(
        {"label": "Not Attributable", "error_type": "temporal_shift", "note": "The source says 1973."}
    )
    label: Label | None = Field(None, description="The right label; null confirms the verdict's.")
    error_type: ErrorType | None = Field(None, description="The right error type.")
    span: tuple[int, int] | None = Field(None, description="The wrong part of the claim: start and end.")
    fix: str | None = Field(None, max_length=50_000, description="The claim as it should read.")
    note: str = Field("", max_length=10_000, description="Other remarks.")


class SkipBody(bodies.Body):
    """Why a verdict is put back."""

    model_config = bodies.example({"note": "I do not know this field."})
    note: str = Field("", max_length=10_000, description="Why.")


class ObjectionBody(bodies.Body):
    """Why a caller does not accept a verdict."""

    model_config = bodies.example({"note": "The source says 1973."})
    note: str = Field("", max_length=10_000, description="Why.")


class _Audited(bodies.Body):
    item: str | None = None
    reviewer: str | None = None
    limit: Annotated[int, Query(ge=1, le=500)] = 100
    before: Annotated[int | None, Query(ge=1, le=LARGEST)] = None


def add_reviewing(app: FastAPI, service: Service, described: Any) -> None:
    """Add the routes to an application."""
    _add_taking(app, service, described)

    @app.get("/v1/queue", response_model=Lines, **described)
    async def queue(asked: Annotated[_Listed, Query()]) -> Lines:
        """The verdicts of the queue in the order of a policy, of every state, and how many there are."""
        filters = filters_of(asked)

        def read(queue: ReviewQueue) -> tuple[list[ItemLine], QueueCounts]:
            lines = queue.lines(asked.policy, filters, asked.state, asked.limit, asked.offset)
            return lines, queue.counts(filters)

        lines, counts = await with_queue(service, read)
        return Lines(items=[Line.model_validate(line) for line in lines], counts=counts)

    @app.get("/v1/queue/audit", response_model=list[ReviewEntry], **described)
    async def audit(asked: Annotated[_Audited, Query()]) -> list[Review]:
        """Who changed what, the newest first, with what was taken back."""
        item = None if asked.item is None else ItemId.read(asked.item)
        return await with_queue(service, lambda queue: queue.audit(item, asked.reviewer, asked.limit, asked.before))

    @app.post("/v1/queue/{id}/decide", response_model=Item, **described)
    async def decide(id: str, body: DecisionBody, request: Request) -> ReviewItem:
        """Confirm or correct a verdict. Status 409 if somebody else took it meanwhile."""
        decision = Decision(body.label, body.error_type, body.span, body.fix, body.note)
        return await with_queue(service, lambda queue: queue.decide(reviewer_of(request), ItemId.read(id), decision))

    @app.post("/v1/queue/{id}/skip", status_code=204, **described)
    async def skip(id: str, body: SkipBody, request: Request) -> None:
        """Put a verdict back; this reviewer is not offered it again."""
        await with_queue(service, lambda queue: queue.skip(reviewer_of(request), ItemId.read(id), body.note))

    @app.post("/v1/queue/{id}/object", status_code=204, **described)
    async def object_to(id: str, body: ObjectionBody, request: Request) -> None:
        """Say that a verdict is wrong: it is disputed until a reviewer decides it. A caller objects to its own ones."""
        key: Key = request.state.key

        def work(queue: ReviewQueue) -> None:
            item = ItemId.read(id)
            if not key.allows("review") and queue.ledger.get(item.row).caller != caller_of(key):
                raise InputError(f"there is no verdict {item} of the key {key.id}: object to one of its own")
            queue.object(key.name, item, body.note)

        await with_queue(service, work)


def _add_taking(app: FastAPI, service: Service, described: Any) -> None:
    @app.post("/v1/queue/next", response_model=Taken, **described)
    async def take(body: NextBody, request: Request) -> Any:
        """Take the next verdict: no one else gets it for `serve.lock_seconds`."""
        filters = filters_of(body)
        return await _taken(
            service, request, lambda queue: queue.take(reviewer_of(request), body.policy, filters), filters
        )

    @app.post("/v1/queue/undo", response_model=Taken, **described)
    async def undo(request: Request) -> Any:
        """Take back what this reviewer did last; the verdict is in their hand again."""
        return await _taken(service, request, lambda queue: queue.undo(reviewer_of(request)))

    @app.post("/v1/queue/release", status_code=204, **described)
    async def release(request: Request) -> None:
        """Put back what this reviewer has in hand."""
        await with_queue(service, lambda queue: queue.release(reviewer_of(request)))

    @app.post("/v1/queue/{id}/take", response_model=Taken, **described)
    async def take_item(id: str, request: Request) -> Any:
        """Take one verdict, also a decided one. Status 409 if somebody else has it."""
        return await _taken(service, request, lambda queue: queue.take_item(reviewer_of(request), ItemId.read(id)))


async def with_queue(service: Service, work: Callable[[ReviewQueue], T]) -> T:
    """The result of ``work`` with the queue of the server's ledger, in a thread. Raises Rejected for a taken item."""
    settings = service.policy.serve
    try:
        return await ledger_of(service).reads(
            lambda ledger: work(ReviewQueue(ledger, settings.reviewers, settings.lock_seconds))
        )
    except ItemTakenError as error:
        raise Rejected(str(error), _CONFLICT) from None


async def _taken(
    service: Service,
    request: Request,
    take: Callable[[ReviewQueue], ReviewItem | None],
    filters: QueueFilters | None = None,
) -> Taken | Response:
    item, counts = await with_queue(service, lambda queue: (take(queue), queue.counts(filters)))
    item = None if item is None else _unswayed(item, reviewer_of(request))
    if "text/html" in request.headers.get("accept", ""):
        return await item_piece(service, item, counts)
    return Taken(item=None if item is None else Item.model_validate(item), counts=counts)


def filters_of(body: bodies.FilteredBody) -> QueueFilters:
    """The filters in a request that has their fields; a blank one does not restrict."""
    return QueueFilters(**{field.name: getattr(body, field.name, None) or None for field in fields(QueueFilters)})


def _unswayed(item: ReviewItem, reviewer: str) -> ReviewItem:
    """The item without what others said about it, as long as the reviewer has not decided."""
    mine = tuple(one for one in item.reviews if one.reviewer == reviewer)
    has_decided = any(one.action == "decide" and not one.undone for one in mine)
    return item if has_decided else replace(item, reviews=mine)


def reviewer_of(request: Request) -> str:
    """The name of whoever asks: of the key, or the one that a session states."""
    return cast("str", request.state.key.name)
