"""Work in order, by one process or several, and what becomes of processes that die or are left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import pytest

from tests.rows import works
from tests.rows.works import rows_of
from vouching.errors import InputError
from vouching.rows.pool import CHUNK_TEXT, in_order
from vouching.rows.read import Row
from vouching.rows.worker import Work, WorkerError, WorkFactory


def names(make_work: WorkFactory, rows: Iterator[Row], jobs: int) -> list[tuple[str, str]]:
    return [(row.name, line) for row, line in in_order(make_work, rows, jobs, patience=0.0)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_row_comes_back_once_with_its_line_in_order(jobs: int) -> None:
    expected = [(f"id-{number}", f"id-{number}") for number in range(1, 301)]
    assert names(works.uneven, rows_of(300), jobs) == expected


def test_several_processes_do_the_work() -> None:
    pids = {line for _, line in in_order(works.name_process, rows_of(2_000), 2, patience=0.0)}
    assert len(pids) == 2
    assert str(os.getpid()) not in pids


def test_a_short_run_starts_no_process() -> None:
    assert {line for _, line in in_order(works.name_process, rows_of(50), 8)} == {str(os.getpid())}


def test_no_row_needs_no_work() -> None:
    def make_work() -> Work:
        raise AssertionError

    for jobs in (1, 2):
        assert [*in_order(make_work, iter([]), jobs, patience=0.0)] == []


def test_rows_without_end_are_read_only_as_far_as_they_are_needed() -> None:
    read = count()
    endless = (Row(next(read), "line", {}) for _ in count())
    results = in_order(works.echo, endless, 2, patience=0.0)
    assert len([*islice(results, 100)]) == 100
    results.close()
    # At most three chunks of at most 1,000 rows for each of the two processes.
    assert next(read) < 100 + 2 * 3 * 1_000


def test_large_rows_are_read_a_few_at_a_time_after_chunks_of_many_small_ones() -> None:
    small = 20_000
    large = {"sources": [{"text": "x" * (CHUNK_TEXT // 10)}]}
    read = 0

    def rows() -> Iterator[Row]:
        nonlocal read
        for read in range(1, small + 201):
            yield Row(read, "line", large if read > small else {})

    ahead = [read - row.number for row, _ in in_order(works.echo, rows(), 2, patience=0.0) if row.number > small]
    # Ten rows fill a chunk; there are at most three chunks for each of the two processes.
    assert 0 < max(ahead) <= 2 * 3 * 10


@pytest.mark.parametrize(
    ("make_work", "reason"),
    [
        (works.die_at_50, r"a worker process ended unexpectedly \(killed by SIGKILL, possibly out of memory\)"),
        (works.refuse_at_50, "no more of this"),
        (works.fail_at_50, r"a worker process ended unexpectedly \(exit status 1\)"),
    ],
)
def test_a_worker_that_cannot_go_on_is_an_error_after_the_rows_before(
    make_work: WorkFactory, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []
    with pytest.raises(WorkerError, match=reason):
        done += (row.name for row, _ in in_order(make_work, rows_of(2_000), 2, patience=0.0))
    # Its chunk is lost, and whole chunks before it are kept: the first has one row.
    assert done == [f"id-{number}" for number in range(1, len(done) + 1)]
    assert 1 <= len(done) < 50
    if make_work is works.fail_at_50:
        assert "while working on line 50, id id-50" in capfd.readouterr().err


def test_when_a_worker_ends_the_lines_that_others_have_finished_are_kept() -> None:
    done, kept = list[str](), list[str]()
    with pytest.raises(WorkerError):
        done += (
            row.name
            for row, _ in in_order(
                works.die_late, rows_of(40), 2, patience=0.0, keep=lambda row, line: kept.append(row.name)
            )
        )
    # The first row is all of its chunk. While its worker takes half a second, the other one finishes what it is given.
    assert not done
    assert len(kept) >= 3
    assert "id-1" not in kept


def test_in_one_process_an_error_is_raised_as_it_is() -> None:
    with pytest.raises(InputError, match="no more of this"):
        names(works.refuse_at_50, rows_of(60), 1)


def test_what_the_work_prints_does_not_get_between_the_results(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(names(works.talk, rows_of(20), 2)) == 20
    printed = capfd.readouterr()
    assert (printed.out, printed.err.count("working")) == ("", 20)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look for processes in")
def test_workers_end_when_whoever_started_them_is_killed() -> None:
    code = """
from itertools import count
from tests.rows import works
from vouching.rows.pool import in_order
from vouching.rows.read import Row
rows = (Row(number, "line", {}) for number in count(1))
for row, line in in_order(works.name_process, rows, 2, patience=0.0):
    print(line, flush=True)
"""
    paths = os.pathsep.join(place for place in sys.path if place)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as parent:
        assert parent.stdout
        pids = {int(parent.stdout.readline()) for _ in range(3_000)}
        parent.kill()
        parent.communicate()
    assert len(pids) == 2
    deadline = time.monotonic() + 10
    while any(_runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in pids if _runs(pid)] == []


def _runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
