"""Find the fields of records in a text: JSON values and table cells, with names and offsets.

Not supported: YAML and HTML tables, JSON after other text, and cells that span several columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vouching.text.dates import find_dates
from vouching.text.json_values import parse_json

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LINE = re.compile(r"[^\r\n]+")
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\W]+")
YEAR = re.compile(r"(?:1\d|20)\d\d")
"""A key, or first cell of a row, that is a year."""
_NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}|\\.")
_MIN_ROWS = 3
"""Minimum number of lines, with the header, for lines with equal numbers of commas to be a table."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a record."""

    start: int
    """Offset of the first character, inside the quotation marks."""
    end: int
    name: tuple[str, ...]
    """Keys from the outside in, or the head of the column; without list positions, and without keys that are numbers
    or dates where there are others."""
    record: int
    """Number of the innermost object or row; values under a number or a date form a record too."""
    under: tuple[str, ...] = ()
    """The numbers and dates among the enclosing keys."""


def find_fields(text: str) -> list[Field]:
    """The values of a text that is JSON, JSON lines or a table; none if it is neither.

    A key that is a number or a date is a value too, named year or date (a number takes the name around it, or number):
    in ``{"sales": {"2021": 5}}`` the values are 2021, named sales and year, and 5, named sales.
    """
    return _json_fields(text) or _table_fields(text)


def name_words(name: str) -> str:
    """A key as lower-case words: "BusinessParking" and "business_parking" are "business parking"."""
    return " ".join(filter(None, _WORD_BREAK.split(name))).lower()


def unescaped(text: str) -> str:
    """A JSON string's content with escapes replaced by characters and padding, so that offsets stay."""
    return _ESCAPE.sub(lambda found: _character(found[0]).rjust(len(found[0])), text) if "\\" in text else text


def _character(escape: str) -> str:
    plain = str(parse_json(f'"{escape}"')) if escape[1] in 'u"\\/bfnrt' else escape[1]
    return " " if plain.isspace() or "\ud800" <= plain <= "\udfff" else plain


def _json_fields(text: str) -> list[Field]:
    """Values of JSON, or of JSON lines."""
    bare = text.strip()
    if not bare.startswith(("{", "[")):
        return []
    for documents in ([bare], bare.splitlines()):
        try:
            for document in filter(str.strip, documents):
                parse_json(document)
        except ValueError:
            continue
        return list(_scalars(text))
    return []


def _scalars(text: str) -> Iterator[Field]:
    """Values of well-formed JSON with their offsets, which the standard parser does not report."""
    open_: list[_Open] = []
    records = 0
    for token in _TOKEN.finditer(text):
        sign = token.group()
        top = open_[-1] if open_ else None
        if sign in "{[":
            labelled = top is not None and top.label != ""
            records += sign == "{" and not labelled
            # Values in a list belong to the enclosing record.
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
    """The enclosing keys of a place, and those of them that are numbers or dates."""
    keys = [one for one in open_ if one.key]
    return tuple(one.key for one in keys if not one.label), tuple(one.key for one in keys if one.label)


def _label(key: str) -> str:
    """The name of a key that is a number or a date when used as a value; "" for any other."""
    if not any(map(str.isdecimal, key)):
        return ""
    if YEAR.fullmatch(key):
        return "year"
    if any(date.start == 0 and date.end == len(key) for date in find_dates(key)):
        return "date"
    return "number" if _NUMBER.fullmatch(key) else ""


class _Open:
    """An open object or list."""

    __slots__ = ("is_object", "key", "key_next", "label", "own", "record")

    def __init__(self, is_object: bool, record: int) -> None:
        self.is_object = self.key_next = is_object
        self.own = self.record = record
        self.key = self.label = ""


def _table_fields(text: str) -> list[Field]:
    """Cells of Markdown tables, or of lines separated throughout by tabs or commas."""
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
    """Trimmed offsets of the cells of a row, without the frame of a Markdown row."""
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
