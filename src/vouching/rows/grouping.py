"""Rows with the same sources next to each other, so that a document is read and indexed once.

A verifier keeps the indexes of the last few lists of sources. Not supported: documents shared by different lists; the
whole list of a row counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vouching.errors import InputError
from vouching.rows.pool import text_size
from vouching.rows.row import Row
from vouching.rows.shapes import SOURCE_KEYS, as_row

WINDOW_TEXT = 16_000_000
"""Characters of rows that are ordered at a time, which limits the memory; more than a planned block has."""


def by_source(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, those with the same sources together, each group at the place of its first row.

    >>> from vouching.rows import Row
    >>> given = [Row(n, f"line {n}", {"claim": "x", "source": source}) for n, source in enumerate("abacb", 1)]
    >>> [row.number for row in by_source(given)]
    [1, 3, 2, 5, 4]
    """
    waiting, broken = iter(rows), list[InputError]()
    while window := _window(waiting, broken):
        yield from (window[place] for place in source_order([row.fields or {} for row in window]))
        if broken:
            raise broken[0]


def source_order(rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places of rows in that order.

    >>> source_order([{"source": "a"}, {"source": "b"}, {"source": "a"}])
    [0, 2, 1]
    """
    first: dict[bytes, int] = {}
    groups = [first.setdefault(_key(row), place) for place, row in enumerate(rows)]
    return sorted(range(len(rows)), key=groups.__getitem__)


def _window(rows: Iterator[Row], broken: list[InputError]) -> list[Row]:
    """The next rows; if the input breaks off, those before and the error."""
    window: list[Row] = []
    text = 0
    try:
        while text < WINDOW_TEXT and (row := next(rows, None)) is not None:
            window.append(row)
            text += text_size(row.fields)
    except InputError as error:
        if not window:
            raise
        broken.append(error)
    return window


def _key(fields: Mapping[str, Any]) -> bytes:
    """What is the same for rows with the same sources."""
    try:
        row = as_row(dict(fields))
    except InputError:
        return b""
    given = [row[name] for name in SOURCE_KEYS if row.get(name) is not None]
    text = json.dumps(given, default=str, ensure_ascii=False)
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
