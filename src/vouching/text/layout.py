"""The layout of a document: tables with their heads, headings, and HTML, all with exact offsets.

HTML is rewritten in place as Markdown of the same length, so that offsets stay those of the document. A table is a run
of lines with the same number of cells, separated by "|", tabs, semicolons or commas, or a run of lines "key: value".
Cells that span rows or columns are for ``vouching.reading.spanning_cells``. Not supported: tables inside tables, and
tables drawn with spaces.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_BLOCKS = re.compile(r"</(?:p|li|td|th|tr|h[1-6]|div|table|ul|ol)\s*>", re.IGNORECASE)
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[a-z][a-z0-9]{0,10})\b[^<>]{0,400}>|<!--(?:(?!<!--).)*?-->", re.IGNORECASE | re.DOTALL
)
_LINE_TAGS = frozenset(
    "p div li tr table ul ol dl dt dd br hr section article header footer thead tbody blockquote".split()
)
_TABLE_ROW = re.compile(r"<tr\b(?:(?!<tr\b).)*?</tr\s*>", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>[^\r\n]+)")
_RULE = re.compile(r"[\s|:=+-]*-[\s|:=+-]*")
_SEPARATORS = ("|", "\t", ";", ",")
_MAX_CELL = 80
"""Characters of a cell of a table without "|"; longer ones are prose with commas."""
_MIN_ROWS = 3
"""Rows of a table without "|"; two lines with as many commas may be prose."""
_NAMED_BY_NUMBER = re.compile(
    r"(?:[^\d\s]* )?(?:\d{4}|Q\d.*|v?\d+(?:\.[\dx]+)+)|[\d\s]*+[^\d\s].* \d+|[^(]*+\([^)]*+\).*"
)
"""A head with digits: a year, a quarter, a version, or words before a number."""
_PAIR = re.compile(r"[ \t]*(?:[-*+] )?(?P<key>[^\s|:][^|:\r\n]{0,60}):[ \t]+(?P<value>[^\s|][^|\r\n]{0,79})")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table; offsets are those of the document."""

    start: int
    end: int
    column: tuple[int, int]
    """Where its column's head is; an empty span if the table has no heads."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    start: int
    end: int
    cells: tuple[Cell, ...]

    @property
    def is_head(self) -> bool:
        """Whether it holds the heads of the columns."""
        return self.cells[0].column == (self.cells[0].start, self.cells[0].end) != (0, 0)

    def cell_at(self, offset: int) -> Cell | None:
        """The cell that covers an offset of the document."""
        return next((cell for cell in self.cells if cell.start <= offset < cell.end), None)


_EMPHASIS = re.compile(r"(?P<mark>\*{1,3}|__)(?=[^\s*_])[^*_\n]{1,80}?(?<=[^\s*_])(?P=mark)")


def without_emphasis(text: str) -> tuple[str, list[int]]:
    """The text without the marks of emphasis, and the offset in the text of each of its characters.

    >>> without_emphasis("**95** km")
    ('95 km', [2, 3, 6, 7, 8])
    """
    if "*" not in text and "__" not in text:
        return text, []
    marks = {
        at
        for found in _EMPHASIS.finditer(text)
        for start, end in (found.span("mark"), (found.end() - len(found["mark"]), found.end()))
        for at in range(start, end)
    }
    offsets = [at for at in range(len(text)) if at not in marks]
    return "".join(text[at] for at in offsets), offsets


_UNREAD = re.compile(
    r"<(?P<name>del|s|strike|script|style|template|title)\b[^<>]{0,400}>[^<]{0,4000}</(?P=name)>"
    r"|<(?P<hidden>[a-z][a-z0-9]{0,10})\b[^<>]{0,300}(?:\bhidden\b|display\s*:\s*none|font-size\s*:\s*0)[^<>]{0,100}>"
    r"[^<]{0,4000}</(?P=hidden)>|~~(?=\S)[^~\n]{1,1000}~~",
    re.IGNORECASE,
)
"""Text that a reader of the page does not see, or sees struck out."""


_ENTITIES = {"lt": "<", "gt": ">", "nbsp": " ", "le": "≤", "ge": "≥", "times": "×", "ndash": "–", "euro": "€"}
_ENTITY = re.compile(rf"&({'|'.join(_ENTITIES)});", re.IGNORECASE)


def as_markdown(text: str) -> str:
    """The text with its HTML tags replaced by Markdown or spaces, at the same offsets.

    Deleted and hidden text becomes spaces, an entity such as "&lt;" its sign. A text without HTML blocks is otherwise
    returned unchanged.

    >>> as_markdown("<h2>Prices</h2><p>Entry is <b>free</b>.</p>").split()
    ['##', 'Prices', 'Entry', 'is', 'free', '.']
    """
    if "&" in text:
        text = _ENTITY.sub(lambda found: _ENTITIES[found[1].lower()].ljust(len(found[0])), text)
    if "</" in text or "~~" in text:
        text = _UNREAD.sub(lambda found: " " * len(found[0]), text)
    if len(_BLOCKS.findall(text)) < 2:
        return text
    text = _TABLE_ROW.sub(lambda row: re.sub(r"[\r\n]", " ", row[0]), text)
    depth = 0

    def written(tag: re.Match[str]) -> str:
        nonlocal depth
        if (tag["name"] or "").lower() in ("ul", "ol"):
            depth += -1 if tag["close"] else 1
        return _written_out(tag, depth)

    return _TAG.sub(written, text)


def with_bars(text: str, rows: Sequence[Row]) -> str:
    """The text with "|" between the cells of its tables, at the same offsets, so that "40,7" is two numbers."""
    parts: list[str] = []
    done = 0
    for row in rows:
        for left, right in pairwise(row.cells):
            between = text[left.end : right.start]
            if "|" not in between and ":" not in between:
                parts += [text[done : left.end], "|".ljust(len(between))]
                done = right.start
    return "".join([*parts, text[done:]])


def _written_out(tag: re.Match[str], depth: int) -> str:
    """Markdown of the same length as a tag; an item of a list in another is indented, by what its tag has room for."""
    name, closes = (tag["name"] or "").lower(), bool(tag["close"])
    mark = ""
    if name in ("td", "th"):
        mark = "" if closes else "|"
    elif re.fullmatch(r"h[1-6]", name):
        mark = "\n" if closes else "\n" + "#" * min(int(name[1]), 2) + " "
    elif name == "li" and not closes:
        mark = "\n- " if depth < 2 else "\n - "
    elif name in _LINE_TAGS:
        mark = "\n"
    return mark.ljust(len(tag[0]))


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that may be a row: its stretch and those of its cells."""

    start: int
    end: int
    cells: tuple[tuple[int, int], ...]


def table_rows(text: str) -> list[Row]:
    r"""The rows of all tables of a text (Markdown or delimited lines), in order, with the rows of heads.

    >>> text = "| Plan | Price |\n|---|---|\n| Basic | $10 |\n"
    >>> [[(text[slice(*c.column)], text[c.start : c.end]) for c in row.cells] for row in table_rows(text)]
    [[('Plan', 'Plan'), ('Price', 'Price')], [('Plan', 'Basic'), ('Price', '$10')]]
    """
    lines = [found.span() for found in re.finditer(r"[^\r\n]+", text) if not found[0].isspace()]
    rows: list[Row] = []
    at = 0
    while at < len(lines):
        separator = next((s for s in _SEPARATORS if s in text[slice(*lines[at])]), None)
        run = _run(text, lines, at, separator) if separator else []
        pairs = [] if len(run) >= _MIN_ROWS or separator == "|" else _pairs(text, lines, at)
        if pairs:
            rows.extend(pairs)
        elif len(run) >= (2 if separator == "|" else _MIN_ROWS):
            rows.extend(_rows(text, run))
        at += max(1, len(pairs) or len(run))
    return rows


def _pairs(text: str, lines: Sequence[tuple[int, int]], at: int) -> list[Row]:
    """The lines "key: value" from ``at``, if there are at least two."""
    found: list[Row] = []
    for number in range(at, len(lines)):
        start, end = lines[number]
        pair = _PAIR.fullmatch(text, start, end)
        if not pair or re.search(r"[.!?] ", pair["value"]):
            break
        found.append(Row(start, end, (Cell(*pair.span("key"), (0, 0)), Cell(*pair.span("value"), (0, 0)))))
    return found if len(found) > 1 else []


def _run(text: str, lines: Sequence[tuple[int, int]], at: int, separator: str) -> list[_Line]:
    """The lines from ``at`` that have as many cells as the first."""
    found: list[_Line] = []
    for number in range(at, len(lines)):
        start, end = lines[number]
        cells = tuple(_cells(text, start, end, separator))
        if len(cells) < 2 or (found and len(cells) != len(found[0].cells)):
            break
        prose = text[end - 1] in ".!?:" or any(last - first > _MAX_CELL for first, last in cells)
        if separator != "|" and prose:
            break
        found.append(_Line(start, end, cells))
    return found


def _cells(text: str, start: int, end: int, separator: str) -> Iterator[tuple[int, int]]:
    """The trimmed cells of a line; separators inside quotation marks do not count."""
    line = text[start:end]
    first, last = 0, len(line)
    if separator == "|":
        outer = line.strip()
        first = line.index(outer[0]) + 1 if outer.startswith("|") else 0
        last = line.rindex("|") if outer.endswith("|") and len(outer) > 1 else last
    quoted, begun = False, first
    for position in range(first, last + 1):
        if position < last and line[position] == '"':
            quoted = not quoted
        if position == last or (line[position] == separator and not quoted):
            cell = line[begun:position]
            trimmed = cell.strip(' \t"*_`')
            offset = begun + (cell.find(trimmed) if trimmed else 0)
            yield start + offset, start + offset + len(trimmed)
            begun = position + 1


def _rows(text: str, run: Sequence[_Line]) -> Iterator[Row]:
    """The rows of a table; its first line holds the heads, unless it holds values."""
    ruled = len(run) > 1 and _RULE.fullmatch(text, run[1].start, run[1].end)
    first = [text[start:end] for start, end in run[0].cells[1:]]
    heads = ruled or not any(re.search(r"\d", cell) and not _NAMED_BY_NUMBER.fullmatch(cell) for cell in first)
    columns = run[0].cells if heads else [(0, 0)] * len(run[0].cells)
    for line in run:
        if not _RULE.fullmatch(text, line.start, line.end):
            cells = (Cell(*cell, column=head) for cell, head in zip(line.cells, columns, strict=True))
            yield Row(line.start, line.end, tuple(cells))


_COLUMN = re.compile(r"[^\W\d_][\w ()/%°€$-]{0,40}")
"""The head of a column of CSV."""


def csv_lines(text: str, start: int, end: int) -> list[tuple[int, int, list[str]]]:
    r"""The lines of a stretch that is CSV, each with its cells, the heads first; empty for any other stretch.

    >>> csv_lines("Plan,Price\nBasic,10", 0, 19)
    [(0, 10, ['Plan', 'Price']), (11, 19, ['Basic', '10'])]
    """
    lines = [(found.start(), len(found[0].rstrip()), found[0]) for found in re.finditer(r"[^\n]+", text[start:end])]
    try:
        rows = [next(csv.reader([line])) for _, _, line in lines]
    except csv.Error:  # a cell that is too long
        return []
    if len(rows) < 2 or len(rows[0]) < 2 or not all(map(_COLUMN.fullmatch, rows[0])) or len({*map(len, rows)}) > 1:
        return []
    return [(start + at, start + at + length, row) for (at, length, _), row in zip(lines, rows, strict=True)]


def headings(text: str) -> list[tuple[int, int]]:
    r"""Where the titles of Markdown headings are, in order.

    >>> text = "# Prices\nEntry is free.\n"
    >>> [text[start:end] for start, end in headings(text)]
    ['Prices']
    """
    return [
        found.span("title")
        for line in re.finditer(r"^#.*$", text, re.MULTILINE)
        if (found := _HEADING.match(text, line.start()))
    ]
