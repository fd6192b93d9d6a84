"""Worker processes: they read chunks of rows from standard input and answer on standard output.

A worker exits when its input closes, so it never outlives its parent, even one that was killed. ``multiprocessing`` is
not used: its processes import the main program again, and its pools survive a killed parent. Not supported: work that
keeps state between rows.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TypeAlias

from vouching.errors import VouchError
from vouching.rows.read import Row

Work: TypeAlias = Callable[[Row], str]
"""Processes a row and returns its output line, without a newline."""
WorkFactory: TypeAlias = Callable[[], Work]
"""Creates the work inside the worker process; must be picklable: a class or a function at module level."""


class WorkerError(VouchError):
    """A worker process ended before its work was done, or could not start."""

    can_retry = True


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """A worker's answer to a chunk of rows."""

    lines: list[str]
    seconds: float
    """Processing time."""
    refusal: str | None = None
    """Why the work could not be done; None if it was."""


class Worker:
    """A worker process as its parent sees it; raises WorkerError if it cannot start, has ended or refuses the work."""

    def __init__(self, make_work: WorkFactory) -> None:
        # The worker must find the same modules, but nothing from the current folder (-P). Its own process group shields
        # it from Ctrl-C.
        places = os.pathsep.join(place for place in sys.path if place)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", "from vouching.rows.worker import main; main()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": places},
                process_group=0,
            )
        except OSError as error:
            raise WorkerError(f"a worker process cannot be started: {error.strerror or error}") from None
        self._make_work: WorkFactory | None = make_work

    def ask(self, rows: Sequence[Row]) -> ChunkResult:
        """Send a chunk of rows and wait for the answer."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            if self._make_work is not None:
                pickle.dump(self._make_work, self._process.stdin)
                self._make_work = None
            pickle.dump(rows, self._process.stdin)
            self._process.stdin.flush()
            answer: ChunkResult = pickle.load(self._process.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            raise WorkerError(f"a worker process ended unexpectedly ({self._how_it_ended()})") from None
        if answer.refusal is not None:
            raise WorkerError(answer.refusal)
        return answer

    def kill(self) -> None:
        """End the process now; a pending :meth:`ask` raises."""
        self._process.kill()

    def close(self) -> None:
        """Release the resources of a killed process."""
        with suppress(OSError), self._process:
            pass

    def _how_it_ended(self) -> str:
        status = self._process.wait()
        if status >= 0:
            return f"exit status {status}"
        name = signal.Signals(-status).name
        return f"killed by {name}, possibly out of memory" if name == "SIGKILL" else f"killed by {name}"


def line_of(work: Work, row: Row) -> str:
    """The line of a row; unexpected errors get a note that names the row."""
    try:
        return work(row)
    except Exception as error:
        error.add_note(f"while working on {row.place}, id {row.name}")
        raise


def answer_chunks(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Read a factory, then chunks of rows until the input ends; answer each chunk."""
    make_work: WorkFactory = pickle.load(requests)
    work: Work | None = None
    while True:
        try:
            rows: list[Row] = pickle.load(requests)
        except EOFError:
            return
        start = time.perf_counter()
        try:
            work = work or make_work()
            answer = ChunkResult([line_of(work, row) for row in rows], time.perf_counter() - start)
        except VouchError as error:
            answer = ChunkResult([], 0.0, str(error))
        pickle.dump(answer, answers)
        answers.flush()


def main() -> None:
    """Run a worker process."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever the work prints goes to standard error, away from the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        answer_chunks(sys.stdin.buffer, answers)
    except BrokenPipeError:
        os._exit(0)  # the parent is gone
