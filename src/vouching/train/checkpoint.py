# pyright: basic
"""One file that a killed run goes on from, replaced as a whole.

Left out: several checkpoints of a run; the model folder is what is kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vouching.errors import InputError
from vouching.train.encoder_model import import_torch

CHECKPOINT = "checkpoint.pt"


def save_checkpoint(folder: Path, state: Mapping[str, Any]) -> None:
    """Write the checkpoint of a run; at every moment the folder holds a whole one, or none yet.

    Args:
        folder: the folder of the run.
        state: tensors, numbers, texts, and lists and dictionaries of them.

    Raises:
        InputError: it cannot be written; the one before stays.
    """
    torch = import_torch()
    fresh = folder / f"{CHECKPOINT}.new"
    try:
        with fresh.open("wb") as file:
            torch.save(dict(state), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / CHECKPOINT)
    except (OSError, RuntimeError) as error:  # torch tells a full disk as a RuntimeError
        fresh.unlink(missing_ok=True)
        raise InputError(f"cannot write {fresh} ({error}): make room and go on with --resume") from error


def load_checkpoint(folder: Path) -> dict[str, Any] | None:
    """The checkpoint of a run; None if it has none yet.

    Raises:
        InputError: it cannot be read.
    """
    torch = import_torch()
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what pickle and zipfile raise
        raise InputError(f"{path} is damaged or not a checkpoint: remove it to start over") from error
