"""Jobs for the tests of the pool: in a module of its own, so that its processes find it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from vouching.serve.work import Deadline


def process_number(deadline: Deadline) -> int:
    """Tells which process did it."""
    return os.getpid()


def endless(deadline: Deadline) -> None:
    """Never ends, and never looks at its deadline."""
    while True:
        pass


def looks(deadline: Deadline) -> None:
    """Ends when its caller has left or its time is over."""
    while True:
        deadline.look()


def greedy(deadline: Deadline) -> int:
    """Takes a gigabyte."""
    return len(bytearray(1_000_000_000))


def killed(deadline: Deadline) -> None:
    """Is killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def notes_its_number(seen: Path) -> None:
    """Adds the number of its process to a file."""
    with seen.open("a") as file:
        file.write(f"{os.getpid()}\n")


def nothing() -> object:
    """Makes work that is not asked for."""
    return None


def sleeps(seconds: float) -> None:
    """Takes a while."""
    time.sleep(seconds)


def works(seconds: float, deadline: Deadline) -> int:
    """Computes for so much processor time, and tells which process did it."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return os.getpid()


def fails(kind: type[Exception], *arguments: object) -> None:
    """Raises an error; the last argument is the deadline."""
    raise kind(*arguments[:-1])


def counts(number: int, deadline: Deadline, show: Callable[[int], object]) -> int:
    """Shows the numbers below one."""
    for one in range(number):
        show(one)
    return number
