"""Several questions under way at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def all_of(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of work done at the same time, in order; where one fails, the rest is given up.

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
