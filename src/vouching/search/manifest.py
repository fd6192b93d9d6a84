"""What an index consists of: one small file that names its segments. Whoever replaces it changes the index at once.

    index.json          format, settings, segments
    segment-000001      documents with their passages, see segment.py
    graph-000001        a graph over the segment's vectors, where the index is large
    removed-000004      which passages of a segment were removed since

A file that index.json does not name does not belong to the index: it is left from a writer that was stopped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError, InputError
from vouching.search.arrays import flush
from vouching.version import __version__

MANIFEST = "index.json"
FORMAT = 1
"""Goes up when an older version could not read what this one writes."""


@dataclass(frozen=True, slots=True)
class SegmentNote:
    """A segment of an index."""

    name: str
    """Its file."""
    passages: int
    """How many it was written with."""
    documents: int
    """How many it was written with."""
    scripts: Mapping[str, int]
    """How many of its terms begin with a letter of each script."""
    removed: str | None = None
    """The file that says which passages were removed; None if none was."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index consists of."""

    max_words: int
    """Words of a passage."""
    encoder: str | None = None
    """What made its vectors; None if it has none."""
    digest: str | None = None
    """First digits of the SHA-256 of the encoder's weights."""
    segments: tuple[SegmentNote, ...] = ()
    """Its segments."""
    number: int = 0
    """The highest that a file of it was named with; none is used twice."""
    format: int = FORMAT
    """Version of the format."""
    written_by: str = field(default=f"vouching {__version__}")
    """What wrote it last."""


def read_manifest(folder: Path) -> Manifest:
    """What the index in a folder consists of.

    Raises:
        InputError: there is none, or it is damaged.
        ConfigError: it has another format.

    >>> read_manifest(Path("no-such-folder"))
    Traceback (most recent call last):
        ...
    vouching.errors.InputError: there is no index in no-such-folder: make one with  vouch index build no-such-folder ...
    """
    path = folder / MANIFEST
    try:
        record: Any = json.loads(path.read_bytes())
        found = int(record["format"])
    except (FileNotFoundError, NotADirectoryError):
        begun = folder.is_dir() and any(folder.glob("segment-*"))
        state = f"the index in {folder} was never finished" if begun else f"there is no index in {folder}"
        raise InputError(f"{state}: make one with  vouch index build {folder} FILE...") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; is it yours to read?") from None
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path} is damaged ({error}): build the index again") from None
    if found != FORMAT:
        raise ConfigError(
            f"the index in {folder} has format {found} (written by {record.get('written_by')}), this version reads "
            f"{FORMAT}: build it again, or read it with that version"
        )
    try:
        record["segments"] = tuple(SegmentNote(**note) for note in record["segments"])
        return Manifest(**record)
    except (TypeError, KeyError) as error:
        raise InputError(f"{path} is damaged ({error}): build the index again") from None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace what an index consists of, at once. Raises OSError."""
    fresh = folder / f"{MANIFEST}.new"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, ensure_ascii=False, indent=1)
        flush(file)
    fresh.replace(folder / MANIFEST)
