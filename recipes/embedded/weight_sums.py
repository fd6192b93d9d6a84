"""Checksums of the weight files: ``weights/SHA256SUMS``, in the format of ``sha256sum``.

    python recipes/embedded/weight_sums.py

The scripts that write weights call this; tests/house/test_weights.py compares. Left out: sums of anything else.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

WEIGHTS = Path(__file__).parents[2] / "src/vouching/embedded/weights"


def write_sums(folder: Path) -> None:
    """Write SHA256SUMS of every other file of ``folder``, by name."""
    paths = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write_sums(WEIGHTS)
