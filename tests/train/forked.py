"""Runs in children of this process: to be killed, to meet a full disk, or to be one of several.

What is loaded here is not loaded again there, which takes torch and TRL seconds.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable

from vouching.train import watch


def in_child(run: Callable[[], object], **environment: str) -> int:
    """Exit status of a child that does ``run``: negative for the signal that ended it, 1 for an error."""
    return _ended(_started(run, environment))


def as_group(run: Callable[[], object], processes: int = 2, engine: dict[str, str] | None = None) -> None:
    """Do ``run`` in children that train together on a CPU. Raises AssertionError if one of them fails.

    ``engine`` is what the launcher of accelerate would put into the environment, to divide the weights among them.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    about = {
        "WORLD_SIZE": str(processes),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        **(engine or {"ACCELERATE_USE_CPU": "true"}),
    }
    children = [_started(run, {**about, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(processes)]
    assert [_ended(child) for child in children] == [0] * processes


def dying_at(words: str) -> Callable[[str], None]:
    """Takes lines of progress; at the first that begins so it dies as by a power cut."""

    def say(line: str) -> None:
        if line.startswith(words):
            os.kill(os.getpid(), signal.SIGKILL)

    return say


def told_always(run: Callable[[], object]) -> Callable[[], None]:
    """The run with a line of progress after every step; for a child, as it stays so."""

    def records() -> None:
        watch.TELL_EVERY = 1
        run()

    return records


def _started(run: Callable[[], object], environment: dict[str, str]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    if child := os.fork():
        return child
    try:
        os.environ.update(environment, TOKENIZERS_PARALLELISM="false")
        run()
        status = 0
    except BaseException:  # the parent tells what it was
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
