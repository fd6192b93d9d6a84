"""Fitting what maps a score to a probability: by one number (temperature) or by any rising curve (isotonic).

Both keep the order of the scores, so no ranking changes. Fit on rows that nothing else was chosen on, and measure on
others: :func:`held_out_scores` does, by folds. Left out: a shift of the base rate; the probability is that of rows like
those it was fitted on.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray, bool_array, score_array

CalibratorKind: TypeAlias = Literal["temperature", "isotonic"]
FEWEST_ROWS = 20
"""Rows of a fit, with both labels among them."""
_EDGE = 0.01
"""Scores are taken to lie this far from 0 and 1: a stated 1.0 would have infinite odds."""
_SLOPES = (1e-4, 4.0)
"""Of a temperature, its inverse: scores that are always right are sharpened no further than to odds^4."""


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A rising curve through points of log-odds (temperature) or of scores (isotonic).

    >>> softer = Calibrator("temperature", (2.0,))
    >>> round(softer(0.9), 2), softer(0.5)  # odds of 9 become odds of 3
    (0.75, 0.5)
    >>> Calibrator("isotonic", (0.2, 0.8), (0.1, 0.6))(0.5)
    0.35
    """

    kind: CalibratorKind
    """How it was fitted."""
    at: tuple[float, ...]
    """The temperature, at least .01; or the scores of the points, rising."""
    values: tuple[float, ...] = ()
    """Probabilities at the points of an isotonic curve, not falling; empty for a temperature."""

    def __post_init__(self) -> None:
        rises = all(a < b for a, b in zip(self.at, self.at[1:], strict=False))
        grows = all(a <= b for a, b in zip(self.values, self.values[1:], strict=False))
        shares = all(0 <= value <= 1 for value in self.values)
        curve = len(self.at) == len(self.values) > 0 and rises and grows and shares
        lone = len(self.at) == 1 and self.at[0] >= 0.01 and not self.values
        if not (curve if self.kind == "isotonic" else lone and self.kind == "temperature"):
            raise InputError(
                f"got {self.kind} with {self.at} and {self.values}, wanted a temperature or a rising curve"
            )

    def __call__(self, score: float) -> float:
        """The probability for a score in [0, 1]."""
        return float(self.apply([score])[0])

    def apply(self, scores: ArrayLike) -> FloatArray:
        """(N,) probabilities for (N,) scores in [0, 1]."""
        score = score_array(scores, "scores", probability=True)
        if self.kind == "isotonic":
            return np.interp(score, self.at, self.values)
        return 1 / (1 + np.exp(-_log_odds(score) / self.at[0]))

    @property
    def name(self) -> str:
        """Kind and a short hash, for provenance.

        >>> Calibrator("temperature", (2.0,)).name
        'temperature:07686cdd'
        """
        text = json.dumps([self.kind, self.at, self.values])
        return f"{self.kind}:{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def fit_calibrator(kind: CalibratorKind, truth: ArrayLike, scores: ArrayLike) -> Calibrator:
    """Fit a calibrator.

    Temperature (Guo et al. 2017): the T that makes the labels likeliest under odds^(1/T), found where the derivative
    of the convex loss is 0; scores that point the wrong way give the largest T, which is always .5. Isotonic (Zadrozny
    & Elkan 2002): least squares under the order of the scores, by pooling neighbours, with one made-up Attributable row
    at the lowest score and one Not Attributable row at the highest, so that no probability is 0 or 1.

    Args:
        kind: "temperature" needs few rows, "isotonic" some hundreds.
        truth: (N,) booleans, True = Attributable.
        scores: (N,) raw scores in [0, 1].

    Raises:
        InputError: fewer than 20 rows, one label only, arrays that do not fit.

    >>> truth = [True] * 15 + [False] * 5 + [True] * 5 + [False] * 15
    >>> fitted = fit_calibrator("temperature", truth, [0.9] * 20 + [0.1] * 20)
    >>> round(fitted(0.9), 3), round(fitted.at[0], 3)  # 15 of 20 are right; log 9 / log 3 = 2
    (0.75, 2.0)
    """
    gold = bool_array(truth, "truth")
    score = score_array(scores, "scores", len(gold), probability=True)
    if len(gold) < FEWEST_ROWS or gold.all() or not gold.any():
        raise InputError(
            f"got {len(gold)} rows, {int(gold.sum())} of them Attributable, wanted at least {FEWEST_ROWS} with both "
            "labels: label some more"
        )
    if kind == "temperature":
        return Calibrator("temperature", (_temperature(gold.astype(np.float64), _log_odds(score)),))
    return _isotonic(gold.astype(np.float64), score)


def held_out_scores(kind: CalibratorKind, truth: ArrayLike, scores: ArrayLike, folds: ArrayLike) -> FloatArray:
    """Each row's probability from a calibrator that was fitted without its fold.

    Args:
        kind: as for :func:`fit_calibrator`.
        truth: (N,) booleans.
        scores: (N,) raw scores.
        folds: (N,) number of each row's fold; rows about one document belong to one fold.

    Raises:
        InputError: what is left of a fold is too little to fit.
    """
    gold = bool_array(truth, "truth")
    score = score_array(scores, "scores", len(gold), probability=True)
    fold = np.asarray(folds)
    found = np.empty(len(gold))
    for number in np.unique(fold):
        out = fold == number
        found[out] = fit_calibrator(kind, gold[~out], score[~out]).apply(score[out])
    return found


def _log_odds(score: FloatArray) -> FloatArray:
    inner = np.clip(score, _EDGE, 1 - _EDGE)
    return np.log(inner) - np.log1p(-inner)


def _temperature(gold: FloatArray, odds: FloatArray) -> float:
    low, high = _SLOPES

    def pull(slope: float) -> float:
        return float(np.dot(odds, gold - 1 / (1 + np.exp(-slope * odds))))

    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if pull(middle) > 0 else (low, middle)
    return 2 / (low + high)


def _isotonic(gold: FloatArray, score: FloatArray) -> Calibrator:
    score = np.concatenate([score, [score.min(), score.max()]])
    gold = np.concatenate([gold, [1.0, 0.0]])
    levels, level_of = np.unique(score, return_inverse=True)
    blocks: list[list[float]] = []  # mean, weight, levels
    for total, weight in zip(np.bincount(level_of, gold), np.bincount(level_of), strict=True):
        blocks.append([float(total / weight), float(weight), 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, weight_b, count = blocks.pop()
            before = blocks[-1]
            whole = before[1] + weight_b
            blocks[-1] = [(before[0] * before[1] + mean * weight_b) / whole, whole, before[2] + count]
    values = [mean for mean, _, count in blocks for _ in range(int(count))]
    # Of a level stretch only its ends say anything.
    kept = [
        i for i in range(len(values)) if i in (0, len(values) - 1) or not values[i - 1] == values[i] == values[i + 1]
    ]
    return Calibrator("isotonic", tuple(float(levels[i]) for i in kept), tuple(values[i] for i in kept))
