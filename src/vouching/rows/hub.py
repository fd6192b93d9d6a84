"""Rows of a data set of the Hugging Face hub, read by its own package, ``datasets``.

The package keeps what it downloaded, so that a run can be resumed offline (``HF_HUB_OFFLINE=1``). Gated data sets need
``hf auth login`` first. Not supported: images and audio.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from vouching.errors import InputError, needed
from vouching.rows.row import Row
from vouching.types.visible import shown_names

HUB = "hf:"
"""Begins the name of a data set: hf:OWNER/NAME:SPLIT, or hf:OWNER/NAME:CONFIG:SPLIT."""


def hub_rows(name: str, columns: Collection[str] = ()) -> tuple[Iterator[Row], Callable[[], float]]:
    """The rows of a split, and a function that returns the share read so far, from 0 to 1.

    Args:
        name: of the data set; OWNER/NAME may also be a local folder, and SPLIT a part of a split, such as test[:100].
        columns: the data set must have at least one of these; empty allows any.

    Raises InputError if it cannot be opened, MissingExtraError without ``datasets``.
    """
    path, *parts = name.removeprefix(HUB).split(":")
    if len(parts) > 1 and "[" in parts[-2]:  # the colon in test[:100]
        parts[-2:] = [":".join(parts[-2:])]
    if not path or not 1 <= len(parts) <= 2 or not all(parts):
        raise InputError(
            f"{name}: expected hf:OWNER/NAME:SPLIT or hf:OWNER/NAME:CONFIG:SPLIT, as in hf:OWNER/NAME:test"
        )
    load: Any = needed("datasets", "datasets", "reading data sets of the hub").load_dataset
    try:
        found: Any = load(path, *parts[:-1], split=parts[-1])
    except Exception as error:  # the package raises errors of many libraries
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{name} cannot be read ({reason}): check name, split and connection") from None
    if columns and not set(columns) & set(found.column_names):
        listed = shown_names(found.column_names)
        raise InputError(f"{name} has the columns {listed}; expected a column named {' or '.join(columns)}")
    done = [0]

    def rows() -> Iterator[Row]:
        for fields in found:
            done[0] += 1
            yield Row(done[0], f"row {done[0]}", fields)

    return rows(), lambda: done[0] / max(1, len(found))
