"""Calls that come at about the same time are worked on together, in a thread of their own.

Left out: rows that join a batch that is already under way; an engine that does this (vLLM) needs no batching here.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Waiting(Generic[Job, Result]):
    """A job and where its result goes."""

    job: Job
    """What is to be done."""
    future: Future[Result] = field(default_factory=Future[Result])
    """Its result; cancelled when nobody waits for it any more."""

    @property
    def wanted(self) -> bool:
        """Whether somebody still waits."""
        return not self.future.cancelled()


_Queue: TypeAlias = "queue.SimpleQueue[Waiting[Job, Result] | None]"
"""Jobs in line; None is the end of it."""


class Batcher(Generic[Job, Result]):
    """Hands jobs to ``work`` in batches, one batch at a time.

    Args:
        work: from the jobs of a batch to their results, in order; it may look whether a job is still wanted, and what
            it returns for one that is not goes nowhere. It runs in the thread; what it raises, every call raises.
        most: jobs in a batch at most.
        gather: seconds that the first job of a batch waits for others.

    >>> async def doubled():
    ...     batcher = Batcher(lambda batch: [2 * waiting.job for waiting in batch])
    ...     results = await asyncio.gather(*(batcher.submit(number) for number in range(3)))
    ...     await batcher.aclose()
    ...     return results
    >>> asyncio.run(doubled())
    [0, 2, 4]
    """

    def __init__(
        self, work: Callable[[Sequence[Waiting[Job, Result]]], Sequence[Result]], most: int = 32, gather: float = 0.005
    ) -> None:
        self._work, self._most, self._gather = work, most, gather
        self._open: tuple[threading.Thread, _Queue[Job, Result]] | None = None
        self._opening, self._working = threading.Lock(), threading.Lock()

    async def submit(self, job: Job) -> Result:
        """The result of a job. If the caller is cancelled, the job is no longer wanted."""
        waiting: Waiting[Job, Result] = Waiting(job)
        with self._opening:
            if self._open is None:
                line: _Queue[Job, Result] = queue.SimpleQueue()
                self._open = (
                    threading.Thread(target=self._run, args=(line,), name="vouching-batches", daemon=True),
                    line,
                )
                self._open[0].start()
            self._open[1].put(waiting)
        return await asyncio.wrap_future(waiting.future)

    async def aclose(self) -> None:
        """End the thread after the jobs that are in line; the next job starts another."""
        with self._opening:
            closed, self._open = self._open, None
        if closed is not None:
            thread, line = closed
            line.put(None)
            await asyncio.to_thread(thread.join)

    def _run(self, line: _Queue[Job, Result]) -> None:
        last = False
        while not last:
            batch, last = self._next_batch(line)
            wanted = [waiting for waiting in batch if waiting.wanted]
            if not wanted:
                continue
            try:
                with self._working:  # a thread that is closing may be at work still
                    results = self._work(wanted)
            except Exception as error:
                for waiting in wanted:
                    with suppress(InvalidStateError):  # cancelled meanwhile
                        waiting.future.set_exception(error)
                continue
            for waiting, result in zip(wanted, results, strict=True):
                with suppress(InvalidStateError):
                    waiting.future.set_result(result)

    def _next_batch(self, line: _Queue[Job, Result]) -> tuple[list[Waiting[Job, Result]], bool]:
        """Jobs that came together, and whether they are the last."""
        first = line.get()
        if first is None:
            return [], True
        batch, end = [first], time.monotonic() + self._gather
        while len(batch) < self._most:
            try:
                waiting = line.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                break
            if waiting is None:
                return batch, True
            batch.append(waiting)
        return batch, False
