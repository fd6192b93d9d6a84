"""Inputs of the metrics: truth, scores and weights as checked numpy arrays, and division that may be undefined.

Not supported: missing values. A row without a verdict (``Unverified``) is not part of a metric; count it separately.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vouching.errors import InputError

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]


def bool_array(values: ArrayLike, name: str, rows: int | None = None) -> BoolArray:
    """N booleans, or numbers that are all 0 or 1, as an array; ``rows`` is the N of the arrays they belong to.

    Raises InputError for no rows, another number of rows, or other values.
    """
    array = _row_array(values, name, rows)
    if array.dtype.kind not in "biu":
        raise InputError(f"{name} must be booleans (True = Attributable), got {array.dtype}: convert the labels first")
    outside = (array != 0) & (array != 1)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            f"{name} must be booleans, or 0 and 1 (1 = Attributable), got {array[row]} in row {row + 1}: "
            "convert the labels first"
        )
    return array.astype(np.bool_)


def score_array(values: ArrayLike, name: str, rows: int | None = None, *, probability: bool = False) -> FloatArray:
    """One finite number per row, in [0, 1] for a ``probability``; InputError names the first bad row."""
    array = _row_array(values, name, rows)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be numbers, got {array.dtype}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise InputError(f"{name} must be finite, got {array[row]} in row {row + 1}: omit rows without a verdict")
    outside = (array < 0) | (array > 1)
    if probability and outside.any():
        row = int(np.argmax(outside))
        raise InputError(f"{name} must be in [0, 1], got {array[row]} in row {row + 1}: calibrate raw scores first")
    return array


def weight_array(weights: ArrayLike | None, rows: int) -> FloatArray:
    """Row weights of shape (..., N); None counts every row once."""
    if weights is None:
        return np.ones(rows)
    array = np.asarray(weights, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != rows:
        raise InputError(f"weights must have shape (..., {rows}), one for each row, got {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() < np.inf):
        raise InputError("weights must be finite and non-negative: each states how many times its row counts")
    return array


def quotient(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """``numerator / denominator``, nan where the denominator is 0."""
    undefined = np.full(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), np.nan)
    return np.divide(numerator, denominator, out=undefined, where=np.asarray(denominator) != 0)


def _row_array(values: ArrayLike, name: str, rows: int | None) -> NDArray[np.generic]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must have one value per row, got an array of shape {array.shape}")
    if not len(array):
        raise InputError(f"{name} must have at least one row, got none")
    if rows is not None and len(array) != rows:
        raise InputError(f"{name} and the other array must have the same number of rows, got {len(array)} and {rows}")
    return array
