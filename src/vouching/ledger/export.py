"""Rows of a ledger as a file: JSON lines, or Parquet with the nested parts as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from vouching.errors import InputError, needed
from vouching.types.ledger import LedgerRow

_NESTED = ("inputs", "record", "provenance", "timing", "usage")
_AT_ONCE = 1000
"""Rows of one group of a Parquet file."""


def export_rows(rows: Iterable[LedgerRow], path: Path) -> int:
    """Write rows to a new file; returns their number.

    Raises InputError for another kind of file, one that exists, or one that cannot be written, and MissingExtraError
    for Parquet without pyarrow.
    """
    if path.suffix not in {".jsonl", ".parquet"}:
        raise InputError(f"a ledger is exported to .jsonl or .parquet, got {path}")
    if path.exists():
        raise InputError(f"{path} exists: choose a new file")
    try:
        return _lines(rows, path) if path.suffix == ".jsonl" else _parquet(rows, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


def row_json(row: LedgerRow) -> str:
    """A row as one line of JSON."""
    return json.dumps(asdict(row))


def _lines(rows: Iterable[LedgerRow], path: Path) -> int:
    number = 0
    with path.open("x", encoding="utf-8") as file:
        for row in rows:
            file.write(row_json(row) + "\n")
            number += 1
    return number


def _parquet(rows: Iterable[LedgerRow], path: Path) -> int:
    arrow: Any = needed("pyarrow", "data", "an export to Parquet")
    parquet: Any = needed("pyarrow.parquet", "data", "an export to Parquet")
    types = {
        **dict.fromkeys(("id", "seq", "about"), arrow.int64()),
        **dict.fromkeys(("score", "confidence"), arrow.float64()),
        **dict.fromkeys(("passed", "erased"), arrow.bool_()),
    }
    schema = arrow.schema([(name, types.get(name, arrow.string())) for name in LedgerRow.__dataclass_fields__])
    number = 0
    with parquet.ParquetWriter(str(path), schema) as writer:
        for group in _groups(rows):
            writer.write_table(arrow.Table.from_pylist(group, schema))
            number += len(group)
    return number


def _groups(rows: Iterable[LedgerRow]) -> Iterator[list[dict[str, Any]]]:
    columns = (_columns(row) for row in rows)
    while group := list(islice(columns, _AT_ONCE)):
        yield group


def _columns(row: LedgerRow) -> dict[str, Any]:
    fields = asdict(row)
    return fields | {name: None if fields[name] is None else json.dumps(fields[name]) for name in _NESTED}
