"""Which rows belong together: rows about one document are not independent and are drawn together.

Left out: near-duplicates. Keys match exactly or not at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vouching.errors import InputError


def document_numbers(keys: Iterable[Iterable[Hashable | None]]) -> NDArray[np.intp]:
    """One number per row, the same for rows that share a key, directly or through other rows.

    Args:
        keys: the keys of each row, e.g. its source text and ``("group", 7)``; None is no key. Keys of different kinds
            that could be equal must carry their kind.

    Returns:
        (N,) numbers from 0 in order of first appearance; a row without keys is alone.

    Raises:
        InputError: a row has no collection of keys: one key alone, a string, which would be taken letter by letter, or
            a mapping.

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
        raise InputError(
            f"row {number}: the keys are of type {kind}, wanted a collection of keys, e.g. a tuple: (key,)"
        )
    return cast("Iterable[Hashable | None]", keys)
