"""The server as a decision model: ``POST /v1/systemone``, ``POST /v1/decisions`` and ``GET /v1/models``.

A question whether the sources in the state support a claim, in one of the forms of ``claim_questions``, is answered
with the verifier's probability, and with the whole record in ``x_vouch_verdict``. Every other question
goes to the model of ``serve.decisions_fallback``; without one it is refused and never guessed: with status 422 in the
form of System One, as ``refusal`` in that of OpenAI. Errors have what the clients of both read: ``detail`` and
``error``. Not supported: images; scores (without a fallback), since a claim has no levels.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute

from vouching.client.problems import problem_of
from vouching.errors import ModelAnswerError, VouchError
from vouching.judging.verifier import Outcome
from vouching.models.decision_shapes import Json
from vouching.models.json_fields import read_json
from vouching.serve import bodies
from vouching.serve.claim_questions import ACCEPTED, asked_claim
from vouching.serve.decision_fallback import Fallback
from vouching.serve.decision_forms import (
    EVIDENCE,
    DecisionsBody,
    SystemOneBody,
    answer_of,
    evidence_of,
    questions_of,
    state_of,
    to_openai,
)
from vouching.serve.keys import caller_of
from vouching.serve.policy import DEFAULT_JUDGE
from vouching.serve.recording import Asked
from vouching.serve.work import Rejected
from vouching.text.json_values import parse_json
from vouching.types import Relation, Unverified, Verdict, total_usage
from vouching.types.serial import to_json
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.serve.service import Service

_CLIENTS_DEFAULTS = ("jev-latest", "gpt-6-luna", "vouch")
"""Models that the clients name where their user names none."""


class _Route(APIRoute):
    """Answers errors in the words that the clients of decision models read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inner = super().get_route_handler()

        async def answer(request: Request) -> Response:
            if request.method == "POST" and (fault := _fault_of(await request.body())):
                return _refused([{"loc": ["body"], "msg": fault, "type": "json_invalid"}])
            try:
                return await inner(request)
            except RequestValidationError as error:
                faults = [{key: one[key] for key in ("loc", "msg", "type")} for one in error.errors()]
                return _refused(faults)
            except VouchError as error:
                problem = problem_of(error, error.status if isinstance(error, Rejected) else None)
                detail = {"error_type": problem.error, "message": problem.detail}
                after = {"retry-after": str(round(problem.retry_after))} if problem.retry_after else None
                shared = {"message": problem.detail, "type": problem.error}
                return JSONResponse({"detail": detail, "error": shared}, problem.status, after)

        return answer


def _fault_of(body: bytes) -> str:
    """Why a body is not JSON that each reader reads alike; empty if it is."""
    try:
        read_json(body.decode())
    except ValueError as error:
        return str(error)
    return ""


def _refused(faults: Sequence[Mapping[str, Any]]) -> Response:
    said = [(".".join(map(str, one["loc"][1:])), one["msg"]) for one in faults]
    message = "; ".join(f"{place}: {fault}" if place else fault for place, fault in said)
    return JSONResponse({"detail": faults, "error": {"message": message, "type": "invalid_request_error"}}, 422)


def add_decisions(app: FastAPI, service: Service, described: Any) -> None:
    """Add the routes. Raises ConfigError for a fallback that is no decision model."""
    serve = service.policy.serve
    fallback = Fallback(serve.decisions_fallback, serve.timeout_seconds) if serve.decisions_fallback else None
    router = APIRouter(route_class=_Route, lifespan=lambda _: _closing(fallback))
    # Errors of the gate are problem objects, as on every route; the others are in the words of the clients.
    documented: Any = {
        **described,
        "responses": {
            code: {**one, "content": {**one["content"], "application/json": {"schema": dict[str, Any]()}}}
            for code, one in described["responses"].items()
        },
    }

    @router.post("/v1/systemone", response_model=None, **documented)
    async def systemone(body: SystemOneBody, request: Request) -> Response:
        """Answer questions about claims, in the form of System One (TypeSafe)."""
        questions = {name: one.model_dump(exclude_none=True) for name, one in body.questions.items()}
        found = await _Decision(service, fallback, body.model, body.state, questions).answers(request)
        refused: list[dict[str, Any]] = [
            {"loc": ["body", "questions", name], "msg": one, "type": "unsupported"}
            for name, one in found.answers.items()
            if isinstance(one, str)
        ]
        if refused and found.fallback_failed:
            raise ModelAnswerError("; ".join(one["msg"] for one in refused))
        if refused:
            return _refused(refused)
        tokens = {"input_tokens": found.tokens[0], "output_tokens": found.tokens[1]}
        return JSONResponse({"model": found.model, "answers": found.answers, "usage": tokens})

    @router.post("/v1/decisions", response_model=None, **documented)
    async def decisions(body: DecisionsBody, request: Request) -> Response:
        """Answer questions about claims, in the form of OpenAI's Decisions API."""
        questions, faults = questions_of(body)
        found = await _Decision(service, fallback, body.model, state_of(body.input), questions).answers(request)
        said = found.answers | faults
        answers = [to_openai(one, said[str(number)]) for number, one in enumerate(body.questions)]
        tokens = {
            "input_tokens": found.tokens[0],
            "output_tokens": found.tokens[1],
            "total_tokens": sum(found.tokens),
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return JSONResponse({"model": found.model, "answers": answers, "usage": tokens})

    @router.get("/v1/models", response_model=None, **documented)
    async def models() -> Response:
        """The judges of this server, in the forms of System One and of OpenAI."""
        judges = service.policy.judges.items()
        listed = [
            {"name": name, "description": f"Vouch {__version__}: {one.model}", "release_date": ""}
            for name, one in judges
        ]
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "vouch"} for name, _ in judges]
        return JSONResponse({"models": listed, "object": "list", "data": data})

    app.include_router(router)


@asynccontextmanager
async def _closing(fallback: Fallback | None) -> AsyncGenerator[None]:
    yield
    if fallback is not None:
        await fallback.aclose()


@dataclass(frozen=True, slots=True)
class _Answers:
    model: str
    """What answered."""
    answers: dict[str, Any]
    """By the name of the question: an answer in the form of System One, or why there is none."""
    tokens: tuple[int, int]
    fallback_failed: bool
    """Whether only answers of the fallback are missing."""


class _Decision:
    """One request: which questions the verifier answers, and which the fallback."""

    def __init__(
        self, service: Service, fallback: Fallback | None, model: str, state: Any, questions: dict[str, Json]
    ) -> None:
        self._service, self._fallback, self._state, self._questions = service, fallback, state, questions
        self._judge = DEFAULT_JUDGE if model in _CLIENTS_DEFAULTS else model
        self._evidence = evidence_of(state)

    async def answers(self, request: Request) -> _Answers:
        """An answer to each question, or why there is none. Raises as the judge and the fallback do."""
        asked = self._questions.items() if self._evidence else ()
        claims = {name: claim for name, one in asked if (claim := asked_claim(one))}
        outcomes = await self._judged([claim for claim, _ in claims.values()], request) if claims else []
        found: dict[str, Any] = {
            name: _answer(self._questions[name], options, outcome)
            for (name, (_, options)), outcome in zip(claims.items(), outcomes, strict=True)
        }
        usage = total_usage(outcomes)
        by = next((one.provenance.model for one in outcomes if isinstance(one, Verdict)), "vouch")
        others = {name: one for name, one in self._questions.items() if name not in claims}
        if others and self._fallback is not None:
            more = await self._fallback.answers(self._state, others)
            usage = total_usage([*outcomes, more])
            by = by if claims else more.model
            found |= more.answers
        else:
            found |= dict.fromkeys(others, ACCEPTED if self._evidence else _NO_SOURCES)
        missing = {name for name, one in found.items() if isinstance(one, str)}
        fallback_failed = self._fallback is not None and missing <= others.keys()
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        return _Answers(by, {name: found[name] for name in self._questions}, tokens, fallback_failed)

    async def _judged(self, claims: list[str], request: Request) -> list[Outcome]:
        assert self._evidence
        sources, question = self._evidence
        body = bodies.CheckBody(claim=claims, sources=sources, question=question, judge=self._judge)
        asked = Asked("check", body.model_dump(mode="json", exclude_none=True), caller_of(request.state.key))
        return await self._service.judge(partial(self._service.judges.check, body), asked, self._judge)


_NO_SOURCES = (
    "the state has no text as source: send a text, a list of texts, messages of a user or of tools, or an object with "
    f"{', '.join(EVIDENCE)}"
)


def _answer(question: Json, options: Mapping[str, str], outcome: Outcome) -> Json | str:
    """An outcome as the answer in the form of System One, or why there is none."""
    if isinstance(outcome, Unverified):
        return f"the judge has no verdict ({outcome.reason}): {outcome.message}"
    against: Relation = "contradicted" if outcome.relation in ("contradicted", "conflicting") else "not_found"
    other = options.get("unsupported") or options.get(against) or options["not_found"]
    values = dict.fromkeys(options.values(), 0.0) | {options["supported"]: outcome.score, other: 1 - outcome.score}
    return {**answer_of(question, values), "x_vouch_verdict": parse_json(to_json(outcome))}
