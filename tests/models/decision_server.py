"""Replies of decision models in their forms, and the ways in which a server can get them wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.models.fault_server import FOREVER, Answer, Request, of_json

MODEL = "kev-1.2"
Reply = dict[str, Any]


def systemone_reply(body: Mapping[str, Any], support: Mapping[str, float] | None = None) -> Reply:
    """A valid reply in the form of System One; ``support`` has the probability by words of the claim, else .9."""
    answers = {name: _answer(one, _support(one, support or {})) for name, one in body["questions"].items()}
    return {"model": MODEL, "answers": answers, "usage": {"input_tokens": 100, "output_tokens": len(answers)}}


def openai_reply(body: Mapping[str, Any], support: Mapping[str, float] | None = None) -> Reply:
    """The same in the form of OpenAI."""
    answers: list[Reply] = []
    for one in body["questions"]:
        p = _support(one, support or {})
        if one["type"] == "predicate":
            answers.append({"type": "predicate", "name": one["name"], "probability": p})
            continue
        options = [choice["value"] for choice in one["choices"]]
        values = [{"value": value, "probability": q} for value, q in zip(options, _spread(p), strict=True)]
        answers.append({"type": "choice", "name": one["name"], "confidence": 0, "choice": "", "probabilities": values})
    return {"model": MODEL, "answers": answers, "usage": {"input_tokens": 100, "output_tokens": 1, "total_tokens": 101}}


def gemini_reply(body: Mapping[str, Any], support: Mapping[str, float] | None = None) -> Reply:
    """The same in the form of Gemini."""
    found = systemone_reply(body, support)
    return {"answers": found["answers"], "usage": {"total_input_tokens": 100, "total_output_tokens": 2}}


REPLIES = {"systemone": systemone_reply, "openai": openai_reply, "gemini": gemini_reply}


def _support(question: Mapping[str, Any], support: Mapping[str, float]) -> float:
    text = json.dumps(question["instructions"])
    return next((value for words, value in support.items() if words in text), 0.9)


def _spread(p: float) -> tuple[float, float, float]:
    return p, (1 - p) * 0.75, (1 - p) * 0.25


def _answer(question: Mapping[str, Any], p: float) -> Reply:
    if question["type"] == "noul":
        return {"type": "noul", "noul": p}
    values = dict(zip(question["criteria"], _spread(p), strict=True))
    return {"type": "choice", "choice": "", "confidence": 0.0, "probabilities": values}


def responding(shape: str, support: Mapping[str, float] | None = None) -> Callable[[Request], Answer]:
    """What a good server does."""
    return lambda request: of_json(REPLIES[shape](request.body, support))


def _first(reply: Reply) -> Reply:
    answers: Any = reply["answers"]
    key: Any = 0 if type(answers) is list else next(iter(answers))
    return reply["answers"][key]


def _with(key: str, value: Any) -> Callable[[Reply], Any]:
    def change(reply: Reply) -> Any:
        one = _first(reply)
        name = {"p": "probability" if one["type"] == "predicate" else "noul"}.get(key, key)
        one[name] = value
        return reply

    return change


def _without_first(reply: Reply) -> Any:
    answers = reply["answers"]
    answers.pop(0) if isinstance(answers, list) else answers.pop(next(iter(answers)))
    return reply


def _renamed(reply: Reply) -> Any:
    answers = reply["answers"]
    if isinstance(answers, list):
        answers[0]["name"] = "c9"
    else:
        answers["c9"] = answers.pop(next(iter(answers)))
    return reply


def _replaced(value: Any) -> Callable[[Reply], Any]:
    def change(reply: Reply) -> Any:
        answers = reply["answers"]
        answers[0 if isinstance(answers, list) else next(iter(answers))] = value
        return reply

    return change


def _deleted(reply: Reply) -> Any:
    one = _first(reply)
    one.pop("probability", None)
    one.pop("noul", None)
    return reply


WRONG: dict[str, Callable[[Reply], Any]] = {
    "above 1": _with("p", 1.01),
    "below 0": _with("p", -0.01),
    "a percentage": _with("p", 90),
    "a text": _with("p", "0.9"),
    "a truth value": _with("p", True),
    "null": _with("p", None),
    "a list": _with("p", [0.9]),
    "an object": _with("p", {"value": 0.9}),
    "huge": _with("p", 10**400),
    "not a number": _with("p", float("nan")),
    "infinite": _with("p", float("inf")),
    "deleted": _deleted,
    "a refusal": _replaced({"type": "refusal", "name": "c1"}),
    "no answer": _without_first,
    "another name": _renamed,
    "another type": _with("type", "score"),
    "no type": _with("type", None),
    "a bare number": _replaced(0.9),
    "nothing": _replaced(None),
    "no answers": lambda reply: {**reply, "answers": None},
    "empty": lambda reply: {},
    "a list for all": lambda reply: [reply],
    "an error with 200": lambda reply: {"error": {"message": "overloaded"}},
    "a probability beside a refusal": _with("refusal", "I will not."),
    "a probability beside an error": _with("error", {"message": "filtered"}),
    "an incomplete answer": _with("status", "incomplete"),
    "answers beside an error": lambda reply: {**reply, "error": {"message": "overloaded"}},
    "a failed reply": lambda reply: {**reply, "status": "failed"},
    "an incomplete reply": lambda reply: {**reply, "incomplete_details": {"reason": "content_filter"}},
    "another form": lambda reply: {**reply, "answers": {"c1": 0.9, "c2": 0.9}},
}
"""What a reply with status 200 may hold instead of a probability of its first question."""

STATUSES: dict[str, Answer] = {
    "not JSON": Answer(body=b"<html>busy</html>"),
    "empty body": Answer(body=b""),
    "cut off": Answer(body=b'{"answers": {"c1'),
    "endless brackets": Answer(body=b"[" * 100_000),
    "refused": of_json({"detail": "no"}, status=409),
    "too early to read": Answer(raw=b"HTTP/1.1 200 OK\r\n\r\n{"),
    "not implemented": of_json({"detail": "no logprobs"}, status=501),
    "unauthorized": of_json({"detail": "key"}, status=401),
    "too slow": of_json({}, delay=FOREVER),
}
"""What a server may do instead of answering."""


def wrong(shape: str, fault: str) -> Callable[[Request], Answer]:
    """A server with a fault of ``WRONG``."""
    return lambda request: of_json(WRONG[fault](copy.deepcopy(REPLIES[shape](request.body))))
