"""Processes that answer one request at a time and can be ended in the middle of one; the workers of batches are such.

A process exits when its parent is gone, even one that was killed. Of ``multiprocessing`` only the pipes are used: its
processes import the main program again, and its pools survive a killed parent. Not supported: work that keeps state
between rows.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any, TypeAlias

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


_LOOK_SECONDS = 0.05
"""How often a process that waits for an answer asks whether its answer is still needed."""


class Parent:
    """What the work of a process may ask of whoever waits for its answer."""

    def __init__(self, link: Connection) -> None:
        self._link = link

    def tell(self, note: object) -> None:
        """Send a note ahead of the answer."""
        self._link.send(("note", note))

    def has_left(self) -> bool:
        """Whether the answer is no longer needed."""
        return self._link.poll()


Answering: TypeAlias = Callable[[Any, Parent], Any]
"""Answers a request; both must be picklable."""


class Process:
    """A process as its parent sees it.

    Args:
        make: makes the work inside the process, at once; must be picklable: a class or a function at module level.
            If it raises a VouchError, each request tries again.
        memory_bytes: most memory of its data; work that needs more gets a MemoryError. 0 for no limit.

    Raises WorkerError if it cannot start.
    """

    def __init__(self, make: Callable[[], Answering], memory_bytes: int = 0) -> None:
        # It must find the same modules, but nothing from the current folder (-P). Its own process group shields it from
        # Ctrl-C.
        places = os.pathsep.join(place for place in sys.path if place)
        self._link, theirs = Pipe()
        self._is_ready = self._is_paused = False
        command = "from vouching.rows.worker import main; main()"
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", command, *map(str, (theirs.fileno(), os.getpid(), memory_bytes))],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    env={**os.environ, "PYTHONPATH": places},
                    process_group=0,
                )
        except OSError as error:
            raise WorkerError(f"a worker process cannot be started: {error.strerror or error}") from None
        with suppress(OSError):  # one that ended at once is reported by the first request
            self._link.send(make)

    def wait_until_ready(self, seconds: float, needed: Callable[[], bool]) -> None:
        """Wait until the work is made, so that none of its time is that of a request.

        Args:
            seconds: how long to wait.
            needed: asked now and then; once it says no, the wait ends.

        Raises:
            TimeoutError: it is not ready, or not needed; the process goes on and can be used later.
            WorkerError: the process has ended.
        """
        until = time.monotonic() + seconds
        try:
            while not self._is_ready:
                if self._link.poll(_LOOK_SECONDS):
                    self._is_ready = self._link.recv()[0] == "ready"
                elif time.monotonic() > until or not needed():
                    raise TimeoutError
        except TimeoutError:
            raise
        except (OSError, EOFError):
            raise WorkerError(f"a worker process ended unexpectedly ({self._how_it_ended()})") from None

    def has_ended(self) -> bool:
        """Whether the process no longer runs."""
        return self._process.poll() is not None

    def ask(
        self,
        request: object,
        *,
        seconds: float | None = None,
        hear: Callable[[Any], object] | None = None,
        needed: Callable[[], bool] | None = None,
    ) -> Any:
        """The answer to a request.

        Args:
            request: picklable.
            seconds: how long to wait; None for as long as it takes.
            hear: gets the notes that the work sends ahead.
            needed: asked now and then; once it says no, the work gets a note, and may end early.

        Raises:
            TimeoutError: there was no answer in time; the process is still at it, so end it with :meth:`kill`.
            WorkerError: the process has ended, or its work refused the request.
        """
        until = None if seconds is None else time.monotonic() + seconds
        try:
            self._link.send(request)
            while True:
                self._wait(until, needed)
                kind, value = self._link.recv()
                if kind == "answer":
                    return value
                if kind == "refusal":
                    raise WorkerError(value)
                if kind == "note" and hear is not None:
                    hear(value)
        except TimeoutError:
            raise
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            raise WorkerError(f"a worker process ended unexpectedly ({self._how_it_ended()})") from None

    def _wait(self, until: float | None, needed: Callable[[], bool] | None) -> None:
        """Wait for a message. Raises TimeoutError if none came in time."""
        left = False
        while not self._link.poll(None if until is None and needed is None else _LOOK_SECONDS):
            if until is not None and time.monotonic() > until:
                raise TimeoutError
            if needed is not None and not needed() and not left:
                self._link.send(None)
                left = True

    def pause(self, paused: bool) -> None:
        """Stop the process, or let it continue."""
        if paused != self._is_paused:
            self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)
            self._is_paused = paused

    def kill(self) -> None:
        """End the process now; a pending :meth:`ask` raises."""
        self._process.kill()

    def close(self) -> None:
        """Release the resources of a killed process."""
        self._link.close()
        self._process.wait()

    def _how_it_ended(self) -> str:
        status = self._process.wait()
        if status >= 0:
            return f"exit status {status}"
        name = signal.Signals(-status).name
        return f"killed by {name}, possibly out of memory" if name == "SIGKILL" else f"killed by {name}"


class Worker(Process):
    """A process that works on chunks of rows."""

    def __init__(self, make_work: WorkFactory) -> None:
        super().__init__(partial(_Chunks, make_work))

    def work(self, rows: Sequence[Row]) -> ChunkResult:
        """Send a chunk of rows and wait for the answer. Raises WorkerError if it has ended or refuses the work."""
        return self.ask(rows)


class _Chunks:
    """Works on chunks of rows, in the process."""

    def __init__(self, make_work: WorkFactory) -> None:
        self._make_work = make_work
        self._work: Work | None = None

    def __call__(self, rows: Sequence[Row], parent: Parent) -> ChunkResult:
        start = time.perf_counter()
        work = self._work = self._work or self._make_work()
        return ChunkResult([line_of(work, row) for row in rows], time.perf_counter() - start)


def line_of(work: Work, row: Row) -> str:
    """The line of a row; unexpected errors get a note that names the row."""
    try:
        return work(row)
    except Exception as error:
        error.add_note(f"while working on {row.place}, id {row.name}")
        raise


def end_with_parent(parent: int, every: float = 1.0) -> None:
    """End this process soon after its parent, however that ended; ``every`` is in seconds."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def main() -> None:
    """Run a process; the arguments are a file descriptor, the id of the parent and the most memory."""
    number, parent, memory_bytes = map(int, sys.argv[1:])
    # Whatever the work prints goes to standard error.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    end_with_parent(parent)
    if memory_bytes:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    link = Connection(number)
    try:
        _answer(link)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(0)  # the parent is gone


def _answer(link: Connection) -> None:
    """Read what makes the work, then requests until the parent is gone; answer each."""
    make: Callable[[], Answering] = link.recv()
    work: Answering | None = None
    with suppress(VouchError):  # the first request says what is wrong
        work = make()
    link.send(("ready", None))
    while True:
        request = link.recv()
        if request is None:  # the caller left when the answer was already on its way
            continue
        try:
            work = work or make()
            answer = "answer", work(request, Parent(link))
        except VouchError as error:
            answer = "refusal", str(error)
        link.send(answer)
