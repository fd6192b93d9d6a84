"""Which rows belong together, and small slices of a set that keep its class shares.

Rows of one document are not independent and are drawn together; keys match exactly or not at all. The spread over seeds
shows the variation between slices; it is not an interval for the population. Not supported: near-duplicates, and slices
that keep documents whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vouching.errors import InputError


def document_numbers(keys: Iterable[Iterable[Hashable | None]]) -> NDArray[np.intp]:
    """(N,) numbers, the same for rows that share a key directly or through other rows; a row without keys is alone.

    Keys are e.g. the source text and ``("group", 7)``; None is not a key. Keys of different kinds that could be equal
    must carry their kind. Raises InputError for a single key, a string or a mapping in place of a collection.

    >>> document_numbers([("x", 1), ("y", 1), ("y", 2), ("z", None)])  # row 3 meets row 1 through row 2
    array([0, 0, 0, 1])
    """
    parent: list[int] = []
    row_of_key: dict[Hashable, int] = {}

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for row, row_keys in enumerate(keys):
        parent.append(row)
        for key in _collection(row_keys, row + 1):
            if key is not None:
                low, high = sorted((root(row_of_key.setdefault(key, row)), root(row)))
                parent[high] = low
    # The root of a group is its first row, so sorted roots are in order of appearance.
    return np.unique([root(row) for row in range(len(parent))], return_inverse=True)[1]


def _collection(keys: object, number: int) -> Iterable[Hashable | None]:
    kind = type(keys).__name__
    if isinstance(keys, (str, bytes, Mapping)) or not isinstance(keys, Iterable):
        raise InputError(f"row {number}: the keys must be a collection, such as the tuple (key,), got {kind}")
    return cast("Iterable[Hashable | None]", keys)


@dataclass(frozen=True, slots=True)
class Spread:
    """One metric on several slices."""

    mean: float
    """nan if one value is undefined."""
    standard_deviation: float
    """With n - 1 in the denominator; nan with fewer than two values."""
    values: tuple[float, ...]
    """In the order of the seeds."""


def stratified_slice(labels: ArrayLike, size: int, seed: int) -> NDArray[np.intp]:
    """(size,) row numbers, increasing, of a random slice with the label shares of the whole, up to whole rows.

    Each label gets the whole part of size * share; the remaining rows go to the largest remainders (Hamilton's method),
    the first label in sorted order where those tie. Rows are drawn without replacement.

    >>> labels = ["a"] * 6 + ["b"] * 3
    >>> [labels[row] for row in stratified_slice(labels, 3, seed=0)]
    ['a', 'a', 'b']
    """
    label = np.asarray(labels)
    if label.ndim != 1 or not 1 <= size <= len(label):
        raise InputError(
            f"the slice must have at least 1 row, and at most as many as there are labels, got {size} for labels of "
            f"shape {label.shape}"
        )
    _, number, counts = np.unique(label, return_inverse=True, return_counts=True)
    # Whole numbers throughout: a remainder that ties must tie exactly.
    quota, remainder = np.divmod(size * counts, len(label))
    first = np.argsort(-remainder, kind="stable")[: size - int(quota.sum())]
    quota[first] += 1
    random = np.random.default_rng(seed)
    drawn = [random.choice(np.flatnonzero(number == k), take, replace=False) for k, take in enumerate(quota)]
    return np.sort(np.concatenate(drawn))


def spread_over_seeds(
    metric: Callable[[NDArray[np.intp]], float], labels: ArrayLike, size: int, seeds: Iterable[int] = (0, 1, 2)
) -> Spread:
    """Mean and standard deviation of a metric of row numbers over one stratified slice per seed."""
    values: Sequence[float] = [float(metric(stratified_slice(labels, size, seed))) for seed in seeds]
    if not values:
        raise InputError("expected at least one seed, got none")
    standard_deviation = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    return Spread(float(np.mean(values)), standard_deviation, tuple(values))
