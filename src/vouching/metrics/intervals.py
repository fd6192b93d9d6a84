"""Intervals and tests: BCa bootstrap by document, paired differences, Wilson also by document, exact McNemar.

An interval that would be misleading is refused with a reason. Not supported: resampling within strata or data sets,
studentised intervals, and corrections for multiple comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray, bool_array

Statistic: TypeAlias = Callable[[FloatArray], FloatArray]
"""Row weights (R, N) -> values (R,): a metric with all arguments but the weights bound."""

MIN_GROUPS = 10
"""With fewer groups, resamples are too uninformative about other groups."""
MAX_EXCLUDED = 0.10
"""Share of undefined resamples above which the others would be a biased choice."""
MIN_RESAMPLES = 100
"""With fewer, the ends of an interval rest on two or three resamples."""
MAX_BLOCKS = 1_000
"""With more groups, the jackknife leaves out blocks of groups."""
BATCH_BYTES = 8 << 20
"""Memory of one batch of row weights; a metric makes a few arrays of the same size."""
ROUNDING = 1e-12
"""Values this close are equal, as sums over other rows may differ in the last digit; metrics are of order 1."""
UNDEFINED = "undefined on these rows"
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval."""

    estimate: float
    """The statistic on the rows themselves; nan if it is undefined."""
    low: float | None
    """None if the interval was refused."""
    high: float | None
    level: float
    """Share of such intervals that contain the true value, e.g. .95."""
    method: str
    """BCa, BC (without acceleration, where the jackknife does not vary), Wilson, or Wilson by groups."""
    why_not: str | None = None
    """Why there are no bounds; None if there are."""
    excluded: int = 0
    """Resamples in which the statistic was undefined."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """Two systems on the same rows, where they differ."""

    only_a: int
    """Rows that only the first got right."""
    only_b: int
    """Rows that only the second got right."""
    p_value: float
    """Two-sided and exact; 1 where they do not differ."""


def bca(
    statistic: Statistic, groups: int | ArrayLike, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Bias-corrected and accelerated bootstrap interval (Efron 1987; Efron & Tibshirani 1993, eq. 14.9 to 14.15).

    Whole groups are drawn with replacement, so rows of one document stay together. Ties between resamples and the
    estimate count half in the bias. The acceleration comes from leaving out one group at a time; with more than 1,000
    groups, 1,000 random blocks of groups (as Efron & Narasimhan 2020 do), which estimates the same number. The interval
    is refused, with the reason, where the statistic is undefined, constant over all resamples, undefined in more than a
    tenth of them, or where there are fewer than 10 groups.

    Args:
        statistic: maps row weights (R, N) to values (R,), e.g. ``partial(auroc, truth, scores)``.
        groups: (N,) group number of each row (:func:`vouching.metrics.document_numbers`), or N if rows are independent.
        resamples: number of bootstrap resamples, at least 100.
        level: share of such intervals that contain the true value, in (0, 1).
        seed: from 0. The same groups, resamples and seed give the same resamples to every statistic.

    >>> from functools import partial
    >>> from vouching.metrics import accuracy
    >>> truth, predicted = [True] * 20, [True] * 15 + [False] * 5
    >>> interval = bca(partial(accuracy, truth, predicted), groups=20)
    >>> round(interval.estimate, 2), round(interval.low, 2), round(interval.high, 2)
    (0.75, 0.55, 0.9)
    >>> bca(partial(accuracy, truth[:3], predicted[:3]), groups=3).why_not
    'an interval needs at least 10 groups of rows, got 3'
    """
    return bca_each({"": statistic}, groups, resamples=resamples, level=level, seed=seed)[""]


def paired_bca(
    statistic_a: Statistic,
    statistic_b: Statistic,
    groups: int | ArrayLike,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Interval of the difference a - b of two statistics on the same resamples of the same rows.

    A difference is shown if 0 is outside the interval.
    """
    return bca(
        lambda weights: statistic_a(weights) - statistic_b(weights), groups, resamples=resamples, level=level, seed=seed
    )


def bca_each(
    statistics: Mapping[str, Statistic],
    groups: int | ArrayLike,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Interval]:
    """The intervals of several statistics of the same rows, as by :func:`bca`, with the resamples drawn once."""
    if not (0 < level < 1 and resamples >= MIN_RESAMPLES and seed >= 0):
        raise InputError(
            f"expected a level in (0, 1), at least {MIN_RESAMPLES} resamples and a non-negative seed, "
            f"got {level}, {resamples} and {seed}"
        )
    group_of_row = _group_numbers(groups)
    number_of_groups = int(group_of_row.max()) + 1
    random = np.random.default_rng(seed)
    try:
        estimates = _values(statistics, [np.ones((1, len(group_of_row)))])
    except InputError as error:
        raise InputError(f"the statistic cannot be computed for the {len(group_of_row)} rows: {error}") from None
    if number_of_groups < MIN_GROUPS:
        too_few = f"an interval needs at least {MIN_GROUPS} groups of rows, got {number_of_groups}"
        return {
            name: _refused(float(value[0]), level, too_few if np.isfinite(value[0]) else UNDEFINED)
            for name, value in estimates.items()
        }
    drawn = _values(statistics, _resamples(group_of_row, number_of_groups, resamples, random))
    left = _values(statistics, _leave_outs(group_of_row, number_of_groups, random))
    return {name: _interval(float(estimates[name][0]), drawn[name], left[name], level) for name in statistics}


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share of n independent rows (Wilson 1927); valid near 0 and 1 and with few rows.

    >>> interval = wilson(20, 20)
    >>> interval.estimate, round(interval.low, 3), interval.high
    (1.0, 0.839, 1.0)
    """
    if not (0 <= successes <= n and 0 < level < 1):
        raise InputError(f"expected 0 <= successes <= n and a level in (0, 1), got {successes}, {n} and {level}")
    if n == 0:
        return Interval(math.nan, None, None, level, "Wilson", "no rows")
    return _wilson(successes / n, n, level, "Wilson")


def clustered_wilson(
    successes: ArrayLike, sizes: ArrayLike, counts: ArrayLike | None = None, level: float = 0.95
) -> Interval:
    """Wilson's interval of a share of rows that depend on each other within groups, such as claims of one response.

    The number of rows is divided by the design effect (Kish 1965), the variance of the share between groups over that
    of independent rows, at least 1, and by the ratio of Student's quantiles for groups and rows, squared (Korn &
    Graubard 1998). With fewer than 10 groups, or a share of 0 or 1, the design effect cannot be estimated: the rows of
    a group then count as all alike. Where every group is one row, this is :func:`wilson`.

    Args:
        successes: (G,) rows of each group that count.
        sizes: (G,) rows of each group, at least 1.
        counts: (G,) how many groups are like this; None for one of each.
        level: share of such intervals that contain the true value, in (0, 1).

    >>> alone, together = clustered_wilson([1, 0] * 20, [1, 1] * 20), clustered_wilson([4, 0] * 5, [4, 4] * 5)
    >>> [round(one.high - one.low, 2) for one in (alone, together)]  # 20 of 40, the same in every response of 4 claims
    [0.3, 0.59]
    """
    hits, rows = np.atleast_1d(np.asarray(successes, np.float64)), np.atleast_1d(np.asarray(sizes, np.float64))
    many = np.ones_like(rows) if counts is None else np.atleast_1d(np.asarray(counts, np.float64))
    fits = hits.shape == rows.shape == many.shape and hits.ndim == 1
    if not (fits and 0 < level < 1 and bool(np.all((hits >= 0) & (hits <= rows) & (rows >= 1) & (many >= 1)))):
        raise InputError("expected one number of successes per group, at most its size, and a level in (0, 1)")
    n, groups = float(many @ rows), float(many.sum())
    if n == groups:
        return wilson(round(float(many @ hits)), round(n), level)
    share = float(many @ hits) / n
    if share in (0.0, 1.0) or groups < MIN_GROUPS:
        return _wilson(share, n * n / float(many @ (rows * rows)), level, "Wilson by groups")
    variance = groups / (groups - 1) * float(many @ (hits - share * rows) ** 2) / n**2
    effect = max(1.0, variance * (n - 1) / (share * (1 - share)))
    ratio = _student(level, n - 1) / _student(level, groups - 1)
    return _wilson(share, n / effect * ratio**2, level, "Wilson by groups")


def _student(level: float, freedom: float) -> float:
    """The two-sided quantile of Student's t, by its expansion (Abramowitz & Stegun 26.7.5): to .001 from 9 on."""
    z = _NORMAL.inv_cdf((1 + level) / 2)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def _wilson(share: float, n: float, level: float, method: str) -> Interval:
    z = _NORMAL.inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # At the ends the formula gives 0 and 1 exactly; rounding must not.
    low = 0.0 if share == 0 else centre - half
    return Interval(share, low, 1.0 if share == 1 else centre + half, level, method)


def mcnemar_exact(right_a: ArrayLike, right_b: ArrayLike) -> McNemar:
    """Exact McNemar test (McNemar 1947): are the rows that only one system gets right split evenly?

    Two-sided binomial test with p = 1/2 in whole numbers. Rows are taken as independent: where they share documents the
    p value is too small; use :func:`paired_bca` by groups.

    >>> mcnemar_exact([True] * 6 + [False], [False] * 5 + [True] * 2)  # 2 (C(6,0) + C(6,1)) / 2^6
    McNemar(only_a=5, only_b=1, p_value=0.21875)
    """
    a = bool_array(right_a, "right_a")
    b = bool_array(right_b, "right_b", len(a))
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    n, term, tail = only_a + only_b, 1, 0
    for k in range(min(only_a, only_b) + 1):
        tail += term
        term = term * (n - k) // (k + 1)
    return McNemar(only_a, only_b, min(2 * tail, 2**n) / 2**n)


def _group_numbers(groups: int | ArrayLike) -> NDArray[np.intp]:
    given = np.asarray(groups)
    if given.ndim == 0 and given.dtype.kind in "iu":
        given = np.arange(int(given))
    if given.ndim != 1 or not len(given):
        raise InputError(f"groups must be a number of rows or one group per row, got an array of shape {given.shape}")
    return np.unique(given, return_inverse=True)[1]


def _resamples(
    group_of_row: NDArray[np.intp], number_of_groups: int, resamples: int, random: np.random.Generator
) -> Iterator[FloatArray]:
    """Row weights of the bootstrap in batches: how often each row's group was drawn."""
    size = _batch_size(len(group_of_row))
    for start in range(0, resamples, size):
        batch = min(size, resamples - start)
        drawn = random.integers(number_of_groups, size=(batch, number_of_groups))
        drawn += np.arange(batch)[:, None] * number_of_groups
        counts = np.bincount(drawn.ravel(), minlength=batch * number_of_groups).reshape(batch, number_of_groups)
        yield counts.astype(np.float64)[:, group_of_row]


def _leave_outs(
    group_of_row: NDArray[np.intp], number_of_groups: int, random: np.random.Generator
) -> Iterator[FloatArray]:
    """Row weights of the jackknife in batches: all rows except one block of groups."""
    blocks = min(number_of_groups, MAX_BLOCKS)
    # Shuffled, as the order of the rows may have a pattern.
    block_of_row = (random.permutation(number_of_groups) % blocks)[group_of_row]
    size = _batch_size(len(group_of_row))
    for start in range(0, blocks, size):
        yield (block_of_row != np.arange(start, min(start + size, blocks))[:, None]).astype(np.float64)


def _batch_size(rows: int) -> int:
    return max(1, BATCH_BYTES // (8 * rows))


def _values(statistics: Mapping[str, Statistic], batches: Iterable[FloatArray]) -> dict[str, FloatArray]:
    values: dict[str, list[FloatArray]] = {name: [] for name in statistics}
    for weights in batches:
        for name, statistic in statistics.items():
            value = np.asarray(statistic(weights), dtype=np.float64)
            if value.shape != weights.shape[:1]:
                raise InputError(
                    f"a statistic must map weights of shape {weights.shape} to values of shape {weights.shape[:1]}, "
                    f"got {value.shape}"
                )
            values[name].append(value)
    return {name: np.concatenate(parts) for name, parts in values.items()}


def _interval(estimate: float, drawn: FloatArray, left: FloatArray, level: float) -> Interval:
    defined = drawn[np.isfinite(drawn)]
    excluded = len(drawn) - len(defined)
    if not math.isfinite(estimate):
        return _refused(estimate, level, UNDEFINED, excluded)
    if excluded > MAX_EXCLUDED * len(drawn):
        share = f"{excluded} of {len(drawn)} resamples"
        return _refused(estimate, level, f"undefined in {share}: too few rows of one class", excluded)
    close = ROUNDING * max(1.0, float(np.abs(defined).max()))
    if float(np.ptp(defined)) <= close:
        return _refused(estimate, level, "every resample gives the same value: the rows do not vary", excluded)
    share_below = float(np.mean(defined < estimate - close) + np.mean(defined <= estimate + close)) / 2
    if not 0 < share_below < 1:
        return _refused(estimate, level, "all resamples are on one side of the estimate", excluded)
    bias, skew = _NORMAL.inv_cdf(share_below), _acceleration(left)
    acceleration = skew or 0.0
    tails = _NORMAL.inv_cdf((1 - level) / 2), _NORMAL.inv_cdf((1 + level) / 2)
    if any(acceleration * (bias + z) >= 1 for z in tails):
        return _refused(estimate, level, "a few rows determine the value: correcting for skew is unstable", excluded)
    shares = [_NORMAL.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))) for z in tails]
    low, high = np.quantile(defined, shares).tolist()
    return Interval(estimate, low, high, level, "BC" if skew is None else "BCa", excluded=excluded)


def _acceleration(left: FloatArray) -> float | None:
    """Minus a sixth of the skewness of the jackknife values; None where they do not vary."""
    defined = left[np.isfinite(left)]
    if not len(defined) or float(np.ptp(defined)) <= ROUNDING:
        return None
    influence = defined.mean() - defined
    return float((influence**3).sum() / (6 * (influence**2).sum() ** 1.5))


def _refused(estimate: float, level: float, why_not: str, excluded: int = 0) -> Interval:
    return Interval(estimate, None, None, level, "BCa", why_not, excluded)
