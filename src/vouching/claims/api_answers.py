"""Answers with citations as the APIs return them, read and written back.

OpenAI's Responses (``output_text`` with ``annotations``) and chat completions (``message.annotations``), and
Anthropic's messages (text blocks with ``citations``), as JSON or as objects of their clients. Their documented fields:
``url_citation``, ``file_citation`` and ``container_file_citation``; ``char_location``, ``page_location``,
``content_block_location``, ``search_result_location`` and ``web_search_result_location``. Not supported: several
answers in one; streams that are not complete.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, cast

from vouching.errors import InputError
from vouching.rows.conversations import as_json
from vouching.types import Report, Source
from vouching.types.visible import shown_json

AnswerLike: TypeAlias = "str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | object"
"""A text, or an answer of an API: the response, its message, or its blocks, as JSON or objects of a client."""
_TEXT_TYPES = ("text", "output_text")
_MESSAGE_TYPES = (None, "message", "ai")
"""Types of what holds the words of an answer; other blocks are calls of tools, their results, and thoughts."""
_BETWEEN_PARTS = "\n\n"
"""Between the parts of an answer of OpenAI; Anthropic's blocks are stretches of one text."""


@dataclass(frozen=True, slots=True)
class GivenCitation:
    """A citation of an answer."""

    fields: Mapping[str, Any]
    """Its fields in the API, without nesting."""
    start: int
    """Where the stretch of the text starts that it is for, or the place where it stands."""
    end: int

    @property
    def kind(self) -> str:
        """Its type in the API."""
        return str(self.fields.get("type", "citation"))

    @property
    def cited_text(self) -> str | None:
        """The words that it quotes from its source."""
        quoted = self.fields.get("cited_text")
        return quoted if isinstance(quoted, str) and quoted.strip() else None

    @property
    def names(self) -> list[str]:
        """What it calls its source, the most exact name first."""
        keys = ("url", "source", "file_id", "filename", "document_title", "title")
        return [str(self.fields[key]) for key in keys if self.fields.get(key)]

    @property
    def number(self) -> int | None:
        """The position of its source among those that were passed to the API, from 0; None if it gives none."""
        found = self.fields.get("document_index", self.fields.get("search_result_index"))
        return found if isinstance(found, int) else None


@dataclass(frozen=True, slots=True)
class Answer:
    """The text of an answer, and its citations in order."""

    text: str
    citations: tuple[GivenCitation, ...] = ()

    def quoted_sources(self) -> list[Source]:
        """The cited texts as sources, for an answer that is checked without its documents."""
        quoted: dict[str, list[str]] = {}
        for citation in self.citations:
            if citation.cited_text:
                name = next(iter(citation.names), f"document-{(citation.number or 0) + 1}")
                quoted.setdefault(name, []).append(citation.cited_text)
        return [Source("\n\n".join(dict.fromkeys(texts)), name) for name, texts in quoted.items()]


def read_answer(given: AnswerLike) -> Answer:
    """The text and the citations of an answer.

    A text is an answer without any, unless it is the JSON of an answer that has some.

    Raises InputError for what is neither a text nor has one at a documented place.

    >>> block = {"type": "text", "text": "It is red.", "citations": [{"type": "char_location", "document_index": 0}]}
    >>> answer = read_answer({"role": "assistant", "content": [block]})
    >>> answer.text, answer.citations[0].kind, answer.citations[0].end
    ('It is red.', 'char_location', 10)
    """
    parts = [*_parts(as_json(given))]
    if isinstance(given, str) and not any(part.holders for part in parts):
        return Answer(given)
    if not parts:
        raise InputError(
            "the response must be a string, or an answer of the APIs of OpenAI or Anthropic with a text, got "
            f"{shown_json(given)}"
        )
    text, found = "", list[GivenCitation]()
    for part in parts:
        text += _BETWEEN_PARTS if text and not part.joined else ""
        found += [_given(holder, len(text), part) for holder in part.holders]
        text += part.text
    return Answer(text, tuple(found))


def with_verdicts(given: AnswerLike, report: Report) -> Any:
    """The answer of an API as JSON, with the outcome at each of its citations in a field "vouch".

    Args:
        given: what ``report`` is about.
        report: of ``check_response`` for this answer.

    Raises:
        InputError: another answer.

    >>> from vouching import check_response
    >>> block = {"type": "text", "text": "It is red.", "citations": [{"type": "char_location", "document_index": 0}]}
    >>> answer = {"role": "assistant", "content": [block]}
    >>> report = check_response(answer, ["The door is red."])
    >>> with_verdicts(answer, report)["content"][0]["citations"][0]["vouch"]["outcome"]
    'supports'
    """
    plain = copy.deepcopy(as_json(given))
    holders = [holder for part in _parts(plain) for holder in part.holders]
    if len(holders) != len(report.citations):
        raise InputError(
            f"the report has {len(report.citations)} citations, and the answer {len(holders)}: "
            "pass the answer that the report is about"
        )
    for holder, result in zip(holders, report.citations, strict=True):
        holder["vouch"] = asdict(result)
    return plain


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of an answer with its citations."""

    text: str
    holders: list[dict[str, Any]]
    """The citations, as the answer has them."""
    joined: bool
    """Whether it continues the text before it, and is as a whole what its citations are for: a block of Anthropic."""


def _parts(data: Any, depth: int = 4) -> Iterator[_Part]:
    """The stretches of an answer, in order."""
    if isinstance(data, list) and depth:
        for one in cast("list[Any]", data):
            yield from _parts(one, depth - 1)
    if not isinstance(data, dict):
        return
    fields = cast("dict[str, Any]", data)
    if fields.get("type") not in (*_MESSAGE_TYPES, *_TEXT_TYPES):
        return
    content = fields.get("text") if fields.get("type") in _TEXT_TYPES else fields.get("content")
    if fields.get("role", "assistant") == "assistant" and isinstance(content, str) and "choices" not in fields:
        holders = [*_objects(fields.get("citations")), *_objects(fields.get("annotations"))]
        holders = [one for one in holders if one.get("type") != "file_path"]  # a file that the model made
        yield _Part(content, holders, joined=fields.get("type") == "text")
    elif depth and fields.get("role", "assistant") == "assistant":
        choices = _objects(fields.get("choices"))[:1]
        yield from _parts((choices and choices[0].get("message")) or fields.get("output") or content, depth - 1)


def _objects(value: Any) -> list[dict[str, Any]]:
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]


def _given(holder: dict[str, Any], start: int, part: _Part) -> GivenCitation:
    """A citation with its place in the whole text."""
    inner = holder.get(str(holder.get("type")))
    fields = {**holder, **(cast("dict[str, Any]", inner) if isinstance(inner, dict) else {})}
    if part.joined:
        first, last = 0, len(part.text)
    else:
        given = [fields.get(key, fields.get("index")) for key in ("start_index", "end_index")]
        first, last = sorted(min(max(0, at), len(part.text)) if isinstance(at, int) else len(part.text) for at in given)
    return GivenCitation(fields, start + first, start + last)
