"""Work for the tests of the batch machinery: in a module of its own, so that worker processes find it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator

from vouching.errors import InputError
from vouching.rows.read import Row
from vouching.rows.run import Seen


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
