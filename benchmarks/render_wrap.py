"""Prose of generated pages wrapped at 100 characters, as the other pages are."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

WIDTH = 100
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
_AS_IT_IS = ("|", "#", "<!--", "![", "```", "    ")


def wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Paragraphs and list items filled to ``WIDTH``; tables, headings, comments and images as they are.

    >>> [*wrapped(["a " * 60, "| b | c |"])] == ["a " * 49 + "a", "a " * 9 + "a", "| b | c |"]
    True
    """
    paragraph: list[str] = []
    for line in (part for text in lines for part in text.split("\n")):
        if not line.strip() or line.startswith(_AS_IT_IS) or _ITEM.match(line):
            yield from _filled(paragraph)
            paragraph = []
        if _ITEM.match(line) or (line.strip() and not line.startswith(_AS_IT_IS)):
            paragraph.append(line)
        else:
            yield line
    yield from _filled(paragraph)


def _filled(paragraph: list[str]) -> list[str]:
    text = " ".join(line.strip() for line in paragraph)
    item = _ITEM.match(text)
    indent = " " * len(item[0]) if item else ""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
