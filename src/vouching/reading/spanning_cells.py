"""Tables of HTML whose cells span rows or columns, written with a cell in each place that it is for.

A cell that spans rows stands in each of them; one that spans columns stands in each, unless it opens its row, as a
label does. Offsets map back to the cell. Not supported: tables inside tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vouching.reading.plain import PlainText

_SPANS = re.compile(r"\b(?P<kind>row|col)span\s*=\s*[\"']?(?P<count>\d{1,2})\b", re.IGNORECASE)
_ROW = re.compile(r"<tr\b(?:(?!<tr\b|</table).)*?</tr\s*>", re.IGNORECASE | re.DOTALL)
_CELL = re.compile(
    r"<t[dh]\b(?P<attributes>[^<>]{0,400})>(?P<inner>(?:(?!</?t[dhr]\b).)*)(?:</t[dh]\s*>)?", re.IGNORECASE | re.DOTALL
)
_TABLE = re.compile(r"</?table\b", re.IGNORECASE)
_LONGEST = 200
"""Characters of a cell that is repeated."""


@dataclass(frozen=True, slots=True)
class _Repeat:
    """A cell that is written at another offset of the text as well."""

    at: int
    start: int
    end: int


def with_whole_rows(text: str) -> PlainText:
    """A text with its tables' cells in each row and column that they span.

    >>> table = "<tr><td rowspan=2>Ulm</td><td>A</td></tr><tr><td>B</td></tr>"
    >>> with_whole_rows(table).text
    '<tr><td rowspan=2>Ulm</td><td>A</td></tr><tr><td>Ulm</td><td>B</td></tr>'
    """
    if not _SPANS.search(text):
        return PlainText(text)
    parts: list[str] = []
    places: list[tuple[int, int, int, int]] = []
    done = length = 0
    for one in _repeats(text):
        words = f"<td>{text[one.start : one.end]}</td>"
        parts += (text[done : one.at], words)
        length += one.at - done + len(words)
        places += ((length - len(words), length, one.start, one.end), (length, length, one.at, one.at))
        done = one.at
        if length > 2 * len(text):  # nothing but spans
            return PlainText(text)
    return PlainText("".join([*parts, text[done:]]), tuple(places))


def _repeats(text: str) -> Iterator[_Repeat]:
    """Where cells are missing, in order, each with the stretch that it holds."""
    carried: dict[int, tuple[int, int, int]] = {}  # by column: rows that are left, and the words of the cell
    last = 0
    for row in _ROW.finditer(text):
        if _TABLE.search(text, last, row.start()):
            carried = {}
        last, column = row.end(), 0
        below: dict[int, tuple[int, int, int]] = {}
        for cell in _CELL.finditer(text, row.start() + 1, row.end()):
            while column in carried:
                yield _Repeat(cell.start(), *carried[column][1:])
                column += 1
            counts = {found["kind"].lower(): int(found["count"]) for found in _SPANS.finditer(cell["attributes"])}
            start, end = cell.span("inner")
            end = end if end - start <= _LONGEST else start
            for number in range(max(1, counts.get("col", 1))):
                words = (start, start) if number and not column else (start, end)
                if number:
                    yield _Repeat(cell.end(), *words)
                below[column + number] = (counts.get("row", 1) - 1, *words)
            column += max(1, counts.get("col", 1))
        closing = text.rindex("<", row.start(), row.end())
        while column in carried:
            yield _Repeat(closing, *carried[column][1:])
            column += 1
        left = {at: (rows - 1, start, end) for at, (rows, start, end) in carried.items()} | below
        carried = {at: one for at, one in left.items() if one[0] > 0}
