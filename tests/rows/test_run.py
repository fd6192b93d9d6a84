"""A batch from its rows to its finished output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.rows import works
from tests.rows.works import rows_of, seen
from vouching.errors import InputError
from vouching.rows import Progress, RowJob, fields_of, json_work, looker, run_rows
from vouching.rows.journal import open_journal
from vouching.rows.read import Row, RowReader
from vouching.rows.run import BatchSummary, run_batch
from vouching.rows.worker import WorkFactory

SETTINGS = {"model": "echo"}


def batch(
    output: Path,
    rows: Iterator[Row],
    make_work: WorkFactory = works.echo,
    *,
    jobs: int = 1,
    stop_on_problem: bool = False,
) -> BatchSummary:
    with open_journal(str(output), SETTINGS, resume=True) as journal:
        return run_batch(rows, journal, make_work, seen, jobs=jobs, stop_on_problem=stop_on_problem, patience=0.0)


def ids(output: Path) -> list[str]:
    return [json.loads(line)["id"] for line in output.read_bytes().splitlines()]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def with_problem(number: int, total: int) -> Iterator[Row]:
    """Rows of which one has a problem."""
    return (row if row.number != number else Row(number, f"line {number}", None, "broken") for row in rows_of(total))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_batch_is_finished_in_any_number_of_steps(output: Path, jobs: int) -> None:
    for rows in (3, 3, 40, 100):
        summary = batch(output, rows_of(rows), jobs=jobs)
        assert (summary.rows, summary.counts["lines"], summary.stopped) == (rows, rows, None)
    assert ids(output) == [f"id-{number}" for number in range(1, 101)]
    assert batch(output, rows_of(100)).found == 100


def test_a_row_with_a_problem_is_counted_and_the_others_go_on(output: Path) -> None:
    told: list[tuple[str, str | None]] = []
    with open_journal(str(output), SETTINGS) as journal:
        summary = run_batch(
            with_problem(2, 3),
            journal,
            works.echo,
            seen,
            watch=lambda row, line: told.append((row.place, line.problem)),
        )
    assert (summary.rows, summary.problems, summary.stopped) == (3, 1, None)
    assert told == [("line 1", None), ("line 2", "broken"), ("line 3", None)]
    # What an earlier run found out counts too.
    assert batch(output, with_problem(2, 4)).problems == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_batch_that_stops_at_a_problem_resumes_with_that_row_when_it_is_repaired(output: Path, jobs: int) -> None:
    for _ in range(2):
        summary = batch(output, with_problem(20, 60), jobs=jobs, stop_on_problem=True)
        assert (summary.rows, summary.stopped) == (19, "broken")
    assert batch(output, rows_of(60), jobs=jobs, stop_on_problem=True).found == 19
    assert ids(output) == [f"id-{number}" for number in range(1, 61)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_was_read_before_an_input_broke_off_is_kept(output: Path, jobs: int) -> None:
    def cut() -> Iterator[Row]:
        yield from rows_of(30)
        raise EOFError("the file ended early")

    summary = batch(output, iter(RowReader("rows.jsonl.gz", cut())), jobs=jobs)
    assert (summary.rows, summary.stopped) == (30, "rows.jsonl.gz cannot be read to the end: the file ended early")
    assert ids(output) == [f"id-{number}" for number in range(1, 31)]


def test_a_worker_that_dies_stops_the_batch_and_what_was_finished_is_kept(output: Path) -> None:
    summary = batch(output, rows_of(200), works.die_at_50, jobs=2)
    assert "a worker process ended" in str(summary.stopped)
    assert 0 < summary.rows < 50
    assert batch(output, rows_of(200)).found == summary.rows
    assert ids(output) == [f"id-{number}" for number in range(1, 201)]


def test_an_output_of_other_rows_is_refused_and_left_alone(output: Path) -> None:
    batch(output, rows_of(5))
    raw = output.read_bytes()
    with pytest.raises(InputError, match="belongs to row 'id-1', but row 1 of the input is 'id-11'"):
        batch(output, rows_of(5, first=11))
    with pytest.raises(InputError, match=r"more lines than the input has rows \(3\)"):
        batch(output, rows_of(3))
    with pytest.raises(InputError, match="was made from different rows: the first 5 rows of this input differ"):
        batch(output, (Row(row.number, row.place, {**(row.fields or {}), "source": "new"}) for row in rows_of(5)))
    assert output.read_bytes() == raw


def test_a_line_that_no_batch_wrote_is_named(output: Path) -> None:
    batch(output, rows_of(2))
    for foreign in (b"\0\0\0\n", b"[]\n", b"{}\n", b"\n"):
        raw = output.read_bytes()
        output.write_bytes(raw + foreign)
        with pytest.raises(InputError, match="line 3 of the output was not written by this command"):
            batch(output, rows_of(3))
        output.write_bytes(raw)


def test_a_job_opens_what_it_names_and_tells_about_each_new_line(tmp_path: Path) -> None:
    rows, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows.write_text('{"id": "a"}\nno JSON\n{"id": "b"}\n', encoding="utf-8")
    work = json_work(lambda row: {"id": row.name, "keys": [*fields_of(row)]})
    job = RowJob(str(rows), str(output), lambda: work, looker(lambda line: {"keys": len(line["keys"])}), SETTINGS)
    told: list[tuple[int, str | None]] = []
    shares: list[float | None] = []

    def watch(done: Progress) -> None:
        told.append((done.rows, done.seen.problem))
        shares.append(done.share())

    summary = run_rows(job, watch)
    assert told == [(1, None), (2, "rows.jsonl, line 2: invalid JSON: Expecting value at character 1"), (3, None)]
    assert shares[-1] == 1.0
    assert (summary.rows, summary.problems, summary.counts["keys"], summary.complete) == (3, 1, 2, False)
    assert output.read_text(encoding="utf-8").splitlines()[1] == (
        '{"id": "row-2", "problem": "line 2: invalid JSON: Expecting value at character 1"}'
    )
    with pytest.raises(InputError, match="is not empty: continue it with --resume"):
        run_rows(job)
    again = run_rows(replace(job, resume=True), watch)
    assert (again.found, len(told)) == (3, 3)
    with pytest.raises(InputError, match="was made with model echo, but model is now other"):
        run_rows(replace(job, resume=True, settings={"model": "other"}))


def test_a_job_takes_rows_as_they_are_and_prints_lines(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    reader = RowReader("two", rows_of(2))
    assert run_rows(RowJob(reader, "-", works.echo, lambda name, line: seen(line), SETTINGS)).rows == 2
    assert [json.loads(line)["id"] for line in capfdbinary.readouterr().out.splitlines()] == ["id-1", "id-2"]
