"""Formatting of figures: numbers and intervals as text, plain tables, and HTML reports that consist of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Column, Table

from vouching.bench.intervals import Figure
from vouching.report.skeleton import write_page

TEMPLATES = Path(__file__).with_name("templates")
WIDE = 110
"""Minimum terminal width for tables with all their columns."""
_COMPARED = {"p_at_1": "P@1"}


def write_tables(
    path: Path,
    results: Mapping[str, Any],
    title: str,
    lead: str,
    headings: Sequence[str],
    tables: Mapping[str, Sequence[Sequence[str]]],
    notes: Mapping[str, Sequence[str]],
) -> None:
    """Write an HTML report that consists of tables. Raises InputError if the file cannot be written.

    Args:
        path: the file; replaced atomically.
        results: the content of results.json.
        title: title of the page.
        lead: text below the title.
        headings: of every table; one that ends in > is that of a column of numbers.
        tables: table rows by set.
        notes: sentences below the table of a set.
    """
    columns = [(name.rstrip(" >"), name.endswith(">")) for name in headings]
    write_page(
        path,
        "bench_rankings.html.jinja",
        TEMPLATES,
        title=title,
        lead=lead,
        results=results,
        headings=columns,
        tables=tables,
        notes=notes,
    )


def number_words(value: float | None, sign: bool = False) -> str:
    """A number with three decimals, or a dash.

    >>> number_words(0.6667), number_words(-0.02, sign=True), number_words(None)
    ('0.667', '-0.020', '–')
    """
    return "–" if value is None else f"{value:{'+' if sign else ''}.3f}"


def interval_words(figure: Figure | None, sign: bool = False) -> str:
    """A figure with its interval, if any.

    >>> interval_words({"estimate": 0.7, "low": 0.651, "high": 0.744, "why_not": None})
    '0.700 [0.651, 0.744]'
    """
    if figure is None or figure["estimate"] is None:
        return "–"
    value = number_words(figure["estimate"], sign)
    if figure["low"] is None:
        return value
    return f"{value} [{number_words(figure['low'], sign)}, {number_words(figure['high'], sign)}]"


def plain_table(*columns: str) -> Table:
    """A plain table; a name that ends in > is that of a column of numbers."""
    return Table(
        *(Column(name.rstrip(" >"), justify="right" if name.endswith(">") else "left") for name in columns),
        header_style="dim",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )


def difference_table(comparison: Mapping[str, Any]) -> Table:
    """Differences of the second run to the first, of runs on rankings or on problems."""
    sets: Mapping[str, Mapping[str, Any]] = comparison["sets"]
    known = dict.fromkeys(metric for found in sets.values() for metric in found["all rows"])
    table = plain_table("set", "rows >", *(_COMPARED.get(metric) or metric for metric in known))
    for name, found in sets.items():
        for what, one in ((key, value) for key, value in found.items() if key != "rows"):
            differences = (one[metric]["difference"] for metric in known)
            words = [f"{interval_words(each, sign=True)} {each['verdict']}" for each in differences]
            table.add_row(f"{name}, {what}", f"{found['rows']:,}" if what == "all rows" else "", *words)
    return table
