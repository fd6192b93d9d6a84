"""The forms in which clients of decision models ask this server: requests, and answers from a distribution."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    model_validator,
)

from vouching.errors import InputError
from vouching.inputs import check_texts, each_of
from vouching.models.decision_shapes import Json, as_text, option_name
from vouching.models.json_fields import json_object
from vouching.rows.conversations import MEDIA, Origin, are_messages, as_json, open_turn
from vouching.rows.shapes import SOURCE_KEYS
from vouching.serve.bodies import FIRST, GivenSource, Judge, Many
from vouching.types.visible import shown_json

Text: TypeAlias = str | dict[str, Any] | list[Any]
"""What may be a text or any JSON."""
EVIDENCE = (*SOURCE_KEYS, "retrieval_context")
"""Fields of a state that have sources."""
_HEARD: tuple[Origin, ...] = ("documents", "tool", "user")
"""What is evidence in messages; a user of this server passes the sources in them."""


def _valid(value: Any) -> Any:
    check_texts(value, "a text of the request")
    return value


_LONGEST_TYPE = 100
_OF_AGENTS = re.compile("tool|thinking|reasoning")
"""Types of parts that the reader of conversations knows."""


def _short_type(question: Any) -> Any:
    """Refuse a long type here, as the message of a union repeats it whole."""
    kind = json_object(question).get("type")
    if isinstance(kind, str) and len(kind) > _LONGEST_TYPE:
        raise ValueError(f"unknown type {shown_json(kind)}")
    return question


def _no_images(assets: Any) -> Any:
    if assets:
        raise ValueError("images are not supported: send text or JSON in the state, and no assets")
    return assets


def _example(fields: Json) -> ConfigDict:
    """The configuration of a request with an example; clients may send fields of their own."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class Noul(BaseModel):
    """A yes/no question."""

    type: Literal["noul"]
    instructions: Text | None = Field(None, description="An object with `claim`, or a text with a line `Claim: ...`.")
    criteria: Annotated[dict[Literal["true", "false"], Text | None], FIRST] | None = Field(
        None, description="What the outcomes mean."
    )


class Choice(BaseModel):
    """A question with named options."""

    type: Literal["choice"]
    instructions: Text | None = None
    criteria: Annotated[dict[str, Text | None], FIRST] = Field(min_length=2, max_length=255, description="The options.")


class Score(BaseModel):
    """A question with ordered levels, which only a fallback answers."""

    type: Literal["score"]
    instructions: Text | None = None
    criteria: Many[Text] = Field(min_length=2, max_length=10)


class SystemOneBody(BaseModel):
    """Questions about a state, in the form of System One."""

    model_config = _example(
        {
            "model": "vouch",
            "state": {"sources": ["The bridge opened to traffic in 1973."]},
            "questions": {"year": {"type": "noul", "instructions": {"claim": "The bridge opened in 1937."}}},
        }
    )
    _texts = model_validator(mode="before")(_valid)
    model: Judge = Field(description="A judge of this server; the defaults of the clients mean the default one.")
    state: Text = Field(description="The sources: a text, or an object with sources, context or retrieval_context.")
    questions: Annotated[
        dict[str, Annotated[Noul | Choice | Score, Field(discriminator="type"), BeforeValidator(_short_type)]],
        FIRST,
    ] = Field(min_length=1, max_length=400)
    assets: Annotated[Any, AfterValidator(_no_images)] = Field(None, description="Images, which are refused.")


class Predicate(BaseModel):
    """A yes/no question in OpenAI's form."""

    type: Literal["predicate"]
    name: str | None = None
    instructions: str | Many[dict[str, Any]]


class Option(BaseModel):
    """An option in OpenAI's form."""

    value: StrictStr | StrictBool
    description: str | None = None


class ChoiceOf(BaseModel):
    """A question with named options in OpenAI's form."""

    type: Literal["choice"]
    name: str | None = None
    instructions: str | Many[dict[str, Any]]
    choices: Many[Option] = Field(min_length=2, max_length=255)


class Level(BaseModel):
    """A level in OpenAI's form."""

    label: str
    description: str | None = None


class ScoreOf(BaseModel):
    """A question with ordered levels in OpenAI's form."""

    type: Literal["score"]
    name: str | None = None
    instructions: str | Many[dict[str, Any]]
    levels: Many[Level] = Field(min_length=2, max_length=255)


class DecisionsBody(BaseModel):
    """Questions about an input, in the form of OpenAI's Decisions API."""

    model_config = _example(
        {
            "model": "vouch",
            "input": "The bridge opened to traffic in 1973.",
            "questions": [{"type": "predicate", "name": "year", "instructions": "Claim: The bridge opened in 1937."}],
        }
    )
    _texts = model_validator(mode="before")(_valid)
    model: Judge
    input: str | Many[dict[str, Any]]
    questions: Many[
        Annotated[Predicate | ChoiceOf | ScoreOf, Field(discriminator="type"), BeforeValidator(_short_type)]
    ] = Field(min_length=1, max_length=400)


def _said(content: Any) -> Any:
    """A content as a text, or as JSON if that is all it has; as it is, if it has results of tools.

    Raises InputError for one in another form, such as an image.
    """
    if not isinstance(content, str | list | dict | None):
        raise InputError(f"a message has the content {as_text(content)}: send a text, or a list of parts")
    if not isinstance(content, list):
        return cast("Any", content)
    parts = [json_object(part) for part in cast("list[Any]", content)]
    kinds = [str(part.get("type"))[:80] for part in parts]
    if media := [kind for kind in kinds if MEDIA.search(kind)]:
        raise InputError(f"a part has the type {media[0]!r}: send text or JSON, images are not supported")
    if any(_OF_AGENTS.search(kind) for kind in kinds):
        return cast("Any", content)
    said = [_part(part, kind) for part, kind in zip(parts, kinds, strict=True)]
    return said[0] if len(said) == 1 else "\n".join(map(as_text, said))


def _part(part: Mapping[str, Any], kind: str) -> Any:
    if kind == "input_json":
        return part.get("data")
    if isinstance(text := part.get("text"), str):
        return text
    raise InputError(f"a part has the type {kind!r} and no text: send text or JSON")


def state_of(given: str | Sequence[Mapping[str, Any]]) -> Any:
    """An input as a state: a text, what the only message of a user says, or all messages with their texts."""
    if isinstance(given, str):
        return given
    said = [{key: _said(one[key]) if key in ("content", "output") else one[key] for key in one} for one in given]
    return said[0].get("content") if len(said) == 1 and said[0].get("role") == "user" else said


def evidence_of(state: Any) -> tuple[list[str | GivenSource], str | None] | None:
    """The sources of a state, and the question if it has one; None without any.

    Sources are a text, the entries of a list, and the texts in all known fields of an object. Of messages, sources are
    those of users and what tools returned, and never what an assistant, a system or a developer says.

    >>> evidence_of({"retrieval_context": ["It opened in 1973."], "claims": ["It opened in 1937."]})
    (['It opened in 1973.'], None)
    >>> said = [{"role": "tool", "content": "It opened in 1973."}, {"role": "assistant", "content": "In 1937."}]
    >>> [one.text for one in evidence_of(said)[0]]
    ['It opened in 1973.']
    >>> evidence_of({"message": "I was charged twice."}) is None
    True
    """
    sources = _sources(state)
    question = json_object(as_json(state)).get("question")
    if not any((one if isinstance(one, str) else one.text or "").strip() for one in sources):
        return None
    return sources, question if isinstance(question, str) else None


def _sources(held: Any) -> list[str | GivenSource]:
    """The sources in a state, or in what a message says."""
    given: Any = as_json(held) if isinstance(held, str) else held
    if isinstance(given, list):
        return _entries(given)
    if isinstance(given, str):
        return [given]
    fields = json_object(given)
    sources = [one for key in EVIDENCE if key in fields for one in _entries(fields[key])]
    return [one for place, one in enumerate(sources) if one not in sources[:place]]


def _entries(held: Any) -> list[str | GivenSource]:
    """The sources in a field or a list, whose entries may be texts, documents and messages."""
    entries, found = each_of(held), list[str | GivenSource]()
    if messages := are_messages(entries):
        entries = open_turn([_with_text(one) for one in entries], _HEARD).sources
    for one in entries:
        entry = json_object(one)
        if not isinstance(text := entry.get("text"), str):
            found.append(as_text(one))
        elif messages and not isinstance(as_json(text), str):
            found += _sources(text)
        else:
            kept = {key: value for key in ("id", "title", "url") if isinstance(value := entry.get(key), str)}
            found.append(GivenSource(text=text, **kept))
    return found


def _with_text(message: Any) -> Any:
    """A message whose content is a text, where it is JSON."""
    fields = json_object(message)
    if "content" not in fields:
        return message
    said: Any = _said(fields["content"])
    return {**fields, "content": as_text(said) if isinstance(said, dict) else said}


def questions_of(body: DecisionsBody) -> tuple[dict[str, Json], dict[str, str]]:
    """The questions in the form of System One, and what is wrong with the others, by their numbers."""
    questions, faults = dict[str, Json](), dict[str, str]()
    for number, one in enumerate(body.questions):
        try:
            questions[str(number)] = _from_openai(one)
        except InputError as error:
            faults[str(number)] = str(error)
    return questions, faults


def _from_openai(question: Predicate | ChoiceOf | ScoreOf) -> Json:
    """A question in the form of System One. Raises InputError for two options of one name."""
    instructions = _said(question.instructions)
    if isinstance(question, Predicate):
        return {"type": "noul", "instructions": instructions}
    if isinstance(question, ScoreOf):
        levels = [f"{one.label}: {one.description}" if one.description else one.label for one in question.levels]
        return {"type": "score", "instructions": instructions, "criteria": levels}
    criteria = {option_name(one.value): one.description for one in question.choices}
    if len(criteria) < len(question.choices):
        raise InputError(f"the choices {', '.join(criteria)} have two of one name: give each its own")
    return {"type": "choice", "instructions": instructions, "criteria": criteria}


def answer_of(question: Json, values: Mapping[str, float]) -> Json:
    """A distribution as an answer in the form of System One, with its confidence by the formulas of TypeSafe.

    >>> answer_of({"type": "choice"}, {"supported": 0.5, "contradicted": 0.25, "not_found": 0.25})["confidence"]
    0.25
    """
    kind, best, shares = question["type"], max(values, key=values.__getitem__), [*values.values()]
    if kind == "noul":
        return {"type": kind, "noul": values["true"]}
    if kind == "choice":
        even = 1 / len(values)
        confidence = (values[best] - even) / (1 - even)
        return {"type": kind, "choice": best, "confidence": confidence, "probabilities": dict(values)}
    places = range(len(shares))
    spread = sum(share * abs(place - int(best)) for place, share in zip(places, shares, strict=True))
    widest = sum(abs(place - (len(shares) - 1) / 2) for place in places) / len(shares)
    return {
        "type": kind,
        "score": sum(place * share for place, share in zip(places, shares, strict=True)),
        "confidence": max(0.0, 1 - spread / widest),
        "probabilities": dict(values),
        "legend": {str(place): level for place, level in zip(places, question["criteria"], strict=True)},
    }


def to_openai(question: Predicate | ChoiceOf | ScoreOf, answer: Json | str) -> Json:
    """An answer in OpenAI's form; a refusal where there is none."""
    if isinstance(answer, str):
        return {"type": "refusal", "name": question.name, "x_vouch_reason": answer}
    shared = {"type": question.type, "name": question.name}
    shared |= {key: value for key, value in answer.items() if key.startswith("x_")}
    if isinstance(question, Predicate):
        return {**shared, "probability": answer["noul"]}
    shared |= {"confidence": answer["confidence"]}
    values = answer["probabilities"]
    if isinstance(question, ScoreOf):
        listed = [
            {"label": one.label, "value": number, "probability": values[str(number)]}
            for number, one in enumerate(question.levels)
        ]
        return {**shared, "score": answer["score"], "probabilities": listed}
    typed = {option_name(one.value): one.value for one in question.choices}
    listed = [{"value": value, "probability": values[name]} for name, value in typed.items()]
    return {**shared, "choice": typed[answer["choice"]], "probabilities": listed}
