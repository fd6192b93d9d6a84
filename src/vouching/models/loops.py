"""One thing for each event loop: connections and locks belong to the loop that they were made in.

The library's sync front has a loop of its own and a program may have others; a model lives through all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """What ``make`` makes, once for each event loop that asks.

    >>> numbers = PerLoop(iter(range(9)).__next__)
    >>> async def twice():
    ...     return numbers.get(), numbers.get()
    >>> asyncio.run(twice()), asyncio.run(twice())
    ((0, 0), (1, 1))
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        """The one of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._made[loop] = self._make()
        return self._made[loop]

    def drop(self) -> T | None:
        """Forget the one of the running loop and return it; None if it has none."""
        return self._made.pop(asyncio.get_running_loop(), None)
