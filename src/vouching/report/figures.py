"""Figures as tables of words and as charts, for a terminal and for a page."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """One table; the first cell of a row names it."""

    heading: str
    head: tuple[str, ...]
    """Names of the columns."""
    rows: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of a page."""

    heading: str
    drawing: str
    note: str = ""
    """What its marks mean."""


def figure(value: float | None, digits: int = 3) -> str:
    """A figure as text, e.g. "0.250" or "1,200"; a dash for one that is undefined."""
    if value is None or math.isnan(value):
        return "–"
    # Adding 0 removes the sign of a number that rounds to 0.
    return f"{value:,}" if isinstance(value, int) else f"{round(value, digits) + 0.0:.{digits}f}"
