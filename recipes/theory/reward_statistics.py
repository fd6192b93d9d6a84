"""Statistics of grouped rewards: their spread, its sources, and which label they favour.

A group is the replies to one prompt, whose rewards are compared with each other (GRPO); a group with equal rewards has
no learning signal. Two variances are used, the unbiased one (by G - 1, as in TRL) and the population variance (by G, as
in numpy). Not supported: statistics that need the policy, such as gradients.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray
from vouching.types import Label, Reward

NOTHING = 1e-9
"""Rewards that differ by less are equal; they have nine decimals."""


@dataclass(frozen=True, slots=True)
class ScoredReply:
    """One reply with its reward."""

    id: str
    group: str
    """The prompt it replies to."""
    reward: Reward
    """The parts of all rows have the same names."""
    gold: Label | None = None
    """None if unknown."""
    predicted: Label | None = None
    """The label of the reply; None without one."""


@dataclass(frozen=True, slots=True)
class GroupSpread:
    """Differences of the rewards within groups of at least two replies."""

    groups: int
    replies: int
    """Replies in them."""
    alone: int
    """Replies that are alone in their group, excluded."""
    standard_deviation: float
    """Mean of the groups' unbiased standard deviations."""
    variance: float
    """Mean of the groups' unbiased variances."""
    population_variance: float
    """Mean of the groups' population variances."""
    equal_groups: float
    """Share of the groups whose rewards are all equal."""
    effective: float
    """Share of the replies with a non-zero advantage: not in equal groups, and not exactly at the group's mean."""
    greatest_advantage: float
    """Mean over the groups of max |A|, with A = (r - mean) / unbiased standard deviation, 0 in equal groups."""


@dataclass(frozen=True, slots=True)
class BinaryCheck:
    """Proposition 1, checked: the expected variance of G rewards that are 1 with probability q."""

    q: float
    """Share of replies with the right label."""
    group_size: int
    """The most frequent number of replies in a group."""
    unbiased: float
    """Exact expectation of the unbiased variance, summed over the binomial distribution: q (1 - q)."""
    population: float
    """Exact expectation of the population variance: (G - 1) / G q (1 - q)."""
    paper: float
    """Equation 3 for the unbiased variance: G / (G - 1) q (1 - q), which is correct for neither."""
    observed: float
    """Mean unbiased variance of the label part in groups; smaller if q varies."""


@dataclass(frozen=True, slots=True)
class PartVariance:
    """Proposition 2, checked: the variance of the total within groups, by parts."""

    names: tuple[str, ...]
    """The parts, K of them."""
    weights: tuple[float, ...]
    """(K,) weights that give the totals from the parts, by least squares; those of minimum norm if several do."""
    residual: float
    """Largest difference of a total and its weighted sum. If it is not about 0 (e.g. totals were clipped), the other
    fields describe the sum only."""
    own: float
    """Sum of w_k^2 var_k, mean over groups, unbiased."""
    crossed: float
    """2 sum of w_k w_l cov_kl for k < l, likewise; below 0 the parts cancel each other out."""
    total: float
    """Variance of the totals, likewise: ``own + crossed`` up to rounding, which is equation 6."""
    shares: tuple[float, ...]
    """(K,) share of each part in the total's variance, w_k cov(R_k, R) / var(R); they sum to 1."""
    correlations: tuple[tuple[float, ...], ...]
    """(K, K) correlations within groups; nan for a constant part."""


@dataclass(frozen=True, slots=True)
class LabelGap:
    """Which label the rewards favour, and which the policy; pairs are for gold Attributable and Not Attributable."""

    replies: tuple[int, int]
    mean: tuple[float, float]
    """Mean totals; nan without replies."""
    mean_right: tuple[float, float]
    """Of the replies with the right label."""
    mean_wrong: tuple[float, float]
    """Of those with another label, or none."""
    gap: float
    """Difference of the two means."""
    false_positives: float
    """Share of gold Attributable that is labelled Not Attributable (35.9 % in SEVA's Table 15)."""
    false_negatives: float
    """Share of gold Not Attributable that is labelled Attributable (25.4 % there)."""
    bias: float
    """False positives minus false negatives: above 0 the policy prefers Not Attributable."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All statistics of a set of rewarded replies."""

    replies: int
    spread: GroupSpread
    binary: BinaryCheck | None
    """Proposition 1; None without the part "label"."""
    variance: PartVariance | None
    """Proposition 2; None without parts."""
    gap: LabelGap | None
    """None without gold labels."""


def group_spread(rows: Iterable[ScoredReply]) -> GroupSpread:
    """Differences of the rewards within groups; all figures are nan without a group of two."""
    groups = [np.array([row.reward.total for row in group]) for group in _groups(rows)]
    several = [group for group in groups if len(group) > 1]
    sizes = [len(group) for group in several]
    deviations = [_standard_deviation(group) for group in several]
    gaps = [np.abs(group - group.mean()) for group in several]
    advantages = [float(gap.max()) / sigma if sigma else 0.0 for gap, sigma in zip(gaps, deviations, strict=True)]
    moved = sum(int((gap > NOTHING).sum()) for gap in gaps)
    return GroupSpread(
        groups=len(several),
        replies=sum(sizes),
        alone=len(groups) - len(several),
        standard_deviation=_mean(deviations),
        variance=_mean([sigma**2 for sigma in deviations]),
        population_variance=_mean(
            [sigma**2 * (size - 1) / size for sigma, size in zip(deviations, sizes, strict=True)]
        ),
        equal_groups=_mean([float(sigma == 0) for sigma in deviations]),
        effective=moved / sum(sizes) if sizes else math.nan,
        greatest_advantage=_mean(advantages),
    )


def group_standard_deviations(rows: Iterable[ScoredReply]) -> list[float]:
    """The unbiased standard deviation of every group of at least two replies."""
    return [
        _standard_deviation(np.array([row.reward.total for row in group])) for group in _groups(rows) if len(group) > 1
    ]


def expected_variances(q: float, group_size: int) -> tuple[float, float]:
    """Expected variance of ``group_size`` independent rewards that are 1 with probability ``q``, else 0.

    Returns:
        (unbiased, population), exact: summed over how many of them are 1. Raises InputError for fewer than two.

    >>> [round(value, 9) for value in expected_variances(0.37, 8)]  # .37 * .63, and 7/8 of it
    [0.2331, 0.2039625]
    """
    if group_size < 2:
        raise InputError(f"group_size must be at least 2, got {group_size}: a single reply has no variance")
    unbiased = population = 0.0
    for ones in range(group_size + 1):
        chance = math.comb(group_size, ones) * q**ones * (1 - q) ** (group_size - ones)
        squares = ones * (group_size - ones) / group_size  # sum of (r - mean)^2
        unbiased += chance * squares / (group_size - 1)
        population += chance * squares / group_size
    return unbiased, population


def binary_check(rows: Sequence[ScoredReply]) -> BinaryCheck | None:
    """Proposition 1 at the share of right labels of ``rows``; None without the part "label" or a group of two."""
    groups = [group for group in _groups(rows) if len(group) > 1]
    if not groups or any("label" not in row.reward.parts for row in rows):
        return None
    right = [np.array([row.reward.parts["label"] for row in group]) for group in groups]
    sizes = [len(group) for group in groups]
    size, q = max(set(sizes), key=lambda one: (sizes.count(one), one)), float(np.concatenate(right).mean())
    unbiased, population = expected_variances(q, size)
    observed = _mean([float(np.var(one, ddof=1)) for one in right])
    return BinaryCheck(q, size, unbiased, population, size / (size - 1) * q * (1 - q), observed)


def part_variance(rows: Sequence[ScoredReply]) -> PartVariance | None:
    """Sources of the variance within groups; None without parts, or without a group of two."""
    groups = [group for group in _groups(rows) if len(group) > 1]
    names = tuple(rows[0].reward.parts) if rows else ()
    if not groups or not names:
        return None
    # Columns: the parts, then the total.
    tables = [np.array([[*map(row.reward.parts.get, names), row.reward.total] for row in group]) for group in groups]
    table = np.concatenate(tables).astype(np.float64)
    weights = np.linalg.lstsq(table[:, :-1], table[:, -1], rcond=None)[0]
    covariance = np.mean([np.cov(one, rowvar=False) for one in tables], axis=0)
    inner = covariance[:-1, :-1] * np.outer(weights, weights)
    own, total = float(np.trace(inner)), float(covariance[-1, -1])
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = inner.sum(axis=0) / inner.sum()
        standard_deviations = np.sqrt(np.diag(covariance)[:-1])
        correlations = covariance[:-1, :-1] / np.outer(standard_deviations, standard_deviations)
    return PartVariance(
        names=names,
        weights=tuple(np.round(weights, 9).tolist()),
        residual=float(np.abs(table[:, :-1] @ weights - table[:, -1]).max()),
        own=own,
        crossed=float(inner.sum()) - own,
        total=total,
        shares=tuple(shares.tolist()) if inner.sum() > NOTHING**2 else (math.nan,) * len(names),
        correlations=tuple(map(tuple, correlations.tolist())),
    )


def label_gap(rows: Iterable[ScoredReply]) -> LabelGap | None:
    """Which label is favoured; None without gold labels."""
    by_gold: dict[Label, list[ScoredReply]] = {"Attributable": [], "Not Attributable": []}
    for row in rows:
        if row.gold is not None:
            by_gold[row.gold].append(row)
    if not any(by_gold.values()):
        return None
    first, second = by_gold.values()
    means = _mean_total(first), _mean_total(second)
    false_positives = _mean([float(row.predicted == "Not Attributable") for row in first])
    false_negatives = _mean([float(row.predicted == "Attributable") for row in second])
    return LabelGap(
        replies=(len(first), len(second)),
        mean=means,
        mean_right=(_mean_total(first, right=True), _mean_total(second, right=True)),
        mean_wrong=(_mean_total(first, right=False), _mean_total(second, right=False)),
        gap=means[0] - means[1],
        false_positives=false_positives,
        false_negatives=false_negatives,
        bias=false_positives - false_negatives,
    )


def diagnose(rows: Sequence[ScoredReply]) -> Diagnosis:
    """All statistics of ``rows``.

    Raises:
        InputError: no rows, or rows whose parts have different names.
    """
    if not rows:
        raise InputError("there are no replies with a reward: expected at least one")
    names = rows[0].reward.parts.keys()
    other = next((row for row in rows if row.reward.parts.keys() != names), None)
    if other is not None:
        raise InputError(
            f"{other.id} has the parts {', '.join(other.reward.parts)}, but the first row has {', '.join(names)}: "
            "compare rewards of one method only"
        )
    return Diagnosis(
        replies=len(rows),
        spread=group_spread(rows),
        binary=binary_check(rows),
        variance=part_variance(rows),
        gap=label_gap(rows),
    )


def _groups(rows: Iterable[ScoredReply]) -> list[list[ScoredReply]]:
    found: dict[str, list[ScoredReply]] = defaultdict(list)
    for row in rows:
        found[row.group].append(row)
    return list(found.values())


def _standard_deviation(values: FloatArray) -> float:
    """Unbiased standard deviation; exactly 0 if the values are equal up to rounding."""
    return float(np.std(values, ddof=1)) if np.ptp(values) > NOTHING else 0.0


def _mean_total(rows: Iterable[ScoredReply], right: bool | None = None) -> float:
    return _mean([row.reward.total for row in rows if right is None or (row.predicted == row.gold) is right])


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else math.nan
