"""The server as a decision model: ``POST /v1/systemone``, ``POST /v1/decisions`` and ``GET /v1/models``.

A question whose instructions have a claim is answered with the verifier's probability that the sources in the state
support it, whatever else the instructions say, and with the whole record in ``x_vouch_verdict``. Every other question
goes to the model of ``serve.decisions_fallback``; without one it is refused and never guessed: with status 422 in the
form of System One, as ``refusal`` in that of OpenAI. Errors have what the clients of both read: ``detail`` and
``error``. Not supported: images; scores (without a fallback), since a claim has no levels; yes/no
questions whether a claim lacks support, which are refused if they are in English; other criteria, which are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute

from vouching.client.problems import problem_of
from vouching.errors import ModelAnswerError, VouchError
from vouching.inputs import each_of
from vouching.judging.verifier import Outcome
from vouching.models.base import Message, Model, Sampling
from vouching.models.decision_shapes import OUTCOMES, Json, as_text, probabilities
from vouching.models.json_fields import json_count, json_object
from vouching.rows.shapes import SOURCE_KEYS
from vouching.serve import bodies
from vouching.serve.decision_forms import DecisionsBody, SystemOneBody, answer_of, from_openai, state_of, to_openai
from vouching.serve.keys import caller_of
from vouching.serve.policy import DEFAULT_JUDGE
from vouching.serve.recording import Asked
from vouching.serve.work import Rejected
from vouching.types import Relation, Unverified, Verdict, total_usage
from vouching.types.serial import to_json
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.serve.service import Service

_CLIENTS_DEFAULTS = ("jev-latest", "gpt-6-luna", "vouch")
"""Models that the clients name where their user names none."""
_EVIDENCE = (*SOURCE_KEYS, "retrieval_context")
_CLAIM = re.compile(r"^\s*claim:\s*(\S.*)", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_RELATIONS: dict[str, set[str]] = {
    "supported": {"supported", "entailed", "entailment", "attributable", "grounded", "faithful", "true", "yes"},
    "contradicted": {"contradicted", "contradiction", "refuted"},
    "not_found": {"not_found", "neutral", "unknown", "not_enough_info", "not_mentioned"},
    "unsupported": {"unsupported", "not_supported", "not_attributable", "ungrounded", "hallucinated", "false", "no"},
}
"""The options of a choice that a verdict answers. Without a place for what is not found, it answers none."""
_SUPPORT = "support|entail|attribut|ground|faithful|follow|true|correct|accura|consistent|verif|confirm|found|back"
_POLARITY = re.compile(
    rf"(?P<opposite>(?:\bnot|n't|\bnever|\bno|\bnor|\bfails? to|\blacks?|\bwithout)\b[^.?!;]{{0,40}}?\b(?:{_SUPPORT})"
    rf"|\b(?:un|in|dis|mis)-?(?:{_SUPPORT})|\b(?:contra|refut|hallucinat|false|wrong|fabricat|conflict|invented|made.up"
    rf"|erroneous|mistake|disprove))|\b(?:{_SUPPORT})",
    re.IGNORECASE,
)
_ANSWER_WORDS = re.compile(
    r"\b(?:answer|return|say|reply|output|respond|choose|else|otherwise)(?: with)? \W?(?:true|false|yes|no)\b"
    r"|\b(?:true|false|yes|no)\W? (?=if\b|when\b|where\b|means\b|otherwise\b|else\b)",
    re.IGNORECASE,
)


class _Route(APIRoute):
    """Answers errors in the words that the clients of decision models read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inner = super().get_route_handler()

        async def answer(request: Request) -> Response:
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


def _refused(faults: Sequence[Mapping[str, Any]]) -> Response:
    message = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in faults)
    return JSONResponse({"detail": faults, "error": {"message": message, "type": "invalid_request_error"}}, 422)


def add_decisions(app: FastAPI, service: Service, described: Any) -> None:
    """Add the routes. Raises ConfigError for a fallback that is no decision model."""
    fallback = _open(service.policy.serve.decisions_fallback)
    router = APIRouter(route_class=_Route)
    # Errors of the gate are problem objects, as on every route; the others are in the words of the clients.
    described = {
        **described,
        "responses": {
            code: {**one, "content": {**one["content"], "application/json": {"schema": {}}}}
            for code, one in described["responses"].items()
        },
    }

    @router.post("/v1/systemone", response_model=None, **described)
    async def systemone(body: SystemOneBody, request: Request) -> Response:
        """Answer questions about claims, in the form of System One (TypeSafe)."""
        questions = {name: one.model_dump(exclude_none=True) for name, one in body.questions.items()}
        found = await _Decision(service, fallback, body.model, body.state, questions).answers(request)
        refused = [
            {"loc": ["body", "questions", name], "msg": one, "type": "unsupported"}
            for name, one in found.answers.items()
            if isinstance(one, str)
        ]
        if refused:
            return _refused(refused)
        tokens = {"input_tokens": found.tokens[0], "output_tokens": found.tokens[1]}
        return JSONResponse({"model": found.model, "answers": found.answers, "usage": tokens})

    @router.post("/v1/decisions", response_model=None, **described)
    async def decisions(body: DecisionsBody, request: Request) -> Response:
        """Answer questions about claims, in the form of OpenAI's Decisions API."""
        questions = {str(number): from_openai(one) for number, one in enumerate(body.questions)}
        found = await _Decision(service, fallback, body.model, state_of(body.input), questions).answers(request)
        answers = [to_openai(one, found.answers[str(number)]) for number, one in enumerate(body.questions)]
        tokens = {
            "input_tokens": found.tokens[0], "output_tokens": found.tokens[1], "total_tokens": sum(found.tokens),
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        return JSONResponse({"model": found.model, "answers": answers, "usage": tokens})

    @router.get("/v1/models", response_model=None, **described)
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


def _open(fallback: str) -> Model | None:
    if not fallback:
        return None
    from vouching.models.decisions import DecisionName
    from vouching.models.open import open_model

    DecisionName.parse(fallback)
    return open_model(fallback)


@dataclass(frozen=True, slots=True)
class _Answers:
    model: str
    """What answered."""
    answers: dict[str, Any]
    """By the name of the question: an answer in the form of System One, or why there is none."""
    tokens: tuple[int, int]


class _Decision:
    """One request: which questions the verifier answers, and which the fallback."""

    def __init__(
        self, service: Service, fallback: Model | None, model: str, state: Any, questions: dict[str, Json]
    ) -> None:
        self._service, self._fallback, self._state, self._questions = service, fallback, state, questions
        self._judge = DEFAULT_JUDGE if model in _CLIENTS_DEFAULTS else model
        self._evidence = evidence_of(state)

    async def answers(self, request: Request) -> _Answers:
        """An answer to each question, or why there is none. Raises as the judge and the fallback do."""
        claims = {name: claim for name, one in self._questions.items() if (claim := self._claim(one))}
        outcomes = await self._judged(list(claims.values()), request) if claims else []
        found: dict[str, Any] = {
            name: _answer(self._questions[name], outcome) for name, outcome in zip(claims, outcomes, strict=True)
        }
        by = next((one.provenance.model for one in outcomes if isinstance(one, Verdict)), "vouch")
        usage = total_usage(outcomes)
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        others = {name: one for name, one in self._questions.items() if name not in claims}
        if others and self._fallback is not None:
            reply = await _asked(self._fallback, self._state, others)
            used = json_object(reply.get("usage"))
            more = [json_count(used.get(f"{side}_tokens")) or 0 for side in ("input", "output")]
            tokens = (tokens[0] + more[0], tokens[1] + more[1])
            by = by if claims else str(reply.get("model"))
            found |= reply["answers"]
        else:
            found |= {name: self._why_not(one) for name, one in others.items()}
        return _Answers(by, {name: found[name] for name in self._questions}, tokens)

    async def _judged(self, claims: list[str], request: Request) -> list[Outcome]:
        assert self._evidence
        sources, question = self._evidence
        body = bodies.CheckBody(claim=claims, sources=sources, question=question, judge=self._judge)
        asked = Asked("check", body.model_dump(mode="json", exclude_none=True), caller_of(request.state.key))
        return await self._service.judge(partial(self._service.judges.check, body), asked, self._judge)

    def _claim(self, question: Json) -> str | None:
        """The claim that a question is about, if the verifier can answer it."""
        if not self._evidence or question["type"] == "score" or asks_the_opposite(question):
            return None
        if question["type"] == "choice" and relations_of(question["criteria"]) is None:
            return None
        return claim_of(question.get("instructions"))

    def _why_not(self, question: Json) -> str:
        """Why the verifier does not answer a question."""
        if not self._evidence:
            return _NO_SOURCES
        return _OPPOSITE if claim_of(question.get("instructions")) and asks_the_opposite(question) else _NO_CLAIM


_OPPOSITE = (
    "the question is whether the claim lacks support, and the answer of this server is the probability that the "
    "sources support it: ask whether the claim is supported, and subtract the answer from 1"
)
_NO_CLAIM = (
    "this server answers questions about a claim: give instructions an object with claim, and a choice the options "
    "supported, contradicted and not_found, or set serve.decisions_fallback for other questions"
)
_NO_SOURCES = "the state has no text as source: send a text, a list of texts, or an object with sources or context"


def evidence_of(state: Any) -> tuple[list[str | bodies.GivenSource], str | None] | None:
    """The sources of a state, and the question if it has one; None without text, or without a known field.

    >>> evidence_of({"retrieval_context": ["It opened in 1973."], "claims": ["It opened in 1937."]})
    (['It opened in 1973.'], None)
    >>> evidence_of({"message": "I was charged twice."}) is None
    True
    """
    if isinstance(state, str) and (found := _object(state)):
        return evidence_of(found)
    given = json_object(state)
    key = next((key for key in _EVIDENCE if key in given), None)
    if isinstance(state, dict) and key is None:
        return None
    held: Any = given[key] if key else state
    sources = [_source(one) for one in each_of(held)]
    question = given.get("question")
    if not any((one if isinstance(one, str) else one.text or "").strip() for one in sources):
        return None
    return sources, question if isinstance(question, str) else None


def _source(given: Any) -> str | bodies.GivenSource:
    found = json_object(given)
    if not isinstance(found.get("text"), str):
        return as_text(given)
    kept = {key: value for key in ("id", "title", "url") if isinstance(value := found.get(key), str)}
    return bodies.GivenSource(text=found["text"], **kept)


def claim_of(instructions: Any) -> str | None:
    r"""The claim in the instructions of a question: an object with ``claim``, its JSON, or a text after "Claim:".

    >>> claim_of({"claim": "It opened."}), claim_of("Is it so?\nClaim: It opened."), claim_of("Is it spam?")
    ('It opened.', 'It opened.', None)
    """
    if isinstance(instructions, str):
        if found := _object(instructions):
            return claim_of(found)
        said = _CLAIM.search(instructions)
        return said[1].strip() if said else None
    given = json_object(instructions)
    claim = given.get("claim")
    if isinstance(claim, str) and claim.strip():
        return claim
    return claim_of(given["question"]) if isinstance(given.get("question"), dict) else None


def asks_the_opposite(question: Json) -> bool:
    r"""Whether "true" to a yes/no question would mean that the claim is not supported, by its first such word.

    >>> asks_the_opposite({"type": "noul", "instructions": "Is the claim unsupported?\nClaim: It opened."})
    True
    >>> asks_the_opposite({"type": "noul", "instructions": "Is it true or false?\nClaim: It is not true."})
    False
    """
    if question["type"] != "noul":
        return False
    given = question.get("instructions")
    if isinstance(given, str):
        given = _object(given) or _CLAIM.sub("", given)
    if fields := json_object(given):
        words = [*fields.values(), *json_object(fields.get("question")).values()]
        given = [one for one in words if isinstance(one, str) and one != claim_of(fields)]
    said = (json_object(question.get("criteria")).get("true"), given)
    firsts = (_POLARITY.search(_ANSWER_WORDS.sub("", as_text(one))) for one in said if one)
    return any(first is not None and first["opposite"] is not None for first in firsts)


def relations_of(options: Mapping[str, Any]) -> dict[str, str] | None:
    """The option for each relation; None unless a verdict answers the choice.

    >>> relations_of({"Entailment": None, "Contradiction": None, "Neutral": None})
    {'supported': 'Entailment', 'contradicted': 'Contradiction', 'not_found': 'Neutral'}
    >>> relations_of({"supported": None, "contradicted": None}) is None
    True
    """
    found: dict[str, str] = {}
    for option in options:
        name = re.sub(r"\W+", "_", option.strip().lower())
        relation = next((relation for relation, names in _RELATIONS.items() if name in names), None)
        if relation is None or relation in found:
            return None
        found[relation] = option
    rest = found.keys() - {"supported"}
    fits = "supported" in found and (rest == {"unsupported"} or ("not_found" in rest and "unsupported" not in rest))
    return found if fits else None


def _answer(question: Json, outcome: Outcome) -> Json | str:
    """An outcome as the answer in the form of System One, or why there is none."""
    if isinstance(outcome, Unverified):
        return f"the judge has no verdict ({outcome.reason}): {outcome.message}"
    values: dict[str, float]
    if question["type"] == "noul":
        values = dict(zip(OUTCOMES, (outcome.score, 1 - outcome.score), strict=True))
    else:
        named = relations_of(question["criteria"])
        assert named
        against: Relation = "contradicted" if outcome.relation in ("contradicted", "conflicting") else "not_found"
        other = named.get("unsupported") or named.get(against) or named["not_found"]
        values = dict.fromkeys(question["criteria"], 0.0)
        values |= {named["supported"]: outcome.score, other: 1 - outcome.score}
    return {**answer_of(question, values), "x_vouch_verdict": json.loads(to_json(outcome))}


async def _asked(fallback: Model, state: Any, questions: dict[str, Json]) -> Json:
    """The reply of the fallback, with an answer to each question. Raises ModelAnswerError otherwise."""
    request = Message("user", json.dumps({"state": state, "questions": questions}, ensure_ascii=False))
    [said] = await fallback.generate([request], Sampling())
    reply = json_object(json.loads(said.text))
    given, answers = json_object(reply.get("answers")), {}
    for name, question in questions.items():
        try:
            answers[name] = answer_of(question, probabilities(question, given.get(name)))
        except ValueError as error:
            raise ModelAnswerError(f"{fallback.name}, question {name}: {error}") from None
    return {**reply, "answers": answers}


def _object(text: str) -> Json:
    """The JSON object that a text is; empty for any other text."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        return json_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}
