"""Arrays and texts in files: written once, flushed to the disk, then read in place by any number of processes.

Left out: packing them. What is read in place must lie there as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


def write_array(path: Path, array: Array) -> None:
    """Write an array as ``.npy``. Raises OSError."""
    with path.open("wb") as file:
        np.save(file, array, allow_pickle=False)
        flush(file.fileno())


def map_array(path: Path) -> Array:
    """An array that stays in its file until it is read. Raises OSError or ValueError (cut off, or no array)."""
    return np.load(path, mmap_mode="r", allow_pickle=False)


def flush(number: int) -> None:
    """Let the disk have what was written. Raises OSError."""
    os.fsync(number)


class Strings:
    """Many short texts in one array, found by number without reading the others.

    >>> names = Strings(*packed(["Bergen", "Ålesund"]))
    >>> len(names), names[1]
    (2, 'Ålesund')
    """

    def __init__(self, data: NDArray[np.uint8], bounds: NDArray[np.int64]) -> None:
        self._data, self._bounds = data, bounds

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __getitem__(self, number: int) -> str:
        return self.raw(number).decode()

    def raw(self, number: int) -> bytes:
        """A text as UTF-8."""
        return self._data[self._bounds[number] : self._bounds[number + 1]].tobytes()

    def place(self, text: str) -> int | None:
        """Number of a text among texts that are sorted by their UTF-8; None if it is not there.

        >>> towns = Strings(*packed(["Bergen", "Oslo"]))
        >>> towns.place("Oslo"), towns.place("Rome")
        (1, None)
        """
        wanted, low, high = text.encode("utf-8", "surrogatepass"), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self.raw(low) == wanted else None


def packed(texts: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The arrays of :class:`Strings`: all texts as UTF-8, and where each begins and the last ends."""
    encoded = [text.encode() for text in texts]
    bounds = np.array([*accumulate(map(len, encoded), initial=0)], np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), bounds
