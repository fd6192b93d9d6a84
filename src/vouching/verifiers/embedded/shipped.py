"""The tables that the rules and score models are read from, each checked against the sum that its script recorded.

Left out: the encoder, whose manifest has sums of its own.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

from vouching.errors import WeightsError

SUMS = "SHA256SUMS"


def shipped_table(name: str, folder: Path | None = None) -> bytes:
    """The contents of a file of ``weights/``.

    Args:
        name: its name.
        folder: where it lies with its sums; None for the folder that ships.

    Raises:
        WeightsError: it is missing, or not the one that was shipped.

    >>> shipped_table("rarity.txt")[:1]
    b'#'
    """
    folder = folder or Path(str(files("vouching.verifiers.embedded").joinpath("weights")))
    try:
        raw = (folder / name).read_bytes()
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise WeightsError(f"cannot read {folder / name} with its {SUMS} ({error}): reinstall vouching") from error
    found = hashlib.sha256(raw).hexdigest()
    if f"{found}  {name}" not in lines:
        raise WeightsError(
            f"{folder / name} has SHA-256 {found[:12]}..., which {SUMS} does not name: the file was altered; "
            "reinstall vouching"
        )
    return raw
