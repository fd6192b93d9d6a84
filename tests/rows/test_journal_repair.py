"""Rows that could not be worked on for now are tried again, and their lines take the place of the open ones."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from tests.rows.works import rows_of
from vouching.errors import BackendError, InputError
from vouching.rows.journal import LineRepair, open_journal, repaired_path
from vouching.rows.read import Row
from vouching.rows.run import BatchSummary, Seen, run_batch

ROWS = 12
OPEN = (2, 3, 7, 12)
"""Rows whose engine is down at first."""


def batch(
    output: Path, down: Collection[int], gone_at: int | None = None, rows: int = ROWS
) -> tuple[BatchSummary, list[int]]:
    """A run where the engine fails for some rows, and is gone from one of them on; the rows that it was asked about."""
    asked: list[int] = []

    def make_work() -> Callable[[Row], str]:
        def work(row: Row) -> str:
            asked.append(row.number)
            if row.number == gone_at:
                raise BackendError("the engine is gone")
            return json.dumps({"id": row.name, "open": row.number in down})

        return work

    def look(line: dict[str, object]) -> Seen:
        return Seen(str(line["id"]), counts={"open" if line["open"] else "done": 1}, again=bool(line["open"]))

    with open_journal(str(output), {"model": "moody"}, resume=True) as journal:
        return run_batch(rows_of(rows), journal, make_work, look), asked


def lines(output: Path) -> list[tuple[str, bool]]:
    return [(line["id"], line["open"]) for line in map(json.loads, output.read_bytes().splitlines())]


def expected(left: Collection[int] = (), rows: int = ROWS) -> list[tuple[str, bool]]:
    return [(f"id-{number}", number in left) for number in range(1, rows + 1)]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def test_only_open_and_new_rows_are_asked_and_every_row_stands_once_in_order(output: Path) -> None:
    summary, asked = batch(output, OPEN)
    assert (asked, summary.left, summary.counts) == ([*range(1, 13)], 4, {"open": 4, "done": 8})
    # One of the four stays open, and two rows are new.
    summary, asked = batch(output, (7,), rows=14)
    assert asked == [*OPEN, 13, 14]
    assert (summary.rows, summary.found, summary.again, summary.left) == (14, 8, 4, 1)
    assert summary.counts == {"open": 1, "done": 13}
    assert lines(output) == expected((7,), rows=14)
    assert batch(output, (), rows=14)[1] == [7]
    # Nothing is left to do, and no file but the output and its note.
    summary, asked = batch(output, (), rows=14)
    assert (asked, summary.found) == ([], 14)
    assert lines(output) == expected(rows=14)
    assert sorted(path.name for path in output.parent.iterdir()) == ["out.jsonl", "out.jsonl.run.json"]


def test_what_was_repaired_before_an_engine_was_gone_again_is_kept(output: Path) -> None:
    batch(output, OPEN)
    summary, _ = batch(output, (), gone_at=7)
    assert (summary.stopped, summary.again, summary.left) == ("the engine is gone", 2, 2)
    assert lines(output) == expected((7, 12))
    assert batch(output, ())[1] == [7, 12]
    assert lines(output) == expected()


def test_a_row_where_more_fails_than_before_keeps_its_line(output: Path) -> None:
    """A row has six claims: in the first run one fails, in the second all, in the third none."""
    summaries: list[BatchSummary] = []
    for failed in (1, 6, 0):
        line = json.dumps({"id": "id-1", "failed": failed})
        with open_journal(str(output), {}, resume=True) as journal:
            summaries.append(
                run_batch(
                    rows_of(1),
                    journal,
                    lambda line=line: lambda _: line,
                    lambda line: Seen(line["id"], counts={"failed": line["failed"]}, again=line["failed"]),
                )
            )
        kept = json.loads(output.read_text(encoding="utf-8"))["failed"]
        assert (kept, summaries[-1].counts["failed"]) == (min(failed, 1), min(failed, 1))
    assert [(one.again, one.left) for one in summaries] == [(0, 1), (1, 1), (1, 0)]


@pytest.mark.skipif(os.name == "nt", reason="links and modes are those of POSIX")
def test_a_link_stays_one_and_a_private_output_stays_private(output: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    output.symlink_to(tmp_path / "disk" / "big.jsonl")
    batch(output, OPEN)
    output.chmod(0o600)
    batch(output, ())
    assert output.is_symlink()
    assert lines(output.resolve()) == expected()
    assert output.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["big.jsonl"]


def test_killed_at_any_byte_of_the_mending_the_next_run_goes_on_from_there(output: Path) -> None:
    batch(output, OPEN)
    before, note = output.read_bytes(), Path(f"{output}.run.json").read_bytes()
    batch(output, ())
    whole = output.read_bytes()
    for length in range(0, len(whole) + 1, 13):
        output.write_bytes(before)
        Path(f"{output}.run.json").write_bytes(note)
        repaired_path(output).write_bytes(whole[:length])
        done = whole[:length].count(b"\n")
        assert batch(output, ())[1] == [number for number in OPEN if number > done]
        assert output.read_bytes() == whole
        assert not repaired_path(output).exists()


def test_an_output_that_is_begun_anew_takes_nothing_from_an_old_one(output: Path) -> None:
    batch(output, OPEN)
    with LineRepair(output) as repair:
        repair.put(2, '{"id": "id-2", "open": false}')
    output.unlink()
    batch(output, OPEN)
    assert lines(output) == expected(OPEN)


def test_an_output_that_is_being_repaired_is_refused_to_others(output: Path) -> None:
    pytest.importorskip("fcntl", reason="this system has no such locks")
    batch(output, OPEN)
    with open_journal(str(output), {"model": "moody"}, resume=True) as journal:
        for row, _ in zip(rows_of(ROWS), journal.finished(), strict=True):
            journal.confirm(row)
        journal.replace(2, '{"id": "id-2", "open": false}')
        journal.append(Row(13, "line 13", {"id": "id-13"}), '{"id": "id-13", "open": false}')
        with pytest.raises(InputError, match="is being written by another process"):
            open_journal(str(output), {"model": "moody"}, resume=True)
    assert lines(output) == expected((3, 7, 12), rows=13)
