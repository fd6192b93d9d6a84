"""A run that stops, for any reason, loses no answered row: a resumed run asks only for the others."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rows.faults import small_disk
from tests.rows.works import ROWS, ROWS_AT_ONCE, Server, rows_of
from vouching.errors import InputError, ModelDeadlineError, ModelUnavailableError
from vouching.rows.ahead import ahead_path
from vouching.rows.journal import open_journal
from vouching.rows.lines import async_work, fields_of, looker
from vouching.rows.pool import MAX_FAILURES, MAX_TIMES, AsyncWorkFactory
from vouching.rows.read import Row
from vouching.rows.run import run_batch


def ids(output: Path) -> list[str]:
    return [json.loads(line)["id"] for line in output.read_bytes().splitlines()]


def dead(source: random.Random) -> Callable[[Row], None]:
    """The server is gone after some answers."""
    left = [source.randrange(ROWS)]

    def stop(row: Row) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise ModelUnavailableError("the server is gone")

    return stop


def slow_row(source: random.Random) -> Callable[[Row], None]:
    """One row never gets its answer in time."""
    number = source.randrange(1, ROWS + 1)

    def stop(row: Row) -> None:
        if row.number == number:
            raise ModelDeadlineError("too slow")

    return stop


def bug(source: random.Random) -> Callable[[Row], None]:
    """The work on one row raises an error that is not expected."""
    number = source.randrange(1, ROWS + 1)

    def stop(row: Row) -> None:
        if row.number == number:
            raise KeyError("x")

    return stop


def interrupt(source: random.Random) -> Callable[[Row], None]:
    """Ctrl-C at one row."""
    number = source.randrange(1, ROWS + 1)

    def stop(row: Row) -> None:
        if row.number == number:
            os.kill(os.getpid(), signal.SIGINT)

    return stop


@pytest.mark.parametrize("kind", [dead, slow_row, bug, interrupt])
def test_in_many_random_stops_no_answered_row_is_asked_for_again(
    kind: Callable[[random.Random], Callable[[Row], None]], tmp_path: Path
) -> None:
    for seed in range(50):
        output = tmp_path / f"{seed}.jsonl"
        server = Server(kind(random.Random(seed)), seed)
        try:
            summary = server.batch(output)
            stopped = summary.stopped is not None or summary.left > 0
        except (KeyError, KeyboardInterrupt):
            stopped = True
        after = Server(lambda row: None, seed)
        assert after.batch(output).rows == ROWS
        assert stopped or not after.answered
        assert server.answered + after.answered == Counter(ids(output))
        assert ids(output) == [f"id-{number}" for number in range(1, ROWS + 1)]
        assert not ahead_path(output).exists()


def test_a_killed_run_loses_no_answered_row(tmp_path: Path) -> None:
    code = """
import os, pathlib, sys
from tests.rows.works import Server
output, answered = map(pathlib.Path, sys.argv[1:])
def stop(row):
    if len(server.answered) == 12:
        answered.write_text(" ".join(server.answered))
        os.kill(os.getpid(), 9)
server = Server(stop, 1)
server.batch(output)
"""
    output, answered = tmp_path / "out.jsonl", tmp_path / "answered"
    places = os.pathsep.join(filter(None, sys.path))
    killed = subprocess.run(
        [sys.executable, "-c", code, str(output), str(answered)], env={**os.environ, "PYTHONPATH": places}, check=False
    )
    assert killed.returncode == -9
    after = Server(lambda row: None, 1)
    assert after.batch(output).rows == ROWS
    assert len(after.answered) == ROWS - 12
    assert not set(answered.read_text().split()) & set(after.answered)


def test_a_full_disk_has_room_for_the_answers_under_way(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "3m") as disk:
        # 3 MiB less 2 MiB in reserve and 900 KiB: room for some 1,200 lines of about 90 bytes.
        (disk / "other").write_bytes(b"x" * (900 << 10))
        server, rows = Server(lambda row: None, 1), 2_000
        with pytest.raises(OSError, match="No space left on device"):
            server.batch(disk / "out.jsonl", rows_of(rows))
        assert len(server.answered) > 100
        subprocess.run(["mount", "-o", "remount,size=16m", str(disk)], check=True)
        after = Server(lambda row: None, 1)
        assert after.batch(disk / "out.jsonl", rows_of(rows)).rows == rows
        assert max((server.answered + after.answered).values()) == 1


def test_a_row_that_failed_for_now_is_asked_again_after_the_others(tmp_path: Path) -> None:
    asked: list[int] = []

    def stop(row: Row) -> None:
        asked.append(row.number)
        if row.number in (3, 5) and asked.count(row.number) == 1:
            raise ModelDeadlineError("busy")

    assert Server(stop, 1).batch(tmp_path / "out.jsonl", rows_of(12)).stopped is None
    assert ids(tmp_path / "out.jsonl") == [f"id-{number}" for number in range(1, 13)]
    assert asked[-2:] in ([3, 5], [5, 3])


def test_a_row_that_is_never_answered_in_time_has_a_line_of_its_own_and_a_resumed_run_asks_only_for_it(
    tmp_path: Path,
) -> None:
    def fail_first(row: Row) -> None:
        if row.number == 1:
            raise ModelDeadlineError("too slow")

    output, server, after = tmp_path / "out.jsonl", Server(fail_first, 1), Server(lambda row: None, 1)
    summary = server.batch(output)
    assert (summary.rows, summary.left, summary.stopped) == (ROWS, 1, None)
    assert json.loads(output.read_text().splitlines()[0]) == {"id": "id-1", "again": "too slow"}
    summary = after.batch(output)
    assert (summary.rows, summary.left, summary.again) == (ROWS, 0, 1)
    assert [*after.answered] == ["id-1"]
    assert ids(output) == [f"id-{number}" for number in range(1, ROWS + 1)]


def test_a_row_that_failed_for_now_counts_as_a_problem_until_a_resumed_run_has_its_answer(tmp_path: Path) -> None:
    async def square(row: Row) -> dict[str, object]:
        number = int(fields_of(row, "id")["id"].removeprefix("id-"))
        if number == 3 and len(failing) < MAX_TIMES:
            failing.append(number)
            raise ModelDeadlineError("too slow")
        return {"id": row.name, "square": number**2}

    failing, look = list[int](), looker(lambda line: {"squares": 1})
    found: list[tuple[int, int, int, bool]] = []
    for _ in range(2):
        with open_journal(str(tmp_path / "out.jsonl"), {}, resume=True) as journal:
            factory = AsyncWorkFactory(lambda: async_work(square))
            summary = run_batch(rows_of(5), journal, factory, lambda line: look("rows.jsonl", line))
        found.append((summary.problems, summary.left, summary.counts["squares"], summary.complete))
    assert found == [(1, 1, 4, False), (0, 0, 5, True)]
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert lines[2] == {"id": "id-3", "square": 9}


def test_a_server_that_is_out_of_reach_is_not_asked_for_every_row(tmp_path: Path) -> None:
    asked: list[int] = []

    def stop(row: Row) -> None:
        asked.append(row.number)
        raise ModelUnavailableError("the server is gone")

    assert Server(stop, 1).batch(tmp_path / "out.jsonl").stopped == "the server is gone"
    assert MAX_FAILURES <= len(asked) <= ROWS_AT_ONCE


def test_a_line_is_not_taken_for_a_row_that_has_changed(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with pytest.raises(KeyError):
        Server(bug(random.Random(3)), 1).batch(output)
    written = len(ids(output))
    changed = (
        Row(row.number, row.place, {"id": row.name, "new": row.number > written or None}) for row in rows_of(ROWS)
    )
    rows = (new if new.number > written else old for new, old in zip(changed, rows_of(ROWS), strict=True))
    assert ahead_path(output).exists()
    after = Server(lambda row: None, 1)
    assert after.batch(output, rows).rows == ROWS
    assert len(after.answered) == ROWS - written


def test_an_output_whose_answers_all_wait_is_not_begun_anew(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    with pytest.raises(KeyError):
        Server(fault_in_first, 1).batch(output)
    assert not output.read_bytes()
    with pytest.raises(InputError, match=r"out\.jsonl\.ahead is not empty: continue it with --resume"):
        open_journal(str(output), {})
    with pytest.raises(InputError, match="was made with"):
        open_journal(str(output), {"model": "other"}, resume=True)


def fault_in_first(row: Row) -> None:
    if row.number == 1:
        raise KeyError("x")
