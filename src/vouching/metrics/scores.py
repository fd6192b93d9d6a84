"""How often the labels are right, and how well the scores rank the claims.

Thresholds are chosen on development data, with the model, not here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray, bool_array, quotient, score_array, weight_array
from vouching.types import ERROR_TYPES, ErrorType


def mean(values: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Weighted mean of one value per row: grounded share, P@1, tau, a quality."""
    value = score_array(values, "values")
    weight = weight_array(weights, len(value))
    return quotient(weight @ value, weight.sum(axis=-1))


def confusion_matrix(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """(..., 2, 2) weighted counts by gold label (row) and predicted label (column), each Attributable first.

    >>> confusion_matrix([True, True, False], [True, False, False])
    array([[1., 1.],
           [0., 1.]])
    """
    gold = bool_array(truth, "truth")
    label = bool_array(predicted, "predicted", len(gold))
    cell_of_row = np.eye(4)[2 * ~gold + ~label]
    counts = weight_array(weights, len(gold)) @ cell_of_row
    return counts.reshape(*counts.shape[:-1], 2, 2)


def accuracy(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Share of right labels, in [0, 1]."""
    cells = confusion_matrix(truth, predicted, weights)
    return quotient(cells[..., 0, 0] + cells[..., 1, 1], cells.sum(axis=(-2, -1)))


def balanced_accuracy(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Mean of the two recalls, in [0, 1]; nan with one gold class."""
    cells = confusion_matrix(truth, predicted, weights)
    recalls = quotient(cells[..., [0, 1], [0, 1]], cells.sum(axis=-1))
    return recalls.mean(axis=-1)


def macro_f1(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Mean of the F1 of Attributable and of Not Attributable, in [0, 1] (SEVA's main metric).

    nan where a class is neither in the gold nor in the predicted labels.

    >>> float(macro_f1([True, True, False, False], [True, False, False, False]))  # (2/3 + 4/5) / 2
    0.7333333333333334
    """
    cells = confusion_matrix(truth, predicted, weights)
    hits = 2 * cells[..., [0, 1], [0, 1]]
    return quotient(hits, cells.sum(axis=-1) + cells.sum(axis=-2)).mean(axis=-1)


def na_precision(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Share of the rows labelled Not Attributable that are, in [0, 1]; nan without such labels."""
    cells = confusion_matrix(truth, predicted, weights)
    return quotient(cells[..., 1, 1], cells[..., 1].sum(axis=-1))


def na_recall(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Share of the Not Attributable rows that are labelled so, in [0, 1]; nan without such rows."""
    cells = confusion_matrix(truth, predicted, weights)
    return quotient(cells[..., 1, 1], cells[..., 1, :].sum(axis=-1))


def na_f1(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Harmonic mean of :func:`na_precision` and :func:`na_recall`, 2 TP / (2 TP + FP + FN), in [0, 1].

    nan where no row is Not Attributable by either label; 0 where one is and no such row is found.

    >>> float(na_f1([True, True, False, False], [True, False, False, False]))  # 4 / (4 + 1 + 0)
    0.8
    """
    cells = confusion_matrix(truth, predicted, weights)
    return quotient(2 * cells[..., 1, 1], 2 * cells[..., 1, 1] + cells[..., 0, 1] + cells[..., 1, 0])


def predicted_na_rate(predicted: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Share of rows labelled Not Attributable, in [0, 1]."""
    return mean(~bool_array(predicted, "predicted"), weights)


def auroc(truth: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Area under the ROC curve: the chance that an Attributable claim scores above one that is not; ties count half.

    The Mann-Whitney form (Hanley & McNeil 1982), exact: each Attributable row gets the weight of the other rows below
    it plus half of those tied with it, from one cumulated sum over the sorted rows. nan with one class only.

    >>> float(auroc([True, True, False], [0.9, 0.4, 0.4]))  # (1 + 1/2) of 2 pairs
    0.75
    """
    gold = bool_array(truth, "truth")
    score = score_array(scores, "scores", len(gold))
    weight = weight_array(weights, len(gold))
    upper, lower = np.flatnonzero(gold), np.flatnonzero(~gold)
    lower = lower[np.argsort(score[lower], kind="stable")]
    cumulated = np.zeros((*weight.shape[:-1], len(lower) + 1))
    np.cumsum(weight[..., lower], axis=-1, out=cumulated[..., 1:])
    first = np.searchsorted(score[lower], score[upper], side="left")
    after = np.searchsorted(score[lower], score[upper], side="right")
    beaten = cumulated[..., first]
    beaten += cumulated[..., after]
    upper_weight = weight[..., upper]
    won = np.einsum("...i,...i->...", upper_weight, beaten) / 2
    return quotient(won, upper_weight.sum(axis=-1) * cumulated[..., -1])


def roc_points(truth: ArrayLike, scores: ArrayLike) -> list[tuple[float, float]]:
    """Corners of the ROC curve: (false positive rate, true positive rate) from (0, 0) to (1, 1).

    Positive is Attributable. Points on the straight line between their neighbours are omitted; the trapezoids below the
    rest add up to :func:`auroc`. Empty with one class only.

    >>> roc_points([True, True, False, False], [0.9, 0.4, 0.4, 0.1])
    [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """
    gold = bool_array(truth, "truth")
    score = score_array(scores, "scores", len(gold))
    if gold.all() or not gold.any():
        return []
    order = np.argsort(-score, kind="stable")
    last_of_tie = np.flatnonzero(np.diff(score[order], append=np.nan) != 0)
    hits = np.concatenate([[0], np.cumsum(gold[order])[last_of_tie]])
    misses = np.concatenate([[0], np.cumsum(~gold[order])[last_of_tie]])
    across, up = np.diff(misses), np.diff(hits)
    corner = np.concatenate([[True], across[:-1] * up[1:] != across[1:] * up[:-1], [True]])
    return list(zip((misses / misses[-1])[corner].tolist(), (hits / hits[-1])[corner].tolist(), strict=True))


def error_type_distribution(error_types: Iterable[ErrorType | None]) -> dict[ErrorType, int]:
    """Counts of all six error types, in the taxonomy's order; None (no error) is not counted."""
    counts = Counter(kind for kind in error_types if kind is not None)
    if unknown := sorted(set(counts) - set(ERROR_TYPES)):
        raise InputError(f"unknown error type {unknown[0]!r}; expected one of {', '.join(ERROR_TYPES)}")
    return {kind: counts[kind] for kind in ERROR_TYPES}


def why_undefined(truth: ArrayLike, predicted: ArrayLike | None = None) -> str | None:
    """Why a metric of these rows is nan, in words; None if every one is defined.

    One gold class leaves AUROC, balanced accuracy and Brier skill undefined and, without a Not Attributable row, its
    recall. Its precision needs a row judged so.

    >>> why_undefined([True, True], [True, True])
    'one class only: all 2 rows are Attributable; no row is judged Not Attributable'
    >>> why_undefined([True, False], [True, False]) is None
    True
    """
    gold = bool_array(truth, "truth")
    reasons: list[str] = []
    if gold.all() or not gold.any():
        label = "Attributable" if gold[0] else "Not Attributable"
        reasons.append(f"one class only: all {len(gold)} rows are {label}")
    if predicted is not None and bool_array(predicted, "predicted", len(gold)).all():
        reasons.append("no row is judged Not Attributable")
    return "; ".join(reasons) or None
