"""A drift alarm: whether the newest verdicts differ from those before them, by a permutation test of whole rows.

Two numbers are compared: the share of verdicts that are Not Attributable, and the mean score. p is the share of random
assignments of the same rows to the two periods with at least as large a difference, the observed one included. The
alarm is raised if the smaller p, doubled for the two numbers (Bonferroni), is at most ``alpha``: under no drift, in at
most that share of the looks. Not supported: slow drift within a period, and correcting for the number of looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import ArrayLike
from sqlalchemy import case, func, select

from vouching.errors import InputError
from vouching.ledger.filters import as_time
from vouching.ledger.tables import REVIEW_ITEMS
from vouching.metrics.arrays import FloatArray
from vouching.review.conditions import conditions_of
from vouching.review.queue import ReviewQueue
from vouching.types.review import QueueFilters

MIN_ROWS = 30
"""Rows of each period below which nothing is compared."""
MAX_ROWS = 5000
"""Newest rows of each period that are compared."""


@dataclass(frozen=True, slots=True)
class Drift:
    """The newest period beside the reference."""

    alarm: bool | None
    """Whether they differ; None if there are too few rows to say."""
    p_value: float | None
    """The smaller of both p values, doubled, at most 1."""
    rows: tuple[int, int]
    """Rows of the reference and of the newest period."""
    not_attributable: tuple[float, float]
    """Share of verdicts that are Not Attributable, in both; nan without rows."""
    mean_score: tuple[float, float]
    """Mean score, in both; nan without rows."""
    alpha: float
    """Share of the looks that raise a false alarm under no drift, at most."""


def drift(queue: ReviewQueue, filters: QueueFilters | None = None) -> Drift:
    """Compare the verdicts of the last 7 days with those of the 28 days before them."""
    end = datetime.now(UTC)
    middle = end - timedelta(days=7)
    queue.refresh()
    before = _rows(queue, filters, middle - timedelta(days=28), middle)
    return compare(before, _rows(queue, filters, middle, end))


def _rows(queue: ReviewQueue, filters: QueueFilters | None, since: datetime, until: datetime) -> FloatArray:
    """(N, 3) of the newest rows: verdicts, those that are Not Attributable, and the sum of scores."""
    negative = func.sum(case((REVIEW_ITEMS.c.label == "Not Attributable", 1), else_=0))
    asked = (
        select(func.count(), negative, func.sum(REVIEW_ITEMS.c.score))
        .where(REVIEW_ITEMS.c.at >= as_time(since), REVIEW_ITEMS.c.at < as_time(until), *conditions_of(filters))
        .group_by(REVIEW_ITEMS.c.row_id)
        .order_by(REVIEW_ITEMS.c.row_id.desc())
        .limit(MAX_ROWS)
    )
    with queue.ledger.store.read() as connection:
        found = [tuple(map(float, row)) for row in connection.execute(asked)]
    return np.array(found, np.float64).reshape(-1, 3)


def compare(before: ArrayLike, after: ArrayLike, alpha: float = 0.01, seed: int = 0, assignments: int = 1999) -> Drift:
    """The test itself, on rows of (verdicts, those that are Not Attributable, sum of scores).

    ``assignments`` random ones are drawn; with fewer than 2 / alpha, no difference could raise the alarm.

    >>> compare([(1, 0, 0.9)] * 40, [(1, 1, 0.1)] * 40).alarm, compare([(1, 0, 0.9)] * 40, [(1, 0, 0.9)] * 40).alarm
    (True, False)
    """
    if not 0 < alpha < 1 or assignments + 1 < 2 / alpha:
        raise InputError(f"alpha must be in (0, 1) and assignments at least 2 / alpha, got {alpha} and {assignments}")
    first, second = np.asarray(before, np.float64).reshape(-1, 3), np.asarray(after, np.float64).reshape(-1, 3)
    sizes = (len(first), len(second))
    shares = [tuple(float(value) for value in _means(part.sum(axis=0))) for part in (first, second)]
    (share, score), (new_share, new_score) = shares
    compared = ((share, new_share), (score, new_score))
    if min(sizes) < MIN_ROWS:
        return Drift(None, None, sizes, *compared, alpha)
    rows = np.concatenate([first, second])
    total = rows.sum(axis=0)
    observed = np.abs(_means(second.sum(axis=0)) - _means(first.sum(axis=0)))
    random = np.random.default_rng(seed)
    reached = np.ones(2)
    for _ in range(assignments):
        drawn = rows[random.choice(len(rows), sizes[1], replace=False, shuffle=False)].sum(axis=0)
        reached += np.abs(_means(drawn) - _means(total - drawn)) >= observed - 1e-12
    p_value = min(1.0, 2 * float(reached.min()) / (assignments + 1))
    return Drift(p_value <= alpha, p_value, sizes, *compared, alpha)


def _means(sums: FloatArray) -> FloatArray:
    """Share and mean score of sums over rows; nan without a verdict."""
    return sums[1:] / sums[0] if sums[0] else np.full(2, np.nan)
