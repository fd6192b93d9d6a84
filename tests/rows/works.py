"""Work for the tests of the batch machinery: in a module of its own, so that worker processes find it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from vouching.errors import InputError
from vouching.rows.journal import open_journal
from vouching.rows.pool import AsyncWorkFactory
from vouching.rows.read import Row
from vouching.rows.run import BatchSummary, Seen, run_batch


def rows_of(count: int, first: int = 1) -> Iterator[Row]:
    """Rows with ids of their own."""
    return (Row(number, f"line {number}", {"id": f"id-{number}"}) for number in range(first, first + count))


def echo() -> Callable[[Row], str]:
    """Gives back name and problem."""
    return lambda row: json.dumps({"id": row.name, "problem": row.problem})


def seen(line: dict[str, str | None]) -> Seen:
    """What a line of ``echo`` says."""
    return Seen(str(line["id"]), line["problem"], {"lines": 1})


def name_process() -> Callable[[Row], str]:
    """Tells which process did it."""
    return lambda row: str(os.getpid())


def uneven() -> Callable[[Row], str]:
    """Takes longer for some rows, so that later ones are ready before them."""

    def work(row: Row) -> str:
        time.sleep(0.02 * (row.number % 7 == 1))
        return row.name

    return work


def talk() -> Callable[[Row], str]:
    """Prints while it works."""

    def work(row: Row) -> str:
        print("working")  # noqa: T201 - what this is about
        return row.name

    return work


def die_at_50() -> Callable[[Row], str]:
    """Is killed at row 50."""

    def work(row: Row) -> str:
        if row.number == 50:
            os.kill(os.getpid(), signal.SIGKILL)
        return echo()(row)

    return work


def die_late() -> Callable[[Row], str]:
    """Is killed at row 1, half a second after it began."""

    def work(row: Row) -> str:
        if row.number == 1:
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)
        return echo()(row)

    return work


def refuse_at_50() -> Callable[[Row], str]:
    """Refuses row 50."""

    def work(row: Row) -> str:
        if row.number == 50:
            raise InputError("no more of this")
        return row.name

    return work


def fail_at_50() -> Callable[[Row], str]:
    """Has a bug that row 50 shows."""
    return lambda row: str(1 // (row.number - 50))


def fail_at_r30() -> Callable[[Row], str]:
    """Has a bug that the row with the id "r30" shows."""

    def work(row: Row) -> str:
        return json.dumps({"id": row.name, "problem": row.problem, "x": 1 // (row.name != "r30")})

    return work


def mislabel() -> Callable[[Row], str]:
    """Gives every line the same id."""
    return lambda row: json.dumps({"id": "another", "problem": None})


def die_once() -> Callable[[Row], str]:
    """Is killed at the first row that asks for it, once: the row names a file that is there afterwards."""

    def work(row: Row) -> str:
        fields = row.fields or {}
        if fields.get("die") and not os.path.exists(fields["die"]):
            open(fields["die"], "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return json.dumps({"id": row.name, "problem": row.problem, "pid": os.getpid()})

    return work


def name_node() -> Callable[[Row], str]:
    """Tells on which node of Ray it was done, and takes a while."""
    import ray

    node = ray.get_runtime_context().get_node_id()

    def work(row: Row) -> str:
        time.sleep(0.05)
        return json.dumps({"id": row.name, "problem": row.problem, "node": node})

    return work


def always_die() -> Callable[[Row], str]:
    """Is killed at the row with the id "id-3"."""

    def work(row: Row) -> str:
        if row.name == "id-3":
            os.kill(os.getpid(), signal.SIGKILL)
        return json.dumps({"id": row.name, "problem": row.problem})

    return work


def seen_in(name: str, line: dict[str, str | None]) -> Seen:
    """As ``seen``, with the name of the file."""
    problem = line["problem"]
    return Seen(str(line["id"]), None if problem is None else f"{name}, {problem}", {"lines": 1})


ROWS = 40
ROWS_AT_ONCE = 16


class Server:
    """Answers rows in random order, and stops answering as ``stop`` says, which is asked before each answer."""

    def __init__(self, stop: Callable[[Row], None], seed: int) -> None:
        self.answered: Counter[str] = Counter()
        self._stop = stop
        self._random = random.Random(seed)

    async def __call__(self, row: Row) -> str:
        if row.again:
            return json.dumps({"id": row.name, "again": row.problem})
        await asyncio.sleep(self._random.uniform(0, 0.004))
        self._stop(row)
        self.answered[row.name] += 1
        return json.dumps({"id": row.name, "text": "x" * 50})

    def batch(self, output: Path, rows: Iterator[Row] | None = None) -> BatchSummary:
        """Run or resume a batch."""
        factory = AsyncWorkFactory(lambda: self, rows_at_once=ROWS_AT_ONCE)
        with open_journal(str(output), {}, resume=True) as journal:
            return run_batch(
                rows or rows_of(ROWS), journal, factory, lambda line: Seen(line["id"], again=int("again" in line))
            )
