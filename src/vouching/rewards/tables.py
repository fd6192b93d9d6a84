"""A diagnosis of rewards as tables of words, for the terminal and for the page.

Left out: colours and widths, which are the business of what shows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from vouching.rewards.diagnostics import BinaryCheck, Diagnosis, GroupSpread, LabelGap, PartVariance


@dataclass(frozen=True, slots=True)
class Table:
    """One table; the first cell of a row names it."""

    heading: str
    """What it is about."""
    head: tuple[str, ...]
    """Names of the columns."""
    rows: list[tuple[str, ...]]
    """The cells."""


def tables_of(diagnosis: Diagnosis) -> Iterator[Table]:
    """The tables that there are numbers for.

    >>> from vouching.rewards.diagnostics import ScoredReply, diagnose
    >>> from vouching.types import Reward
    >>> replies = [ScoredReply("a", "g", Reward(0.0)), ScoredReply("b", "g", Reward(1.0))]
    >>> [table.heading for table in tables_of(diagnose(replies))]
    ['Inside groups']
    """
    yield Table("Inside groups", ("", ""), [*_spread_rows(diagnosis.spread)])
    if diagnosis.variance is not None:
        yield _variance_table(diagnosis.variance)
        yield _correlation_table(diagnosis.variance)
    if diagnosis.binary is not None:
        yield _binary_table(diagnosis.binary)
    if diagnosis.gap is not None:
        yield _label_table(diagnosis.gap)
        yield Table("Wrong labels", ("", ""), [*_bias_rows(diagnosis.gap)])
    if diagnosis.observed:
        yield _level_table(diagnosis)


def figure(value: float | None, digits: int = 3) -> str:
    """A number in words; a dash for one that is undefined.

    >>> figure(0.25), figure(1200), figure(float("nan")), figure(-0.0001)
    ('0.250', '1,200', '–', '0.000')
    """
    if value is None or math.isnan(value):
        return "–"
    # Adding 0 takes the sign from a number that rounds to nothing.
    return f"{value:,}" if isinstance(value, int) else f"{round(value, digits) + 0.0:.{digits}f}"


def _spread_rows(spread: GroupSpread) -> Iterator[tuple[str, str]]:
    yield "groups of two replies or more", figure(spread.groups)
    yield "replies in them", figure(spread.replies)
    yield "replies alone in their group, left out", figure(spread.alone)
    yield "mean standard deviation, unbiased", figure(spread.deviation)
    yield "mean variance, unbiased", figure(spread.variance, 4)
    yield "mean variance, population", figure(spread.population_variance, 4)
    yield "share of groups with equal rewards", figure(spread.equal_groups)
    yield "share of replies with an advantage", figure(spread.effective)
    yield "mean of the greatest advantages", figure(spread.greatest_advantage)


def _variance_table(found: PartVariance) -> Table:
    columns = zip(found.names, found.weights, found.shares, strict=True)
    rows = [(name, figure(weight), figure(share)) for name, weight, share in columns]
    rows.append(("sum of the parts' own variances", "", figure(found.own, 4)))
    rows.append(("twice their covariances", "", figure(found.crossed, 4)))
    rows.append(("variance of the total", "", figure(found.total, 4)))
    if found.residual > 1e-6:
        rows.append(("the total is no weighted sum: off by up to", "", figure(found.residual)))
    return Table("Proposition 2: variance inside groups, by part", ("", "weight", "share"), rows)


def _correlation_table(found: PartVariance) -> Table:
    rows = [(name, *map(figure, line)) for name, line in zip(found.names, found.correlations, strict=True)]
    return Table("Correlations inside groups", ("", *found.names), rows)


def _binary_table(found: BinaryCheck) -> Table:
    rows = [
        ("expected, unbiased: q (1 - q)", figure(found.unbiased, 4)),
        ("expected, population: (G - 1) / G q (1 - q)", figure(found.population, 4)),
        ("equation 3 of the paper: G / (G - 1) q (1 - q)", figure(found.paper, 4)),
        ("observed, unbiased", figure(found.observed, 4)),
    ]
    heading = f"Proposition 1: variance of right labels, q = {figure(found.q)}, G = {found.group_size}"
    return Table(heading, ("", ""), rows)


def _label_table(gap: LabelGap) -> Table:
    columns = zip(gap.replies, gap.mean, gap.mean_right, gap.mean_wrong, strict=True)
    rows = [
        (f"gold {label}", *map(figure, column))
        for label, column in zip(("Attributable", "Not Attributable"), columns, strict=True)
    ]
    rows.append(("difference", "", figure(gap.gap), "", ""))
    return Table("Rewards by gold label", ("", "replies", "mean", "label right", "label wrong"), rows)


def _bias_rows(gap: LabelGap) -> Iterator[tuple[str, str]]:
    yield "Attributable called Not Attributable", figure(gap.false_positives)
    yield "Not Attributable called Attributable", figure(gap.false_negatives)
    yield "difference: above 0 the policy leans to Not Attributable", figure(gap.bias)


def _level_table(diagnosis: Diagnosis) -> Table:
    rows: list[tuple[str, ...]] = []
    for level in diagnosis.levels:
        replies, mean = diagnosis.observed.get(level.name, (None, None))
        published = (level.paper_low, level.paper_high, level.landscape)
        exact = (level.low, level.high)
        rows.append((level.name, figure(replies), *(figure(value, 2) for value in (mean, *exact, *published))))
    head = ("label, reasoning", "replies", "mean", "least", "most", "T. 14 least", "T. 14 most", "T. 1")
    return Table("Tables 1 and 14", head, rows)
