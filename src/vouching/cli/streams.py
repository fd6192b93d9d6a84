"""Where a command writes: results to standard output, errors and progress to standard error, and how it ends.

Left out: log files.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from vouching.errors import BackendError, InputError, VouchError

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0
"""Seconds before progress is shown."""


class Exit(IntEnum):
    """What the exit status of a command means."""

    OK = 0
    """Done."""
    FINDINGS = 1
    """Under --fail: a claim is Not Attributable."""
    USAGE = 2
    """The command line or a file it names cannot be used."""
    INCOMPLETE = 3
    """A claim could not be verified, there was none under --fail, or the result could not be written."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it: 128 + SIGINT."""
    PIPE_CLOSED = 141
    """The reader of the output went away, as shells count it: 128 + SIGPIPE."""


def write_error(message: str) -> None:
    """Write one line to standard error, with nothing in it that could disturb a terminal."""
    from vouching.types.visible import visible_line

    line = f"vouch: {visible_line(message)}"
    encoding = sys.stderr.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)


def write_result(text: str) -> None:
    """Write a result for programs to standard output: always UTF-8, whatever the terminal speaks."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(encoding="utf-8", errors="backslashreplace")
    _write(text)


def draw(paint: Callable[[Console], None]) -> None:
    """Let ``paint`` draw on a console, then write what it drew to standard output."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as drawn:
        paint(console)
    # Blanks at a line's end, which fill up table cells, only get in the way of copying.
    _write("\n".join(line.rstrip(" ") for line in drawn.get().split("\n")))


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise typer.Exit(output_failed(error)) from None


def output_failed(error: OSError) -> Exit:
    """Say that standard output takes no more, unless its reader just went away, and how the command ends."""
    # The interpreter flushes once more at its end, which must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return Exit.PIPE_CLOSED
    write_error(f"cannot write the result: {error.strerror or error}")
    return Exit.INCOMPLETE


def cannot_write(error: OSError, output: str, advice: str | None = None) -> Exit:
    """Say that an output takes no more, a file or standard output ("-"), and how the command ends.

    Args:
        error: what happened.
        output: path of the output.
        advice: what to do; None is to resume a file.
    """
    if output == "-":
        return output_failed(error)
    if advice is None:
        advice = (
            "the rows finished so far are kept, make room and finish with --resume"
            if Path(output).is_file()
            else "it is no regular file, so it cannot be resumed: begin again with a file"
        )
    write_error(f"cannot write to {output}: {error.strerror or error}; {advice}")
    return Exit.INCOMPLETE


@contextmanager
def usage_errors() -> Generator[None]:
    """Turn errors that vouching raises on purpose into one line and exit status 2, or 3 if a model is not reached."""
    try:
        yield
    except BackendError as error:
        write_error(f"{error}{'; see that the server runs, or try again later' if error.can_retry else ''}")
        raise typer.Exit(Exit.INCOMPLETE) from None
    except VouchError as error:
        write_error(str(error))
        raise typer.Exit(Exit.USAGE) from None
    except MemoryError:
        write_error(str(InputError("the texts do not fit into memory; check smaller ones")))
        raise typer.Exit(Exit.USAGE) from None


@contextmanager
def interruptible(again: str) -> Generator[None]:
    """Say how to go on with what an interrupt (Ctrl-C) ends; an empty ``again`` says nothing."""
    try:
        yield
    except KeyboardInterrupt:
        if again:
            write_error(f"interrupted; {again}")
        # What the interrupt leaves half done, such as a coroutine that never ran, is nothing to tell the user.
        warnings.simplefilter("ignore")
        logging.disable()
        raise


@contextmanager
def progress(message: str) -> Generator[None]:
    """Show a spinner on standard error if that is a terminal and the work takes longer than ``PATIENCE``."""
    if not sys.stderr.isatty():
        yield
        return

    from rich.console import Console

    status = Console(stderr=True).status(message)
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
