"""How many items a checklist needs (Soft-RLVR, corollaries 1 to 3), by the paper's bounds and exactly.

A checklist of K items with rates and relaxation gap held fixed has the MSE A² + rho v + (1 - rho) v / K: bias A, mean
variance v of a judgment, correlation rho. Only the last term falls with K. Left out: that cutting an instruction finer
changes the rates, and the gap too: a response that fails one of K items has the gap 1 - 1 / K.
"""

from __future__ import annotations

import math

from vouching.errors import InputError
from vouching.metrics.checklist_theory import (
    VerifierQuality,
    bias_checklist,
    item_variance,
    mse_single,
)

_ROUNDING = 1e-9


def size_by_bias(q: float) -> float:
    """Corollary 1: where S = 0 and the bias condition holds, K >= 1 / (4 (1 - q) q) is enough; inf for q = 0 or 1.

    >>> size_by_bias(0.5), round(size_by_bias(0.9), 3)
    (1.0, 2.778)
    """
    if not 0 <= q <= 1:
        raise InputError(f"q is a rate in [0, 1], got {q}")
    return 1 / (4 * (1 - q) * q) if 0 < q < 1 else math.inf


def size_enough(quality: VerifierQuality, success: bool, gap: float = 0.0) -> float:
    """Corollary 2: a K from which on independent items have no larger MSE; inf where the corollary gives none.

    S = 1, if (1 - p')² < 1 - p: p'(1 - p') / ((1 - p) - (1 - p')²), which is exact. S = 0, if
    A = 1 - q' + alpha' Delta is at most 1 - q: 1 / (4 A (1 - A)), by the bound 1/4 on a variance, so that fewer may do:
    see :func:`size_needed`.

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
    """The least whole K with an MSE no larger than that of one judgment, exactly; inf if no K has one.

    Args:
        quality: the rates.
        success: whether the response is a strict success.
        gap: its relaxation gap.
        correlation: of two judgments of it, from 0 to 1.

    >>> quality = VerifierQuality(p=0.7, q=0.5, p_item=0.9, q_item=0.8)
    >>> size_needed(quality, False, 0.5)  # A² = .3025, v = .125: .3025 + .125 / K <= .5
    1.0
    >>> size_needed(VerifierQuality(p=0.7, q=0.6, p_item=0.9, q_item=0.8), False, 0.6)  # .62² = .3844, v = .118
    8.0
    """
    bias = float(bias_checklist(quality, int(success), gap))
    noise = float(item_variance(quality, int(success) + gap))
    return least_size(bias**2, noise, float(mse_single(quality, int(success))), correlation)


def least_size(squared_bias: float, variance: float, target: float, correlation: float = 0.0) -> float:
    """The least whole K with ``squared_bias + variance (rho + (1 - rho) / K) <= target``; inf if there is none.

    >>> least_size(0.04, 0.2, 0.1), least_size(0.04, 0.2, 0.1, correlation=0.5)
    (4.0, inf)
    """
    if not 0 <= correlation <= 1:
        raise InputError(f"wanted a correlation in [0, 1], got {correlation}")
    room = target - squared_bias - correlation * variance
    falling = (1 - correlation) * variance
    if falling <= _ROUNDING:
        return 1.0 if room >= -_ROUNDING else math.inf
    least = falling / room if room > 0 else math.inf
    return float(max(1, math.ceil(least - _ROUNDING))) if math.isfinite(least) else math.inf


def no_size_helps(quality: VerifierQuality, success: bool, gap: float = 0.0) -> bool:
    """Corollary 3: the squared bias alone exceeds the MSE of one judgment, so the checklist is worse with any K.

    >>> no_size_helps(VerifierQuality(p=0.7, q=0.9, p_item=0.9, q_item=0.8), False, 0.5)  # .55² = .3025 > .1
    True
    """
    squared = float(bias_checklist(quality, int(success), gap)) ** 2
    return squared > float(mse_single(quality, int(success))) + _ROUNDING
