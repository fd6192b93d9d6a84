"""Work on rows, in this process or in several, with the results in the order of the rows.

Only a few chunks of rows are under way at a time, and a chunk holds little text, so memory does not grow with the
input; results that are ready wait for those before them. Left out: more than one machine.

Work that waits for others, such as a language model behind a network: many rows at once in one process, in order.

Processes would wait as well and cost memory each. Left out: how many questions are under way at once; the model knows
what its server bears.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from queue import SimpleQueue
from typing import TypeAlias, cast

from vouching.rows.read import Row
from vouching.rows.worker import ChunkResult, Work, Worker, WorkFactory, line_of

AsyncWork: TypeAlias = Callable[[Row], Awaitable[str]]
"""Works on a row and returns its line of output, without a newline."""
ROWS_AT_ONCE = 256
"""Rows under way or finished behind a slower one: some times what a server answers at once, so that it never waits."""


@dataclass(frozen=True, slots=True)
class AsyncWorkFactory:
    """A factory of work that waits; :func:`~vouching.rows.run.run_rows` takes it like any other."""

    make_work: Callable[[], AsyncWork]
    """Makes the work."""
    aclose: Callable[[], Awaitable[None]] | None = None
    """Called at the end, in the event loop of the work, however it ended."""
    rows_at_once: int = ROWS_AT_ONCE
    """Rows under way at the same time, at least 1."""

    def in_order(self, rows: Iterable[Row]) -> Generator[tuple[Row, str]]:
        """Every row with its line, in order; an error in one gives up those behind it.

        >>> async def shout(row):
        ...     return row.place.upper()
        >>> rows = [Row(number, f"line {number}", {}) for number in (1, 2, 3)]
        >>> [line for row, line in AsyncWorkFactory(lambda: shout, rows_at_once=2).in_order(rows)]
        ['LINE 1', 'LINE 2', 'LINE 3']
        """
        work = self.make_work()
        waiting = iter(rows)
        under_way: deque[tuple[Row, asyncio.Task[str]]] = deque()
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            try:
                while True:
                    while len(under_way) < self.rows_at_once and (row := next(waiting, None)) is not None:
                        under_way.append((row, loop.create_task(_line(work, row))))
                    if not under_way:
                        return
                    row, task = under_way.popleft()
                    yield row, runner.run(_result(task))
            finally:
                runner.run(self._end([task for _, task in under_way]))

    async def _end(self, left: Sequence[asyncio.Task[str]]) -> None:
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if self.aclose is not None:
            await self.aclose()


async def _line(work: AsyncWork, row: Row) -> str:
    """The line of a row; an error that nobody expected says which row it was."""
    try:
        return await work(row)
    except Exception as error:
        error.add_note(f"while working on {row.place}, id {row.name}")
        raise


async def _result(task: asyncio.Task[str]) -> str:
    return await task


PATIENCE = 1.0
"""Seconds of work before worker processes are started: in less time they would not pay for their start."""
CHUNK_SECONDS = 0.1
"""How long a chunk should take: long beside the passing on of its rows, short beside the wait for a result."""
MAX_ROWS = 1_000
"""Rows in a chunk at most; the first has one, as rows may be slow."""
CHUNK_TEXT = 1_000_000
"""Characters of text from which a chunk takes no further row, so that large rows do not fill the memory."""
_CHUNKS_PER_WORKER = 3


def cores() -> int:
    """Cores that this process may use, or that there are where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    make_work: WorkFactory | AsyncWorkFactory, rows: Iterable[Row], jobs: int = 1, patience: float = PATIENCE
) -> Generator[tuple[Row, str]]:
    """Work on each row and yield it with its line, in order, as they are ready.

    Args:
        make_work: makes the function from a row to its line; with several processes it must be picklable.
        rows: read as they are needed.
        jobs: how many processes work; work that waits is done in one.
        patience: seconds of work in this process before others are started.

    Raises:
        WorkerError: a worker process ended; results before its rows have been yielded.

    >>> rows = [Row(number, f"line {number}", {}) for number in (1, 2)]
    >>> [line for row, line in in_order(lambda: lambda row: row.place.upper(), rows)]
    ['LINE 1', 'LINE 2']
    """
    if isinstance(make_work, AsyncWorkFactory):
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
            yield from workers.in_order(chain([first], waiting))


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

    def in_order(self, rows: Iterator[Row]) -> Iterator[tuple[Row, str]]:
        """Every row with its line."""
        asked: deque[tuple[list[Row], Future[ChunkResult]]] = deque()
        while True:
            while len(asked) < _CHUNKS_PER_WORKER * len(self._workers):
                chunk = self._chunk(rows)
                if not chunk:
                    break
                asked.append((chunk, self._threads.submit(self._ask, chunk)))
            if not asked:
                break
            chunk, answer = asked.popleft()
            yield from zip(chunk, answer.result().lines, strict=True)

    def _chunk(self, rows: Iterator[Row]) -> list[Row]:
        """The next rows, as many as one worker should get at a time; empty at the end."""
        chunk: list[Row] = []
        text = 0
        while len(chunk) < self._chunk_rows and text < CHUNK_TEXT and (row := next(rows, None)) is not None:
            chunk.append(row)
            text += _text_size([row.fields, row.problem])
        return chunk

    def _ask(self, chunk: list[Row]) -> ChunkResult:
        # There are as many threads as workers, so one is always idle.
        worker = self._idle.get()
        try:
            answer = worker.ask(chunk)
        finally:
            self._idle.put(worker)
        fitting = round(len(chunk) * CHUNK_SECONDS / max(answer.seconds, 1e-6))
        self._chunk_rows = max(1, min(fitting, 2 * len(chunk), MAX_ROWS))
        return answer


def _text_size(value: object) -> int:
    """Characters of the texts in a value, and one for anything else in it."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(_text_size(part) for pair in cast("dict[object, object]", value).items() for part in pair)
    if isinstance(value, list | tuple):
        return sum(map(_text_size, cast("Iterable[object]", value)))
    return 1
