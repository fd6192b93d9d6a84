"""Reads the rows of a data set of the Hugging Face hub with its own package, ``datasets``.

Gated data sets need ``hf auth login`` first. Not supported: images and audio.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from vouching.errors import InputError, needed
from vouching.rows import Row, RowReader

HUB = "hf:"
"""Begins the name of a data set: hf:OWNER/NAME:SPLIT, or hf:OWNER/NAME:CONFIG:SPLIT."""


def hub_rows(name: str) -> RowReader:
    """The rows of a split, read as they arrive; OWNER/NAME may also be a local folder.

    Raises InputError if it cannot be opened, MissingExtraError without ``datasets``.
    """
    path, *parts = name.removeprefix(HUB).split(":")
    if not path or not 1 <= len(parts) <= 2:
        raise InputError(f"{name}: expected hf:OWNER/NAME:SPLIT or hf:OWNER/NAME:CONFIG:SPLIT")
    load: Any = needed("datasets", "train", "reading data sets of the hub").load_dataset
    try:
        rows: Any = iter(load(path, *parts[:-1], split=parts[-1], streaming=True))
        first = next(rows, None)
    except Exception as error:  # the package raises errors of many libraries
        raise InputError(
            f"{name} cannot be read ({type(error).__name__}: {error}): check name, split and connection"
        ) from None
    each = chain([] if first is None else [first], rows)
    return RowReader(name, (Row(number, f"row {number}", row) for number, row in enumerate(each, 1)))
