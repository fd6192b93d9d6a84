"""How well a ranking of a few answers agrees with the gold ranking.

Both functions give one value per ranking; :func:`vouching.metrics.mean` averages them and takes the weights. Left out:
long rankings (all pairs are compared at once), and a ranking that could not be read: the caller decides what it counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray, quotient


def kendall_tau_b(gold: ArrayLike, scores: ArrayLike) -> FloatArray:
    """Kendall's tau-b (Kendall 1945): concordant minus discordant pairs, corrected for ties, in [-1, 1].

    sum sgn(dx) sgn(dy) / sqrt(sum sgn(dx)^2 sum sgn(dy)^2) over all pairs.

    Args:
        gold: (..., n) gold worth of n answers, higher = better; only the order counts.
        scores: (..., n) predicted worth, higher = better.

    Returns:
        (...) one tau per ranking; nan where all answers of a ranking are level in ``gold`` or in ``scores``.

    Raises:
        InputError: no answers, shapes that differ, a value that is not finite.

    >>> round(float(kendall_tau_b([3, 2, 1], [0.9, 0.1, 0.5])), 3)  # (2 - 1) of 3 pairs
    0.333
    """
    x, y = _rankings(gold, scores)
    sign_x, sign_y = (np.sign(values[..., :, None] - values[..., None, :]) for values in (x, y))
    untied = (sign_x**2).sum(axis=(-2, -1)) * (sign_y**2).sum(axis=(-2, -1))
    return quotient((sign_x * sign_y).sum(axis=(-2, -1)), np.sqrt(untied))


def precision_at_1(gold: ArrayLike, scores: ArrayLike) -> FloatArray:
    """Whether the answer ranked first is a best one; between answers tied for first, the share of them that is.

    Arguments and errors as in :func:`kendall_tau_b`.

    Returns:
        (...) values in [0, 1], the expected hit if ties are broken at random.

    >>> float(precision_at_1([3, 2, 1], [0.9, 0.9, 0.1]))
    0.5
    """
    worth, score = _rankings(gold, scores)
    best = worth == worth.max(axis=-1, keepdims=True)
    first = score == score.max(axis=-1, keepdims=True)
    return (best & first).sum(axis=-1) / first.sum(axis=-1)


def _rankings(gold: ArrayLike, scores: ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = np.asarray(gold, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if x.shape != y.shape or x.ndim == 0 or not x.shape[-1]:
        raise InputError(f"gold and scores must hold the same one or more answers, got shapes {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("a ranking must be finite, got nan or an infinity: count a ranking that failed on its own")
    return x, y
