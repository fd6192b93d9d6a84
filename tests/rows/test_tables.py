"""Rows of CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import InputError
from vouching.rows.read import Row, open_rows
from vouching.rows.tables import csv_rows


def of_csv(raw: bytes, *columns: str) -> list[Row]:
    return [*csv_rows(iter(raw.splitlines(keepends=True)), "rows.csv", columns)]


def read(path: Path, *columns: str) -> list[Row]:
    with open_rows(str(path), columns) as rows:
        return [*rows]


def refusal(path: Path, *columns: str) -> str:
    with pytest.raises(InputError) as refused:
        open_rows(str(path), columns)
    return str(refused.value)


# CSV

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda cell: not cell.startswith("[")
)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), st.sampled_from(",;\t"))
def test_what_the_standard_library_writes_is_read_back(table: list[tuple[str, str, str]], delimiter: str) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows([("id", "claim", "sources"), *table])
    rows = [*csv_rows(iter(io.BytesIO(file.getvalue().encode())), "rows.csv")]
    assert [row.fields for row in rows] == [
        dict(zip(("id", "claim", "sources"), cells, strict=True)) for cells in table
    ]


def test_a_row_is_named_by_the_line_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b'\xef\xbb\xbfid,claim\r\n1,"It\r\nopened."\r\n\r\n2,It closed.\r\n')
    assert read(path) == [
        Row(1, "line 2", {"id": "1", "claim": "It\r\nopened."}),
        Row(2, "line 5", {"id": "2", "claim": "It closed."}),
    ]


def test_an_empty_cell_is_a_missing_value() -> None:
    assert [row.fields for row in of_csv(b"id,claim,response\n1,It opened.,\n")] == [{"id": "1", "claim": "It opened."}]


def test_several_sources_are_a_json_list_in_their_cell() -> None:
    sources = ["It opened; in 1973.", {"text": "Late.", "id": "b"}]
    cell = json.dumps(sources).replace('"', '""')
    assert of_csv(f'claim,sources\nx,"{cell}"\ny,plain\n'.encode())[0].fields == {"claim": "x", "sources": sources}
    [row] = of_csv(b"claim,sources\nx,[1] See the notes.\n")
    assert "starts with [ but is not a JSON list (invalid JSON" in str(row.problem)
    # Under "source" the same text is one text.
    assert of_csv(b"claim,source\nx,[1] See the notes.\n")[0].fields == {"claim": "x", "source": "[1] See the notes."}


def test_a_cell_may_be_long() -> None:
    # The library's own limit is 131,072 characters.
    [row] = of_csv(b"claim,source\nx," + b"y" * 1_000_000 + b"\n")
    assert row.fields is not None
    assert len(row.fields["source"]) == 1_000_000


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"1,a,b", "the row has 3 cells, but the header has 2"),
        (b"1", "the row has 1 cells, but the header has 2"),
        (b'1,"a"b', "invalid CSV"),
        (b"1,caf\xe9", "the row is not valid UTF-8"),
    ],
)
def test_a_wrong_row_is_a_row_with_a_problem_and_the_next_is_read(line: bytes, reason: str) -> None:
    wrong, right = of_csv(b"id,claim\n" + line + b"\n2,It closed.\n")
    assert reason in str(wrong.problem)
    assert (wrong.number, wrong.place, wrong.name) == (1, "line 2", "row-1")
    assert (right.number, right.place, right.name) == (2, "line 3", "2")


def test_a_quote_that_is_never_closed_is_named_where_it_opens() -> None:
    rows = of_csv(b'id,claim\n1,fine\n2,"It opened.\n3,It closed.\n')
    assert [(row.place, row.problem is None) for row in rows] == [("line 2", True), ("line 3", False)]
    assert "unexpected end of data" in str(rows[1].problem)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "has no header in its first line: expected a column named claim or response"),
        (b"1,It opened.\n2,It closed.\n", "has the columns 1, It opened.; expected a column named claim"),
        (b"claim,id,id\n", "two columns named 'id'"),
        (b"PK\x03\x04\n", "has the columns"),
    ],
)
def test_a_file_without_the_header_that_is_wanted_is_refused(tmp_path: Path, raw: bytes, reason: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(raw)
    assert reason in refusal(path, "claim", "response")


# Parquet


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=300)


def test_parquet_gives_its_rows_with_lists_and_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = [{"id": 1, "claim": "a", "sources": ["x", "y"]}, {"id": None, "claim": None, "sources": None}]
    write_parquet(path, table)
    rows = read(path, "claim")
    assert [row.fields for row in rows] == table
    assert [(row.place, row.name) for row in rows] == [("row 1", "1"), ("row 2", "row-2")]


def test_a_parquet_file_of_many_groups_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_parquet(path, [{"id": number} for number in range(1_000)])
    with open_rows(str(path)) as rows:
        seen = [(row.name, rows.share()) for row in rows]
    assert [name for name, _ in seen] == [str(number) for number in range(1_000)]
    assert seen[499][1] == 0.5  # 500 of 1,000 rows


def test_what_is_no_parquet_or_has_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 and then nothing of the kind PAR1")
    assert "cannot be read as Parquet" in refusal(path)
    write_parquet(path, [{"id": 1}])
    assert "has the columns id; expected a column named claim" in refusal(path, "claim")


def test_a_column_with_a_blank_in_its_name_is_shown_in_quotes() -> None:
    with pytest.raises(InputError, match=r"has the columns id, ' claim', ' source'; expected a column named claim$"):
        of_csv(b"id, claim, source\n1,a,b\n", "claim")
