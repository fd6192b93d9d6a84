"""Arrays in a file: written once and flushed to the disk, then read in place by any number of processes.

A file is a line of JSON, which says what lies where, and the arrays' bytes after it, as in the safetensors format. Left
out: packing. What is read in place must lie there as it is.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
_ALIGNED = 64
"""Arrays begin at multiples of so many bytes."""


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays into a new file. Raises OSError."""
    entries = [(name, np.ascontiguousarray(array)) for name, array in arrays.items()]
    sizes = [-(-array.nbytes // _ALIGNED) * _ALIGNED for _, array in entries]
    notes = {
        name: (array.dtype.str, array.shape, place)
        for (name, array), place in zip(entries, accumulate(sizes, initial=0), strict=False)
    }
    head = json.dumps({"arrays": notes, "bytes": sum(sizes)}).encode()
    with path.open("xb") as file:
        file.write(head.ljust(-(-(len(head) + 1) // _ALIGNED) * _ALIGNED - 1) + b"\n")
        for (_, array), size in zip(entries, sizes, strict=True):
            file.write(array.data.cast("B") if array.size else b"")
            file.write(bytes(size - array.nbytes))
        flush(file)


def map_arrays(path: Path) -> dict[str, Array]:
    """The arrays of a file, which stay there until they are read.

    Raises:
        OSError: it cannot be read.
        ValueError: it is cut off, or none of this format.
    """
    with path.open("rb") as file:
        line = file.readline(1_000_000)
    head: Any = json.loads(line)
    # As a plain array, which is cut several times faster than a memmap.
    data = np.asarray(np.memmap(path, np.uint8, mode="r"))[len(line) :]
    if len(data) != head["bytes"]:
        raise ValueError(f"{path.name} has {len(data):,} bytes of arrays, wanted {head['bytes']:,}")
    arrays: dict[str, Array] = {}
    for name, (kind, shape, place) in head["arrays"].items():
        dtype = np.dtype(kind)
        arrays[name] = data[place : place + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
    return arrays


def flush(file: IO[Any]) -> None:
    """Let the disk have what was written. Raises OSError."""
    file.flush()
    os.fsync(file.fileno())


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
