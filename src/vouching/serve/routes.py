"""The routes of the HTTP API. A route reads its body, has the pool judge it, and writes the record as it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from fastapi.security import HTTPBearer
from pydantic import TypeAdapter

from vouching.client.problems import MEDIA_TYPE, Problem, problem_of
from vouching.errors import VouchError
from vouching.judging.verifier import Outcome
from vouching.serve import bodies
from vouching.serve.decisions import add_decisions
from vouching.serve.events import kept_alive
from vouching.serve.gate import problem_json
from vouching.serve.history import add_history
from vouching.serve.history_page import add_history_page
from vouching.serve.judges import Show
from vouching.serve.keys import caller_of
from vouching.serve.page import add_page
from vouching.serve.recording import Asked
from vouching.serve.review_page import add_review_page
from vouching.serve.reviewing import add_reviewing
from vouching.serve.signing_in import add_sessions
from vouching.serve.trainers import rewards_of, trainer_rows
from vouching.types import Assurance, ContextReport, Ranking, Report, Unverified, Verdict
from vouching.types.ledger import EntryKind
from vouching.types.serial import AnyRecord, to_json
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.serve.service import Service

T = TypeVar("T")

# By reference: with the type, FastAPI would build its schema again for each status of each route.
_PROBLEM: dict[str, Any] = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {**_PROBLEM, "description": words}
    for code, words in {
        400: "The body cannot be read.",
        401: "No key, or one that is unknown or revoked.",
        403: "The key lacks the scope.",
        408: "The body arrived too slowly.",
        413: "The body is too large.",
        422: "The input or a setting cannot be used.",
        429: "Too many requests: try again after Retry-After seconds.",
        502: "A model or a search failed.",
        503: "A model is busy or out of reach: try again later.",
        504: "The request took too long.",
    }.items()
}
"""The errors of every route."""
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "An event per claim (finding, with a verdict or an unverified claim), then the event end; a "
        "problem instead if the judge fails on the way.",
        "content": {"text/event-stream": {}},
    }
}


def add_routes(app: FastAPI, service: Service) -> None:
    """Add every route to an application."""
    # The gate checks keys; here they are only described.
    bearer = [Depends(HTTPBearer(auto_error=False, description="A key of vouch serve keys add"))]
    described: Any = {"responses": PROBLEMS, "dependencies": bearer}
    _add_checks(app, service, described)
    _add_traces(app, service, described)
    _add_other_methods(app, service, described)
    _add_rewards(app, service, described)
    add_decisions(app, service, described)
    add_history(app, service, described)
    _add_state(app, service)
    add_sessions(app, service, described)
    add_history_page(app, service)
    add_reviewing(app, service, described)
    add_review_page(app, service)
    add_page(app, service, described)
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        described = plain()
        described["components"]["schemas"].setdefault("Problem", TypeAdapter(Problem).json_schema())
        return described

    app.openapi = openapi


def _caller(request: Request) -> str:
    return caller_of(request.state.key)


def _asked(request: Request, kind: EntryKind, body: bodies.Body) -> Asked:
    return Asked(kind, body.model_dump(mode="json", exclude_none=True), _caller(request))


def _json(record: AnyRecord | list[Outcome]) -> Response:
    text = f"[{','.join(map(to_json, record))}]" if isinstance(record, list) else to_json(record)
    return Response(text, media_type="application/json")


def _add_checks(app: FastAPI, service: Service, described: Any) -> None:
    @app.post("/v1/check", response_model=Verdict | Unverified | list[Verdict | Unverified], **described)
    async def check(body: bodies.CheckBody, request: Request) -> Response:
        """Check a claim, or each of a list of claims, against sources."""

        def record(outcomes: list[Outcome]) -> Outcome | list[Outcome]:
            return outcomes[0] if isinstance(body.claim, str) else outcomes

        job = partial(service.judges.check, body)
        return _json(record(await service.judge(job, _asked(request, "check", body), body.judge, record=record)))

    @app.post("/v1/check-response", response_model=Report, **described)
    async def check_response(body: bodies.ResponseBody, request: Request) -> Response:
        """Check a whole response claim by claim, and repair it if asked.

        With the header `Accept: text/event-stream`, each finding arrives as an event as soon as it is known, and the
        report in the event `end`.
        """
        asked = _asked(request, "check-response", body)
        job = partial(service.judges.check_response, body)
        if "text/event-stream" not in request.headers.get("accept", ""):
            return _json(await service.judge(job, asked, body.judge))
        service.pool.refuse_if_full(asked.caller)  # while the status can still say so
        return _events(lambda show: service.judge(job, asked, body.judge, show), to_json)

    streamed: Any = {**described, "responses": {**PROBLEMS, **_EVENTS}}

    @app.post("/v1/stream", **streamed, response_class=StreamingResponse)
    async def stream(body: bodies.StreamBody, request: Request) -> Response:
        """Check the sentences that are complete in a response that is still being written.

        Send everything written so far, with the number in the event `end` of the call before as `checked`.
        """
        asked, job = _asked(request, "check-response", body), partial(service.judges.check_written, body)
        service.pool.refuse_if_full(_caller(request))
        return _events(
            lambda show: service.judge(job, asked, body.judge, show, record=lambda done: done[0]),
            lambda done: f'{{"checked": {done[1]}}}',
        )

    @app.post("/v1/sources", response_model=bodies.KeptSource, status_code=201, **described)
    async def sources(body: bodies.SourceBody) -> bodies.KeptSource:
        """Keep a text, so that requests can name it by its digest; what was not used for long is dropped."""
        digest = await asyncio.to_thread(service.kept.keep, body.text)
        return bodies.KeptSource(digest=digest, characters=len(body.text))


def _add_traces(app: FastAPI, service: Service, described: Any) -> None:
    @app.post("/v1/check-trace", response_model=list[Report], **described)
    async def check_trace(body: bodies.TraceBody, request: Request) -> Response:
        """Check each answer of a conversation against what was known when it was given: a report per answer.

        An answer is judged and kept like a request to /v1/check-response, with its own limits.
        """
        turns = await service.judge(partial(service.judges.turns, body), record=lambda _: list[Outcome]())
        reports = [
            await service.judge(
                partial(service.judges.check_turn, turn), _asked(request, "check-response", turn), turn.judge
            )
            for turn in turns
        ]
        named = (replace(report, id=f"turn-{number}") for number, report in enumerate(reports, 1))
        return Response(f"[{','.join(map(to_json, named))}]", media_type="application/json")


def _add_other_methods(app: FastAPI, service: Service, described: Any) -> None:
    @app.post("/v1/audit", response_model=Report, **described)
    async def audit(body: bodies.AuditBody, request: Request) -> Response:
        """Ask for each number of a response again, from the sources only and blind to the response, and compare."""
        job = partial(service.judges.audit, body)
        return _json(await service.judge(job, _asked(request, "audit", body), body.judge))

    @app.post("/v1/follow", response_model=Report, **described)
    async def follow(body: bodies.FollowBody, request: Request) -> Response:
        """Judge how well a response follows its instruction."""
        job = partial(service.judges.follow, body)
        return _json(await service.judge(job, _asked(request, "follow", body), body.judge))

    @app.post("/v1/rank", response_model=Ranking, **described)
    async def rank(body: bodies.RankBody, request: Request) -> Response:
        """Rank the answers to a question by how well the sources support them."""
        job = partial(service.judges.rank, body)
        return _json(await service.judge(job, _asked(request, "rank", body), body.judge))

    @app.post("/v1/context", response_model=ContextReport | Unverified, **described)
    async def context(body: bodies.ContextBody, request: Request) -> Response:
        """Judge whether sources are enough for a question, which are relevant, and whether an answer addresses it."""
        job = partial(service.judges.context, body)
        return _json(await service.judge(job, _asked(request, "context", body), body.judge))

    @app.post("/v1/challenge", response_model=Assurance, **described)
    async def challenge(body: bodies.ChallengeBody, request: Request) -> Response:
        """Verify the proposed values of a task by its rules, and make a case against each wrong one."""
        job = partial(service.judges.challenge, body)
        return _json(await service.judge(job, _asked(request, "challenge", body), body.judge))


def _add_rewards(app: FastAPI, service: Service, described: Any) -> None:
    @app.post("/v1/reward/{method}", response_model=bodies.Rewards, response_model_exclude_none=False, **described)
    async def reward(method: str, body: bodies.RewardBody, request: Request) -> bodies.Rewards:
        """Score rows as training scores them. A row that cannot be scored has no reward, which is not 0.

        A trainer whose form has no place for a missing reward gets an error for the whole batch.
        """
        rows = trainer_rows(body)
        asked = Asked("reward", {"method": method, "rows": rows, "settings": body.settings}, _caller(request))
        lines = await service.judge(partial(service.judges.reward, method, rows, body.settings), asked)
        return rewards_of(body, lines)


def _add_state(app: FastAPI, service: Service) -> None:
    @app.get("/healthz")
    async def healthz() -> bodies.Health:
        """Whether the process serves requests at all."""
        return bodies.Health(
            status="busy" if service.pool.is_full else "ok", version=__version__, waiting=service.pool.taken
        )

    @app.get("/readyz", responses={503: {"model": bodies.Health, "description": "Every place is taken."}})
    async def readyz(response: Response) -> bodies.Health:
        """Whether this worker has a place for another request; status 503 if not."""
        health = await healthz()
        response.status_code = 503 if health.status == "busy" else 200
        return health

    @app.get("/metrics", response_class=Response, include_in_schema=False)
    async def metrics() -> Response:
        text = await asyncio.to_thread(service.metrics)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _events(judge: Callable[[Show], Awaitable[T]], last: Callable[[T], str]) -> StreamingResponse:
    """The events of a check: one per outcome, then, once it is kept, ``last`` of the result."""
    loop = asyncio.get_running_loop()
    found: asyncio.Queue[Outcome | None] = asyncio.Queue()

    def show(outcome: Outcome) -> None:
        loop.call_soon_threadsafe(found.put_nowait, outcome)

    async def events() -> AsyncGenerator[bytes]:
        task = asyncio.ensure_future(judge(show))
        task.add_done_callback(lambda _: found.put_nowait(None))
        try:
            while (outcome := await found.get()) is not None:
                yield f"event: finding\ndata: {to_json(outcome)}\n\n".encode()
            try:
                yield f"event: end\ndata: {last(task.result())}\n\n".encode()
            except VouchError as error:
                yield b"event: problem\ndata: " + problem_json(problem_of(error)) + b"\n\n"
        finally:
            task.cancel()  # the caller left: the work ends before its next claim

    return StreamingResponse(
        kept_alive(events()), media_type="text/event-stream", headers={"cache-control": "no-store"}
    )
