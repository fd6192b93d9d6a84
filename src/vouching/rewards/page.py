"""The HTML page of a diagnosis of rewards: four charts and the tables behind them.

Left out: single replies; the rows have them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vouching.report import charts
from vouching.report.skeleton import write_page
from vouching.rewards.diagnostics import Diagnosis, PartVariance, ScoredReply, group_deviations
from vouching.rewards.tables import tables_of

TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of the page."""

    heading: str
    drawing: str
    note: str = ""
    """What its marks mean."""


def write_diagnosis(path: str | Path, title: str, diagnosis: Diagnosis, rows: Sequence[ScoredReply]) -> None:
    """Write the page.

    Args:
        path: the file; replaced as a whole.
        title: what was diagnosed, e.g. the name of the file.
        diagnosis: the figures.
        rows: what they were made of.

    Raises:
        InputError: the file cannot be written.
    """
    spread = diagnosis.spread
    write_page(
        path,
        "rewards.html.jinja",
        TEMPLATES,
        title=title,
        lead=f"{diagnosis.replies:,} replies, {spread.groups:,} groups of two or more",
        tables=[*tables_of(diagnosis)],
        charts=[*_charts(diagnosis, rows)],
    )


def _charts(diagnosis: Diagnosis, rows: Sequence[ScoredReply]) -> Iterator[Chart]:
    """The charts that the rows have numbers for."""
    # A deviation above 1 needs rewards that are further apart than any of these; it counts to the last bar.
    deviations = [min(1.0, value) for value in group_deviations(rows)]
    if deviations:
        title = "Groups by the standard deviation of their rewards"
        yield Chart(title, charts.histogram(deviations, title=title, name="standard deviation, unbiased"))
    if diagnosis.observed:
        title = "What replies of each quality earn"
        note = "Dot: mean here; line: what the extremes of such replies earn; ring: Table 1 of the paper."
        yield Chart(title, _level_plot(diagnosis, title), note)
    if diagnosis.variance and not any(map(math.isnan, diagnosis.variance.shares)):
        title = "Where the variance inside groups comes from"
        yield Chart(title, _share_plot(diagnosis.variance, title))
    if any(row.gold and row.predicted for row in rows):
        labels = ("Attributable", "Not Attributable")
        counts = [[sum(row.gold == gold and row.predicted == one for row in rows) for one in labels] for gold in labels]
        yield Chart("Labels", charts.confusion_matrix(counts, labels, title="Labels"))


def _level_plot(diagnosis: Diagnosis, title: str) -> str:
    lines = [
        charts.ForestRow(level.name, diagnosis.observed[level.name][1], level.low, level.high, level.landscape)
        for level in diagnosis.levels
        if level.name in diagnosis.observed
    ]
    return charts.forest_plot(lines, title=title, name="reward", ends=(-0.1, 1.3), reference=None, keys="")


def _share_plot(variance: PartVariance, title: str) -> str:
    lines = [
        charts.ForestRow(name, share, None, None) for name, share in zip(variance.names, variance.shares, strict=True)
    ]
    ends = (min(0.0, math.floor(10 * min(variance.shares)) / 10), max(1.0, math.ceil(10 * max(variance.shares)) / 10))
    return charts.forest_plot(lines, title=title, name="share of the variance", ends=ends, reference=None)
