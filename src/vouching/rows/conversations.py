"""What was said in a conversation: each answer of a model, and what was known when it was given.

Read are messages of OpenAI (chat completions, and items of Responses), Anthropic, LangChain and LangGraph
(``messages_to_dict``, ``model_dump`` or ``dumpd``) and pydantic-ai (``ModelMessagesTypeAdapter``), as JSON, JSON lines
or objects of these clients, alone or in the body of a request or an answer. A result of a tool is evidence unless the
tool failed, and JSON in it is read as lines "place: value". What a model thinks is no answer, nor is what it says
before it calls a tool. Not supported: images and files, answers in the arguments of a tool (output tools of
pydantic-ai), streams, results in the notation of Python.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from vouching.errors import InputError
from vouching.models.json_fields import json_object
from vouching.text.json_values import NestedTooDeeplyError, parse_json
from vouching.text.prompts import given_context, only_instructs
from vouching.text.structures import json_lines
from vouching.types.visible import shown_json

Origin: TypeAlias = Literal["documents", "tool", "system", "context", "user"]
"""Where evidence stands: the field "documents" and blocks with a document, messages of a role, or the marked context
in a message of the user (:func:`vouching.text.prompts.given_context`)."""
ORIGINS: tuple[Origin, ...] = ("documents", "tool", "system", "context")
"""What a user asks and what a model answers are no evidence, nor is a system message that only instructs."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer, and what was known when it was given."""

    answer: str
    """The text of the model; "" for the turn that is still open after the last message."""
    question: str | None
    """The text of the last message of the user before it, without a context that counts as evidence."""
    sources: tuple[Any, ...]
    """What stands before it: first the documents, as they were given, then what else is evidence, as mappings with
    "text" and "id", such as "call_1 (get_weather)"."""


@dataclass(frozen=True, slots=True)
class _Said:
    origin: str
    """An Origin, "answer" or "call"."""
    text: str = ""
    id: str = ""
    """Of a call or its result."""
    name: str = ""
    """Of a tool."""
    document: Any = None


_ROLES: Mapping[str, str] = {
    "user": "user",
    "human": "user",
    "user-prompt": "user",
    "HumanMessageChunk": "user",
    "assistant": "answer",
    "ai": "answer",
    "response": "answer",
    "AIMessageChunk": "answer",
    "system": "system",
    "developer": "system",
    "system-prompt": "system",
    "instruction": "system",
    "tool": "tool",
    "function": "tool",
    "ToolMessageChunk": "tool",
}
"""By role, ``part_kind``, ``type`` or ``kind``."""
_CALL = re.compile(r"(?:^|[_-])(?:call|use)$")
_RESULT = re.compile(r"(?:tool_result|[_-]return|_output)$")
_DOCUMENTS = ("document", "search_result")
_SILENT = re.compile(r"thinking|reasoning|compaction|retry|feedback|delta|digest|baseline|approval|list_tools")
MEDIA = re.compile(r"image|audio|video|file|base64|url|binary")
"""The types of parts that are not read."""
_TOO_DEEP = "the conversation is nested too deeply to be read: pass its messages alone"
_TEXT_BLOCK = re.compile(r"(?:text|document|logs|resource|search_result|(?:fetch|execution|call_tool)_result)$")
_PARTS: Mapping[str, str | None] = {
    "documents": "documents",
    "system": "system",
    "instructions": "system",
    "messages": None,
    "input": None,
    "choices": "answer",
    "message": None,
    "parts": None,
    "content": None,
    "text": None,
    "output": "answer",
    "tool_calls": "call",
    "function_call": "call",
}
"""The fields of bodies and messages in which something is said, in order, and by whom if that does not depend."""
_BREAK = "\n\n"
_ERROR_FIELDS = {"error", "message", "code", "status", "detail", "details", "type"}


def open_turn(given: object, origins: Sequence[Origin] = ORIGINS, most: int | None = None) -> Turn:
    """The last turn of a conversation, without an answer; see :func:`read_turns`.

    With more than ``most`` sources it has the first ones only, at least one more than ``most``, and may lack its
    question.
    """
    [turn] = read_turns(given, origins, only_open=True, most=most)
    return turn


def read_turns(
    given: object, origins: Sequence[Origin] = ORIGINS, *, only_open: bool = False, most: int | None = None
) -> Iterator[Turn]:
    """The answers of a conversation in order, each with what was known; then the open turn, without an answer.

    Args:
        given: messages, or the body of a request or an answer, as JSON or as objects of a client.
        origins: what counts as evidence. With "user", whatever the user asserts supports the answers.
        only_open: leave out the answers.
        most: end once there are more sources than this; None for any number.

    Raises:
        InputError: at the first turn, for a text that is not JSON, or is nested too deeply.

    >>> call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    >>> answered, _ = read_turns([
    ...     {"role": "user", "content": "How warm is it?"},
    ...     {"role": "assistant", "content": None, "tool_calls": [call]},
    ...     {"role": "tool", "tool_call_id": "call_1", "content": '{"temperature": 18}'},
    ...     {"role": "assistant", "content": "It is 18 degrees."},
    ... ])
    >>> answered.answer, answered.question, answered.sources
    ('It is 18 degrees.', 'How warm is it?', ({'text': 'temperature: 18.', 'id': 'call_1 (get_weather)'},))
    """
    documents, known, tools, rules = list[Any](), list[Any](), dict[str, str](), set[str]()
    question, answer = None, ""
    asks = "context" in origins and "user" not in origins
    try:
        said = [*_said(read_messages(given), "user")]
    except RecursionError:
        raise InputError(_TOO_DEEP) from None
    for one in (*said, _Said("end")):
        if most is not None and len(documents) + len(known) > most:
            break
        if one.origin == "call":
            tools[one.id], answer = one.name, ""
        elif one.origin == "answer":
            answer += "" if one.text == _BREAK == answer[-2:] else one.text
        else:
            if answer.strip() and not only_open:
                yield Turn(answer.strip(), question, (*documents, *known))
            answer = ""
            if one.origin == "user":
                context, question = given_context(one.text) if asks else ("", one.text)
                known += [{"text": context, "id": "context"}] if context else []
            # pydantic-ai repeats the system message with each request.
            idle = one.origin == "system" and (one.text in rules or only_instructs(one.text))
            if one.origin in origins and (one.document is not None or one.text.strip()) and not idle:
                (known if one.document is None else documents).append(_source(one, tools))
            rules |= {one.text} if one.origin == "system" else set[str]()
    yield Turn("", question, (*documents, *known))


def are_messages(given: Iterable[Any]) -> bool:
    """Whether some of these are messages, calls of tools or their results, rather than texts and documents.

    >>> are_messages([{"type": "ai", "data": {"content": "It opened."}}]), are_messages(["It opened.", {"text": "It."}])
    (True, False)
    """
    for fields in map(_fields, given):
        kind = _kind(fields)
        if fields.keys() & {"role", "parts"} or kind in _ROLES or kind == "reasoning":
            return True
        if _CALL.search(kind) or _RESULT.search(kind):
            return True
    return False


def as_json(given: Any) -> Any:
    """An object of a client, or a text that may be JSON, as JSON; anything else as it is."""
    if isinstance(given, str):
        with suppress(ValueError):
            return parse_json(given) if given.lstrip()[:1] in ("{", "[") else given
    if isinstance(given, list):
        return [as_json(one) for one in cast("list[Any]", given)]
    dump = getattr(given, "model_dump", None)
    return dump(mode="json") if callable(dump) else given


def read_messages(given: Any) -> Any:
    """A conversation whose text is JSON or JSON lines as values, any other object as it is.

    Raises InputError for another text.
    """
    if not isinstance(given, (str, bytes)):
        return given
    try:
        text = given if isinstance(given, str) else given.decode()
        read = as_json(text)
        return [parse_json(line) for line in text.splitlines() if line.strip()] if isinstance(read, str) else read
    except NestedTooDeeplyError:
        raise InputError(_TOO_DEEP) from None
    except ValueError:
        raise InputError(
            f"a conversation must be messages as JSON or JSON lines, got {shown_json(given)}: write them with "
            "json.dumps, messages_to_dict of LangChain, or all_messages_json of pydantic-ai"
        ) from None


def _source(one: _Said, tools: Mapping[str, str]) -> Any:
    if one.document is not None:
        return one.document
    tool = one.name or tools.get(one.id, "")
    return {"text": one.text, "id": f"{one.id} ({tool})" if one.id and tool else one.id or tool or one.origin}


def _said(given: Any, origin: str) -> Iterator[_Said]:
    """What is said in a body, a message, a part of one, or a list of them, in order."""
    if origin == "documents":
        for one in cast("list[Any]", given) if isinstance(given, list) else [given] if given else []:
            inner = json_object(json_object(one).get("data"))  # Cohere and vLLM put the fields there
            yield _Said(origin, document={"id": json_object(one).get("id"), **inner} if inner else one)
    elif isinstance(given, str):
        yield _Said(origin, given)
    elif isinstance(given, list | tuple):
        for one in cast("Iterable[Any]", given):
            yield from _said(one, origin)
    elif fields := _fields(given):
        yield from _said_in(fields, origin)


def _fields(given: Any) -> dict[str, Any]:
    """What a message or a part has, also where clients put it into a field of its own."""
    fields = json_object(as_json(given))
    inner = (json_object(fields.get(name)) for name in ("data", "kwargs", "function"))
    return fields | next(filter(None, inner), fields)


def _kind(fields: Mapping[str, Any]) -> str:
    names = (fields.get(name) for name in ("role", "part_kind", "type", "kind"))
    return next((name for name in names if isinstance(name, str)), "")


def _said_in(fields: dict[str, Any], origin: str) -> Iterator[_Said]:
    kind = _kind(fields)
    calls = origin == "call" or _CALL.search(kind)
    if calls:
        tool = _first(fields, "tool_name", "name") or kind.removesuffix("_call")
        yield _Said("call", "", _first(fields, "tool_call_id", "call_id", "id"), tool)
    if kind in _DOCUMENTS:
        yield _Said("documents", document=_document(fields))
    elif calls or _ROLES.get(kind) == "tool" or _RESULT.search(kind):
        value = next((fields[name] for name in ("content", "output", "outputs", "results") if fields.get(name)), None)
        if value is not None or not calls:
            id = _first(fields, "tool_call_id", "tool_use_id", "call_id") or (_first(fields, "id") if calls else "")
            found = [] if _failed(fields, value) else _found(value, kind)
            yield from (_Said("tool", document=_document(one)) for one in found)
            text = "" if found or _failed(fields, value) else _text(value)
            yield _Said("tool", text, id, _first(fields, "tool_name", "name"))
    elif not _SILENT.search(kind):
        speaker = _ROLES.get(kind, origin)
        for name, other in [(name, other) for name, other in _PARTS.items() if name in fields]:
            said = _said(fields[name], other or speaker)
            yield from _one_text(said) if name in ("content", "parts") else said
        if speaker == "answer" and kind != "text":  # blocks of Anthropic are stretches of one text
            yield _Said("answer", _BREAK)


def _found(value: Any, kind: str) -> list[dict[str, Any]]:
    """The search results among the results of a tool, each of which is a document."""
    blocks = [json_object(one) for one in cast("list[Any]", value)] if isinstance(value, list) else []
    return [one for one in blocks if kind == "file_search_call" or one.get("type") == "search_result"]


def _document(fields: Mapping[str, Any]) -> dict[str, str] | None:
    """A document or a search result with its text and names; None for one without a text."""
    text = _text({"type": "document", **fields})
    names = {"id": _first(fields, "source", "filename", "title", "type"), "title": _first(fields, "title")}
    return {"text": text, **names} if text.strip() else None


def _one_text(said: Iterable[_Said]) -> Iterator[_Said]:
    """The parts of a message, of which those of a user or the system that follow each other are one text."""
    last: _Said | None = None
    for one in said:
        if last and one.origin == last.origin and one.origin in ("user", "system"):
            last = replace(last, text=f"{last.text}\n{one.text}")
        else:
            yield from [last] if last else []
            last = one
    yield from [last] if last else []


def _text(value: Any) -> str:
    """The text of a result: of its blocks, or the values of its JSON with their places."""
    if isinstance(value, str):
        return json_lines(value) or value
    fields, kind = json_object(value), str(json_object(value).get("type"))
    if MEDIA.search(kind):
        return ""
    if _TEXT_BLOCK.search(kind) or _are_blocks(fields.get("content")):
        names = ("text", "content", "stdout", "logs", "resource", "source", "data")
        return _text(next((fields[name] for name in names if fields.get(name)), ""))
    if _are_blocks(value):
        return "\n".join(filter(None, map(_text, value)))
    return _text(json.dumps(value, ensure_ascii=False, default=str)) if value else ""


def _are_blocks(value: Any) -> bool:
    """Whether a value is a list of blocks with a type, as the APIs have them, rather than data."""
    kinds = [str(json_object(one).get("type")) for one in cast("list[Any]", value)] if isinstance(value, list) else []
    return any(_TEXT_BLOCK.search(kind) or MEDIA.search(kind) for kind in kinds)


def _failed(fields: Mapping[str, Any], value: Any) -> bool:
    """Whether a tool failed, as its client or the tool itself says."""
    parsed = json_object(as_json(value))
    says_so = parsed.get("error") and {*parsed} <= _ERROR_FIELDS
    return bool(
        fields.get("is_error")
        or fields.get("error")
        or fields.get("status") in ("error", "failed", "incomplete")
        or fields.get("outcome") in ("failed", "denied", "interrupted", "retried")
        or str(parsed.get("type")).endswith("_error")
        or parsed.get("isError")
        or says_so
    )


def _first(fields: Mapping[str, Any], *names: str) -> str:
    return next((fields[name] for name in names if isinstance(fields.get(name), str) and fields[name]), "")
