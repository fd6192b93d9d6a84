"""What the proxy reads in requests and answers of chat completions and responses, and where it writes.

Only texts are read; tool calls, images and unknown fields pass as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from vouching.inputs import as_sources
from vouching.serve.proxy_settings import Origin
from vouching.types import Source

_ROLES: Mapping[str, Origin] = {
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
    "user": "user",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks, and its documents."""

    question: str | None
    """The text of the last message of the user."""
    sources: tuple[Source, ...]
    """The documents, named by their place."""


def read_request(body: Mapping[str, Any], origins: Sequence[Origin]) -> Asked:
    """The question and the documents of a request.

    Raises InputError if the field "documents" cannot be read.

    >>> body = {"documents": [{"doc_id": "a", "text": "It opened in 1973."}],
    ...     "messages": [{"role": "user", "content": "When?"}]}
    >>> asked = read_request(body, ("documents",))
    >>> asked.question, asked.sources[0].id
    ('When?', 'a')
    """
    messages = [*_messages(body)]
    said = [text for role, text in messages if role == "user"]
    given: list[Any] = []
    listed = body.get("documents")
    if "documents" in origins and listed:
        given += as_sources([_document(one) for one in members(listed)] or listed)
    for number, (role, text) in enumerate(messages, 1):
        if _ROLES.get(role) in origins and text.strip():
            given.append(Source(text, f"message-{number}-{role}"))
    return Asked(said[-1] if said else None, as_sources(given) if given else ())


def _document(value: Any) -> Any:
    """A document of the field "documents"; Cohere and vLLM put its fields into "data"."""
    inner = object_of(object_of(value).get("data"))
    return {"id": object_of(value).get("id"), **inner} if inner else value


def _messages(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The role and the text of each message of a request, in order."""
    if isinstance(body.get("instructions"), str):
        yield "system", body["instructions"]
    listed = body.get("messages", body.get("input"))
    if isinstance(listed, str):
        yield "user", listed
    for fields in objects(listed):
        if fields.get("type") == "function_call_output":
            yield "tool", _text(fields.get("output"))
        elif isinstance(fields.get("role"), str):
            yield fields["role"], _text(fields.get("content"))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in objects(content) if isinstance(part.get("text"), str))


Replace = Callable[[str, bool], None]
"""Writes another text in place of an answer; True if it was blocked."""


def answers_of(body: Mapping[str, Any]) -> Iterator[tuple[str, Replace]]:
    """The texts of an answer, each with a function that replaces it in place.

    >>> body = {"choices": [{"message": {"content": "In 1937."}, "finish_reason": "stop"}]}
    >>> for text, replace in answers_of(body):
    ...     replace("Withheld.", True)
    >>> body["choices"][0]["message"]["content"], body["choices"][0]["finish_reason"]
    ('Withheld.', 'content_filter')
    """
    for choice in objects(body.get("choices")):
        message = object_of(choice.get("message"))
        if isinstance(message.get("content"), str) and message["content"].strip():
            yield message["content"], _in_choice(choice, message)
        for part in objects(message.get("content")):
            if part.get("type") == "text" and str(part.get("text", "")).strip():
                yield part["text"], _in_part(part)
    for item in objects(body.get("output")):
        for part in objects(item.get("content")) if item.get("type") == "message" else ():
            if part.get("type") == "output_text" and str(part.get("text", "")).strip():
                yield part["text"], _in_part(part)


def members(value: Any) -> list[Any]:
    """The members of a JSON array; none of anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def object_of(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a JSON array."""
    return [cast("dict[str, Any]", one) for one in members(value) if isinstance(one, dict)]


def _in_choice(choice: dict[str, Any], message: dict[str, Any]) -> Replace:
    def replace(text: str, blocked: bool) -> None:
        message["content"] = text
        message.pop("annotations", None)
        choice.pop("logprobs", None)
        if blocked:
            choice["finish_reason"] = "content_filter"

    return replace


def _in_part(part: dict[str, Any]) -> Replace:
    def replace(text: str, blocked: bool) -> None:
        part["text"] = text
        part["annotations"] = []
        part.pop("logprobs", None)

    return replace


def parsed_object(raw: bytes) -> dict[str, Any] | None:
    """A JSON object; None for anything else."""
    import json

    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
