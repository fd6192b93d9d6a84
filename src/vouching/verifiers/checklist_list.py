"""A list of questions as language models write it, read: numbers, bullets, bold, nesting, lines that go on.

The items are the numbered lines of the first level; without numbers the bullets, without bullets the lines that are
questions. What stands below an item belongs to it, unless the item is a mere heading and all below it are questions:
then these are the items. Left out: several items on one line, and tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vouching.text.thoughts import spoken

_Kind: TypeAlias = Literal["number", "bullet", "part", "text", "blank"]

_MARK = re.compile(
    r"(?P<lead>(?:>\s?)*(?:[-*+]\s+(?=\(?\d))?(?:\#{1,6}\s+)?(?P<bold>\*\*|__)?)"
    r"(?:(?P<number>\(?\d{1,3}(?:\\?[.)．、:](?!\d)|\)))"
    r"|(?P<part>\(?(?:\d{1,3}(?:\.\d{1,3})+[.)]?|(?:[a-z]|[ivx]{2,5})[.)])(?=\s))"
    r"|(?P<bullet>[-*+•◦▪–](?=\s)|[☐☑✓✔□](?=\s)))"
    r"(?P<closed>\*\*|__)?\s*(?:\[[ xX]?\]\s*)?(?=\S)",
    re.VERBOSE,
)
_HINT = re.compile(r"\s*[-–—:]?\s*[(\[]?\s*\byes\s*(?:/|or)\s*no\b\s*[)\]]?\s*$", re.IGNORECASE)
_LABEL = re.compile(r"^(\*\*|__)([^*_?]{1,60}?)(:?)\1(:?)\s*(?=\S)")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`")
_MARKED: tuple[_Kind, ...] = ("number", "bullet", "part")
_DEEPER = 2
"""Blanks by which a nested line stands farther right than its item."""


@dataclass(slots=True)
class _Item:
    """An item while it is read."""

    indent: int
    text: str
    parts: list[str] = field(default_factory=list[str])

    def add(self, text: str) -> None:
        """Text of a line that goes on with the last part, or with the item itself."""
        if self.parts:
            self.parts[-1] += f" {text}"
        else:
            self.text += f" {text}"

    @property
    def last(self) -> str:
        return self.parts[-1] if self.parts else self.text


def parse_checklist(reply: str) -> tuple[str, ...]:
    r"""The questions in a reply, in order; none if there is no list in it.

    >>> parse_checklist("Here you are:\n1. **Is it short?**\n2. Does it name\n   the bridge?\n\nGood luck!")
    ('Is it short?', 'Does it name the bridge?')
    >>> parse_checklist("1. Form\n   - Is it a list?\n   - Has it three entries?\n2. Is it about Paris?")
    ('Is it a list?', 'Has it three entries?', 'Is it about Paris?')
    """
    said = spoken(reply)
    lines = [*_lines((said if said == reply else said.lstrip()).expandtabs(4))]
    kinds = {kind for kind, *_ in lines}
    first: _Kind | None = next((kind for kind in _MARKED if kind in kinds), None)
    if first is None:
        found = [text for kind, _, raw in lines if kind == "text" and is_question(text := _clean(raw))]
    else:
        found = [text for item in _items(lines, first) for text in _texts(item)]
    return tuple(text for text in found if any(c.isalnum() for c in text))


def is_question(text: str) -> bool:
    """Whether a text asks something: it has a question mark outside quotation marks.

    >>> is_question("Is it short? (At most 50 words.)"), is_question('It ends with "Why?".')
    (True, False)
    """
    return any(mark in _QUOTED.sub(" ", text) for mark in "?？؟")


def _lines(text: str) -> Iterator[tuple[_Kind, int, str]]:
    """What each line is, how far right it begins, and what it says without its mark."""
    for line in text.splitlines():
        said = line.strip()
        if not said:
            yield "blank", 0, ""
        elif not said.startswith(("```", "~~~")):
            indent = len(line) - len(line.lstrip())
            mark = _MARK.match(said)
            if mark is None:
                yield "text", indent, said
                continue
            # Bold that opened before the mark and did not close with it goes on in the text.
            opened = mark["bold"] if mark["bold"] and not mark["closed"] else ""
            kind = "number" if mark["number"] else "part" if mark["part"] else "bullet"
            yield kind, indent, opened + said[mark.end() :]


def _items(lines: list[tuple[_Kind, int, str]], first: _Kind) -> list[_Item]:
    """The items, with what belongs to each; ``first`` is the kind of mark that begins one."""
    margin = min(indent for kind, indent, _ in lines if kind == first)
    items: list[_Item] = []
    after_blank = False
    for kind, indent, text in lines:
        if kind == "blank":
            after_blank = True
            continue
        if kind == first and indent < margin + _DEEPER:
            items.append(_Item(indent, text))
        elif kind != "text" and items:
            items[-1].parts.append(text)
        elif items and (indent > items[-1].indent or not (after_blank or is_question(items[-1].last))):
            items[-1].add(text)
        after_blank = False if kind != "text" else after_blank
    return items


def _texts(item: _Item) -> list[str]:
    """The item, or the questions below it if it is none itself."""
    text, parts = _clean(item.text), [part for part in map(_clean, item.parts) if part]
    if parts and not is_question(text) and all(map(is_question, parts)):
        return parts
    return [" ".join([text, "; ".join(parts)]) if parts else text]


def _clean(text: str) -> str:
    """The text in one line, without marks around the whole of it and without "(yes/no)" at its end."""
    text = " ".join(text.split())
    text = _LABEL.sub(r"\2: ", text) if (found := _LABEL.match(text)) and (found[3] or found[4]) else text
    text = _HINT.sub("", text)
    for mark in ("**", "__", "*", "_"):
        inner = text.removeprefix(mark).removesuffix(mark)
        if text.startswith(mark) and text.endswith(mark) and mark not in inner and len(text) > 2 * len(mark):
            text = inner.strip()
        elif len(mark) == 2 and text.count(mark) == 1 and (text.startswith(mark) or text.endswith(mark)):
            text = text.removeprefix(mark).removesuffix(mark).strip()
    return _HINT.sub("", text).strip()
