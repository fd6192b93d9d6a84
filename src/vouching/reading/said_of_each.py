"""What a text says of several things at once, said of each of them.

The items of a list below "Do not take it if:" are read with these words, and "A and B are 3 and 5 km long,
respectively" as two sentences. Offsets map back: the words of a lead-in to the lead-in, a sentence about one thing to
the stretch with its value. Not supported: lists that assert something, whose items are read as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vouching.reading.plain import PlainText
from vouching.text.coordinations import shares
from vouching.text.cues import find_negations
from vouching.text.sentences import LIST_MARKER, sentence_spans
from vouching.text.words import find_words

Piece = tuple[str, int, int]
"""Words, and the stretch of the text that they are read for."""
_LIST = re.compile(r":[*_ \t]*(?:\r?\n[ \t]*)+(?=\S)")
"""The end of a line that may lead in a list."""
_BREAKS = re.compile(r"(?:\r?\n[ \t]*)+")
_NEXT_LINE = re.compile(r"\r?\n[ \t]+(?=\S)")
"""The break before an indented line, which continues the item above it."""
_JOINT = re.compile(r"(?:[;,.]?\s+(?:and|or))?[\s;,.]*\Z")
"""What stands between an item and the next one."""
_LONGEST_LEAD = 300
"""In characters."""
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_LEAVES_OUT = re.compile(
    r"\b(?:exclud(?:es?|ed|ing)|excepted|prohibit(?:s|ed)?|forbid(?:s|den)?|banned|refrain|avoid|without)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|when|unless|until|because|since|as|who|which|that|where|while)\b", re.IGNORECASE)
"""What opens a clause whose denial is not one of the items: "If you do not have one:"."""
_ASSERTING = frozenset("forget fail hesitate worry only".split())
"""Verbs that a denial turns into a request, and "not only"."""
_PLACEHOLDER = re.compile(
    r"\b(?:(?:any|all|one|none) of )?(?:the following|these)\b(?: (?!is\b|was\b|has\b|does\b|in\b)[a-z]+s\b)?",
    re.IGNORECASE,
)
"""What stands for the items in a lead-in: "Never put the following into the freezer:"."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """A stretch of a text with the pieces that are read in its place."""

    start: int
    end: int
    pieces: tuple[Piece, ...]


def said_of_each(plain: PlainText, usual: Callable[[str], str | None]) -> PlainText:
    r"""A text whose denied lists and sentences with "respectively" say of each thing what they say of it.

    Args:
        plain: the text.
        usual: how a word in lower case is written inside a sentence; None if unknown.

    >>> said_of_each(PlainText("Do not take it if:\n- you are pregnant"), str).text
    'Do not take it if:\n- Do not take it if you are pregnant'
    >>> said_of_each(PlainText("Anna and Ben are 3 and 5, respectively."), str).text
    'Anna is 3. Ben is 5.'
    """
    text = plain.text
    edits = [*_lists(text, usual), *_respectively(text)]
    parts: list[str] = []
    places: list[tuple[int, int, int, int]] = []
    done = length = 0
    for edit in sorted(edits, key=lambda one: one.start):
        if edit.start < done:
            continue
        parts.append(text[done : edit.start])
        length += edit.start - done
        for words, start, end in edit.pieces:
            kept = words.lower() == text[start:end].lower()
            parts.append(words)
            places.append((length, length, start, start) if kept else (length, length + len(words), start, end))
            length += len(words)
        places.append((length, length, edit.end, edit.end))
        done = edit.end
    return PlainText("".join([*parts, text[done:]]), tuple(places), plain) if places else plain


def _respectively(text: str) -> Iterator[_Edit]:
    """The sentences with "respectively", each as one about each of its subjects."""
    if not _RESPECTIVELY.search(text):
        return
    for start, end in sentence_spans(text):
        each = shares(text[start:end])
        pieces = [(_stopped(share.text), start + share.start, start + share.end) for share in each]
        if pieces:
            gaps = ((" ", last, last) for _, _, last in pieces)
            yield _Edit(start, end, tuple(piece for pair in zip(pieces, gaps, strict=True) for piece in pair)[:-1])


def _stopped(sentence: str) -> str:
    sentence = sentence.rstrip()
    return sentence if sentence[-1:] in ".!?" else f"{sentence}."


def _lists(text: str, usual: Callable[[str], str | None]) -> Iterator[_Edit]:
    """The items of lists whose lead-in denies something, each with its words."""
    for colon in _LIST.finditer(text):
        if not LIST_MARKER.match(text, colon.end()):
            continue
        first = max(0, colon.start() - _LONGEST_LEAD)
        start = first + sentence_spans(text[first : colon.start() + 1])[-1][0]
        marker = LIST_MARKER.match(text, start)
        lead = marker.end() if marker else start, colon.start()
        words = text[slice(*lead)].strip("*_# ")
        if words and _denies(words):
            for item in _items(text, colon.end()):
                yield _with_lead(text, lead, words, item, usual)


def _denies(lead: str) -> bool:
    """Whether a lead-in denies its items, and not a condition or another verb."""
    words = find_words(lead)
    starts = [one.start for one in find_negations(lead, words)] + [one.start() for one in _LEAVES_OUT.finditer(lead)]
    if not starts:
        return False
    following = next((word.lower for word in words if word.start > min(starts)), "")
    return not (_CONDITION.search(lead, 0, min(starts)) or following in _ASSERTING)


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The items of the list that starts at an offset, without their markers and the stops at their ends."""
    column = at - text.rfind("\n", 0, at)
    while marker := LIST_MARKER.match(text, at):
        end = _line_end(text, at)
        while (wrapped := _NEXT_LINE.match(text, end)) and not LIST_MARKER.match(text, wrapped.end()):
            end = _line_end(text, wrapped.end())
        yield marker.end(), marker.end() + len(_JOINT.sub("", text[marker.end() : end]))
        following = _BREAKS.match(text, end)
        at = following.end() if following else len(text)
        if at - text.rfind("\n", 0, at) != column:
            return


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _with_lead(
    text: str, lead: tuple[int, int], words: str, item: tuple[int, int], usual: Callable[[str], str | None]
) -> _Edit:
    """An item in the place of "the following" in its lead-in, or behind it."""
    place = _PLACEHOLDER.search(words)
    before, after = (words[: place.start()], words[place.end() :]) if place else (f"{words} ", "")
    said = text[slice(*item)]
    first = re.match(r"[A-Z][a-z]+", said)
    written = usual(first[0].lower()) if first and before else None
    if written and first and len(written) == first.end():
        said = written + said[first.end() :]
    pieces: list[Piece] = [(before, *lead), (said, *item), (after, *item)]
    return _Edit(*item, tuple(piece for piece in pieces if piece[0]))
