"""Judging in a bounded pool, so that the event loop stays free for health checks and new requests.

A request that finds the pool and its queue full is refused at once, with the time after which to try again: a queue
that grows only makes every caller time out. Callers take turns, and where the queue is full, the newest request of the
one with most gives way, so that one caller's requests do not hold up another's. Work that only waits, as for a language
model, runs in a thread, which cannot be stopped: it looks at its :class:`Deadline` between claims, and its place stays
taken until it ends. Work that computes runs in a process (:meth:`Pool.run_apart`), which is ended when its time is
over. Work that takes longer than most gives its place to others, and is paused if there is none aside, so that one
caller's long texts do not hold up another's short ones.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from itertools import chain
from threading import Condition, Lock, Semaphore
from typing import Any, Literal, TypeAlias, TypeVar

from vouching.client.problems import Problem, error_of, problem_of
from vouching.errors import InputError, ModelDeadlineError, ServerUnavailableError, VouchError
from vouching.evaluation_events import Attributes, emit_event, kept_events
from vouching.rows.pool import cores
from vouching.rows.worker import Parent, Process, WorkerError

T = TypeVar("T")
Job: TypeAlias = Callable[..., T]
"""Work for a process: picklable, called with a deadline and, if its caller wants to see results early, with a function
that shows them."""

Ready: TypeAlias = Callable[[], object]
"""Loads what jobs need. What it raises is left to the jobs, which meet the same."""

FAILED = "the server failed: its log says why; this is an error in vouching, please report it"
"""The message for a caller about an error that is none of its own."""
_WEIGHT = 0.1
"""Of the newest request, in the mean time of a request."""
_PR_SET_PDEATHSIG = 1
"""Of linux/prctl.h."""
_SHORT_SECONDS = 1.0
"""Work that takes longer gives its place to others."""


class Deadline:
    """When a request must have ended, whose it is, and whether its caller has left."""

    def __init__(self, seconds: float, caller: str = "") -> None:
        self.seconds = seconds
        self.caller = caller
        self._end = time.monotonic() + seconds
        self._left = False

    @property
    def remaining(self) -> float:
        """Seconds until the end; never negative."""
        return max(0.0, self._end - time.monotonic())

    def leave(self) -> None:
        """The caller no longer waits; the work ends at its next look."""
        self._left = True

    def is_wanted(self) -> bool:
        """Whether the caller still waits."""
        return not self._left

    def look(self, _: object = None) -> None:
        """Raise ModelDeadlineError if the time is over or the caller left."""
        if not self.is_wanted() or not self.remaining:
            raise too_late(self.seconds)


class Rejected(InputError):
    """A request that is refused with a status of its own."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def too_late(seconds: float) -> ModelDeadlineError:
    """The error of a request that took too long."""
    return ModelDeadlineError(
        f"the request was not answered within {seconds:g} s: send fewer or shorter texts, or try again later"
    )


def stopping() -> ServerUnavailableError:
    """The error of a request that is open when the server stops, and that does not end in time."""
    return ServerUnavailableError("the server is stopping, and this request was not answered before: try again", 1, 503)


class Pool:
    """Runs work in ``threads`` places; ``queue`` more may wait.

    Args:
        threads: requests at the same time. As many more, but not more than there are cores, may go on that have taken
            longer than most, and as many of these are paused while others wait.
        queue: requests that may wait.
        memory_bytes: most memory of a process that works apart; 0 for no limit.
        processes: those that work apart at the same time, besides those that take longer than most; 0 for as many as
            threads, but not more than there are cores.

    >>> pool = Pool(threads=1, queue=4)
    >>> asyncio.run(pool.run(lambda: 6 * 7, Deadline(5)))
    42
    >>> pool.close()
    """

    def __init__(self, threads: int, queue: int, memory_bytes: int = 0, processes: int = 0) -> None:
        self.threads = threads
        self.queue = queue
        self.taken = 0
        """Requests that are judged or wait."""
        self._lock = Lock()
        self._waiting: dict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = {}
        """By caller; the one whose turn is next is first."""
        self._seconds = 0.05
        aside = min(threads, cores())
        self._places = _Places(threads, aside)
        self._executor = ThreadPoolExecutor(threads + 2 * aside, "vouch-judge")
        self._processes = _Processes((processes or min(threads, cores())) + 2 * aside, memory_bytes)

    @property
    def retry_after(self) -> int:
        """Whole seconds after which a place is likely: the work ahead, at the mean time of a request."""
        return max(1, round(self.taken * self._seconds / self.threads))

    async def run(self, work: Callable[[], T], deadline: Deadline) -> T:
        """The result of ``work``, in a thread.

        Raises:
            ServerUnavailableError: every place is taken.
            ModelDeadlineError: it took too long; it goes on until it looks at its deadline.
        """
        return await self._run(lambda _: work(), deadline)

    async def run_apart(self, job: Job[T], deadline: Deadline, show: Callable[[Any], object] | None = None) -> T:
        """The result of ``job(deadline)``, in a process that is ended with the deadline; ``show`` sees early results.

        Raises as :meth:`run`, and Rejected with status 413 if the job needs too much memory.
        """
        return await self._run(lambda place: self._processes.run(job, deadline, show, place), deadline)

    def start(self, ready: Ready | None = None) -> None:
        """Start a process now, so that the first request need not wait for it.

        Args:
            ready: picklable; this process and each later one call it before their first job, to load what jobs need.
        """
        self._processes.ready = ready
        self._processes.start_one()

    @property
    def is_full(self) -> bool:
        """Whether every place is taken."""
        return self.taken >= self.threads + self.queue

    def has_waiting(self) -> bool:
        """Whether requests wait for a thread."""
        return self.taken > self.threads

    def refuse_if_full(self, caller: str = "") -> None:
        """Raise ServerUnavailableError if every place is taken, unless another caller has more requests waiting."""
        if self.is_full and not self._giving_way(caller):
            raise self._busy()

    def close(self) -> None:
        """Start nothing more, and end the processes; work in threads ends by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        for job, _ in chain.from_iterable(self._waiting.values()):
            job.cancel()
        self._processes.close()

    async def _run(self, work: Callable[[_Place], T], deadline: Deadline) -> T:
        job: Future[Any] = Future()
        with self._lock:
            self.refuse_if_full(deadline.caller)
            # The caller that gives way has another one waiting, so that its turn stays.
            dropped = self._giving_way(deadline.caller).pop()[0] if self.is_full else None
            self.taken += 1
            call: Callable[[], Any] = partial(copy_context().run, partial(self._timed, work, deadline))
            self._waiting.setdefault(deadline.caller, deque()).append((job, call))
        job.add_done_callback(self._give_back)
        if dropped is not None and dropped.set_running_or_notify_cancel():
            dropped.set_exception(self._busy())
        self._executor.submit(self._do_next)
        try:
            # Cancelling the wait cancels work that has no thread yet; running work keeps its place until it ends.
            return await asyncio.wait_for(asyncio.wrap_future(job), deadline.remaining)
        except TimeoutError:
            raise too_late(deadline.seconds) from None
        finally:
            if not job.done():
                deadline.leave()

    def _giving_way(self, caller: str) -> deque[tuple[Future[Any], Callable[[], Any]]]:
        """What waits of the caller with most, if that is more than this one would have with a further request."""
        most = max(self._waiting.values(), key=len, default=deque[Any]())
        return most if len(most) > len(self._waiting.get(caller, ())) + 1 else deque()

    def _busy(self) -> ServerUnavailableError:
        words = f"the server is busy: {self.taken} requests are waiting; try again in {self.retry_after} s"
        return ServerUnavailableError(words, self.retry_after, 429)

    def _do_next(self) -> None:
        """Do what waits of the caller whose turn it is, if anything does."""
        with self._lock:
            if not self._waiting:
                return
            caller = next(iter(self._waiting))
            jobs = self._waiting.pop(caller)
            job, call = jobs.popleft()
            if jobs:
                self._waiting[caller] = jobs
        if not job.set_running_or_notify_cancel():
            return
        try:
            job.set_result(call())
        except BaseException as error:
            job.set_exception(error)

    def _timed(self, work: Callable[[_Place], T], deadline: Deadline) -> T:
        place = _Place(self._places, lambda: self.taken > self._places.held)
        place.take(deadline)
        started = time.perf_counter()
        try:
            deadline.look()
            return work(place)
        finally:
            place.give_back()
            self._seconds += _WEIGHT * (time.perf_counter() - started - self._seconds)

    def _give_back(self, job: object) -> None:
        with self._lock:
            self.taken -= 1


_Kind: TypeAlias = Literal["usual", "aside", "paused"]


class _Places:
    """Places for work; fewer aside for work that takes longer than most; as many for such work that is paused."""

    def __init__(self, usual: int, aside: int) -> None:
        self.free: dict[_Kind, int] = {"usual": usual, "aside": aside, "paused": aside}
        self.changed = Condition()
        self._all = usual + 2 * aside

    @property
    def held(self) -> int:
        """Places of every kind that are taken."""
        return self._all - sum(self.free.values())


class _Place:
    """The place of one piece of work.

    Args:
        places: those of the pool.
        others_wait: whether work waits for a place.
    """

    def __init__(self, places: _Places, others_wait: Callable[[], bool]) -> None:
        self._places, self._others_wait = places, others_wait
        self._held: _Kind | None = None

    def take(self, deadline: Deadline) -> None:
        """Wait for a place. Raises ModelDeadlineError if none is free in time."""
        with self._places.changed:
            if not self._places.changed.wait_for(lambda: self._places.free["usual"], deadline.remaining):
                raise too_late(deadline.seconds)
            self._hold("usual")

    def may_go_on(self) -> bool:
        """Whether work that takes long may go on: aside, or in its place if nobody else waits for that.

        Raises ServerUnavailableError if others wait, and enough such work waits already to go on.
        """
        free = self._places.free
        with self._places.changed:
            if self._held == "usual" and not self._others_wait():
                return True
            if self._held != "aside" and free["aside"]:
                self._hold("aside")
            elif self._held == "paused" and free["usual"] and not self._others_wait():
                self._hold("usual")
            elif self._held == "usual":
                if not free["paused"]:
                    raise ServerUnavailableError("other work that takes long is before this: try again later", 5, 503)
                self._hold("paused")
            return self._held != "paused"

    def give_back(self) -> None:
        """Leave."""
        with self._places.changed:
            self._hold(None)

    def _hold(self, held: _Kind | None) -> None:
        if self._held is not None:
            self._places.free[self._held] += 1
        if held is not None:
            self._places.free[held] -= 1
        self._held = held
        self._places.changed.notify_all()


class _Processes:
    """Processes that do jobs one at a time; they start when they are needed, and one that is ended is replaced."""

    def __init__(self, most: int, memory_bytes: int) -> None:
        self.ready: Ready | None = None
        self._memory_bytes = memory_bytes
        self._most = most
        self._free = Semaphore(most)
        self._all: set[Process] = set()
        self._idle: list[Process] = []
        self._lock = Lock()
        self._closed = False

    def run(self, job: Job[T], deadline: Deadline, show: Callable[[Any], object] | None, place: _Place) -> T:
        """The result of a job."""
        if not self._free.acquire(timeout=deadline.remaining):
            raise too_late(deadline.seconds)
        try:
            return self._result(self._ready_one(deadline), job, deadline, show, place)
        finally:
            self._free.release()

    def start_one(self) -> None:
        """Have one more, unless the pool was closed; those that have loaded already are taken before it."""
        with self._lock:
            if not self._closed:
                self._idle.insert(0, self._started())

    def close(self) -> None:
        """End them all."""
        with self._lock:
            self._closed = True
            ending = [*self._all]
        for process in ending:
            self._end(process)

    def _result(
        self, process: Process, job: Job[T], deadline: Deadline, show: Callable[[Any], object] | None, place: _Place
    ) -> T:
        started = time.monotonic()

        def is_wanted() -> bool:
            if time.monotonic() - started > _SHORT_SECONDS:
                process.pause(deadline.is_wanted() and not place.may_go_on())
                self._have_idle()
            return deadline.is_wanted()

        answered = False
        try:
            request = job, deadline.remaining, show is not None
            result, events = process.ask(request, seconds=deadline.remaining, hear=show, needed=is_wanted)
            answered = not (isinstance(result, Problem) and result.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except TimeoutError:
            raise too_late(deadline.seconds) from None
        except WorkerError as error:
            if self._closed:
                raise stopping() from None
            logging.getLogger("vouching.serve").error("a process that judged was lost: %s", error)
            raise ServerUnavailableError(f"{error}: send shorter texts, or try again", 1, 503) from None
        finally:
            if answered:
                process.pause(False)
                with self._lock:
                    self._idle.append(process)
            else:
                self._end(process)
                self.start_one()
        for event in events:
            emit_event(event)
        if isinstance(result, Problem):
            own = result.error == "InputError" and result.status != HTTPStatus.UNPROCESSABLE_ENTITY
            raise Rejected(result.detail, result.status) if own else error_of(asdict(result))
        return result

    def _ready_one(self, deadline: Deadline) -> Process:
        """A process that is ready for a job. One that is not ready in time is left to start."""
        while True:
            with self._lock:
                if self._closed:
                    raise stopping()
                process = self._idle.pop() if self._idle else self._started()
            try:
                process.wait_until_ready(deadline.remaining, deadline.is_wanted)
            except TimeoutError:
                with self._lock:
                    self._idle.append(process)
                raise too_late(deadline.seconds) from None
            except WorkerError as error:
                self._end(process)
                if self._closed:
                    raise stopping() from None
                raise ServerUnavailableError(f"{error}: try again", 1, 503) from None
            if not process.has_ended():
                return process
            self._end(process)

    def _have_idle(self) -> None:
        """Start a process if none is idle and all that may be are not there yet, so that the next job need not wait."""
        with self._lock:
            if not self._closed and not self._idle and len(self._all) < self._most:
                self._idle.append(self._started())

    def _started(self) -> Process:
        try:
            process = Process(partial(_does_jobs, self.ready), self._memory_bytes)
        except WorkerError as error:
            raise ServerUnavailableError(f"{error}: try again", 1, 503) from None
        self._all.add(process)
        return process

    def _end(self, process: Process) -> None:
        process.kill()
        process.close()
        with self._lock:
            self._all.discard(process)


class _Apart(Deadline):
    """The deadline of a job, in its process."""

    def __init__(self, seconds: float, parent: Parent) -> None:
        super().__init__(seconds)
        self._parent = parent

    def is_wanted(self) -> bool:
        return not self._parent.has_left()


def _does_jobs(ready: Ready | None) -> Callable[[Any, Parent], Any]:
    """What a process does with a job: its result, or the problem object of its error, and events."""
    _end_with_creator()
    if ready is not None:
        with suppress(Exception), kept_events():
            ready()
    return _answer


def _end_with_creator() -> None:
    """Have the kernel of Linux kill this process once the thread that started it, one of the pool, is gone.

    A process that is paused cannot look whether its parent lives. Without this it stays, with its memory, where the
    first process of its session outlives its parent, as in a container.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _answer(request: tuple[Job[Any], float, bool], parent: Parent) -> tuple[Any, list[Attributes]]:
    """The result, and the events of telemetry on the way, which belong to the span of the request."""
    with kept_events() as events:
        return _result_of(request, parent), events


def _result_of(request: tuple[Job[Any], float, bool], parent: Parent) -> Any:
    job, seconds, shows = request
    deadline = _Apart(seconds, parent)
    try:
        return job(deadline, parent.tell) if shows else job(deadline)
    except VouchError as error:
        return problem_of(error, error.status if isinstance(error, Rejected) else None)
    except MemoryError:
        words = "the request needs more memory than this server has for one: send fewer or shorter texts"
        return problem_of(Rejected(words, 413), 413)
    except Exception:
        # The traceback goes to the log only: it may name paths of this machine.
        traceback.print_exc()
        return problem_of(VouchError(FAILED))
