"""Check rows in tables and data frames: the functions that engines map over their partitions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from vouching.checker import Checker
from vouching.errors import needed
from vouching.rows.columns import fitted, record_schema
from vouching.rows.grouping import source_order
from vouching.types.serial import to_line


class FrameChecker:
    """Checks Arrow tables and data frames of rows; the verifier is opened once, by the constructor.

    Args:
        model: the judge, see :class:`vouching.Checker`.
        settings: further arguments of :class:`vouching.Checker`.

    >>> import pyarrow
    >>> rows = pyarrow.table({"id": ["a"], "claim": ["It opened in 1937."], "source": ["It opened in 1973."]})
    >>> FrameChecker("embedded:rules").check_table(rows).column("fix_suggestion").to_pylist()
    ['Change 1937 to 1973.']
    """

    def __init__(self, model: str = "embedded", **settings: Any) -> None:
        self._checker = Checker(model, **settings)

    def check_table(self, table: Any) -> Any:
        """The records of the rows of an Arrow table, with the columns of :func:`record_schema`.

        A row that cannot be used gives an unverified record with the reason "input". A row without an id is called
        "row-N" after its number in the table.
        """
        arrow = needed("pyarrow", "data", "writing tables")
        return arrow.Table.from_pylist(fitted(self._lines(table.to_pylist())), schema=record_schema())

    __call__ = check_table

    def check_frame(self, frame: Any) -> Any:
        """As :meth:`check_table`, for a pandas DataFrame."""
        arrow = needed("pyarrow", "data", "reading data frames")
        return self.check_table(arrow.Table.from_pandas(frame, preserve_index=False)).to_pandas()

    def _lines(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        given = [{name: value for name, value in row.items() if value is not None} for row in rows]
        # Rows with the same sources follow each other, so that a document is read once.
        made = {place: to_line(self._checker.check_row(given[place], place + 1)) for place in source_order(given)}
        return (json.loads(made[place]) for place in range(len(given)))


def check_frames(frames: Iterable[Any], model: str = "embedded", **settings: Any) -> Iterator[Any]:
    """Check data frames of rows one by one: what ``mapInPandas`` of Spark calls for a partition.

    Args:
        frames: pandas DataFrames with the columns of rows (id, claim or response, source or sources).
        model: the judge, see :class:`vouching.Checker`.
        settings: further arguments of :class:`vouching.Checker`.

    Yields:
        A DataFrame of records for each.
    """
    checker = FrameChecker(model, **settings)
    for frame in frames:
        yield checker.check_frame(frame)
