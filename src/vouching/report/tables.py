"""Tables in a text, drawn as tables: lines of cells between bars, as Markdown has them and as PDF and HTML are read.

Only the drawing changes: marks keep their places, and offsets still count the text as it is. Not supported: cells that
contain an escaped bar, and columns made of spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from vouching.report.documents import Piece

Cell: TypeAlias = tuple[Piece, ...]
_TABLE = re.compile(r"(?:^[ \t]*\|[^\n]*\|[^\n|]*\|[ \t]*(?:\n|\Z)){2,}", re.MULTILINE)
"""At least two lines of two cells or more."""
_RULE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"[^|\n]+")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a text."""

    head: tuple[Cell, ...]
    """The cells above the rule; empty without one."""
    rows: tuple[tuple[Cell, ...], ...]


Block: TypeAlias = Cell | Table
"""A part of a text: pieces that are shown as they are, or a table."""


def blocks_of(pieces: Sequence[Piece]) -> list[Block]:
    r"""A text in pieces as blocks; without a table, one block of all pieces.

    >>> table = "| Room | Seats |\n| --- | --- |\n| A | 20 |"
    >>> before, found = blocks_of([Piece(0, "Two:\n" + table)])
    >>> [cell[0].text for cell in found.head], [[cell[0].text for cell in row] for row in found.rows]
    (['Room', 'Seats'], [['A', '20']])
    """
    found: list[Block] = []
    for hidden, run in groupby(pieces, lambda piece: piece.hidden > 0):
        several = tuple(run)
        found += [several] if hidden else _of_run(several)
    return found if any(isinstance(block, Table) for block in found) else [tuple(pieces)]


def _of_run(pieces: Sequence[Piece]) -> Iterator[Block]:
    """The blocks of pieces without a gap."""
    text, done = "".join(piece.text for piece in pieces), 0
    for match in _TABLE.finditer(text):
        if done < match.start():
            yield tuple(_cut(pieces, done, match.start()))
        yield _table(pieces, text, match)
        done = match.end()
    if done < len(text):
        yield tuple(_cut(pieces, done, len(text)))


def _table(pieces: Sequence[Piece], text: str, match: re.Match[str]) -> Table:
    lines = [(m.start(), m.end()) for m in re.finditer(r"[^\n]+", text[: match.end()]) if m.start() >= match.start()]
    rules = [bool(_RULE.fullmatch(text[start:end])) for start, end in lines]
    rows = [tuple(_cells(pieces, text, *line)) for line, rule in zip(lines, rules, strict=True) if not rule]
    headed = len(rules) > 1 and rules[1] and not rules[0]
    return Table(rows[0] if headed else (), tuple(rows[1:] if headed else rows))


def _cells(pieces: Sequence[Piece], text: str, start: int, end: int) -> Iterator[Cell]:
    for match in _CELL.finditer(text, start, end):
        words = match[0].strip()
        at = match.start() + match[0].find(words)
        if words or start < match.start():
            yield tuple(_cut(pieces, at, at + len(words)))


def _cut(pieces: Iterable[Piece], start: int, end: int) -> Iterator[Piece]:
    """The parts of pieces between two places of their joined text; the first keeps its name in links."""
    at = 0
    for piece in pieces:
        first, last = max(start, at), min(end, at + len(piece.text))
        if first < last:
            yield replace(piece, start=piece.start + first - at, text=piece.text[first - at : last - at])
        at += len(piece.text)
