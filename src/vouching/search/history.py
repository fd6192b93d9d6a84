"""A trajectory as lines of text, for a model that continues the search, compresses it or scores by it.

A passage is one or more lines of the same form, so that its text cannot imitate another kind of line; sentences that
address the verdict are removed. Not supported: the layout of passages; a table loses its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from vouching.text.injection import addresses_verdict, find_injections
from vouching.text.sentences import sentence_spans
from vouching.types import Passage, Trajectory

MAX_CHARACTERS = 1_500
"""Characters of a passage in one line."""


def history_text(trajectory: Trajectory, limit: int | None = None) -> str:
    """A whole search: thoughts, queries, and passages with their origin; lines beyond ``limit`` characters are omitted.

    >>> from vouching.types import SearchResult, SearchTurn, Span
    >>> found = Passage(Span("It opened in 1973.", 0, 18, "bridge"), 1.0, title="Bridge", origin="index:wiki")
    >>> turn = SearchTurn("I need the year.", "local", "bridge opening", SearchResult("bridge opening", (found,), ()))
    >>> print(history_text(Trajectory("When?", ("1973",), (turn,), "turns", "deterministic")))
    Thought: I need the year.
    Search: bridge opening
    Found (index:wiki): Bridge: It opened in 1973.
    """
    lines: list[str] = []
    left = limit
    for line in _lines(trajectory):
        if left is not None and (left := left - len(line) - 1) < -1:
            break
        lines.append(line)
    return "\n".join(lines)


def found_line(passage: Passage) -> str:
    """A passage as one line: origin, title, and the text that fits."""
    first, *rest = _found_lines(passage)
    return f"{first}…" if rest else first


def screened(text: str) -> str:
    """The text without its sentences that address the verdict."""
    for found in reversed(find_injections(text, sentence_spans(text))):
        text = text[: found.start] + text[found.end :]
    return text


def one_line(text: str) -> str:
    """The text with all white space replaced by single spaces."""
    return " ".join(text.split())


def _lines(trajectory: Trajectory) -> Iterator[str]:
    for turn in trajectory.turns:
        if turn.thought.strip():
            yield f"Thought: {one_line(turn.thought)}"
        if turn.query.strip():
            yield f"Search: {one_line(turn.query)}"
        for passage in turn.result.passages if turn.result else ():
            yield from _found_lines(passage)


def _found_lines(passage: Passage) -> Iterator[str]:
    """A passage as lines, each with its origin and title; split between sentences, or words."""
    title = "" if addresses_verdict(passage.title) else one_line(passage.title)[:MAX_CHARACTERS]
    origin = f" ({one_line(passage.origin)})" if passage.origin else ""
    lines = [""]
    for piece in _pieces(one_line(screened(passage.span.text))):
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > MAX_CHARACTERS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {piece}".strip()
    for line in lines:
        yield f"Found{origin}: {': '.join(filter(None, (title, line)))}"


def _pieces(text: str) -> Iterator[str]:
    """The sentences of a text; the words of sentences longer than a line."""
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        yield from (
            [sentence] if len(sentence) <= MAX_CHARACTERS else wrap(sentence, MAX_CHARACTERS, break_on_hyphens=False)
        )
