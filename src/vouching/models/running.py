"""Event loops: the one place where the library waits for coroutines, and what belongs to one loop.

Connections and locks belong to the event loop that they were made in. The synchronous front of the library has a loop
of its own and a program may have others; a model works in all of them, with one of each thing per loop (``PerLoop``).
"""

from __future__ import annotations

import asyncio
import atexit
import os
import select
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import copy_context
from typing import Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet

T = TypeVar("T")


class _Loop:
    """An event loop that is closed when nothing refers to it any more."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.process = os.getpid()
        _OPEN.add(self)

    def leave_to_parent(self) -> None:
        """In a fork, point the descriptor of the inherited epoll at a new one.

        The kernel's epoll is shared with the parent. When Python frees the inherited loop, asyncio unregisters the
        socket that wakes it up; without this, also for the parent, whose loop would never wake up again.
        """
        selector = getattr(self._loop, "_selector", None)
        if selector is not None and hasattr(select, "epoll") and not self._loop.is_closed():
            with select.epoll() as fresh:
                os.dup2(fresh.fileno(), selector.fileno(), inheritable=False)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(coroutine)

    def close(self) -> None:
        """Cancel pending tasks, as asyncio.run does, and close the loop."""
        if self._loop.is_closed() or self.process != os.getpid():  # a fork must not close its parent's loop
            return
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())  # closes open connections
        self._loop.close()

    def __del__(self) -> None:
        self.close()


_OPEN: WeakSet[_Loop] = WeakSet()
"""Every open loop, for forks."""


def _leave_loops_to_parent() -> None:
    for loop in list(_OPEN):
        loop.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_loops_to_parent)


class _Loops(threading.local):
    """A loop for each thread, kept with the thread: making one takes a tenth of the time of a short claim."""

    loop: _Loop | None = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine. After an error the loop is closed, so that nothing continues in the next call."""
        if self.loop is None or self.loop.process != os.getpid():
            self.loop = _Loop()
        try:
            return self.loop.run(coroutine)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Close this thread's loop, if it has one."""
        if self.loop is not None:
            self.loop.close()
            self.loop = None


_LOOPS = _Loops()
atexit.register(_LOOPS.end)  # before the interpreter frees what closing needs


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine, also where an event loop is already running (a notebook).

    >>> async def answer():
    ...     return 42
    >>> run(answer())
    42
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _LOOPS.run(coroutine)
    box: list[T] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            box.append(asyncio.run(coroutine))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return box[0]


async def in_thread(work: Callable[[], T]) -> T:
    """The result of a long call, while the event loop runs on.

    At exit Python waits for threads of ``asyncio.to_thread``, but not for these: an interrupted program ends at once.

    >>> run(in_thread(lambda: 6 * 7))
    42
    """
    loop, context = asyncio.get_running_loop(), copy_context()
    done: asyncio.Future[T] = loop.create_future()

    def deliver(result: T | None, error: BaseException | None) -> None:
        if done.done():  # the caller was cancelled
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(cast("T", result))

    def call() -> None:
        result: T | None = None
        failure: BaseException | None = None
        try:
            result = context.run(work)
        except BaseException as error:
            failure = error
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(deliver, result, failure)

    threading.Thread(target=call, daemon=True).start()
    return await done


Kept = TypeVar("Kept")


class PerLoop(Generic[Kept]):
    """What ``make`` returns, once for each event loop.

    >>> numbers = PerLoop(iter(range(9)).__next__)
    >>> async def twice():
    ...     return numbers.get(), numbers.get()
    >>> asyncio.run(twice()), asyncio.run(twice())
    ((0, 0), (1, 1))
    """

    def __init__(self, make: Callable[[], Kept]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, Kept] = WeakKeyDictionary()

    def get(self) -> Kept:
        """The one of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._made[loop] = self._make()
        return self._made[loop]

    def drop(self) -> Kept | None:
        """Forget the one of the running loop and return it; None if it has none."""
        return self._made.pop(asyncio.get_running_loop(), None)


class OpenPerLoop(Generic[Kept]):
    """What ``enter`` opens, once for each event loop, and closed with it. Opening must not suspend the task."""

    def __init__(self, enter: Callable[[], AbstractAsyncContextManager[Kept]]) -> None:
        self._enter = enter
        self._held: PerLoop[AsyncGenerator[Kept]] = PerLoop(self._hold)

    async def get(self) -> Kept:
        """The one of the running loop."""
        return await anext(self._held.get())

    async def aclose(self) -> None:
        """Close the one of the running loop; the next ``get`` opens another."""
        if (held := self._held.drop()) is not None:
            await held.aclose()

    async def _hold(self) -> AsyncGenerator[Kept]:
        # A generator, because a loop that ends closes its generators.
        try:
            async with self._enter() as opened:
                while True:
                    yield opened
        finally:
            self._held.drop()


R = TypeVar("R")


async def all_of(work: Iterable[Coroutine[Any, Any, R]]) -> list[R]:
    """The results of concurrent work, in order; if one fails, the rest is cancelled.

    >>> asyncio.run(all_of(asyncio.sleep(0, result=number) for number in (1, 2)))
    [1, 2]
    """
    waiting = [*work]
    if len(waiting) == 1:  # needs no task of its own
        return [await waiting[0]]
    tasks = [asyncio.ensure_future(one) for one in waiting]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
