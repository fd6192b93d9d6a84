"""Small data sets of our own writing, in the formats that ours are read in."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).with_name("data")
"""One set per folder, each in its authors' format."""


def claim_rows(number: int = 24) -> list[dict[str, Any]]:
    """Claims on as many bridges, every second one with a wrong year; three on each source."""
    return [
        {
            "id": f"bridge-{place}",
            "claim": f"Bridge {place // 3} opened in {1900 + place // 3 + (place % 2)}.",
            "source": f"Bridge {place // 3} opened in {1900 + place // 3}. It has two towers.",
            "label": "Not Attributable" if place % 2 else "Attributable",
            "fine_label": "wrong year" if place % 2 else "right",
        }
        for place in range(number)
    ]


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """A file of rows, packed if its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def data_folder(folder: Path, **sets: Iterable[Mapping[str, Any]]) -> Path:
    """A data folder with all published samples, and with ``sets`` as test sets in this project's own format."""
    shutil.copytree(SAMPLES, folder, dirs_exist_ok=True)
    for name, rows in sets.items():
        write_rows(folder / "attribution" / "test" / f"{name}.jsonl.gz", rows)
    return folder
