"""What the proxy reads in requests and answers of chat completions, responses and messages, and where it writes.

Only texts are read, with their citations; tool calls, images and unknown fields pass as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast
from urllib.parse import quote

from vouching.claims import read_answer
from vouching.errors import InputError
from vouching.inputs import as_sources
from vouching.rows.conversations import Origin, open_turn
from vouching.serve.policy import LimitSettings
from vouching.text.json_values import parse_json
from vouching.types import Source

_NAMED = 10
Given: TypeAlias = str | dict[str, Any] | list[dict[str, Any]]
"""A text of an answer; with citations, as :func:`vouching.claims.read_answer` reads it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks, and its documents."""

    question: str | None
    """The text of the last message of the user."""
    sources: tuple[Source, ...]
    """The documents and what else the policy counts as such, named by their call or place."""
    response_id: object = None
    """What the upstream server calls its answer, if it does."""
    caller: str = ""
    """Whose request it is: callers take turns."""
    refused: str = ""
    """Why the documents are not read, so that no answer can be checked; empty if they are."""

    @property
    def named(self) -> str:
        """What counts as documents, for a header: at most ten names, "none", or "too many".

        >>> read_request({"messages": [{"role": "system", "content": "It opened in 1973."}]}, ("system",)).named
        'system'
        """
        if self.refused:
            return "too many"
        names = [quote(str(one.id), safe=" ()/:.") for one in self.sources]
        more = [f"and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
        return ", ".join([*names[:_NAMED], *more]) or "none"


def read_request(body: Mapping[str, Any], origins: Sequence[Origin], limits: LimitSettings | None = None) -> Asked:
    """The question and the documents of a request, which are not read if there are too many.

    Raises InputError if the field "documents" cannot be read, or the request is nested too deeply.

    >>> body = {"documents": [{"doc_id": "a", "text": "It opened in 1973."}],
    ...     "messages": [{"role": "user", "content": "When?"}]}
    >>> asked = read_request(body, ("documents",))
    >>> asked.question, asked.sources[0].id
    ('When?', 'a')
    """
    limits = limits or LimitSettings()
    now = open_turn(body, origins, limits.sources)
    try:
        limits.check_sources(len(now.sources))
    except InputError as error:
        return Asked(None, (), refused=str(error))
    return Asked(now.question, as_sources(now.sources) if now.sources else ())


def with_found(asked: Asked, items: Sequence[Any], given: Sequence[Given], origins: Sequence[Origin]) -> Asked:
    """What a request asks, with what tools of the server found for its answer, if results of tools count.

    Args:
        asked: what the request has.
        items: what came before the text, such as a ``file_search_call`` with its results.
        given: the texts of the answer. If there is nothing else, what their citations quote is what was found.
        origins: what counts as documents.
    """
    if "tool" not in origins or asked.refused:
        return asked
    found: list[Any] = []
    with suppress(InputError):  # nested too deeply
        found += open_turn({"output": [*items]}, ("tool",)).sources
    if not found and not asked.sources:
        found += [source for one in given if not isinstance(one, str) for source in read_answer(one).quoted_sources()]
    return replace(asked, sources=as_sources([*asked.sources, *found])) if found else asked


Replace = Callable[[str, bool], None]
"""Writes another text in place of an answer; True if it was blocked."""


def answers_of(body: Mapping[str, Any]) -> Iterator[tuple[Given, Replace]]:
    """The texts of an answer, each with a function that replaces it in place.

    >>> body = {"choices": [{"message": {"content": "In 1937."}, "finish_reason": "stop"}]}
    >>> for text, replace in answers_of(body):
    ...     replace("Withheld.", True)
    >>> body["choices"][0]["message"]["content"], body["choices"][0]["finish_reason"]
    ('Withheld.', 'content_filter')
    """
    for choice in objects(body.get("choices")):
        message = object_of(choice.get("message"))
        for holder, name in ((message, "content"), (message, "refusal"), (choice, "text"), (choice, "message")):
            if isinstance(holder.get(name), str) and holder[name].strip():
                yield cited(holder[name], holder), _in_choice(choice, holder, name)
        for _, part, name in texts_of_item(message):
            if part is not message:
                yield cited(part[name], part), _in_part(part, name)
    for item in objects(body.get("output")):
        for _, part, name in texts_of_item(item):
            yield cited(part[name], part), _in_part(part, name)
    if isinstance(body.get("output_text"), str) and body["output_text"].strip():
        yield body["output_text"], _in_part(cast("dict[str, Any]", body), "output_text")
    blocks = [one for one in objects(body.get("content")) if isinstance(one.get("text"), str)]
    text = "".join(one["text"] for one in blocks)
    if text.strip():
        has_citations = any(objects(one.get("citations")) for one in blocks)
        yield blocks if has_citations else text, _in_message(cast("dict[str, Any]", body), blocks)


def cited(text: str, holder: Mapping[str, Any]) -> Given:
    """A text with the citations of the object that has it; the text alone if there are none."""
    found = [*objects(holder.get("citations")), *objects(holder.get("annotations"))]
    kind = "text" if holder.get("type") == "text" else "output_text"
    return {"type": kind, "text": text, "annotations": found} if found else text


def texts_of_item(item: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Where a message has text: the place, the object and its field; a part of any type is shown by some client."""
    if item.get("type") == "reasoning":
        return
    if isinstance(item.get("content"), str) and item["content"].strip():
        yield 0, item, "content"
    for place, part in enumerate(members(item.get("content"))):
        fields = object_of(part)
        for name in ("text", "refusal"):
            if isinstance(fields.get(name), str) and fields[name].strip():
                yield place, fields, name


def members(value: Any) -> list[Any]:
    """The members of a JSON array; none of anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def object_of(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a JSON array."""
    return [cast("dict[str, Any]", one) for one in members(value) if isinstance(one, dict)]


def _in_choice(choice: dict[str, Any], holder: dict[str, Any], name: str) -> Replace:
    def replace(text: str, blocked: bool) -> None:
        holder[name] = text
        holder.pop("annotations", None)
        choice.pop("logprobs", None)
        if blocked:
            choice["finish_reason"] = "content_filter"

    return replace


def _in_part(part: dict[str, Any], name: str) -> Replace:
    def replace(text: str, blocked: bool) -> None:
        part[name] = text
        part.update({listed: [] for listed in ("annotations",) if listed in part})
        part.pop("logprobs", None)

    return replace


def _in_message(body: dict[str, Any], blocks: Sequence[dict[str, Any]]) -> Replace:
    """Replaces the blocks of text of a message by the first one, without citations."""

    def replace(text: str, blocked: bool) -> None:
        blocks[0].update({"text": text, "citations": None})
        body["content"] = [one for one in body["content"] if one is blocks[0] or one not in blocks[1:]]
        if blocked:
            body["stop_reason"] = "refusal"

    return replace


def parsed_object(raw: bytes, strict: bool = False) -> dict[str, Any] | None:
    """A JSON object; None for anything else, and, if ``strict``, for one that another reader may read otherwise."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key occurs twice")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        text: str | bytes = raw.decode() if strict else raw
        more: dict[str, Any] = {"object_pairs_hook": once, "parse_constant": refuse} if strict else {}
        value: Any = parse_json(text, **more)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
