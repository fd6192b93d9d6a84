"""Figures with 95 % BCa intervals as JSON, with a bootstrap over groups of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching.metrics import Interval, bca_each
from vouching.metrics.intervals import Statistic

Figure = dict[str, Any]
"""``{"estimate", "low", "high", "why_not"}``; why_not says why there is no interval."""
RESAMPLES = 10_000


def figure(interval: Interval) -> Figure:
    """An interval as JSON: numbers with four decimals, None for NaN.

    >>> figure(Interval(float("nan"), None, None, 0.95, "BCa", "undefined on these rows"))
    {'estimate': None, 'low': None, 'high': None, 'why_not': 'undefined on these rows'}
    """
    return {
        "estimate": plain(interval.estimate),
        "low": plain(interval.low),
        "high": plain(interval.high),
        "why_not": interval.why_not,
    }


def verdict_of(difference: Figure, equal: bool) -> str:
    """What the interval of a difference (second system minus first) shows.

    ``equal`` says that both systems gave every row the same value: then the difference is 0 in every resample, without
    an interval.

    >>> verdict_of({"low": 0.01, "high": 0.08}, False), verdict_of({"low": -0.02, "high": 0.08}, False)
    ('better', 'no significant difference')
    """
    if difference["low"] is None:
        never_varied = (difference["why_not"] or "").startswith("every resample gives the same value")
        return "no significant difference" if equal and never_varied else "no interval"
    return "better" if difference["low"] > 0 else "worse" if difference["high"] < 0 else "no significant difference"


def intervals(statistics: Mapping[str, Statistic], groups: NDArray[np.intp], resamples: int) -> dict[str, Figure]:
    """Statistics of the same rows with their intervals; 0 resamples give no intervals.

    >>> from functools import partial
    >>> from vouching.metrics import mean
    >>> intervals({"share": partial(mean, [1, 0, 1])}, np.arange(3), 1_000)["share"]["why_not"]
    'an interval needs at least 10 groups of rows, got 3'
    """
    if resamples:
        found = bca_each(statistics, groups, resamples=resamples)
        return {name: figure(interval) for name, interval in found.items()}
    ones = np.ones((1, len(groups)))
    return {
        name: figure(Interval(float(statistic(ones)[0]), None, None, 0.95, "BCa", "not requested"))
        for name, statistic in statistics.items()
    }


def plain(value: Any) -> float | None:
    """A number with four decimals; None for None and NaN.

    >>> plain(2 / 3), plain(float("nan"))
    (0.6667, None)
    """
    return None if value is None or math.isnan(float(value)) else round(float(value), 4)
