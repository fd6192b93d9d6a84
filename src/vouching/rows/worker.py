"""A process that works on rows for another one: it reads chunks from standard input and answers on standard output.

It ends when its input does, so it never outlives whoever started it, however that ended. ``multiprocessing`` is not
used because its processes load the main program again and its pools stay behind when their parent is killed. Left out:
work that keeps something between rows.
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
"""Works on a row and returns its line of output, without a newline."""
WorkFactory: TypeAlias = Callable[[], Work]
"""Makes the work in the process that does it; pickled to get there, so it is of a class or a function of a module."""


class WorkerError(VouchError):
    """A worker process ended before its work was done."""

    can_retry = True


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """What a worker says to a chunk."""

    lines: list[str]
    """A line per row."""
    seconds: float
    """How long the work took."""
    refusal: str | None = None
    """Why the work could not be done; None if it was."""


class Worker:
    """A worker process, seen from the one that started it.

    Args:
        make_work: makes the work in the process.

    Raises:
        WorkerError: the process cannot be started or, from :meth:`ask`, has ended or refuses the work.
    """

    def __init__(self, make_work: WorkFactory) -> None:
        # The interpreter must find the same modules, and nothing that lies about in the current folder (-P). A process
        # group of its own keeps Ctrl-C from reaching the worker: it ends when its input does.
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
        """The worker's answer to a chunk of rows; waits for it."""
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
            raise WorkerError(f"a worker process ended ({self._how_it_ended()})") from None
        if answer.refusal is not None:
            raise WorkerError(answer.refusal)
        return answer

    def kill(self) -> None:
        """End the process now; whoever waits for its answer gets an error."""
        self._process.kill()

    def close(self) -> None:
        """Give back what a process holds that was killed."""
        with suppress(OSError), self._process:
            pass

    def _how_it_ended(self) -> str:
        status = self._process.wait()
        if status >= 0:
            return f"with status {status}"
        name = signal.Signals(-status).name
        return f"killed by {name}, perhaps for want of memory" if name == "SIGKILL" else f"killed by {name}"


def line_of(work: Work, row: Row) -> str:
    """The line of a row; an error that nobody expected says which row it was."""
    try:
        return work(row)
    except Exception as error:
        error.add_note(f"while working on {row.place}, id {row.name}")
        raise


def answer_chunks(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Read a factory, then chunks of rows until there are no more, and answer each."""
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
    # What the work prints goes to standard error: it must not get between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        answer_chunks(sys.stdin.buffer, answers)
    except BrokenPipeError:
        os._exit(0)  # nobody waits for the answer any more
