"""The error of a verifier's rewards against strict success, from how often it is right (Soft-RLVR, 3.1 and App. A.4).

A reward stands in for strict success S, the product of the K item labels Y. Both gradient estimators of the paper are
(reward - b) times the same score function s, so bias², variance and MSE of a gradient are those of its reward times
‖s‖²; all figures here omit that factor. p and q are the true positive and true negative rates of a judgment of the
whole response with respect to S, p' and q' (``p_item``, ``q_item``) those of a judgment of one item with respect to its
Y. Delta, the relaxation gap, is the mean of the labels minus S. With rates and gap held fixed, a checklist of K items
has the MSE A² + rho v + (1 - rho) v / K: bias A, mean variance v of a judgment, correlation rho.

Not supported: rates that differ from item to item; votes, which only change the rates; and the effect of splitting an
instruction further, which changes the rates and the gap (a response that fails one of K items has the gap 1 - 1 / K).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import InputError
from vouching.metrics.arrays import BoolArray, FloatArray

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class VerifierQuality:
    """How often a verifier is right, in both ways of asking. All four rates are in [0, 1].

    >>> quality = VerifierQuality(p=0.477, q=0.662, p_item=0.873, q_item=0.717)  # Table 2, GPT-OSS-20B
    >>> round(quality.alpha, 3), round(quality.alpha_item, 3)
    (0.139, 0.59)
    """

    p: float
    """Share of strict successes that are judged so."""
    q: float
    """Share of failures that are judged so."""
    p_item: float
    """p': share of satisfied items that are judged so."""
    q_item: float
    """q': share of unsatisfied items that are judged so."""

    def __post_init__(self) -> None:
        """Raise InputError for a rate outside [0, 1]."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value <= 1:
                raise InputError(f"{field.name} must be in [0, 1], got {value}")

    @property
    def alpha(self) -> float:
        """Difference in mean reward between success and failure, p + q - 1 (Eq. 16); 0 is guessing."""
        return self.p + self.q - 1

    @property
    def alpha_item(self) -> float:
        """alpha', the same for an item."""
        return self.p_item + self.q_item - 1


def yes_rate(p: float, q: float, truth: ArrayLike) -> FloatArray:
    """Mean judgment given the truth, (1 - q) + (p + q - 1) truth: mu_single of S, mu_k of Y_k (Eq. 17, 18)."""
    return (1 - q) + (p + q - 1) * np.asarray(truth, dtype=np.float64)


def bias_checklist(quality: VerifierQuality, success: ArrayLike, gap: ArrayLike) -> FloatArray:
    """Mean share of items passed minus S: (1 - q') + alpha' Delta + (alpha' - 1) S (Prop. 2)."""
    success, gap = np.asarray(success, dtype=np.float64), np.asarray(gap, dtype=np.float64)
    return (1 - quality.q_item) + quality.alpha_item * gap + (quality.alpha_item - 1) * success


def effective_items(items: ArrayLike, correlation: ArrayLike = 0.0) -> FloatArray:
    """Number of independent items that K correlated ones are worth: K / (1 + (K - 1) rho).

    rho is the mean covariance of two judgments over their variance; with rho > 0 no number of items is worth more than
    1 / rho. Raises InputError for less than one item, or a correlation that K items cannot have.
    """
    number, rho = np.asarray(items, dtype=np.float64), np.asarray(correlation, dtype=np.float64)
    if not (number >= 1).all():
        raise InputError(f"expected at least one item, got {items}")
    shared = 1 + (number - 1) * rho
    if not ((rho <= 1) & (shared >= 0)).all():
        raise InputError(f"the correlation of K = {items} items must be from -1 / (K - 1) to 1, got {correlation}")
    return np.divide(number, shared, out=np.full(shared.shape, np.inf), where=shared != 0)


def item_variance(quality: VerifierQuality, credit: ArrayLike) -> FloatArray:
    """Mean variance of a judgment of one item: p'(1 - p') for the share ``credit`` that holds, else q'(1 - q')."""
    held = np.asarray(credit, dtype=np.float64)
    return held * quality.p_item * (1 - quality.p_item) + (1 - held) * quality.q_item * (1 - quality.q_item)


def mse_single(quality: VerifierQuality, success: ArrayLike) -> FloatArray:
    """Squared bias plus variance of one judgment (Prop. 5): 1 - p where S = 1, 1 - q where S = 0."""
    return np.where(np.asarray(success) == 1, 1 - quality.p, 1 - quality.q)


def mse_checklist(
    quality: VerifierQuality, success: ArrayLike, gap: ArrayLike, items: ArrayLike, correlation: ArrayLike = 0.0
) -> FloatArray:
    """Squared bias plus variance of the share of items passed (Prop. 5), broadcast over the arguments.

    >>> quality = VerifierQuality(p=0.5, q=0.7, p_item=0.9, q_item=0.8)
    >>> mse_checklist(quality, 1, 0, 3).round(3).item()  # .1² + .9 * .1 / 3
    0.04
    """
    credit = np.asarray(success, dtype=np.float64) + np.asarray(gap, dtype=np.float64)
    noise = item_variance(quality, credit) / effective_items(items, correlation)
    return bias_checklist(quality, success, gap) ** 2 + noise


def bias_condition(quality: VerifierQuality, success: ArrayLike, gap: ArrayLike) -> BoolArray:
    """Where the checklist's squared bias is no larger (Prop. 4; its share of responses is in Table 2's last column).

    S = 1 and p' >= p, or S = 0 and alpha' Delta <= q' - q. The paper calls this sufficient. It is also necessary: on
    strict successes the biases are 1 - p' and 1 - p, on others 1 - q' + alpha' Delta and 1 - q, none of them negative.
    """
    won = np.asarray(success, dtype=np.float64) == 1
    excess = quality.alpha_item * np.asarray(gap, dtype=np.float64) - (quality.q_item - quality.q)
    return np.where(won, quality.p_item >= quality.p, excess <= _ROUNDING)


def theorem_1(quality: VerifierQuality, success: ArrayLike, gap: ArrayLike, items: ArrayLike) -> BoolArray:
    """Where Theorem 1 guarantees K independent items an MSE no larger (Eq. 22, 23). Sufficient, not necessary.

    S = 1 and p' >= p, or S = 0 and (1 - q' + alpha' Delta)² + 1 / (4 K) <= 1 - q.
    """
    won = np.asarray(success, dtype=np.float64) == 1
    failing = 1 - quality.q_item + quality.alpha_item * np.asarray(gap, dtype=np.float64)
    bound = failing**2 + 1 / (4 * np.asarray(items, dtype=np.float64))
    return np.where(won, quality.p_item >= quality.p, bound <= 1 - quality.q + _ROUNDING)


def min_size(squared_bias: float, variance: float, target: float, correlation: float = 0.0) -> float:
    """The least K with ``squared_bias + variance (rho + (1 - rho) / K) <= target``; inf if there is none."""
    if not 0 <= correlation <= 1:
        raise InputError(f"the correlation must be in [0, 1], got {correlation}")
    room = target - squared_bias - correlation * variance
    falling = (1 - correlation) * variance
    if falling <= _ROUNDING:
        return 1.0 if room >= -_ROUNDING else math.inf
    needed = falling / room if room > 0 else math.inf
    return float(max(1, math.ceil(needed - _ROUNDING))) if math.isfinite(needed) else math.inf
