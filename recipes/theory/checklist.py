"""Propositions and corollaries on checklists and single judgments (Soft-RLVR, section 3.1 and App. A.4).

Symbols and limits are those of ``quality.py``, which has what planning needs. Corollaries 1 to
3 on the number of items are computed by the paper's bounds and exactly. The partition term is in ``partition.py``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from recipes.theory.quality import (
    VerifierQuality,
    bias_checklist,
    item_variance,
    min_size,
    mse_single,
    yes_rate,
)
from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray

_ROUNDING = 1e-9


def strict_success(truth_K: ArrayLike) -> FloatArray:
    """S, the product of the item labels (Eq. 10): (..., K) zeros and ones -> (...)."""
    return _labels(truth_K).prod(axis=-1)


def relaxation_gap(truth_K: ArrayLike) -> FloatArray:
    """Delta, mean minus product of the item labels (Eq. 12): (..., K) -> (...) in [0, 1), 0 if all or none hold."""
    labels = _labels(truth_K)
    return labels.mean(axis=-1) - labels.prod(axis=-1)


def bias_single(quality: VerifierQuality, success: ArrayLike) -> FloatArray:
    """Mean reward of one judgment minus S: (1 - q) + (alpha - 1) S (Prop. 2). Any shape, like ``success``."""
    return (1 - quality.q) + (quality.alpha - 1) * np.asarray(success, dtype=np.float64)


def variance_single(quality: VerifierQuality, success: ArrayLike) -> FloatArray:
    """Variance of one judgment, mu_single (1 - mu_single) (Prop. 3)."""
    return _spread(yes_rate(quality.p, quality.q, success))


def variance_checklist(means_K: ArrayLike, covariance_KK: ArrayLike | None = None) -> FloatArray:
    """Variance of the share of items passed, for any covariance of the judgments (Prop. 3; Prop. 1 without one).

    Args:
        means_K: (..., K) mean judgments mu_k, see :func:`yes_rate`.
        covariance_KK: (..., K, K), symmetric; None for independent judgments. The diagonal is ignored, since the
            variance of a judgment follows from its mean.

    Returns:
        (...) variances; without covariances at most 1 / (4 K). Raises InputError for a covariance that judgments with
        these means cannot have.
    """
    means = np.asarray(means_K, dtype=np.float64)
    own, items = _spread(means), means.shape[-1]
    if covariance_KK is None:
        return own.sum(axis=-1) / items**2
    given = np.asarray(covariance_KK, dtype=np.float64)
    if given.shape[-2:] != (items, items):
        raise InputError(f"the covariance must have the shape (..., {items}, {items}), got {given.shape}")
    crossed = np.where(np.eye(items, dtype=bool), 0.0, given)
    # Two judgments are both yes at most as often as the rarer yes, and at least as often as they must be (Fréchet).
    one, other = means[..., :, None], means[..., None, :]
    upper, lower = np.minimum(one, other) - one * other, np.maximum(0, one + other - 1) - one * other
    off_diagonal = ~np.eye(items, dtype=bool)
    possible = (crossed <= upper + _ROUNDING) & (crossed >= lower - _ROUNDING) | ~off_diagonal
    if not np.allclose(crossed, crossed.swapaxes(-1, -2)) or not possible.all():
        raise InputError("the covariance is not symmetric, or impossible for judgments with these means")
    whole = crossed + np.eye(items) * own[..., None, :]
    if np.linalg.eigvalsh(whole).min() < -_ROUNDING:
        raise InputError("the covariance is impossible: with the judgments' variances it has a negative eigenvalue")
    return whole.sum(axis=(-1, -2)) / items**2


def size_by_bias(q: float) -> float:
    """Corollary 1: where S = 0 and the bias condition holds, K >= 1 / (4 (1 - q) q) is enough; inf for q = 0 or 1."""
    if not 0 <= q <= 1:
        raise InputError(f"q must be in [0, 1], got {q}")
    return 1 / (4 * (1 - q) * q) if 0 < q < 1 else math.inf


def size_enough(quality: VerifierQuality, success: bool, gap: float = 0.0) -> float:
    """Corollary 2: a K from which independent items have no larger MSE; inf where the corollary gives none.

    S = 1, if (1 - p')² < 1 - p: p'(1 - p') / ((1 - p) - (1 - p')²), which is exact. S = 0, if
    A = 1 - q' + alpha' Delta is at most 1 - q: 1 / (4 A (1 - A)), by the bound 1/4 on a variance; :func:`size_needed`
    may find fewer.

    >>> quality = VerifierQuality(p=0.7, q=0.5, p_item=0.9, q_item=0.8)
    >>> round(size_enough(quality, True), 3)  # .09 / (.3 - .01)
    0.31
    >>> round(size_enough(quality, False, 0.25), 3)  # A = .2 + .7 * .25 = .375: 1 / (4 * .375 * .625)
    1.067
    """
    bias = float(bias_checklist(quality, int(success), gap))
    if success:
        room = (1 - quality.p) - bias**2
        return quality.p_item * (1 - quality.p_item) / room if room > 0 else math.inf
    held = bias <= 1 - quality.q + _ROUNDING and 0 < bias < 1
    return 1 / (4 * bias * (1 - bias)) if held else math.inf


def size_needed(quality: VerifierQuality, success: bool, gap: float = 0.0, correlation: float = 0.0) -> float:
    """The least K with an MSE no larger than that of one judgment, exactly; inf if there is none."""
    bias = float(bias_checklist(quality, int(success), gap))
    noise = float(item_variance(quality, int(success) + gap))
    return min_size(bias**2, noise, float(mse_single(quality, int(success))), correlation)


def no_size_helps(quality: VerifierQuality, success: bool, gap: float = 0.0) -> bool:
    """Corollary 3: the squared bias alone exceeds the MSE of one judgment, so the checklist is worse for every K."""
    squared = float(bias_checklist(quality, int(success), gap)) ** 2
    return squared > float(mse_single(quality, int(success))) + _ROUNDING


def _spread(means: FloatArray) -> FloatArray:
    """Variance of a binary judgment with these means."""
    return means * (1 - means)


def _labels(truth_K: ArrayLike) -> FloatArray:
    labels = np.asarray(truth_K, dtype=np.float64)
    if labels.ndim == 0 or not labels.shape[-1]:
        raise InputError(f"a checklist must have at least one item, got labels of shape {labels.shape}")
    if not np.isin(labels, (0, 1)).all():
        raise InputError("item labels must be 0 or 1")
    return labels
