"""``vouch check --input`` that is killed, interrupted, out of disk or left by its reader, and how it goes on."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli import batch_runs
from tests.cli.batch_runs import (
    MANY,
    PROGRAM,
    ROWS,
    ended,
    lines_of,
    resumed,
    started,
    untimed,
    vouch,
    wait_for_lines,
)
from vouching.cli.streams import Exit

rows, output = batch_runs.rows, batch_runs.output
many, expected = batch_runs.many, batch_runs.expected


def test_killed_again_and_again_no_row_is_lost_or_doubled(many: Path, expected: str, output: Path) -> None:
    for lines, jobs in ((1, 1), (100, 2), (250, 2)):
        with resumed(many, output, jobs) as program:
            wait_for_lines(output, lines)
            program.kill()
            program.communicate()
        with output.open("ab") as file:
            file.write(b'{"claim":{"te')  # as if it had been struck in the midst of a line
    assert vouch("--input", many, "--output", output, "--resume").exit_code == Exit.INCOMPLETE
    assert untimed(output) == expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_ends_it_at_once_and_leaves_the_output_whole(
    many: Path, expected: str, output: Path, jobs: int
) -> None:
    with resumed(many, output, jobs) as program:
        wait_for_lines(output, 50)
        begun = time.perf_counter()
        os.killpg(program.pid, signal.SIGINT)
        told = program.communicate()[1]
    assert time.perf_counter() - begun < 15
    if jobs == 1:
        # Beside it there is only the line about the row that cannot be used.
        assert (program.returncode, told.count("\n")) == (Exit.INTERRUPTED, 2)
        assert told.endswith("vouch: interrupted; finish with --resume\n")
    assert 50 <= lines_of(output) < MANY
    assert output.read_bytes().endswith(b"}\n")
    assert expected.startswith(untimed(output))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc to find worker processes in")
def test_a_worker_that_is_killed_is_one_line_and_the_run_can_go_on(many: Path, expected: str, output: Path) -> None:
    with resumed(many, output, jobs=2) as program:
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children")
        while len(found := children.read_text(encoding="utf-8").split()) < 2:
            time.sleep(0.005)
        os.kill(int(found[0]), signal.SIGKILL)
        told = program.communicate()[1].splitlines()
    assert program.returncode == Exit.INCOMPLETE
    assert (
        "stopped: a worker process ended unexpectedly (killed by SIGKILL, possibly out of memory); fix this" in told[-2]
    )
    assert vouch("--input", many, "--output", output, "--resume").exit_code == Exit.INCOMPLETE
    assert untimed(output) == expected


def test_a_full_disk_is_one_line_and_the_run_can_go_on(rows: Path, output: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))

    status, told = ended("--input", rows, "--output", output, preexec_fn=limit)
    assert status == Exit.INCOMPLETE
    assert told == (
        f"vouch: cannot write to {output}: File too large; finished rows are kept; free some space and finish "
        "with --resume\n"
    )
    assert 0 < lines_of(output) < 4
    assert output.read_bytes().endswith(b"}\n")
    assert vouch("--input", rows, "--output", output, "--resume").exit_code == 0
    assert lines_of(output) == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_device_is_one_line_and_status_3(rows: Path) -> None:
    assert ended("--input", rows, "--output", "/dev/full") == (
        Exit.INCOMPLETE,
        "vouch: cannot write to /dev/full: No space left on device; only a regular file can be resumed: "
        "start again with another --output\n",
    )
    assert not Path("/dev/full.run.json").exists()
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [*PROGRAM, "--input", str(rows), "--output", "-"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (3, b"vouch: cannot write the result: No space left on device\n")


def test_a_reader_that_goes_away_ends_it_quietly(many: Path) -> None:
    with started("--input", many, "--output", "-") as program:
        assert program.stdout
        assert program.stdout.readline().startswith('{"id":"r0","claim"')
        program.stdout.close()
        assert program.stderr
        told = program.stderr.read()
    assert (program.returncode, told) == (Exit.PIPE_CLOSED, "")


def test_a_terminal_shows_the_progress_of_a_long_run(tmp_path: Path) -> None:
    pytest.importorskip("pty", reason="there are no terminals")
    shown = on_a_terminal(tmp_path / "long.jsonl")
    assert re.search(r"3 rows, [\d.]+ per second", shown)
    assert "vouch: stdin, line 3: invalid JSON" in shown
    assert "vouch: 3 rows, 2 claims: 1 attributable, 1 not attributable; 1 of the rows cannot be used" in shown


def on_a_terminal(output: Path) -> str:
    """What the program writes to a terminal of 100 columns, if its rows come slowly."""
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [*PROGRAM, "--input", "-", "--output", str(output)]
    shown = b""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=follower, env=environment, text=True) as program:
        os.close(follower)
        assert program.stdin
        for number, line in enumerate([json.dumps(ROWS[0]), json.dumps(ROWS[1]), "{"]):
            wait_for_lines(output, number)
            time.sleep(0.6 * number)  # in sum longer than the patience of the bar
            program.stdin.write(f"{line}\n")
            program.stdin.flush()
        program.stdin.close()
        while True:
            try:
                shown += os.read(leader, 65_536)
            except OSError:  # the other end is closed
                break
    os.close(leader)
    return shown.decode()
