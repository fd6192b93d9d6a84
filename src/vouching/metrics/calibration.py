"""Whether a score of .8 is right in 80 of 100 cases, and what is gained by answering only where confident.

The score is the probability that the claim is Attributable; calibration compares it with how often claims are, over the
whole range [0, 1] and independent of any threshold. Not supported: confidence-based ECE (over the predicted class) and
adaptive bins. ``calibrators`` fits calibrators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vouching.errors import InputError
from vouching.metrics.arrays import BoolArray, FloatArray, bool_array, quotient, score_array, weight_array
from vouching.metrics.scores import mean


@dataclass(frozen=True, slots=True)
class Bin:
    """The rows with scores in [low, high); the last bin includes 1."""

    low: float
    high: float
    count: int
    """Number of rows."""
    mean_score: float
    """nan in an empty bin."""
    share_attributable: float
    """nan in an empty bin."""


def ece(truth: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None, *, bins: int = 10) -> FloatArray:
    """Expected calibration error: mean distance of score and share Attributable over equal-width bins, by weight.

    sum_b n_b/n |mean score in b - share Attributable in b| (Naeini et al. 2015; Guo et al. 2017, eq. 3), with
    P(Attributable) as the score, in [0, 1]. Bins are [low, high), the last one closed. Chance alone makes it positive:
    with few rows even perfect scores get some hundredths.

    >>> round(float(ece([True, False], [0.9, 0.2])), 2)  # (|.9 - 1| + |.2 - 0|) / 2
    0.15
    """
    gold, score = _truth_and_scores(truth, scores)
    weight = weight_array(weights, len(gold))
    in_bin = np.eye(bins)[_bin_of(score, bins)]
    excess = weight @ (in_bin * (score - gold)[:, None])
    return quotient(np.abs(excess).sum(axis=-1), weight.sum(axis=-1))


def reliability_bins(truth: ArrayLike, scores: ArrayLike, bins: int = 10) -> list[Bin]:
    """All bins behind :func:`ece`, empty ones too, for a reliability diagram."""
    gold, score = _truth_and_scores(truth, scores)
    number = _bin_of(score, bins)
    count = np.bincount(number, minlength=bins)
    mean_score, share = (
        quotient(np.bincount(number, values, bins).astype(np.float64), count.astype(np.float64)).tolist()
        for values in (score, gold)
    )
    edges = (np.arange(bins + 1) / bins).tolist()
    return [
        Bin(low, high, *rest)
        for low, high, *rest in zip(edges, edges[1:], count.tolist(), mean_score, share, strict=False)
    ]


def brier(truth: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Mean squared distance of score and truth (Brier 1950, one class): 0 is perfect, .25 always says one half."""
    gold, score = _truth_and_scores(truth, scores)
    return mean((score - gold) ** 2, weights)


def brier_skill(truth: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Share of the base rate's Brier score that is saved: 1 - brier / (p (1 - p)), at most 1.

    p is the share Attributable of the evaluated rows, so 0 is as good as always predicting p, which a model cannot know
    beforehand; below 0 is worse. nan with one class only.

    >>> round(float(brier_skill([True, False], [0.9, 0.2])), 3)  # 1 - .025 / .25
    0.9
    """
    gold, score = _truth_and_scores(truth, scores)
    base_rate = mean(gold, weights)
    return 1 - quotient(mean((score - gold) ** 2, weights), base_rate * (1 - base_rate))


def accuracy_at_coverage(
    right: ArrayLike, confidence: ArrayLike, weights: ArrayLike | None = None, *, coverage: float
) -> FloatArray:
    """Accuracy of the most confident share of the rows, in [0, 1] (selective prediction).

    The ``coverage``, in (0, 1], is met exactly: rows that tie in confidence at the cut count in equal parts, the
    expected value over their random orders. A single row at the cut counts in part: 50 % of 3 rows are the first and
    half the second.

    >>> round(float(accuracy_at_coverage([True, False, False], [0.9, 0.8, 0.7], coverage=0.5)), 3)  # 1 of 1.5
    0.667
    """
    if not 0 < coverage <= 1:
        raise InputError(f"coverage must be in (0, 1], got {coverage}")
    hit = bool_array(right, "right")
    sure = score_array(confidence, "confidence", len(hit))
    weight = weight_array(weights, len(hit))
    order = np.argsort(-sure, kind="stable")
    last_of_tie = np.flatnonzero(np.diff(sure[order], append=np.nan) != 0)
    kept = np.cumsum(weight[..., order], axis=-1)[..., last_of_tie]
    hits = np.cumsum((weight * hit)[..., order], axis=-1)[..., last_of_tie]
    target = coverage * kept[..., -1:]
    cut = (kept < target).sum(axis=-1, keepdims=True)
    kept_before, hits_before = (_before(cut, cumulated) for cumulated in (kept, hits))
    part = quotient(target - kept_before, np.take_along_axis(kept, cut, -1) - kept_before)
    answered = hits_before + part * (np.take_along_axis(hits, cut, -1) - hits_before)
    return quotient(answered, target)[..., 0]


def coverage_points(right: ArrayLike, confidence: ArrayLike, points: int = 100) -> list[tuple[float, float]]:
    """(coverage, accuracy) at equal steps up to 1, by :func:`accuracy_at_coverage`."""
    shares = [(step + 1) / points for step in range(points)]
    return [(share, float(accuracy_at_coverage(right, confidence, coverage=share))) for share in shares]


def _truth_and_scores(truth: ArrayLike, scores: ArrayLike) -> tuple[BoolArray, FloatArray]:
    gold = bool_array(truth, "truth")
    return gold, score_array(scores, "scores", len(gold), probability=True)


def _bin_of(score: FloatArray, bins: int) -> NDArray[np.intp]:
    if bins < 1:
        raise InputError(f"the number of bins must be at least 1, got {bins}")
    return np.searchsorted(np.arange(1, bins) / bins, score, side="right")


def _before(cut: NDArray[np.intp], cumulated: FloatArray) -> FloatArray:
    """The cumulated value before the tie at the cut; 0 if it is the first."""
    return np.where(cut > 0, np.take_along_axis(cumulated, np.maximum(cut - 1, 0), -1), 0.0)
