"""The values of a text that can be computed with: amounts, durations, dates and clock times.

Each comes with what it is about. A value is in a sentence or in a cell of a table. What it is about are the words
around it: those of its sentence, or of the row and the column of its cell. Not supported: units that only a caption
gives, and currencies as other than names.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from vouching.reading.growing import GrowingCache
from vouching.text.dates import find_dates
from vouching.text.layout import Row, as_markdown, table_rows
from vouching.text.mentions import DateMention, Quantity
from vouching.text.quantities import find_quantities
from vouching.text.sentences import sentence_spans
from vouching.text.units import unit_called
from vouching.text.words import FUNCTION_WORDS, lower_words, stem

MOST_READ = 100_000
"""Characters of sources whose values are read as a whole; a page of numbers takes some milliseconds."""
_HEAD_UNIT = re.compile(r"[(\[](?:in )?([^()\[\]]{1,24})[)\]]|,? in ([^\s,()][^,()]{0,16})\Z|\A([€£$¥%]|[A-Z]{3})\Z")
_NEXT = re.compile(r"(?:[ -][^\W\d_]{2,}){1,2}")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+(?=\S)", re.MULTILINE)
_CODE = re.compile(r"[\w.]*[A-Za-z][\w.]*\d|\d[\w.]*[A-Za-z]{2}[\w.]*\d|v\d|\d+\.\d+\.\d")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = 86_400.0
JOINT = "\n\n"
"""Between texts whose values are read together."""
_NEAR = 45
"""Characters next to a value that tell it from others."""
_ABOUT = 0.03
_IGNORED = FUNCTION_WORDS - {"may"}
"""The month is a word of content."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a text."""

    start: int
    end: int
    written: str
    """As the text has it, with its unit."""
    kind: str
    """What it measures; values of one kind can be compared and added up: "count", "currency EUR", "time", "date" ..."""
    low: float
    """In the base unit of its kind: seconds for "time", days since year 1 for "date", minutes for "clock"."""
    high: float
    """Equal to ``low``, but for a range."""
    factor: float = 1.0
    """Base units in one written unit."""
    rounding: float = 0.0
    """How far the true value may be off: half of the last written place of a share, 3 % of a value with "about"."""
    bound: str = "exact"
    """"at_least", "more_than", "at_most" or "less_than" for a limit."""
    unit: str = ""
    topic: frozenset[str] = frozenset()
    """Stems of the words around it."""
    name: frozenset[str] = frozenset()
    """Stems of its label."""
    label: str = ""
    """What tells it from the other values of its group: the row of a cell, or the words after a number."""
    around: frozenset[str] = frozenset()
    """Stems of the words next to it, up to the next values; for a cell, those of its row's label."""
    group: int = 0
    """The sentence that it is in; below 0, the row of a table."""
    column: int = -1
    """The column of a table (its number in ``Values.columns``); -1 outside of tables."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    head: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ItemList:
    """A run of list items, or the rows of a table."""

    title: str
    """The line above it, or the head of the first column."""
    start: int
    end: int
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """What can be computed with in one text."""

    all: tuple[Value, ...]
    columns: tuple[Column, ...]
    lists: tuple[ItemList, ...]
    seen: Counter[str]
    """The number of stretches (sentences and rows) that have a stem."""
    text: str


def stems(text: str) -> frozenset[str]:
    """The stems of the content words of a text.

    >>> sorted(stems("The prices of both tickets"))
    ['pric', 'ticket']
    """
    return frozenset(stem(word) for word in lower_words(text) if word not in _IGNORED)


@lru_cache(maxsize=4096)
def values_in(text: str) -> tuple[Value, ...]:
    """The values of one sentence or cell, in order; kept, as the answers of a conversation share most sources.

    >>> [(v.kind, v.low) for v in values_in("From 9:30 it costs €4.20 for 2 hours.")]
    [('clock', 570.0), ('currency EUR', 4.2), ('time', 7200.0)]
    """
    dates = find_dates(text)
    values = [value for mention in dates for value in _of_date(text, mention)]
    values += [value for quantity in find_quantities(text, dates) for value in _of_quantity(text, quantity)]
    return tuple(sorted(values, key=lambda value: value.start))


def kept_values(texts: Sequence[str]) -> Values:
    """All values of texts, each read alone and once, placed in the texts joined by ``JOINT``.

    >>> [(v.written, v.start) for v in kept_values(["It has 2 sites.", "They cost €5."]).all]
    [('2', 7), ('€5', 27)]
    """
    return _KEPT.of(tuple(texts))


def _extended(before: Values | None, texts: Sequence[str]) -> Values:
    """The values of all texts, given those of the texts before these."""
    values, columns, lists, seen = list[Value](), list[Column](), list[ItemList](), Counter[str]()
    joined = "" if before is None else before.text + JOINT
    if before is not None:
        values, columns, lists, seen = [*before.all], [*before.columns], [*before.lists], before.seen.copy()
    for text in texts:
        groups = 1 + max((value.group for value in values), default=-1)
        read = _moved(read_values(text), len(joined), groups, len(columns))
        values += read.all
        columns += read.columns
        lists += read.lists
        seen.update(read.seen)
        joined += text + JOINT
    return Values(tuple(values), tuple(columns), tuple(lists), seen, joined.removesuffix(JOINT))


_KEPT = GrowingCache[str, Values](_extended, len)


def _moved(values: Values, by: int, groups: int, columns: int) -> Values:
    """Values with other offsets, and other numbers of their groups and columns."""

    def move(value: Value) -> Value:
        group = value.group + groups if value.group >= 0 else value.group - by
        column = value.column + columns if value.column >= 0 else -1
        return replace(value, start=value.start + by, end=value.end + by, group=group, column=column)

    if not (by or groups or columns):
        return values
    return replace(
        values,
        all=tuple(map(move, values.all)),
        columns=tuple(replace(one, values=tuple(map(move, one.values))) for one in values.columns),
        lists=tuple(replace(one, start=one.start + by, end=one.end + by) for one in values.lists),
    )


def read_values(text: str) -> Values:
    """All values of a text, its columns and its lists."""
    plain = as_markdown(text)
    rows = sorted((row for row in table_rows(plain) if row.cells), key=lambda row: row.start)
    starts = [row.start for row in rows]
    values: list[Value] = []
    seen: Counter[str] = Counter()
    for number, (start, end) in enumerate(sentence_spans(plain)):
        last = bisect_left(starts, end) - 1
        if last >= 0 and start < rows[last].end:
            continue
        stretch = plain[start:end]
        about = stems(stretch)
        seen.update(about)
        inside = values_in(stretch)
        for at, value in enumerate(inside):
            before = max(value.start - _NEAR, inside[at - 1].end if at else 0)
            after = min(value.end + _NEAR, inside[at + 1].start if at + 1 < len(inside) else len(stretch))
            around = stems(f"{stretch[before : value.start]} {stretch[value.end : after]}")
            value = _with_unit_before(replace(_placed(value, plain, start, about, number), around=around), values)
            values.append(value)
    columns: list[Column] = []
    lists = list(_lists(plain))
    for table in _tables(rows):
        for row in table:
            seen.update(stems(plain[row.start : row.end]))
        found = list(_columns(plain, table, len(columns), values))
        columns += found
        values += (value for column in found for value in column.values)
        body = [row for row in table if not row.is_head]
        if len(body) > 1 and body[0].cells[0].column != (0, 0):
            items = tuple(plain[row.cells[0].start : row.cells[0].end] for row in body)
            lists.append(ItemList(plain[slice(*body[0].cells[0].column)], body[0].start, body[-1].end, items))
    values.sort(key=lambda value: value.start)
    return Values(tuple(values), tuple(columns), tuple(lists), seen, text)


def _of_quantity(text: str, found: Quantity) -> Iterator[Value]:
    written = text[found.start : found.end]
    if found.kind == "ordinal" or _CODE.match(text, max(0, text.rfind(" ", 0, found.start) + 1), found.end + 1):
        return
    kind = f"currency {found.unit}" if found.dimension == "currency" else found.dimension
    kind = "clock" if kind == "time_of_day" else "year" if _YEAR.fullmatch(written) else kind
    factor = found.base_low / found.low if found.low else 1.0
    rounding = found.base_rounding / 2 if kind in ("ratio", "multiple") or found.scaled else 0.0
    if found.approximate or found.kind == "fraction":
        rounding = max(rounding, _ABOUT * abs(found.base_low))
    yield Value(
        found.start,
        found.end,
        written,
        kind,
        found.base_low,
        found.base_high,
        factor,
        rounding,
        found.bound,
        found.unit,
    )


def _of_date(text: str, found: DateMention) -> Iterator[Value]:
    written = text[found.start : found.end]
    if found.kind == "duration" and found.days:
        low, high = ((found.first_days or found.days) * _DAY, (found.last_days or found.days) * _DAY)
        unit = unit_called(found.unit or "")
        rounding = _ABOUT * low if found.approximate and low == high else 0.0
        factor = unit.factor if unit else 1.0
        yield Value(found.start, found.end, written, "time", low, high, factor, rounding, found.bound, found.unit or "")
    elif found.kind == "date" and found.month and found.day:
        try:
            day = date(found.year or 2023, found.month, found.day).toordinal()
        except ValueError:
            return
        yield Value(found.start, found.end, written, "date" if found.year else "day", day, day, bound=found.bound)
    elif found.kind == "date" and found.year and not found.month and not found.part:
        yield Value(found.start, found.end, written, "year", found.year, found.year, bound=found.bound)


def _placed(value: Value, text: str, offset: int, about: frozenset[str], group: int) -> Value:
    following = _NEXT.match(text, offset + value.end) if value.kind == "count" else None
    label = following.group().strip() if following else ""
    own = stems(value.written)
    return replace(
        value, start=value.start + offset, end=value.end + offset, topic=about - own, label=label, group=group
    )


def _with_unit_before(value: Value, before: Sequence[Value]) -> Value:
    """A bare number with the unit of the value before it in its sentence: "one moves 60 litres, the other 30"."""
    last = before[-1] if before and before[-1].group == value.group else None
    bare = value.kind == "count" and not value.label and value.low == value.high and value.written.isdigit()
    if last is None or not bare or last.kind in ("count", "date", "day", "year", "clock", "ratio", "multiple", "time"):
        return value
    low = value.low * last.factor
    return replace(value, kind=last.kind, low=low, high=low, factor=last.factor, unit=last.unit)


def _tables(rows: Sequence[Row]) -> Iterator[list[Row]]:
    table: list[Row] = []
    for row in rows:
        same = (
            table
            and [c.column for c in row.cells] == [c.column for c in table[0].cells]
            and row.start - table[-1].end < 200
        )
        if table and not (same and not (row.is_head and not table[-1].is_head)):
            yield table
            table = []
        table.append(row)
    if table:
        yield table


def _columns(text: str, table: Sequence[Row], first: int, loose: list[Value]) -> Iterator[Column]:
    """The columns of a table that have a head; the values of others are added to ``loose``."""
    body = [row for row in table if not row.is_head]
    number = first
    for at in range(len(table[0].cells)):
        head = text[slice(*table[0].cells[at].column)]
        values: list[Value] = []
        for row in body:
            cell = row.cells[at]
            inside = values_in(text[cell.start : cell.end])
            name = next(
                (
                    text[c.start : c.end]
                    for c in row.cells[:2]
                    if re.search(r"[^\W\d_]", text[c.start : c.end]) and c != cell
                ),
                "",
            )
            about = stems(f"{head} {text[row.start : cell.start]} {text[cell.end : row.end]}") if at else stems(head)
            for value in inside:
                value = _with_unit(value, head)
                values.append(
                    replace(
                        value,
                        start=value.start + cell.start,
                        end=value.end + cell.start,
                        topic=about | stems(name),
                        label=name,
                        name=stems(name),
                        around=stems(name),
                        group=-1 - row.start,
                        column=number,
                    )
                )
        if values and head:
            yield Column(head, tuple(values))
            number += 1
        elif values:
            loose += [replace(value, column=-1) for value in values]


def _with_unit(value: Value, head: str) -> Value:
    """A bare number of a cell with the unit that the head of its column names."""
    found = _HEAD_UNIT.search(head) if value.kind == "count" else None
    unit = unit_called(next(part for part in found.groups() if part).strip()) if found else None
    if unit is None:
        return value
    kind = f"currency {unit.name}" if unit.dimension == "currency" else unit.dimension
    low, high = unit.to_base(value.low), unit.to_base(value.high)
    name = unit.name if unit.dimension not in ("currency", "ratio") else ""
    written = f"{value.written} {name}".strip() if unit.name != "percent" else f"{value.written}%"
    return replace(value, kind=kind, low=low, high=high, factor=unit.factor, unit=unit.name, written=written)


def _lists(text: str) -> Iterator[ItemList]:
    """Runs of list items, with the line above each."""
    lines = [(m.start(), m.end()) for m in re.finditer(r"[^\n]+", text)]
    at = 0
    while at < len(lines):
        run = at
        while run < len(lines) and _ITEM.match(text, lines[run][0]):
            run += 1
        if run - at > 1:
            title = text[slice(*lines[at - 1])].strip(" #:*") if at else ""
            items = tuple(text[start:end].strip() for start, end in lines[at:run])
            yield ItemList(title, lines[at][0], lines[run - 1][1], items)
        at = max(run, at + 1)
