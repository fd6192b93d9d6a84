"""Check rows in tables and data frames: the functions that engines map over their partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from vouching.checker import Checker
from vouching.errors import ConfigError, InputError, needed
from vouching.rows.columns import fitted, record_schema
from vouching.rows.grouping import source_order
from vouching.rows.row import has_id, lacking
from vouching.text.json_values import parse_json
from vouching.types import Claim, Unverified
from vouching.types.serial import to_line
from vouching.types.visible import shown_names


class FrameChecker:
    """Checks Arrow tables and data frames of rows; the verifier is opened once, by the constructor.

    An engine cuts rows into tables as it likes, so only their ids distinguish rows: a table must have a column "id".
    That ids differ between tables is not checked.

    Args:
        model: the judge, see :class:`vouching.Checker`.
        keep: columns of the rows that are added to the records as they are, such as a partition or an address.
        settings: further arguments of :class:`vouching.Checker`.

    >>> import pyarrow
    >>> rows = pyarrow.table({"id": ["a"], "claim": ["It opened in 1937."], "source": ["It opened in 1973."]})
    >>> FrameChecker("embedded:rules").check_table(rows).column("fix_suggestion").to_pylist()
    ['Change 1937 to 1973.']
    """

    def __init__(self, model: str = "embedded", *, keep: Sequence[str] = (), **settings: Any) -> None:
        names = record_schema().names
        if taken := [name for name in keep if name in names]:
            raise ConfigError(f"keep={taken[0]!r} is a column of the records too: rename it in the rows first")
        self._keep = tuple(keep)
        self._checker = Checker(model, **settings)

    def check_table(self, table: Any) -> Any:
        """The records of the rows of an Arrow table: the columns of :func:`record_schema`, then those to keep.

        A row that cannot be used, such as one whose id is null, gives an unverified record with the reason "input".

        Raises:
            InputError: the table has rows but no column "id", or lacks a column to keep.
        """
        arrow = needed("pyarrow", "data", "writing tables")
        if table.num_rows:
            self._refuse(table.column_names)
        records = arrow.Table.from_pylist(fitted(self._lines(table.to_pylist())), schema=record_schema())
        for name in (name for name in self._keep if name in table.column_names):
            records = records.append_column(table.schema.field(name), table.column(name))
        return records

    __call__ = check_table

    def check_frame(self, frame: Any) -> Any:
        """As :meth:`check_table`, for a pandas DataFrame."""
        arrow = needed("pyarrow", "data", "reading data frames")
        return self.check_table(arrow.Table.from_pandas(frame, preserve_index=False)).to_pandas()

    def _refuse(self, columns: Sequence[str]) -> None:
        found = f"the rows have the columns {shown_names(columns)}"
        if "id" not in columns:
            raise InputError(
                f'{found}, and no "id", without which rows of different batches cannot be distinguished: add a column '
                "that is different in each row, and the same when a batch is read again"
            )
        if missing := [name for name in self._keep if name not in columns]:
            raise InputError(f"{found}, and not {missing[0]!r}, which keep names")

    def _lines(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        given = [{name: value for name, value in row.items() if value is not None} for row in rows]
        # Rows with the same sources follow each other, so that a document is read once.
        made = {place: self._line(given[place], place + 1) for place in source_order(given)}
        return (made[place] for place in range(len(given)))

    def _line(self, row: dict[str, Any], number: int) -> dict[str, Any]:
        if has_id(row):
            return parse_json(to_line(self._checker.check_row(row, number)))
        refused = Unverified(Claim("", id=""), "input", f"row {number} of its batch: {lacking(row, 'id')}")
        return {**parse_json(to_line(refused)), "id": None}


def check_frames(
    frames: Iterable[Any], model: str = "embedded", *, keep: Sequence[str] = (), **settings: Any
) -> Iterator[Any]:
    """Check data frames of rows one by one: what ``mapInPandas`` of Spark calls for a partition.

    Args:
        frames: pandas DataFrames with the columns of rows (id, claim or response, source or sources).
        model: the judge, see :class:`vouching.Checker`.
        keep: columns of the rows to add to the records.
        settings: further arguments of :class:`vouching.Checker`.

    Yields:
        A DataFrame of records for each; see :class:`FrameChecker` for its columns and errors.
    """
    checker = FrameChecker(model, keep=keep, **settings)
    for frame in frames:
        yield checker.check_frame(frame)
