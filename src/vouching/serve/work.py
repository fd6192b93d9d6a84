"""Judging in a bounded pool of threads, so that the event loop stays free for health checks and new requests.

A request that finds the pool and its queue full is refused at once, with the time after which to try again: a queue
that grows only makes every caller time out. A thread cannot be stopped; work looks at its :class:`Deadline` between
claims instead, and its place stays taken until it ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Lock
from typing import TypeVar

from vouching.errors import ModelDeadlineError, ServerUnavailableError

T = TypeVar("T")

_WEIGHT = 0.1
"""Of the newest request, in the mean time of a request."""


class Deadline:
    """When a request must have ended, and whether its caller has left."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._left = False

    @property
    def remaining(self) -> float:
        """Seconds until the end; never negative."""
        return max(0.0, self._end - time.monotonic())

    def leave(self) -> None:
        """The caller no longer waits; the work ends at its next look."""
        self._left = True

    def look(self, _: object = None) -> None:
        """Raise ModelDeadlineError if the time is over or the caller left."""
        if self._left or not self.remaining:
            raise too_late(self.seconds)


def too_late(seconds: float) -> ModelDeadlineError:
    """The error of a request that took too long."""
    return ModelDeadlineError(
        f"the request was not answered within {seconds:g} s: send fewer or shorter texts, or try again later"
    )


class Pool:
    """Runs work in ``threads`` threads; ``queue`` more may wait.

    >>> pool = Pool(threads=1, queue=4)
    >>> asyncio.run(pool.run(lambda: 6 * 7, Deadline(5)))
    42
    >>> pool.close()
    """

    def __init__(self, threads: int, queue: int) -> None:
        self.threads = threads
        self.queue = queue
        self.taken = 0
        """Requests that are judged or wait."""
        self._lock = Lock()
        self._seconds = 0.05
        self._executor = ThreadPoolExecutor(threads, "vouch-judge")

    @property
    def retry_after(self) -> int:
        """Whole seconds after which a place is likely: the work ahead, at the mean time of a request."""
        return max(1, round(self.taken * self._seconds / self.threads))

    async def run(self, work: Callable[[], T], deadline: Deadline) -> T:
        """The result of ``work``.

        Raises:
            ServerUnavailableError: every place is taken.
            ModelDeadlineError: it took too long; it goes on until it looks at its deadline.
        """
        self.refuse_if_full()
        with self._lock:
            self.taken += 1
        job = self._executor.submit(copy_context().run, self._timed, work, deadline)
        job.add_done_callback(self._give_back)
        try:
            # Cancelling the wait cancels work that has no thread yet; running work keeps its place until it ends.
            return await asyncio.wait_for(asyncio.wrap_future(job), deadline.remaining)
        except TimeoutError:
            raise too_late(deadline.seconds) from None
        finally:
            if not job.done():
                deadline.leave()

    @property
    def is_full(self) -> bool:
        """Whether every place is taken."""
        return self.taken >= self.threads + self.queue

    def has_waiting(self) -> bool:
        """Whether requests wait for a thread."""
        return self.taken > self.threads

    def refuse_if_full(self) -> None:
        """Raise ServerUnavailableError if every place is taken."""
        if self.is_full:
            raise ServerUnavailableError(
                f"the server is busy: {self.taken} requests are waiting; try again in {self.retry_after} s",
                self.retry_after,
                429,
            )

    def close(self) -> None:
        """Start nothing more; running work ends by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _timed(self, work: Callable[[], T], deadline: Deadline) -> T:
        deadline.look()
        started = time.perf_counter()
        try:
            return work()
        finally:
            self._seconds += _WEIGHT * (time.perf_counter() - started - self._seconds)

    def _give_back(self, job: object) -> None:
        with self._lock:
            self.taken -= 1
