"""Rows with the same sources follow each other, and a document is indexed once per block."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.cli.check import LOOK
from vouching.cli.judge import Judging
from vouching.errors import InputError
from vouching.reading.evidence import index_sources
from vouching.rows import Row, RowJob, run_rows
from vouching.rows.folder import LocalEngine, run_folder
from vouching.rows.grouping import by_source, source_order
from vouching.rows.parts import FolderJob
from vouching.scale import FrameChecker

DOCUMENTS, CLAIMS_EACH = 12, 3
"""More documents than a verifier keeps indexes, which are 8."""


class Readings:
    """Counts the indexes that are made while it is open."""

    def __enter__(self) -> Readings:
        self.count = 0
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        self.count += event == "call" and frame.f_code is index_sources.__code__


def rows_in_turns() -> list[dict[str, Any]]:
    """Claims on one document after the other, again and again."""
    return [
        {
            "id": f"{claim}-{number}",
            "claim": f"It opened in {1900 + claim}.",
            "source": f"Bridge {number} opened in {1900 + number}.",
        }
        for claim in range(CLAIMS_EACH)
        for number in range(DOCUMENTS)
    ]


def test_a_document_is_read_once_per_block_and_the_part_has_the_order_of_the_rows(tmp_path: Path) -> None:
    (lake := tmp_path / "lake").mkdir()
    rows = rows_in_turns()
    (lake / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    judging = Judging("embedded:rules")
    with Readings() as grouped:
        run_folder(FolderJob(str(lake), str(tmp_path / "out"), judging.opened, LOOK, {}), LocalEngine())
    # A single file is worked on in its order: there each claim is one reading, as 12 documents do not fit.
    single = RowJob(str(lake / "a.jsonl"), str(tmp_path / "out.jsonl"), judging, LOOK, {})
    with Readings() as in_order:
        run_rows(single)
    assert (grouped.count, in_order.count) == (DOCUMENTS, DOCUMENTS * CLAIMS_EACH)
    [part] = (tmp_path / "out/parts").iterdir()
    assert [json.loads(line)["id"] for line in part.open()] == [row["id"] for row in rows]


def test_a_table_is_read_once_per_document_too() -> None:
    import pyarrow

    rows = rows_in_turns()
    checker = FrameChecker("embedded:rules")
    with Readings() as readings:
        records = checker.check_table(pyarrow.Table.from_pylist(rows))
    assert (readings.count, records.column("id").to_pylist()) == (DOCUMENTS, [row["id"] for row in rows])


@given(st.lists(st.sampled_from("abcd")))
def test_the_order_has_every_row_once_and_each_group_at_its_first_row(sources: list[str]) -> None:
    order = source_order([{"claim": "x", "sources": [text]} for text in sources])
    assert sorted(order) == [*range(len(sources))]
    assert order == sorted(order, key=lambda place: (sources.index(sources[place]), place))


def test_rows_before_a_broken_end_are_not_lost() -> None:
    def rows() -> Iterator[Row]:
        yield Row(1, "line 1", {"source": "a"})
        raise InputError("truncated")

    ordered = by_source(rows())
    assert next(ordered).number == 1
    with pytest.raises(InputError, match="truncated"):
        next(ordered)
