"""Process rows in this process, in several, or as concurrent coroutines; results come in the order of the rows.

Only a few chunks of rows are in flight and a chunk holds a limited amount of text, so memory does not grow with the
input; finished results wait for those before them. Work that waits for others, such as a language model server, runs
as many coroutines in one process. Not supported: several machines; limits on concurrent requests, which the model sets.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from queue import SimpleQueue
from typing import TypeAlias, cast

from vouching.errors import BackendError, ModelDeadlineError
from vouching.rows.read import Row
from vouching.rows.worker import ChunkResult, Work, Worker, WorkFactory, line_of

AsyncWork: TypeAlias = Callable[[Row], Awaitable[str]]
"""Processes a row and returns its output line, without a newline."""
ROWS_AT_ONCE = 256
"""Rows in flight or waiting for a slower one; a few times what a server answers at once keeps the server busy."""


Keep: TypeAlias = Callable[[Row, str], None]
"""Keeps the line of a row until its turn."""
MAX_FAILURES = 6
"""Rows that fail for now with no answer in between: the model is out of reach. Not counted are rows that fail because
of their time, or while the model answers others."""
MAX_TIMES = 3
"""How often a row that fails for now is asked while others are answered."""
GRACE = 1.0
"""Seconds that rows in flight get at the end of a run that stops early."""


@dataclass(frozen=True, slots=True)
class AsyncWorkFactory:
    """A factory of asynchronous work; :func:`~vouching.rows.run.run_rows` accepts it like a :data:`WorkFactory`."""

    make_work: Callable[[], AsyncWork]
    aclose: Callable[[], Awaitable[None]] | None = None
    """Always called at the end, in the event loop of the work."""
    rows_at_once: int = ROWS_AT_ONCE
    """Rows in flight at the same time, at least 1."""

    def in_order(self, rows: Iterable[Row], keep: Keep = lambda row, line: None) -> Generator[tuple[Row, str]]:
        """Yield every row with its line, in order; an error in one stops those after it.

        A row that fails for now is asked again once all others in flight are answered. If it never gets its answer
        though others do, its line is that of a row with a problem (``Row.again``). ``keep`` gets every line as soon as
        it is there, whether or not its turn comes.
        """
        waiting = iter(rows)
        with asyncio.Runner() as runner:
            flight = _Flight(self.make_work(), keep, runner.get_loop())
            try:
                while True:
                    while len(flight.rows) < self.rows_at_once and (row := next(waiting, None)) is not None:
                        flight.start(row)
                    if not flight.rows:
                        return
                    line = runner.run(flight.first())
                    yield flight.rows.popleft().row, line
            finally:
                # Ctrl-C may leave the loop with a stop that is still to come.
                runner.get_loop().call_soon(runner.get_loop().stop)
                runner.get_loop().run_forever()
                runner.run(self._end(flight))

    async def _end(self, flight: _Flight) -> None:
        try:
            await flight.end()
        finally:
            if self.aclose is not None:
                await self.aclose()


@dataclass(slots=True)
class _InFlight:
    row: Row
    task: asyncio.Task[str] = field(init=False)
    times: int = 0
    by_itself: bool = False
    """Whether it failed while the model answered others."""

    @property
    def failed_for_now(self) -> BackendError | None:
        error = self.task.exception() if self.task.done() and not self.task.cancelled() else None
        return error if isinstance(error, BackendError) and error.can_retry else None


class _Flight:
    """Rows in flight on an event loop, in order."""

    def __init__(self, work: AsyncWork, keep: Keep, loop: asyncio.AbstractEventLoop) -> None:
        self.rows = deque[_InFlight]()
        self._work, self._keep, self._loop = work, keep, loop
        self._answers = 0
        self._failed = set[int]()
        self._trouble: asyncio.Future[Exception] = loop.create_future()

    def start(self, row: Row) -> None:
        self.rows.append(_InFlight(row))
        self._ask(self.rows[-1])

    async def first(self) -> str:
        """The line of the first row."""
        first = self.rows[0]
        while True:
            await self._wait([first])
            if not first.failed_for_now or first.times == MAX_TIMES:
                return await self._result(first)
            await self._wait(self.rows)
            for one in self.rows:
                if one.failed_for_now and one.times < MAX_TIMES:
                    self._ask(one)

    def _ask(self, one: _InFlight) -> None:
        one.task, one.times = self._loop.create_task(self._answer(one)), one.times + 1

    async def _result(self, one: _InFlight) -> str:
        error = one.failed_for_now
        if error and (one.by_itself or self._answers):
            late = replace(one.row, fields=None, problem=str(error), unnamed=one.row.name, again=True)
            return await self._work(late)
        return one.task.result()

    async def end(self) -> None:
        """Give the rows in flight a moment, then cancel them."""
        left = [one.task for one in self.rows]
        try:
            if left:
                await asyncio.wait(left, timeout=GRACE)
        finally:
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _wait(self, rows: Iterable[_InFlight]) -> None:
        """Wait for these rows. Raises an error that concerns all rows."""
        left = {one.task for one in rows if not one.task.done()}
        while left and not self._trouble.done():
            _, left = await asyncio.wait({*left, self._trouble}, return_when=asyncio.FIRST_COMPLETED)
            left.discard(self._trouble)
        if self._trouble.done():
            raise self._trouble.result()

    async def _answer(self, one: _InFlight) -> str:
        try:
            line = await _line(self._work, one.row)
        except BackendError as error:
            one.by_itself = one.by_itself or error.others_answered
            if error.can_retry and not isinstance(error, ModelDeadlineError) and not one.by_itself:
                self._failed.add(one.row.number)
            if len(self._failed) == MAX_FAILURES:
                self._stop(error)
            raise
        self._failed.clear()
        self._answers += 1
        try:
            self._keep(one.row, line)
        except OSError as error:
            self._stop(error)
        return line

    def _stop(self, error: Exception) -> None:
        if not self._trouble.done():
            self._trouble.set_result(error)


@dataclass(frozen=True, slots=True)
class StreamWorkFactory:
    """Work that needs the rows around a row: it sees all of an input, or of a block, and gives each row a line."""

    work: Callable[[Iterable[Row]], Iterator[tuple[Row, str]]]
    """Yields every row with its line, in order."""

    def in_order(self, rows: Iterable[Row]) -> Generator[tuple[Row, str]]:
        """Yield every row with its line, in order."""
        yield from self.work(rows)


AnyWorkFactory: TypeAlias = WorkFactory | AsyncWorkFactory | StreamWorkFactory
"""What makes lines of rows."""
OpenWork: TypeAlias = Callable[[], Work | AsyncWorkFactory | StreamWorkFactory]
"""Opens the work in the process that does it; must be picklable."""


async def _line(work: AsyncWork, row: Row) -> str:
    """The line of a row; unexpected errors get a note that names the row."""
    try:
        return await work(row)
    except Exception as error:
        error.add_note(f"while working on {row.place}, id {row.name}")
        raise


PATIENCE = 1.0
"""Seconds of work before worker processes are started; for less, starting them does not pay."""
CHUNK_SECONDS = 0.1
"""Target processing time of a chunk: long against the transfer of its rows, short against the wait for a result."""
MAX_ROWS = 1_000
"""Rows in a chunk; the first chunk has one, as rows may be slow."""
CHUNK_TEXT = 1_000_000
"""Characters of text after which a chunk is closed, so that large rows do not fill the memory."""
_CHUNKS_PER_WORKER = 3


def cores() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    make_work: AnyWorkFactory,
    rows: Iterable[Row],
    jobs: int = 1,
    patience: float = PATIENCE,
    keep: Keep = lambda row, line: None,
) -> Generator[tuple[Row, str]]:
    """Process each row and yield it with its line, in order.

    Args:
        make_work: makes the function from a row to its line; must be picklable if there are several processes.
        rows: read as they are needed.
        jobs: number of processes; asynchronous work, and work on a stream of rows, always run in one.
        patience: seconds of work in this process before workers are started.
        keep: gets the lines of asynchronous work before their turn, see :meth:`AsyncWorkFactory.in_order`; and, if
            the run stops early, those that other processes have finished.

    Raises:
        WorkerError: a worker process ended; the results before its rows have been yielded.
    """
    if isinstance(make_work, AsyncWorkFactory):
        yield from make_work.in_order(rows, keep)
        return
    if isinstance(make_work, StreamWorkFactory):
        yield from make_work.in_order(rows)
        return
    waiting = iter(rows)
    start = time.monotonic()
    work: Work | None = None
    while jobs == 1 or time.monotonic() - start < patience:
        row = next(waiting, None)
        if row is None:
            return
        work = work or make_work()
        yield row, line_of(work, row)
    first = next(waiting, None)
    if first is not None:
        with _Workers(make_work, jobs) as workers:
            yield from workers.in_order(chain([first], waiting), keep)


class _Workers:
    """Worker processes, each with a thread that waits for its answers."""

    def __init__(self, make_work: WorkFactory, jobs: int) -> None:
        self._workers = [Worker(make_work) for _ in range(jobs)]
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(jobs)
        self._chunk_rows = 1

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()

    def in_order(self, rows: Iterator[Row], keep: Keep) -> Iterator[tuple[Row, str]]:
        """Every row with its line; at an early end, ``keep`` gets the lines that are there and were not yielded."""
        asked: deque[tuple[list[Row], Future[ChunkResult]]] = deque()
        ready = deque[tuple[Row, str]]()
        try:
            while True:
                while len(asked) < _CHUNKS_PER_WORKER * len(self._workers) and (chunk := self._chunk(rows)):
                    asked.append((chunk, self._threads.submit(self._ask, chunk)))
                if not asked:
                    return
                chunk, answer = asked.popleft()
                ready.extend(zip(chunk, answer.result().lines, strict=True))
                while ready:
                    yield ready[0]
                    ready.popleft()
        finally:
            for chunk, answer in asked:
                if answer.done() and answer.exception() is None:
                    ready.extend(zip(chunk, answer.result().lines, strict=True))
            for row, line in ready:
                keep(row, line)

    def _chunk(self, rows: Iterator[Row]) -> list[Row]:
        """The next rows, as many as one worker should get at a time; empty at the end."""
        chunk: list[Row] = []
        text = 0
        while len(chunk) < self._chunk_rows and text < CHUNK_TEXT and (row := next(rows, None)) is not None:
            chunk.append(row)
            text += text_size([row.fields, row.problem])
        return chunk

    def _ask(self, chunk: list[Row]) -> ChunkResult:
        # There are as many threads as workers, so one is always idle.
        worker = self._idle.get()
        try:
            answer = worker.work(chunk)
        finally:
            self._idle.put(worker)
        fitting = round(len(chunk) * CHUNK_SECONDS / max(answer.seconds, 1e-6))
        self._chunk_rows = max(1, min(fitting, 2 * len(chunk), MAX_ROWS))
        return answer


def text_size(value: object) -> int:
    """Number of characters in a nested value; anything but text counts one."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(text_size(part) for pair in cast("dict[object, object]", value).items() for part in pair)
    if isinstance(value, list | tuple):
        return sum(map(text_size, cast("Iterable[object]", value)))
    return 1
