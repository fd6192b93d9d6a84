"""The route by which a lead assigns verdicts of the review queue, and takes them back."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Request
from pydantic import BaseModel, Field

from vouching.errors import InputError
from vouching.review import ItemId, ReviewQueue, assign, assign_next, unassign
from vouching.review.assigning import MOST
from vouching.serve import bodies
from vouching.serve.reviewing import filters_of, reviewer_of, with_queue
from vouching.types.review import Policy

if TYPE_CHECKING:
    from vouching.serve.service import Service


class AssignBody(bodies.FilteredBody):
    """Which verdicts, and to whom: single ones by their ids, or the next ones of an order."""

    model_config = bodies.example({"reviewer": "Ada", "number": 50, "policy": "sampled"})
    reviewer: str | None = Field(None, description="Name of the reviewer's key; null releases the items.")
    items: Annotated[list[str], Field(max_length=MOST)] | None = Field(None, description="Ids of verdicts, as 17.2.")
    number: int | None = Field(None, ge=1, le=MOST, description="Instead of items: how many of the order.")
    policy: Policy = Field("uncertain", description="Their order.")


class Assigned(BaseModel):
    """What was assigned, or released."""

    items: list[str] = Field(description="Ids of the verdicts whose reviewer changed.")


def add_assigning(app: FastAPI, service: Service, described: Any) -> None:
    """Add the route to an application."""

    @app.post("/v1/queue/assign", response_model=Assigned, **described)
    async def assign_to(body: AssignBody, request: Request) -> Assigned:
        """Assign verdicts to a reviewer: no one else gets them until they are decided, skipped or released."""
        lead = reviewer_of(request)
        if (body.items is None) == (body.number is None):
            raise InputError("pass either items, a list of ids, or number, how many of the order")
        if body.reviewer is not None:
            _refuse_unknown(service, body.reviewer)
        given = [ItemId.read(one) for one in body.items or []]

        def work(queue: ReviewQueue) -> list[ItemId]:
            if body.reviewer is None:
                if not given:
                    raise InputError("name the items to release, as items; see  GET /v1/queue?assignee=NAME")
                return unassign(queue, lead, given)
            if body.number is None:
                return assign(queue, lead, body.reviewer, given)
            return assign_next(queue, lead, body.reviewer, body.number, body.policy, filters_of(body))

        return Assigned(items=[str(item) for item in await with_queue(service, work)])


def _refuse_unknown(service: Service, name: str) -> None:
    names = service.reviewers()
    if service.keys is not None and name not in names:
        near = difflib.get_close_matches(name, names, 1) or names[:1]
        hint = f"did you mean {near[0]!r}?" if near else "add a key with  vouch serve keys add NAME --scope review"
        raise InputError(f"no valid key with the scope review has the name {name[:80]!r}: {hint}")
