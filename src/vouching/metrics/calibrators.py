"""Calibrators from scores to probabilities: a temperature, a line (Platt), or any non-decreasing curve (isotonic).

All keep the order of the scores, so no ranking changes. Fit on rows that nothing else was chosen on, and measure on
others: :func:`held_out_scores` does, by folds. A calibrator holds for rows like those it was fitted on. Not supported:
a shift of the base rate.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import InputError
from vouching.metrics.arrays import BoolArray, FloatArray, bool_array, score_array

CalibratorKind: TypeAlias = Literal["temperature", "platt", "isotonic"]
"""A temperature is for scores in [0, 1], the others for any number, such as a logit."""
MIN_ROWS = 20
"""Rows of a fit, with both labels among them."""
_EDGE = 0.01
"""Scores are clipped this far from 0 and 1: a stated 1.0 would have infinite odds."""
_STEEPEST = 30.0
"""Bound on log-odds: 1 - 1e-13."""
_SLOPES = (1e-4, 4.0)
"""Bounds on the inverse temperature: scores that are always right are sharpened no further than to odds^4."""


@dataclass(frozen=True, slots=True)
class Calibrator:
    """log-odds over a temperature, 1 / (1 + exp(-(slope * score + shift))), or an isotonic curve through points.

    >>> softer = Calibrator("temperature", (2.0,))
    >>> round(softer(0.9), 2), softer(0.5)  # odds of 9 become odds of 3
    (0.75, 0.5)
    >>> Calibrator("isotonic", (0.2, 0.8), (0.1, 0.6))(0.5)
    0.35
    >>> round(Calibrator("platt", (2.0, -1.0))(3.0), 4)  # 1 / (1 + exp(-5))
    0.9933
    """

    kind: CalibratorKind
    at: tuple[float, ...]
    """The temperature, at least .01; slope, at least 0, and shift; or the scores of the points, increasing."""
    values: tuple[float, ...] = ()
    """Probabilities at the points of an isotonic curve, not decreasing; empty for the others."""

    def __post_init__(self) -> None:
        increasing = all(a < b for a, b in zip(self.at, self.at[1:], strict=False))
        monotone = all(a <= b for a, b in zip(self.values, self.values[1:], strict=False))
        shares = all(0 <= value <= 1 for value in self.values)
        curve = len(self.at) == len(self.values) > 0 and increasing and monotone and shares
        lone = len(self.at) == 1 and self.at[0] >= 0.01 and not self.values
        line = len(self.at) == 2 and self.at[0] >= 0 and not self.values
        if not {"isotonic": curve, "temperature": lone, "platt": line}.get(self.kind, False):
            raise InputError(
                f"a calibrator must be a temperature, a line or an increasing curve, "
                f"got {self.kind} with {self.at} and {self.values}"
            )

    def __call__(self, score: float) -> float:
        """The probability for a score; with a temperature, the score must be in [0, 1]."""
        return float(self.apply([score])[0])

    def apply(self, scores: ArrayLike) -> FloatArray:
        """(N,) probabilities for (N,) scores."""
        score = score_array(scores, "scores", probability=self.kind == "temperature")
        if self.kind == "isotonic":
            return np.interp(score, self.at, self.values)
        if self.kind == "platt":
            return 1 / (1 + np.exp(-np.clip(self.at[0] * score + self.at[1], -_STEEPEST, _STEEPEST)))
        return 1 / (1 + np.exp(-_log_odds(score) / self.at[0]))

    @property
    def name(self) -> str:
        """Kind and a short hash, for provenance.

        >>> Calibrator("temperature", (2.0,)).name
        'temperature:07686cdd'
        """
        text = json.dumps([self.kind, self.at, self.values])
        return f"{self.kind}:{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def fit_calibrator(
    kind: CalibratorKind, truth: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None
) -> Calibrator:
    """Fit a calibrator; "temperature" and "platt" need few rows, "isotonic" some hundreds.

    Temperature (Guo et al. 2017): the T with the highest likelihood under odds^(1/T), at the root of the derivative of
    the convex loss; scores in the wrong direction give the largest T, a constant .5. Platt (Platt 1999): the line with
    the highest likelihood, where targets are (n + 1) / (n + 2) and 1 / (m + 2) for n and m rows of each label, so that
    separable rows do not make it infinitely steep; a decreasing line is made constant. Isotonic (Zadrozny & Elkan
    2002): least squares under the order of the scores, by pooling neighbours, with one artificial Attributable row at
    the lowest score and one Not Attributable row at the highest, so that no probability is 0 or 1.

    Args:
        kind: which calibrator.
        truth: (N,) booleans, True = Attributable; at least 20 rows with both labels.
        scores: (N,) raw scores, in [0, 1] for a temperature.
        weights: (N,) what each row counts for, above 0; for "platt" only.

    >>> truth = [True] * 15 + [False] * 5 + [True] * 5 + [False] * 15
    >>> fitted = fit_calibrator("temperature", truth, [0.9] * 20 + [0.1] * 20)
    >>> round(fitted(0.9), 3), round(fitted.at[0], 3)  # 15 of 20 are right; log 9 / log 3 = 2
    (0.75, 2.0)
    """
    gold = bool_array(truth, "truth")
    score = score_array(scores, "scores", len(gold), probability=kind == "temperature")
    if len(gold) < MIN_ROWS or gold.all() or not gold.any():
        raise InputError(
            f"calibration requires at least {MIN_ROWS} rows and both labels, got {len(gold)} rows, "
            f"{int(gold.sum())} of them Attributable: label more rows"
        )
    weight = np.ones(len(gold)) if weights is None else np.asarray(weights, np.float64)
    if weights is not None and (kind != "platt" or weight.shape != score.shape or not (weight > 0).all()):
        raise InputError(
            f"weights require kind platt and a positive number per row, got {kind} and weights of shape {weight.shape}"
        )
    if kind == "temperature":
        return Calibrator("temperature", (_temperature(gold.astype(np.float64), _log_odds(score)),))
    if kind == "platt":
        return Calibrator("platt", _line(gold, score, weight))
    return _isotonic(gold.astype(np.float64), score)


def held_out_scores(kind: CalibratorKind, truth: ArrayLike, scores: ArrayLike, folds: ArrayLike) -> FloatArray:
    """Each row's probability from a calibrator fitted without its fold; rows of one document need one fold."""
    gold = bool_array(truth, "truth")
    score = score_array(scores, "scores", len(gold))
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


def _line(gold: BoolArray, score: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Slope and shift of maximum likelihood, by Newton's method on standardised scores."""
    right, wrong = float(weight[gold].sum()), float(weight[~gold].sum())
    target = np.where(gold, (right + 1) / (right + 2), 1 / (wrong + 2))
    middle, width = float(score.mean()), float(score.std()) or 1.0
    x = np.stack([(score - middle) / width, np.ones_like(score)])
    line = np.zeros(2)
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(line @ x, -_STEEPEST, _STEEPEST)))
        # A tiny ridge keeps the step finite where scores do not differ.
        bend = (x * (weight * p * (1 - p))) @ x.T + 1e-9 * np.eye(2)
        step = np.linalg.solve(bend, x @ (weight * (target - p)) - 1e-9 * line)
        line += step * min(1.0, 5.0 / float(np.abs(step).max()) if step.any() else 1.0)
        if float(np.abs(step).max()) < 1e-12:
            break
    if line[0] <= 0:
        mean = float(np.average(target, weights=weight))
        return 0.0, float(np.log(mean / (1 - mean)))
    slope = float(line[0]) / width
    return slope, float(line[1]) - slope * middle


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
    # Of a constant stretch, keep only the ends.
    kept = [
        i for i in range(len(values)) if i in (0, len(values) - 1) or not values[i - 1] == values[i] == values[i + 1]
    ]
    return Calibrator("isotonic", tuple(float(levels[i]) for i in kept), tuple(values[i] for i in kept))
