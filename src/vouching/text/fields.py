"""Records inside a text: JSON values and cells of tables, each with what it is called and where it stands.

Left out: YAML and HTML tables, JSON after other text, and cells that span several columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LINE = re.compile(r"[^\r\n]+")
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\W]+")
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}|\\.")
_FEWEST_ROWS = 3
"""Lines, the header among them, from which lines with the same number of commas are a table."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a record."""

    start: int
    """Offset of its first character, inside the quotation marks."""
    end: int
    """Offset after its last."""
    name: tuple[str, ...]
    """What it is called: keys from the outside in, or the head of its column; list positions are left out."""
    record: int
    """Number of the innermost object or row it belongs to."""


def find_fields(text: str) -> list[Field]:
    """The values of a text that is JSON, JSON lines or a table; none if it is neither.

    >>> text = '{"name": "Finch", "hours": {"Monday": "17:0-21:0"}}'
    >>> [(field.name, text[field.start : field.end]) for field in find_fields(text)]
    [(('name',), 'Finch'), (('hours', 'Monday'), '17:0-21:0')]
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
            records += sign == "{"
            # What stands in a list belongs to the record around it.
            open_.append(_Open(sign == "{", records if sign == "{" or top is None else top.record))
        elif sign in "}]":
            open_.pop()
        elif sign == ",":
            if top is not None:
                top.key_next = top.is_object
        elif sign == ":":
            continue
        elif top is not None and top.key_next:
            top.key, top.key_next = sign[1:-1], False
        else:
            quoted = sign[0] == '"'
            name = tuple(one.key for one in open_ if one.key)
            yield Field(token.start() + quoted, token.end() - quoted, name, top.record if top else 0)


class _Open:
    """An object or a list that is not closed yet."""

    __slots__ = ("is_object", "key", "key_next", "record")

    def __init__(self, is_object: bool, record: int) -> None:
        self.is_object = self.key_next = is_object
        self.record = record
        self.key = ""


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
        if len(lines) >= _FEWEST_ROWS and len(counts) == 1 and counts.pop() >= 1 + (sign == ","):
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
