"""The forms in which decision models are asked typed questions and answer with probabilities.

Within Vouch the form is that of System One (TypeSafe): questions by name, of the type noul (yes or no), choice or
score, and answers by the same names. The forms of OpenAI and Gemini are translated from and to it. Read in typesafe-sdk
0.7.5, openai 3.57.0 and google-genai 3.6.1. A ``confidence`` is never read: servers define it in five ways. Not
supported: images, and Gemini's inputs other than text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from vouching.models.json_fields import json_object
from vouching.types.visible import shown_json

ShapeName: TypeAlias = Literal["systemone", "openai", "gemini"]
FORM = "decision:ADDRESS#MODEL"
"""Of the name of a decision model."""
SHAPE_NAMES: tuple[ShapeName, ...] = get_args(ShapeName)
Json: TypeAlias = dict[str, Any]
MAX_SUM_ERROR = 0.02
"""By which the probabilities of a choice may miss 1: servers round to two or four decimals."""
OUTCOMES: tuple[str, str] = ("true", "false")
"""The options of a yes/no question."""
_FAULTS = ("error", "refusal", "incomplete_details", "incomplete_reason", "status")
_UNFINISHED = {"failed", "incomplete", "cancelled", "error"}


@dataclass(frozen=True, slots=True)
class DecisionShape:
    """How a server is asked, and how its reply is read."""

    path: str
    """Of its route, after the version."""
    ask: Callable[[str, Json], Json]
    """From the model's name and a request in the form of System One, with ``state`` and ``questions``, to the body."""
    read: Callable[[Json, Json], Json]
    """From a reply and that request to the reply in the form of System One; what it cannot read is left as it is."""


def failure_of(fields: Mapping[str, Any]) -> str:
    """What a reply or an answer says went wrong, whatever probability it has beside; empty if nothing did.

    >>> failure_of({"noul": 0.9, "refusal": "I will not."}), failure_of({"noul": 0.9, "error": None})
    ("refusal 'I will not.'", '')
    """
    given = ((key, value) for key in _FAULTS if (value := fields.get(key)))
    return next((f"{key} {shown_json(one)}" for key, one in given if key != "status" or str(one) in _UNFINISHED), "")


def is_refusal(answer: Any) -> bool:
    """Whether a model refused to answer a question."""
    given = json_object(answer)
    return given.get("type") == "refusal" or bool(given.get("refusal"))


def answers_of(reply: Json) -> Json:
    """The answers of a reply in the form of System One, by name.

    Raises:
        ValueError: it has none, or says that it failed or is not complete.
    """
    if failure := failure_of(reply):
        raise ValueError(f"the reply says {failure}")
    if not (answers := json_object(reply.get("answers"))):
        raise ValueError(f"expected answers by the names of the questions, got {shown_json(reply)}")
    return answers


def probabilities(question: Mapping[str, Any], answer: Any) -> dict[str, float]:
    """The probability of each option of a question by its answer, both in the form of System One.

    Raises:
        ValueError: there is no answer, or it is not a distribution; the message says why.

    >>> probabilities({"type": "noul"}, {"type": "noul", "noul": 0.25})
    {'true': 0.25, 'false': 0.75}
    >>> probabilities({"type": "noul"}, {"type": "noul", "noul": 1.5})
    Traceback (most recent call last):
    ...
    ValueError: expected a probability from 0 to 1, got 1.5
    """
    if answer is None:
        raise ValueError("the reply has no answer to it")
    given, kind = json_object(answer), question["type"]
    if is_refusal(given):
        raise ValueError("the model refused to answer")
    if failure := failure_of(given):
        raise ValueError(f"the answer says {failure}")
    if given.get("type") != kind:
        raise ValueError(f"expected an answer of the type {kind}, got {shown_json(answer)}")
    if kind == "noul":
        value = _probability(given.get("noul"))
        return dict(zip(OUTCOMES, (value, 1.0 - value), strict=True))
    options, found = _options(question), json_object(given.get("probabilities"))
    if set(found) != set(options):
        got = shown_json(given.get("probabilities"))
        raise ValueError(f"expected a probability of each of {', '.join(options)}, got {got}")
    values = {option: _probability(found[option]) for option in options}
    if abs((total := math.fsum(values.values())) - 1) > MAX_SUM_ERROR + 1e-9:
        raise ValueError(f"expected probabilities that add up to 1, got {total:.3f}")
    return values


def _probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"expected a probability from 0 to 1, got {shown_json(value)}")
    return float(value) + 0.0  # -0.0 becomes 0.0


def _options(question: Mapping[str, Any]) -> list[str]:
    criteria: Any = question["criteria"]
    return [*criteria] if isinstance(criteria, dict) else [str(number) for number in range(len(criteria))]


def as_text(value: Any) -> str:
    """A text as it is, and any other JSON as its text.

    >>> as_text("Is it?"), as_text({"claim": "It is."})
    ('Is it?', '{"claim": "It is."}')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def to_openai(model: str, asked: Json) -> Json:
    """The body of a request to OpenAI's Decisions API.

    It has no place for the criteria of a yes/no question, which become part of the instructions.

    >>> asked = {"state": "It opened in 1973.", "questions": {"c1": {"type": "noul", "instructions": "Is it old?"}}}
    >>> to_openai("m", asked)["questions"]
    [{'type': 'predicate', 'name': 'c1', 'instructions': 'Is it old?'}]
    """
    questions = [_to_openai(name, question) for name, question in asked["questions"].items()]
    return {"model": model, "input": as_text(asked["state"]), "questions": questions}


def _to_openai(name: str, question: Json) -> Json:
    kind, instructions = question["type"], question.get("instructions")
    criteria: Any = question.get("criteria")
    if kind == "noul":
        asked = {"question": instructions, **criteria} if criteria else instructions
        return {"type": "predicate", "name": name, "instructions": as_text(asked)}
    shared = {"type": kind, "name": name, "instructions": as_text(instructions or "")}
    described = [*criteria.items()] if kind == "choice" else [(as_text(level), None) for level in criteria]
    part, key = ("choices", "value") if kind == "choice" else ("levels", "label")
    listed = [{key: one, **({"description": as_text(why)} if why else {})} for one, why in described]
    return {**shared, part: listed}


def from_openai(reply: Json, asked: Json) -> Json:
    """A reply of OpenAI's Decisions API in the form of System One. Raises ValueError for two answers of one name."""
    answers = reply.get("answers")
    listed = [json_object(one) for one in cast("list[Any]", answers)] if isinstance(answers, list) else []
    found: Json = {}
    for one in listed:
        if (name := str(one.get("name"))) in found:
            raise ValueError(f"it answers {name!r} twice")
        found[name] = _from_openai(one)
    return {**reply, "answers": found}


def _from_openai(answer: Json) -> Json:
    kind = answer.get("type")
    if kind == "predicate":
        said = {key: answer[key] for key in _FAULTS if key in answer}
        return {"type": "noul", "noul": answer.get("probability"), **said}
    listed = answer.get("probabilities")
    if kind not in ("choice", "score") or not isinstance(listed, list):
        return answer
    entries = [json_object(one) for one in cast("list[Any]", listed)]
    named = {option_name(one.get("value")): one.get("probability") for one in entries}
    return {**answer, "probabilities": named if len(named) == len(entries) else listed}


def option_name(value: Any) -> str:
    """The name of an option of OpenAI's, which may be a boolean; of a level, its place."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_gemini(model: str, asked: Json) -> Json:
    """The body of a request to Gemini's Decisions API, whose criteria are texts only."""
    questions: Json = {}
    for name, question in asked["questions"].items():
        criteria: Any = question.get("criteria")
        given: Any
        if question["type"] == "noul":
            given = {f"{outcome}_description": as_text(why) for outcome, why in json_object(criteria).items() if why}
        elif question["type"] == "choice":
            given = {option: as_text(why or option) for option, why in criteria.items()}
        else:
            given = [as_text(level) for level in criteria]
        shared = {"type": question["type"], "instructions": as_text(question.get("instructions") or name)}
        questions[name] = {**shared, **({"criteria": given} if given else {})}
    return {
        "model": f"models/{model.removeprefix('models/')}",
        "input": as_text(asked["state"]),
        "questions": questions,
    }


def from_gemini(reply: Json, asked: Json) -> Json:
    """A reply of Gemini's Decisions API in the form of System One; blocked inputs are refusals."""
    usage, feedback = json_object(reply.get("usage")), json_object(reply.get("prompt_feedback"))
    answers = reply.get("answers")
    if feedback.get("block_reason"):
        answers = {name: {"type": "refusal"} for name in asked["questions"]}
    tokens = {f"{side}_tokens": usage.get(f"total_{side}_tokens") for side in ("input", "output")}
    return {**reply, "answers": answers, "usage": {**usage, **tokens}}


def _same(reply: Json, asked: Json) -> Json:
    # Cloudflare puts the reply into an envelope.
    if reply.get("success") is False:
        return {"error": reply.get("errors") or "no success"}
    return cast("Json", reply["result"]) if isinstance(reply.get("result"), dict) else reply


SHAPES: dict[ShapeName, DecisionShape] = {
    "systemone": DecisionShape("systemone", lambda model, asked: {"model": model, **asked}, _same),
    "openai": DecisionShape("decisions", to_openai, from_openai),
    "gemini": DecisionShape("decisions", to_gemini, from_gemini),
}
"""By name."""
