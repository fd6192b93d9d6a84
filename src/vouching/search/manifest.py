"""The manifest of an index: one small file; a change takes effect when it is replaced.

    index.json        settings, and the number of the current state
    state-000002/     the passages in a tantivy index, and vectors, see vectors.py
    lock              locked by the process that writes

Any other state was left by a writer that was stopped; the next writer deletes it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError, InputError
from vouching.version import __version__

MANIFEST = "index.json"
FORMAT = 2
"""Incremented when older versions cannot read what this one writes."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Settings and current state of an index."""

    max_words: int
    """Words per passage."""
    encoder: str | None = None
    """Name of the encoder of its vectors; None if it has none."""
    digest: str | None = None
    """First digits of the SHA-256 of the encoder's weights."""
    state: int = 0
    numbers: int = 0
    """How many passage numbers were assigned; none is reused."""
    format: int = FORMAT
    written_by: str = field(default=f"vouching {__version__}")


def state_path(folder: Path, number: int) -> Path:
    """The folder of a state."""
    return folder / f"state-{number:06}"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the index in a folder.

    Raises:
        InputError: there is no index, or it is damaged.
        ConfigError: it has another format.
    """
    path = folder / MANIFEST
    try:
        record: Any = json.loads(path.read_bytes())
        found = int(record["format"])
        if found == FORMAT:
            return Manifest(**record)
    except (FileNotFoundError, NotADirectoryError):
        begun = folder.is_dir() and any(folder.glob("state-*"))
        problem = f"the index in {folder} is unfinished" if begun else f"there is no index in {folder}"
        raise InputError(f"{problem}: build one with  vouch index build {folder} FILE...") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; check its permissions") from None
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path} is damaged ({error}): build the index again") from None
    raise ConfigError(
        f"the index in {folder} has format {found} (written by {record.get('written_by')}), this version reads "
        f"{FORMAT}: build it again with  vouch index build"
    )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step. Raises OSError."""
    fresh = folder / f"{MANIFEST}.new"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / MANIFEST)
