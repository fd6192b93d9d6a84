"""Records as Parquet columns: what is written is what is read, against the lines themselves."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow.parquet

from vouching import Checker
from vouching.rows.columns import parquet_bytes, record_schema
from vouching.types.serial import to_line

ROWS: list[dict[str, Any]] = [
    {"id": "a", "claim": "It opened in 1937.", "source": "The bridge opened in 1973."},
    {
        "id": "b",
        "response": "Hello! It opened in 1937. It has 3 towers.",
        "sources": ["It opened in 1973.", "3 towers"],
    },
    {"id": "c", "claim": 7},
]


def without_nulls(value: Any) -> Any:
    """A value without the fields that are null, which the other records of a table have."""
    if isinstance(value, dict):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    return [without_nulls(member) for member in value] if isinstance(value, list) else value


def test_records_come_back_from_parquet_as_they_were() -> None:
    checker = Checker("embedded:rules")
    lines = [json.loads(to_line(checker.check_row(row))) for row in ROWS]
    table = pyarrow.parquet.read_table(io.BytesIO(parquet_bytes(lines)))
    assert table.schema.equals(record_schema())
    back = table.to_pylist()
    for line, record in zip(lines, back, strict=True):
        if line["kind"] == "report":  # pairs of a name and a number have no type of Parquet and are JSON text
            pairs = [json.loads(pair) for pair in record["totals"]["by_error_type"]]
            assert pairs == line["totals"]["by_error_type"]
            record["totals"]["by_error_type"] = pairs
        assert without_nulls(record) == without_nulls(line)
    assert [record["kind"] for record in back] == ["verdict", "report", "unverified"]


def test_a_table_without_rows_has_the_columns() -> None:
    assert pyarrow.parquet.read_table(io.BytesIO(parquet_bytes([]))).schema.equals(record_schema())
