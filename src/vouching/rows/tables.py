"""Rows of CSV and Parquet files.

Empty CSV cells are missing values. Not supported: files without a header, quoting other than RFC 4180, spreadsheets.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import IO, Any

from vouching.errors import InputError, needed
from vouching.models.json_fields import read_json
from vouching.rows.row import Fields, Row
from vouching.types.visible import shown_names

_DELIMITERS = (",", ";", "\t")
_LIST_COLUMN = "sources"
_EMPTY: list[str] = []
_PARQUET_BATCH = 128
"""Rows read from a Parquet file at a time."""


def csv_rows(lines: Iterator[bytes], name: str, columns: Collection[str] = ()) -> Iterator[Row]:
    r"""Rows of CSV with a header; of comma, semicolon and tab, the delimiter that yields the most columns is used.

    A cell of the column "sources" that starts with "[" is parsed as a JSON list. A row with broken quoting, invalid
    UTF-8 or the wrong number of cells becomes a row with a problem.

    Args:
        lines: the file without its byte order mark, split after newlines.
        name: what the file is called in messages.
        columns: the header must have at least one of these, else InputError.

    >>> [row.fields for row in csv_rows(iter([b"id;claim\n", b'1;"It opened;\n', b'late."\n']), "x.csv", ["claim"])]
    [{'id': '1', 'claim': 'It opened;\nlate.'}]
    """
    # The limit is process-wide, and a source may be long: the largest value that every platform accepts.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    # Invalid UTF-8 becomes lone surrogates, which affect only their own row.
    text = (line.decode("utf-8", "surrogateescape") for line in lines)
    first = next(text, "")
    try:
        delimiter = max(_DELIMITERS, key=lambda mark: len(next(csv.reader([first], delimiter=mark), _EMPTY)))
        reader = csv.reader(chain([first], text), delimiter=delimiter, strict=True)
        header = next(reader, _EMPTY)
    except csv.Error as error:
        raise InputError(f"the header of {name} cannot be read: {error}") from None
    _refuse_header(header, name, columns)
    return _cells(reader, header)


def _refuse_header(header: Sequence[str], name: str, columns: Collection[str]) -> None:
    expected = f"expected a column named {' or '.join(columns)}" if columns else "expected column names"
    if not any(header):
        raise InputError(f"{name} has no header in its first line: {expected}")
    if columns and not set(columns) & set(header):
        raise InputError(f"{name} has the columns {shown_names(header)}; {expected}")
    twice = next((column for column in header if header.count(column) > 1), None)
    if twice is not None:
        raise InputError(f"{name} has two columns named {twice!r}: rename or remove one of them")


def _cells(reader: Any, header: Sequence[str]) -> Iterator[Row]:
    number = 0
    while True:
        place = f"line {reader.line_num + 1}"
        try:
            cells: list[str] | None = next(reader, None)
        except csv.Error as error:
            number += 1
            yield Row(number, place, None, f"invalid CSV: {error}")
            continue
        if cells is None:
            return
        if cells:
            number += 1
            yield _csv_row(number, place, header, cells)


def _csv_row(number: int, place: str, header: Sequence[str], cells: Sequence[str]) -> Row:
    if len(cells) != len(header):
        return Row(number, place, None, f"the row has {len(cells)} cells, but the header has {len(header)}")
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return Row(number, place, None, "the row is not valid UTF-8: save the file as UTF-8")
    fields: Fields = {column: cell for column, cell in zip(header, cells, strict=True) if cell}
    if fields.get(_LIST_COLUMN, "").startswith("["):
        try:
            fields[_LIST_COLUMN] = read_json(fields[_LIST_COLUMN])
        except ValueError as error:
            problem = (
                f'"{_LIST_COLUMN}" starts with [ but is not a JSON list ({error}); put a single text under "source"'
            )
            return Row(number, place, None, problem)
    return Row(number, place, fields)


def parquet_rows(
    file: IO[bytes], name: str, columns: Collection[str] = (), between: tuple[int, int] | None = None
) -> tuple[Iterator[Row], Callable[[], float]]:
    """Rows of a Parquet file, read in batches, and a function that returns the share read so far, from 0 to 1.

    ``between`` limits them to the row groups that begin in a range of bytes, such as (0, 1_000_000).
    """
    broken: type[Exception] = needed("pyarrow", "data", "reading Parquet").ArrowException
    table = _parquet_file(file, name)
    _refuse_header(table.schema_arrow.names, name, columns)
    groups, before, wanted = _row_groups(table.metadata, between)
    done = [before]

    def rows() -> Iterator[Row]:
        try:
            for batch in table.iter_batches(_PARQUET_BATCH, row_groups=groups, use_threads=False):
                for fields in batch.to_pylist():
                    done[0] += 1
                    yield Row(done[0], f"row {done[0]}", fields)
        except (broken, UnicodeDecodeError) as error:
            raise OSError(f"after row {done[0]}: {error}") from error

    return rows(), lambda: (done[0] - before) / max(1, wanted)


def parquet_count(file: IO[bytes], name: str) -> int:
    """The number of rows of a Parquet file, from its footer. Raises InputError."""
    return int(_parquet_file(file, name).metadata.num_rows)


def _parquet_file(file: IO[bytes], name: str) -> Any:
    broken: type[Exception] = needed("pyarrow", "data", "reading Parquet").ArrowException
    try:
        return needed("pyarrow.parquet", "data", "reading Parquet").ParquetFile(file)
    except (broken, OSError) as error:
        raise InputError(f"{name} cannot be read as Parquet: {error}") from None


def _row_groups(metadata: Any, between: tuple[int, int] | None) -> tuple[list[int], int, int]:
    """The row groups that begin in a range of bytes, the number of rows before them, and theirs."""
    groups: list[int] = []
    before = wanted = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = [group.column(at) for at in range(group.num_columns)]
        begin = min((c.dictionary_page_offset or c.data_page_offset for c in columns), default=0)
        if between is None or between[0] <= begin < between[1]:
            groups.append(number)
            wanted += group.num_rows
        elif not groups:
            before += group.num_rows
    return groups, before, wanted
