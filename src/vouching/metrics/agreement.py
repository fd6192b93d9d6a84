"""Agreement of two annotators on labels (Cohen's kappa) and on stretches of text (overlap of spans).

Span scores are micro averages: the characters, or tokens, of all rows are counted together, so long spans weigh more.
Not supported: matching whole spans, and partial credit by type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vouching.errors import InputError
from vouching.metrics.arrays import BoolArray, FloatArray, quotient, weight_array

RowSpans = Sequence[tuple[int, int]]
"""The (start, end) offsets of one row's spans, end-exclusive; they may overlap and come in any order."""


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Agreement of predicted with gold spans, in characters or tokens; nan where undefined."""

    precision: float
    recall: float
    f1: float


def cohen_kappa(first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Cohen's kappa (Cohen 1960) of (N,) labels: agreement beyond chance, (p_o - p_e) / (1 - p_e), at most 1.

    nan where both annotators give every row the same one label.

    >>> float(cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"]))  # (.75 - .5) / (1 - .5)
    0.5
    """
    one, other = np.asarray(first), np.asarray(second)
    if one.ndim != 1 or one.shape != other.shape or not len(one):
        raise InputError(
            f"kappa requires at least one row, with two labels per row, got shapes {one.shape}, {other.shape}"
        )
    names, number = np.unique(np.concatenate([one, other]), return_inverse=True)
    is_one, is_other = np.split(np.eye(len(names))[number], 2)
    weight = weight_array(weights, len(one))
    total = weight.sum(axis=-1)
    # Scaled by the squared total, so that whole weights stay exact and 0 / 0 is detected.
    agreed = total * (weight @ (is_one * is_other).sum(axis=-1))
    expected = ((weight @ is_one) * (weight @ is_other)).sum(axis=-1)
    return quotient(agreed - expected, total**2 - expected)


def span_counts(gold: Sequence[RowSpans], predicted: Sequence[RowSpans]) -> FloatArray:
    """(N, 3) characters per row: in both, predicted, gold. Input of :func:`span_f1` and the like.

    A character in several spans of a row counts once. Raises InputError for another number of rows or bad offsets.

    >>> span_counts([[(0, 10)]], [[(5, 12), (8, 20)]])  # in both: 5 to 10; predicted: 5 to 20
    array([[ 5., 15., 10.]])
    """
    return _counts(gold, predicted, [None] * len(gold))


def token_counts(gold: Sequence[RowSpans], predicted: Sequence[RowSpans], tokens: Sequence[RowSpans]) -> FloatArray:
    """(N, 3) tokens per row: in both, predicted, gold. A token belongs to a span if they share a character.

    >>> token_counts([[(0, 3)]], [[(2, 6)]], [[(0, 3), (4, 7), (8, 9)]])  # the first; the first two; the first
    array([[1., 2., 1.]])
    """
    return _counts(gold, predicted, tokens)


def span_precision(counts: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Share of the predicted characters or tokens that are gold; ``counts`` from :func:`span_counts`."""
    both, predicted, _ = _totals(counts, weights)
    return quotient(both, predicted)


def span_recall(counts: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Share of the gold characters or tokens that are predicted; nan where nothing is gold."""
    both, _, gold = _totals(counts, weights)
    return quotient(both, gold)


def span_f1(counts: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Harmonic mean of :func:`span_precision` and :func:`span_recall`; nan where nothing is predicted or gold.

    >>> float(span_f1([[5, 15, 10]]))  # 2 * 5 / (15 + 10)
    0.4
    """
    both, predicted, gold = _totals(counts, weights)
    return quotient(2 * both, predicted + gold)


def span_scores(gold: Sequence[RowSpans], predicted: Sequence[RowSpans]) -> SpanScores:
    """Character-level precision, recall and F1 of all rows together."""
    counts = span_counts(gold, predicted)
    return SpanScores(float(span_precision(counts)), float(span_recall(counts)), float(span_f1(counts)))


def _counts(gold: Sequence[RowSpans], predicted: Sequence[RowSpans], tokens: Sequence[RowSpans | None]) -> FloatArray:
    for name, spans in (("predicted", predicted), ("tokens", tokens)):
        if len(spans) != len(gold):
            raise InputError(f"{name} and gold must have the same number of rows, got {len(spans)} and {len(gold)}")
    counts = np.zeros((len(gold), 3))
    for row, (gold_spans, predicted_spans, row_tokens) in enumerate(zip(gold, predicted, tokens, strict=True)):
        try:
            length = max((end for _, end in (*gold_spans, *predicted_spans)), default=0)
            in_gold, in_predicted = _covered(gold_spans, length), _covered(predicted_spans, length)
            if row_tokens is not None:
                in_gold, in_predicted = _touched(row_tokens, in_gold), _touched(row_tokens, in_predicted)
        except InputError as error:
            raise InputError(f"row {row + 1}: {error}") from error
        counts[row] = (in_gold & in_predicted).sum(), in_predicted.sum(), in_gold.sum()
    return counts


def _covered(spans: RowSpans, length: int) -> BoolArray:
    covered = np.zeros(length, dtype=np.bool_)
    for start, end in spans:
        covered[_checked(start, end)] = True
    return covered


def _touched(tokens: RowSpans, covered: BoolArray) -> BoolArray:
    return np.array([covered[_checked(start, end)].any() for start, end in tokens], dtype=np.bool_)


def _checked(start: int, end: int) -> slice:
    if not 0 <= start <= end:
        raise InputError(f"span offsets must satisfy 0 <= start <= end, got {start}..{end}")
    return slice(start, end)


def _totals(counts: ArrayLike, weights: ArrayLike | None) -> NDArray[np.float64]:
    """The three counts summed over the rows, shape (3, ...)."""
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 3 or not len(table):
        raise InputError(f"span counts must have shape (N, 3) with at least one row, got {table.shape}")
    return np.moveaxis(weight_array(weights, len(table)) @ table, -1, 0)
