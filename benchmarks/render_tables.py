"""Building blocks of the sections of docs/figures.md: tables, figures with intervals, sources of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Figures = dict[str, Any]
"""The contents of a result file, or a part of it."""
RULES = "embedded:rules"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a table, after an empty one; a title that ends in ">" marks a column of numbers.

    A row may be shorter than the head.
    """
    yield from ("", _line(title.removesuffix(" >") for title in head))
    yield "|" + "|".join("--:" if title.endswith(">") else "---" for title in head) + "|"
    yield from (_line([*row, *[""] * (len(head) - len(row))]) for row in rows)


def _line(cells: Iterable[object]) -> str:
    return "|" + "|".join(f" {cell} " if cell != "" else " " for cell in cells) + "|"


def number(value: float | None, sign: str = "") -> str:
    """Three decimals; nothing for none."""
    return "" if value is None else f"{value:{sign}.3f}"


def interval(figure: Figures, sign: str = "") -> str:
    """A figure with its interval, if it has one."""
    if figure["low"] is None:
        return number(figure["estimate"], sign)
    return f"{number(figure['estimate'], sign)} [{number(figure['low'], sign)}, {number(figure['high'], sign)}]"


def compared(difference: Figures) -> str:
    """A difference with its interval and what it shows, where that is recorded."""
    return f"{interval(difference, '+')} {difference.get('verdict', '')}".rstrip()


def origin(record: Figures) -> str:
    """Command, model, date and machine of a result."""
    made_by = f"`{record['command']}` ({record['model']}, vouching {record.get('version') or record['vouching']})"
    return f"Measured with {made_by} on {record['date']} ({record['machine']})."
