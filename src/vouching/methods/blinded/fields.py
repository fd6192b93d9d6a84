"""Records inside a text: JSON values and cells of tables, each with what it is called and where it stands.

Not supported: YAML and HTML tables, JSON after other text, and cells that span several columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vouching.text.dates import find_dates

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LINE = re.compile(r"[^\r\n]+")
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\W]+")
YEAR = re.compile(r"(?:1\d|20)\d\d")
"""What a key or the first cell of a row looks like where it is a year."""
_NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}|\\.")
_MIN_ROWS = 3
"""Lines, the header among them, from which lines with the same number of commas are a table."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a record."""

    start: int
    """Offset of its first character, inside the quotation marks."""
    end: int
    """Offset after its last."""
    name: tuple[str, ...]
    """What it is called: keys from the outside in, or the head of its column; list positions are left out, and keys
    that are numbers or dates where there are others."""
    record: int
    """Number of the innermost object or row it belongs to; what stands under a number or a date is a record too."""
    under: tuple[str, ...] = ()
    """The numbers and dates among the keys around it."""


def find_fields(text: str) -> list[Field]:
    """The values of a text that is JSON, JSON lines or a table; none if it is neither.

    >>> text = '{"name": "Finch", "hours": {"Monday": "17:0-21:0"}}'
    >>> [(field.name, text[field.start : field.end]) for field in find_fields(text)]
    [(('name',), 'Finch'), (('hours', 'Monday'), '17:0-21:0')]

    A key that is a number or a date is a value too, like a cell of a column with the name year or date (a number: the
    name that is around it, or number):

    >>> text = '{"sales": {"2021": 5, "2022": 7}}'
    >>> [(field.name, text[field.start : field.end], field.record) for field in find_fields(text)][:2]
    [(('sales', 'year'), '2021', 3), (('sales',), '5', 3)]
    """
    return _json_fields(text) or _table_fields(text)


def name_words(name: str) -> str:
    """A key as words: "BusinessParking" and "business_parking" are "business parking".

    >>> name_words("businessStars"), name_words("review_info")
    ('business stars', 'review info')
    """
    return " ".join(filter(None, _WORD_BREAK.split(name))).lower()


def unescaped(text: str) -> str:
    r"""A JSON string's inside without its escapes, as long as before, so that offsets stay.

    >>> unescaped('a\\nb')
    'a  b'
    """
    return _ESCAPE.sub(lambda found: _character(found[0]).rjust(len(found[0])), text) if "\\" in text else text


def _character(escape: str) -> str:
    plain = str(json.loads(f'"{escape}"')) if escape[1] in 'u"\\/bfnrt' else escape[1]
    return " " if plain.isspace() or "\ud800" <= plain <= "\udfff" else plain


def _json_fields(text: str) -> list[Field]:
    """Values of JSON, or of lines of which each is JSON."""
    bare = text.strip()
    if not bare.startswith(("{", "[")):
        return []
    for documents in ([bare], bare.splitlines()):
        try:
            for document in filter(str.strip, documents):
                json.loads(document)
        except (ValueError, RecursionError):
            continue
        return list(_scalars(text))
    return []


def _scalars(text: str) -> Iterator[Field]:
    """Values of well-formed JSON with their places, which the standard parser does not tell."""
    open_: list[_Open] = []
    records = 0
    for token in _TOKEN.finditer(text):
        sign = token.group()
        top = open_[-1] if open_ else None
        if sign in "{[":
            labelled = top is not None and top.label != ""
            records += sign == "{" and not labelled
            # What stands in a list belongs to the record around it.
            own = records if (sign == "{" and not labelled) or top is None else top.record
            open_.append(_Open(sign == "{", own))
        elif sign in "}]":
            open_.pop()
        elif sign == ",":
            if top is not None:
                top.key_next = top.is_object
        elif sign == ":":
            continue
        elif top is not None and top.key_next:
            top.key, top.key_next, top.label = sign[1:-1], False, _label(sign[1:-1])
            top.record = top.own
            if top.label:
                top.record = records = records + 1
                name, under = _names(open_)
                label = name[-1] if name and top.label == "number" else top.label
                yield Field(token.start() + 1, token.end() - 1, (*name, label), records, under[:-1])
        else:
            quoted = sign[0] == '"'
            name, under = _names(open_)
            yield Field(token.start() + quoted, token.end() - quoted, name or under, top.record if top else 0, under)


def _names(open_: Sequence[_Open]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys around a place, and those of them that are numbers or dates."""
    keys = [one for one in open_ if one.key]
    return tuple(one.key for one in keys if not one.label), tuple(one.key for one in keys if one.label)


def _label(key: str) -> str:
    """What a key that is a number or a date would be called as a value; "" for any other."""
    if not any(map(str.isdecimal, key)):
        return ""
    if YEAR.fullmatch(key):
        return "year"
    if any(date.start == 0 and date.end == len(key) for date in find_dates(key)):
        return "date"
    return "number" if _NUMBER.fullmatch(key) else ""


class _Open:
    """An object or a list that is not closed yet."""

    __slots__ = ("is_object", "key", "key_next", "label", "own", "record")

    def __init__(self, is_object: bool, record: int) -> None:
        self.is_object = self.key_next = is_object
        self.own = self.record = record
        self.key = self.label = ""


def _table_fields(text: str) -> list[Field]:
    """Cells of Markdown tables, or of lines parted by tabs or commas throughout."""
    lines = [line.span() for line in _LINE.finditer(text)]
    ruled = [
        n for n, (start, end) in enumerate(lines) if n and "|" in text[start:end] and _RULE.fullmatch(text, start, end)
    ]
    if ruled:
        return [field for n in ruled for field in _markdown_cells(text, lines, n)]
    for sign in "\t", ",":
        counts = {text.count(sign, start, end) for start, end in lines}
        if len(lines) >= _MIN_ROWS and len(counts) == 1 and counts.pop() >= 1 + (sign == ","):
            rows = [_cells(text, start, end, sign) for start, end in lines]
            return list(_named(text, rows, 0))
    return []


def _markdown_cells(text: str, lines: list[tuple[int, int]], rule: int) -> Iterator[Field]:
    rows = [_cells(text, *lines[rule - 1], "|")]
    for start, end in lines[rule + 1 :]:
        if "|" not in text[start:end]:
            break
        rows.append(_cells(text, start, end, "|"))
    return _named(text, rows, 1_000 * rule)


def _cells(text: str, start: int, end: int, sign: str) -> list[tuple[int, int]]:
    """Places of the cells of a row, trimmed; the frame of a Markdown row is no cell."""
    if sign == "|":
        start += len(text[start:end]) - len(text[start:end].lstrip(" |"))
        end = start + len(text[start:end].rstrip(" |"))
    cells: list[tuple[int, int]] = []
    at = start
    for part in text[start:end].split(sign):
        first = at + len(part) - len(part.lstrip(' "'))
        cells.append((first, max(first, at + len(part.rstrip(' "')))))
        at += len(part) + 1
    return cells


def _named(text: str, rows: list[list[tuple[int, int]]], first: int) -> Iterator[Field]:
    heads = [text[start:end] for start, end in rows[0]]
    for number, row in enumerate(rows[1:], first + 1):
        for head, (start, end) in zip(heads, row, strict=False):
            if start < end:
                yield Field(start, end, (head,), number)
