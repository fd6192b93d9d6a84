"""Read rows from JSON, JSONL, gzipped JSONL, CSV and Parquet files, data sets of the hub, or JSONL on standard input.

A row that cannot be read is yielded with a problem instead of fields, so that output lines still match input rows.
A .json file is one object, or has a list of objects somewhere, such as the results of promptfoo; it is read as a whole.
Folders and addresses are read by :mod:`vouching.rows.blocks`. Not supported: detection of the encoding.
"""

from __future__ import annotations

import codecs
import gzip
import os
import stat
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from vouching.errors import InputError
from vouching.models.json_fields import read_json
from vouching.rows.hub import HUB, hub_rows
from vouching.rows.row import Fields, Row
from vouching.rows.tables import csv_rows, parquet_rows

STDIN = "-"
FORMATS = (".jsonl", ".jsonl.gz", ".csv", ".tsv", ".parquet")
"""File endings that can be read in steps."""
JSON = ".json"
Made = TypeVar("Made")
_OTHER_ENCODINGS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTAINERS = (
    "questions",
    "results",
    "data",
    "rows",
    "samples",
    "test_cases",
    "testCases",
    "testRunData",
    "records",
    "examples",
)
"""Names under which tools put the rows of a JSON file."""
_GZIP = b"\x1f\x8b"
_JSON_TYPES: dict[type, str] = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}


class RowReader:
    """The rows of one input, in order, once; a context manager that closes the input.

    Args:
        name: what the input is called in messages.
        rows: the rows.
        share: returns the share of the input read so far, from 0 to 1, or None if unknown.
        close: closes the input.

    >>> with RowReader("two", iter([Row(1, "line 1", {}), Row(2, "line 2", {})])) as reader:
    ...     [row.place for row in reader], reader.share()
    (['line 1', 'line 2'], None)
    """

    def __init__(
        self,
        name: str,
        rows: Iterator[Row],
        share: Callable[[], float | None] = lambda: None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self.share = share
        self._rows = rows
        self._close = close

    def __enter__(self) -> RowReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows. Raises InputError if the input breaks off (a truncated gzip file, a disk error)."""
        try:
            yield from self._rows
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.name} cannot be read to the end: {_reason(error)}") from error


def open_rows(path: str, columns: Collection[str] = ()) -> RowReader:
    r"""Open an input; its beginning is read at once, the rest on demand. Raises InputError.

    Args:
        path: the file, with an ending of :data:`FORMATS` or .json, "-" for JSONL on standard input, or a data set
            of the Hugging Face hub, such as hf:OWNER/NAME:SPLIT.
        columns: a table must have at least one of these columns; empty allows any table.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    >>> _ = path.write_text('{"claim": "It opened."}\n\n{"claim": \n', encoding="utf-8")
    >>> with open_rows(str(path)) as reader:
    ...     for row in reader:
    ...         print(row.number, row.place, row.fields or row.problem)
    1 line 1 {'claim': 'It opened.'}
    2 line 3 invalid JSON: Expecting value at character 10
    """
    if path == STDIN:
        return RowReader("stdin", _json_rows(_primed(sys.stdin.buffer, "stdin")))
    if path.startswith(HUB):
        return RowReader(path, *hub_rows(path, columns))
    ending = ending_of(path)
    raw = _opened(path)
    try:
        return reader_of(raw, ending, Path(path).name, columns)
    except BaseException:
        raw.close()
        raise


def read_as(path: str, make: Callable[[Fields, str], Made]) -> Iterator[Made]:
    """Apply ``make`` to the fields and the name of each row; an InputError names the file and line."""
    with open_rows(path) as reader:
        for row in reader:
            try:
                if row.fields is None:
                    raise InputError(row.problem or "the row cannot be read")
                made = make(row.fields, row.name)
            except InputError as error:
                raise InputError(f"{reader.name}, {row.place}: {error}") from None
            yield made


def read_rows(
    path: str, make: Callable[[Row], Iterable[Made]], columns: Collection[str] = ()
) -> tuple[list[Made], list[str]]:
    r"""Everything that ``make`` makes of the rows of a file, and the problems of the rows that it refuses.

    Args:
        path: as for :func:`open_rows`.
        make: raises InputError for a row that cannot be used.
        columns: as for :func:`open_rows`.

    Raises:
        InputError: the file cannot be read.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    >>> _ = path.write_text('{"id": "a"}\n{"id": \n', encoding="utf-8")
    >>> from vouching.rows import fields_of
    >>> read_rows(str(path), lambda row: [fields_of(row)["id"]])
    (['a'], ['rows.jsonl, line 2: invalid JSON: Expecting value at character 7'])
    """
    made: list[Made] = []
    problems: list[str] = []
    with open_rows(path, columns) as reader:
        for row in reader:
            try:
                made += make(row)
            except InputError as error:
                problems.append(f"{reader.name}, {row.place}: {error}")
    return made, problems


def reader_of(raw: IO[bytes], ending: str, name: str, columns: Collection[str]) -> RowReader:
    """The rows of an open file, which the reader closes. Raises InputError."""
    if ending == JSON:
        return RowReader(name, _whole_json(b"".join(_primed(raw, name)), name), close=raw.close)
    if ending == ".parquet":
        return RowReader(name, *parquet_rows(raw, name, columns), raw.close)
    lines = _primed(cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if ending == ".jsonl.gz" else raw, name)
    rows = csv_rows(lines, name, columns) if ending in (".csv", ".tsv") else _json_rows(lines)
    try:
        status = os.fstat(raw.fileno())
    except OSError:  # a file of an object store
        return RowReader(name, rows, close=raw.close)
    if not stat.S_ISREG(status.st_mode):  # a named pipe
        return RowReader(name, rows, close=raw.close)
    return RowReader(name, rows, lambda: raw.tell() / max(1, status.st_size), raw.close)


def ending_of(path: str) -> str:
    """The ending of a file of rows. Raises InputError for any other file."""
    lower = path.lower()
    found = next((ending for ending in (*FORMATS, JSON) if lower.endswith(ending)), None)
    if found is None:
        raise InputError(
            f"{path}: expected a file that ends in {', '.join(FORMATS)} or {JSON}, hf:OWNER/NAME:SPLIT, or - for "
            "JSONL on standard input"
        )
    return found


def _opened(path: str) -> IO[bytes]:
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: pass the path of a data file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: pass the path of a data file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {_reason(error)}") from None


def _primed(lines: IO[bytes], name: str) -> Iterator[bytes]:
    """The lines, the first one read now so that problems with the whole file show up at once."""
    try:
        first = lines.readline()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name} cannot be read: {_reason(error)}") from error
    if first.startswith(_GZIP):
        raise InputError(
            f"{name} contains gzip data, expected text: rename the file to end in .jsonl.gz, or decompress it"
        )
    if first.startswith(_OTHER_ENCODINGS):
        raise InputError(f"{name} is UTF-16, expected UTF-8: save it as UTF-8")
    return chain([first.removeprefix(codecs.BOM_UTF8)], lines)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _json_rows(lines: Iterable[bytes]) -> Iterator[Row]:
    number = 0
    for place, line in enumerate(lines, 1):
        if line.strip():
            number += 1
            yield json_row(number, f"line {place}", line)


def _whole_json(raw: bytes, name: str) -> Iterator[Row]:
    """The objects of a JSON file; of one that has none, the file is a row itself."""
    try:
        value = read_json(raw.decode())
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: byte {error.start + 1} is not valid UTF-8: save the file as UTF-8") from None
    except ValueError as error:
        lines = "; rows with a line for each go to a file that ends in .jsonl" if b"}\n{" in raw else ""
        raise InputError(f"{name}: {error}{lines}") from None
    found = _objects(value)
    if found is None and not isinstance(value, dict):
        got = _JSON_TYPES.get(type(value), "a number")
        raise InputError(f"{name} has {got}, expected a list of objects, or an object")
    rows: list[Any] = [value] if found is None else found
    for number, row in enumerate(rows, 1):
        kind = type(cast("object", row))
        problem = None if kind is dict else f"got {_JSON_TYPES.get(kind, 'a number')}, expected an object"
        yield Row(number, f"row {number}", None if problem else row, problem)


def _objects(value: object, levels: int = 3) -> list[Any] | None:
    """The list of rows in a JSON value: itself, or under a name such as results, data or test_cases; None without."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    if isinstance(value, dict) and levels:
        inner = (cast("Fields", value).get(key) for key in _CONTAINERS)
        return next((found for one in inner if (found := _objects(one, levels - 1)) is not None), None)
    return None


def json_row(number: int, place: str, line: bytes) -> Row:
    """The row of a line of JSON, with a problem if it is none."""
    try:
        value = read_json(line.decode().strip())
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} is not valid UTF-8: save the file as UTF-8"
    except ValueError as error:
        problem = str(error)
    else:
        if isinstance(value, dict):
            return Row(number, place, cast("Fields", value))
        problem = f"got {_JSON_TYPES.get(type(value), 'a number')}, expected a JSON object on each line"
    return Row(number, place, None, problem)


def with_unique_ids(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, unchanged. Raises InputError if two have the same id."""
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            raise InputError(f"two rows have the id {row['id']!r}: ids identify groups, so every id must be unique")
        seen.add(row["id"])
    return rows
