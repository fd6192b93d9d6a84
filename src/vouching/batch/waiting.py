"""Work that waits for others, such as a language model behind a network: many rows at once in one process, in order.

Processes would wait as well and cost memory each. Left out: how many questions are under way at once; the model knows
what its server bears.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vouching.batch.rows import Row

AsyncWork: TypeAlias = Callable[[Row], Awaitable[str]]
"""Works on a row and returns its line of output, without a newline."""
ROWS_AT_ONCE = 256
"""Rows under way or finished behind a slower one: some times what a server answers at once, so that it never waits."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A factory of work that waits; :func:`~vouching.batch.run.run_batch` takes it like any other."""

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
        >>> [line for row, line in Waiting(lambda: shout, rows_at_once=2).in_order(rows)]
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
