"""What the routes take: the JSON schemas of the requests are made from these models. An unknown field is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from vouching.inputs import check_texts, each_of
from vouching.repair import Rest
from vouching.rows.shapes import SOURCE_KEYS
from vouching.types.ledger import LedgerRow
from vouching.types.visible import shorten, shown_json

BRIDGE = {"text": "The bridge opened to traffic in 1973. It has three towers.", "id": "bridge.txt"}
"""The source of the examples."""
_Member = TypeVar("_Member")
FIRST: Any = Field(fail_fast=True)
"""Only the first wrong member is reported: each report takes much memory and time."""
Many: TypeAlias = Annotated[list[_Member], FIRST]
_MOST_FIELDS = 100


def example(fields: Any) -> ConfigDict:
    """The configuration of a request with an example, which /openapi.json shows."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [fields]})


def _valid(value: Any) -> Any:
    """``value``, if each of its texts can be stored and shown. Raises InputError otherwise."""
    check_texts(value, "a text of the request")
    return value


def _few(value: Any) -> Any:
    """``value``, unless it has more fields than any request: each that is unknown would be reported."""
    if isinstance(value, dict) and (number := len(cast("dict[str, Any]", value))) > _MOST_FIELDS:
        words = "must have at most {most} fields, has {number}"
        raise PydanticCustomError("too_many_fields", words, {"most": _MOST_FIELDS, "number": f"{number:,}"})
    return cast("Any", value)


def fault_words(errors: Sequence[Any], whole: str, fields: str) -> str:
    """The first fault of a request in words: where it is, what was got and what is expected.

    Args:
        errors: those of pydantic, with places in the request.
        whole: what the request is called.
        fields: where its fields are described.

    >>> fault_words([{"loc": ("claim",), "msg": "Field required", "type": "missing", "input": {}}], "it", "a.json")
    'claim is missing: see a.json for the fields'
    """
    first = max((one for one in errors if one["loc"][:1] == errors[0]["loc"][:1]), key=lambda one: len(one["loc"]))
    place = shorten(".".join(map(str, first["loc"])), 200) or whole
    if first["type"] == "missing":
        return f"{place} is missing: see {fields} for the fields"
    if first["type"] == "extra_forbidden":
        return f"unknown field {place}: see {fields} for the fields"
    got = shown_json(first.get("input"))
    return f"{place}: {first['msg'].replace('Input should be', 'must be')}, got {got}; see {fields} for the fields"


class Body(BaseModel):
    """A request."""

    model_config = ConfigDict(extra="forbid")
    _texts = model_validator(mode="before")(_valid)
    _size = model_validator(mode="before")(_few)


class FilteredBody(BaseModel):
    """A request for the verdicts that pass all filters; one that is missing or blank does not restrict."""

    model_config = Body.model_config
    _texts = model_validator(mode="before")(_valid)
    _size = model_validator(mode="before")(_few)
    stream: str | None = None
    caller: str | None = None
    model: str | None = None
    label: str | None = None
    error_type: str | None = None
    since: str | None = None
    until: str | None = None


class GivenSource(Body):
    """A document to check against: its text, or the digest under which it was uploaded."""

    text: str | None = Field(None, description="The document's text.")
    digest: str | None = Field(
        None, pattern="^[0-9a-f]{64}$", description="Digest of a text that was uploaded to /v1/sources."
    )
    id: str | None = Field(
        None,
        validation_alias=AliasChoices("id", "doc_id"),
        description="A name that the verdict refers to; doc_id is accepted too.",
    )
    title: str = Field("", description="Its title, if any.")
    url: str = Field("", description="Where it is, if known; it is never fetched.")


def _text_or_object(value: Any) -> Any:
    if not isinstance(value, str | dict | GivenSource):
        raise PydanticCustomError("source_type", 'must be a text, or an object with "text" or "digest"')
    return cast("Any", value)


AnySource: TypeAlias = Annotated[str | GivenSource, BeforeValidator(_text_or_object)]
Sources: TypeAlias = Annotated[
    Many[AnySource],
    BeforeValidator(each_of),
    Field(
        default_factory=list,
        validation_alias=AliasChoices(*SOURCE_KEYS),
        description="The documents to check against, or a single one; none if the judge searches for them. The names "
        "contexts, documents and docs are accepted too.",
    ),
]
Judge: TypeAlias = Annotated[str, Field(max_length=100, description="Name of a judge of the server's policy.")]


class CheckBody(Body):
    """A claim, or a list of claims, and the sources of them all."""

    model_config = example({"claim": "The bridge opened in 1937.", "sources": [BRIDGE]})
    claim: str | Many[str] = Field(description="A statement, or a list of statements; a list is answered by a list.")
    sources: Sources
    question: str | None = Field(None, description="What the claim answers; used only to find sources.")
    judge: Judge = "default"


class ResponseBody(Body):
    """A whole response and its sources."""

    model_config = example(
        {"response": "It opened in 1937. It has three towers.", "sources": [BRIDGE], "repair": "mark"}
    )
    response: str | dict[str, Any] | Many[dict[str, Any]] = Field(
        description="The text to check, or an answer with citations as the API of OpenAI or Anthropic returns it."
    )
    sources: Sources
    question: str | None = Field(None, description="The question that the response answers, if any.")
    repair: Rest | None = Field(None, description="Apply verified fixes; mark, remove or keep claims that have none.")
    judge: Judge = "default"


class TraceBody(Body):
    """A conversation with an agent: each answer is checked against what was known when it was given."""

    model_config = example(
        {
            "messages": [
                {"role": "user", "content": "When did the bridge open?"},
                {"role": "tool", "tool_call_id": "call_1", "name": "search", "content": BRIDGE["text"]},
                {"role": "assistant", "content": "It opened in 1937."},
            ]
        }
    )
    messages: list[Any] | dict[str, Any] = Field(
        description="Messages of OpenAI (chat or Responses), Anthropic, LangChain or pydantic-ai, or the body of a "
        "request or an answer that has them. Results of tools, documents and the system's text are the evidence."
    )
    repair: Rest | None = Field(None, description="Apply verified fixes; mark, remove or keep claims that have none.")
    judge: Judge = "default"


class StreamBody(Body):
    """A response that is still being written, as far as it goes."""

    model_config = example({"response": "It opened in 1937. It has thr", "sources": [BRIDGE]})
    response: str = Field(description="Everything written so far.")
    checked: int = Field(
        0, ge=0, description="Number of characters that earlier calls have checked; see the end event."
    )
    final: bool = Field(
        False, description="Whether the response is complete, so that its last sentence is checked too."
    )
    sources: Sources
    question: str | None = Field(None, description="The question that the response answers, if any.")
    judge: Judge = "default"


class AuditBody(Body):
    """A response whose numbers are asked for again, from the sources only and blind to the response."""

    model_config = example({"response": "The bridge has 2 towers.", "sources": [BRIDGE]})
    response: str = Field(description="The answer whose numbers are audited.")
    sources: Sources
    question: str | None = Field(None, description="The question that it answers, if any.")
    scope: Literal["numbers", "facts"] | None = Field(None, description="Numbers only, or also dates and names.")
    judge: Judge = "default"


class FollowBody(Body):
    """A response and its instruction."""

    model_config = example({"instruction": "Use no commas.", "response": "So it is."})
    instruction: str = Field(description="What the response was asked to do.")
    response: str = Field(description="The response to judge.")
    method: Literal["rules", "checklist", "holistic"] = Field(
        "rules", description="Exact rules; or, with a judge that is a language model, item by item or as a whole."
    )
    checklist: Many[str | dict[str, Any]] | None = Field(None, description="The items; null: found or generated.")
    sources: Sources
    judge: Judge = "default"


class ContextBody(Body):
    """A question and what was retrieved for it."""

    model_config = example({"question": "When did it open?", "sources": [BRIDGE], "answer": "In 1973."})
    question: str = Field(description="What was asked.")
    sources: Sources
    answer: str | None = Field(None, description="The answer; null judges the sources alone.")
    judge: Judge = "default"


class RankBody(Body):
    """The answers to one question."""

    model_config = example({"question": "When did it open?", "answers": ["In 1937.", "In 1973."], "sources": [BRIDGE]})
    question: str = Field(description="What was asked.")
    answers: Many[str] = Field(min_length=1, description="The answers to rank.")
    sources: Sources
    judge: Judge = "default"


_TASK: Any = {
    "task": "t",
    "data": {"paid": [40, 2]},
    "rules": [{"id": "R", "text": "The total is the sum.", "value": "sum(data.paid)"}],
    "units": [{"id": "total", "type": "amount", "rules": ["R"]}],
}


class ChallengeBody(Body):
    """Structured work: a task and the values proposed for it."""

    model_config = example({"task": _TASK, "proposal": {"values": {"total": 41}}})
    task: dict[str, Any] = Field(description="The task, as for vouch challenge.")
    proposal: dict[str, Any] = Field(description="The proposed values, as for vouch challenge.")
    judge: Judge = "default"


class RewardBody(BaseModel):
    """Rows to score, as in a file for ``vouch reward``; or a request of a trainer, see docs/serve.md.

    OpenRLHF sends ``query``, ``prompts`` and ``labels``, a list each; verl one reply as ``solution_str`` with
    ``ground_truth`` and ``extra_info``.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [{"rows": [{"response": '{"label": "yes"}', "gold": "Attributable"}], "settings": {}}]
        },
    )
    _texts = model_validator(mode="before")(_valid)
    rows: Many[dict[str, Any]] | None = Field(None, description="The rows, with the columns that the method reads.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings of the reward.")
    query: Many[str] | None = Field(None, description="OpenRLHF: prompt and reply together, one text per reply.")
    prompts: Many[str] | None = Field(None, description="OpenRLHF: the prompts, which are taken off the queries.")
    labels: Many[str | dict[str, Any] | None] | None = Field(
        None, description="OpenRLHF: the gold label of each reply, or an object (or its JSON) with further columns."
    )
    solution_str: str | None = Field(None, description="verl: the reply.")
    ground_truth: str | dict[str, Any] | None = Field(None, description="verl: as a label of OpenRLHF.")
    extra_info: dict[str, Any] | None = Field(None, description="verl: further columns.")


class Rewards(BaseModel):
    """The rewards of rows."""

    rewards: list[float | None] = Field(description="The total of each row; null for one that cannot be scored.")
    lines: list[dict[str, Any]] = Field(description="The line of each row, as vouch reward writes it.")
    scores: list[float] | None = Field(None, description="For OpenRLHF: as rewards.")
    extra_logs: dict[str, list[float]] | None = Field(None, description="For OpenRLHF: the parts of the rewards.")
    reward: float | None = Field(None, description="For verl: the only reward.")


class SourceBody(Body):
    """A text to keep."""

    model_config = example({"text": BRIDGE["text"]})
    text: str = Field(description="The text.")


class KeptSource(BaseModel):
    """What an upload is answered with."""

    digest: str = Field(description="SHA-256 of the text in UTF-8, in hexadecimal: name the source by it.")
    characters: int = Field(description="Length of the text.")


class ReviewBody(Body):
    """What a person says about a row of the ledger. A row can have several reviews; the newest is the last word."""

    model_config = example({"about": 1, "label": "Not Attributable", "note": "The source says 1973."})
    about: int = Field(ge=1, description="Id of the row.")
    label: Literal["Attributable", "Not Attributable"] | None = Field(
        None, description="The right label; null confirms the verdict."
    )
    error_type: str | None = Field(None, max_length=100, description="The right error type.")
    fix: str | None = Field(None, max_length=50_000, description="The right text.")
    finding: int | None = Field(None, ge=0, description="Which finding of a report, from 0; null for the only one.")
    note: str = Field("", max_length=10_000, description="Why, in words.")


class Rows(BaseModel):
    """A page of rows of the ledger."""

    rows: list[LedgerRow] = Field(description="The newest first.")
    next: int | None = Field(description="Pass it as before for the next page; null on the last one.")


class Health(BaseModel):
    """The state of a worker."""

    status: Literal["ok", "busy"] = Field(description="busy: every place is taken, and further requests get 429.")
    version: str = Field(description="Version of vouching.")
    waiting: int = Field(description="Requests that are judged or wait in this worker.")
