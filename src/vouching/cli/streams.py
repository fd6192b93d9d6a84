"""Output of the commands: results to standard output, errors and progress to standard error, and exit statuses.

Progress is a bar on a terminal, otherwise an occasional line; short runs show none. Not supported: log files.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

import typer

import vouching.rows
from vouching.errors import (
    BackendError,
    InputError,
    ModelDeadlineError,
    ModelUnavailableError,
    NoLanguageModelError,
    SearchError,
    VouchError,
)
from vouching.rows import STDIN, BatchSummary, RowJob
from vouching.rows import Progress as Progressed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from vouching.report.figures import Table

PATIENCE = 1.0
"""Seconds before progress is shown."""
LINE_SECONDS = 10.0
"""Seconds between two progress lines without a terminal, unless ``VOUCH_PROGRESS`` says otherwise."""
BAR_SECONDS = 0.2
"""Seconds between two updates of the bar."""
MAX_NAMED = 100
"""Rows with a problem that are reported one by one; further ones are only counted."""
_MAX_NUMBER = 40
"""Maximum length of a right-aligned cell."""
AGAIN = "finish with --resume"
"""How to resume an output that is a file."""


class Exit(IntEnum):
    """Exit statuses."""

    OK = 0
    FINDINGS = 1
    """With --fail: a claim is Not Attributable."""
    USAGE = 2
    """The command line or an input file is invalid."""
    INCOMPLETE = 3
    """A claim could not be verified, --fail found nothing to check, or the result could not be written."""
    INTERRUPTED = 130
    """Ctrl-C: 128 + SIGINT."""
    PIPE_CLOSED = 141
    """The reader of the output is gone: 128 + SIGPIPE."""


def write_error(message: str) -> None:
    """Write one line to standard error, without control characters."""
    from vouching.types.visible import visible_line

    line = f"vouch: {visible_line(message)}"
    encoding = sys.stderr.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a Python warning: one of vouching's own as a line on standard error, others as Python does."""
    if category.__module__.startswith("vouching."):
        write_error(f"warning: {message}")
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)


def write_result(text: str) -> None:
    """Write machine-readable output to standard output, always as UTF-8."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(encoding="utf-8", errors="backslashreplace")
    _write(text)


def write_json(value: Any) -> None:
    """Write a JSON value (null for NaN and infinity) or a record to standard output; indented on a terminal."""
    from vouching.types.serial import defined, to_json

    indent = 2 if sys.stdout.isatty() else None
    is_plain = isinstance(value, dict | list)
    text = json.dumps(defined(value), indent=indent, ensure_ascii=False) if is_plain else to_json(value, indent=indent)
    write_result(f"{text}\n")


def draw(paint: Callable[[Console], None]) -> None:
    """Render with ``paint`` and write the result to standard output."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as drawn:
        paint(console)
    # Remove the padding of table cells at the end of lines.
    _write("\n".join(line.rstrip(" ") for line in drawn.get().split("\n")))


def draw_tables(tables: Iterable[Table]) -> None:
    """Print tables with their headings."""

    def paint(console: Console) -> None:
        from rich.table import Table

        for table in tables:
            console.print(table.heading, style="bold")
            drawn = Table(box=None, show_header=any(table.head))
            for number, name in enumerate(table.head):
                words = number == 0 or any(len(row[number]) > _MAX_NUMBER for row in table.rows)
                drawn.add_column(name, justify="left" if words else "right", overflow="fold")
            for row in table.rows:
                drawn.add_row(*row)
            console.print(drawn)
            console.print()

    draw(paint)


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise typer.Exit(output_failed(error)) from None


def output_failed(error: OSError) -> Exit:
    """Report that standard output cannot be written, unless its reader is gone, and return the exit status."""
    # The interpreter flushes again at exit, which must not fail.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return Exit.PIPE_CLOSED
    write_error(f"cannot write the result: {error.strerror or error}")
    return Exit.INCOMPLETE


def cannot_write(error: OSError, output: str, advice: str | None = None) -> Exit:
    """Report that an output file or "-" cannot be written, and return the exit status; default advice: resume."""
    if output == "-":
        return output_failed(error)
    if advice is None:
        advice = (
            "finished rows are kept; free some space and finish with --resume"
            if Path(output).is_file()
            else "only a regular file can be resumed: start again with another --output"
        )
    write_error(f"cannot write to {output}: {error.strerror or error}; {advice}")
    return Exit.INCOMPLETE


def _retry_advice(error: BackendError) -> str:
    """The end of a message: what to do before the same command may succeed."""
    cause = error.__cause__ if isinstance(error, SearchError) else error
    if isinstance(cause, ModelDeadlineError):
        return ""  # it has its own
    if isinstance(cause, ModelUnavailableError) and cause.status is None:
        return "; check that the server is running, or try again later"
    return "; try again later" if error.can_retry else ""


@contextmanager
def usage_errors(judge: str = "--model") -> Generator[None]:
    """Turn vouching's errors into one line and exit status 2, or 3 if a model cannot be reached.

    Args:
        judge: the option that names the judge, for messages.
    """
    try:
        yield
    except BackendError as error:
        write_error(f"{error}{_retry_advice(error)}")
        raise typer.Exit(Exit.INCOMPLETE) from None
    except NoLanguageModelError as error:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in error.settings)
        refused = f"{judge} {error.model} is not a language model, so {names} cannot be used"
        write_error(f"{refused}: pass a language model with {judge}, or omit {names}")
        raise typer.Exit(Exit.USAGE) from None
    except VouchError as error:
        write_error(str(error))
        raise typer.Exit(Exit.USAGE) from None
    except MemoryError:
        write_error(str(InputError("the texts do not fit into memory: use smaller texts")))
        raise typer.Exit(Exit.USAGE) from None


@contextmanager
def interruptible(again: str) -> Generator[None]:
    """On Ctrl-C, say how to resume; an empty ``again`` prints nothing."""
    try:
        yield
    except KeyboardInterrupt:
        if again:
            write_error(f"interrupted; {again}")
        # Suppress warnings about unfinished work, such as a coroutine that never ran.
        warnings.simplefilter("ignore")
        logging.disable()
        raise


def line_seconds() -> float:
    """Seconds between two progress lines. Raises ConfigError for a ``VOUCH_PROGRESS`` that is no number above 0."""
    from vouching.models.limits import number_of

    return number_of("VOUCH_PROGRESS", 0) or LINE_SECONDS


@contextmanager
def _signs_of_life(words: Callable[[], str | None]) -> Generator[None]:
    """Write what ``words`` returns, unless it is None, every :func:`line_seconds` until the end of the context."""
    every, ended = line_seconds(), threading.Event()

    def tell() -> None:
        while not ended.wait(every):
            if said := words():
                write_error(said)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def progress(message: str) -> Generator[None]:
    """Show on standard error that the work is not done: a spinner, or lines without a terminal."""
    if not sys.stderr.isatty():
        start = time.monotonic()
        with _signs_of_life(lambda: f"{message.lower()}: no answer for {time.monotonic() - start:.0f} s"):
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


def show_rows(job: RowJob, again: str = AGAIN, idle: bool = True) -> BatchSummary:
    """Run a file of rows with progress; report the rows that cannot be used, and why the run stopped.

    Args:
        job: rows, work and output.
        again: how to resume an output that is a file.
        idle: whether to report that nothing was left to do.

    Raises:
        InputError: the input or the output cannot be used, or the output belongs to other rows.
        typer.Exit: the output cannot be written.
    """
    again = again if job.output != STDIN and (not Path(job.output).exists() or Path(job.output).is_file()) else ""
    with RowProgress() as progress, interruptible(again):

        def watch(done: Progressed) -> None:
            progress.advance(done.share)
            if done.seen.problem is not None:
                progress.name(done.seen.problem)

        try:
            summary = vouching.rows.run_rows(job, watch, progress.keep)
        except OSError as error:
            raise typer.Exit(cannot_write(error, job.output)) from None
    if summary.again:
        write_error(f"retried {_rows(summary.again)} from an earlier run")
    if summary.left and again:
        write_error(f"could not verify {_rows(summary.left)} because of temporary failures: retry with --resume")
    if summary.stopped is not None:
        kept = f"; the answers for {_rows(summary.ahead)} after it are kept" if summary.ahead else ""
        write_error(f"stopped: {summary.stopped}{kept}" + (f"; fix this and {again}" if again else ""))
    elif idle and summary.found and summary.found == summary.rows:
        write_error(f"{job.output} is already complete")
    return summary


def write_summary(summary: BatchSummary, more: str = "") -> None:
    """Report the number of rows, ``more`` about them, and how many cannot be used."""
    broken = f"; {summary.problems:,} of the rows cannot be used (see the output)" if summary.problems else ""
    write_error(f"{_rows(summary.rows)}{more}{broken}")


def _rows(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"


class RowProgress:
    """Shows how many rows are done, the rate, and the remaining time; or that no row was done for a while.

    Args:
        share: returns the share of the input read so far, from 0 to 1, or None if unknown.
        what: the unit that is counted.
    """

    def __init__(self, share: Callable[[], float | None] = lambda: None, what: str = "rows") -> None:
        self._share = share
        self._what = what
        self._terminal = sys.stderr.isatty()
        self._rows = self._kept = self._named = 0
        self._start = self._last = time.monotonic()
        self._every = line_seconds()
        self._next = self._start + (PATIENCE if self._terminal else self._every)
        self._first_share: float | None = None
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        self._signs = _signs_of_life(self._waited)
        self._signs.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._signs.__exit__(None, None, None)
        if self._bar is not None:
            self._bar.stop()

    def advance(self, share: Callable[[], float | None] | None = None, rows: int = 1) -> None:
        """Count rows; ``share`` replaces the function given at the start."""
        self._share = share or self._share
        now = self._last = time.monotonic()
        if self._rows == 0:
            # Rows of an earlier run were only read; the rate covers the new ones.
            self._start, self._first_share = now, self._share()
        self._rows += rows
        if now < self._next:
            return
        self._next = now + (BAR_SECONDS if self._terminal else self._every)
        words = progress_words(self._rows, now - self._start, read := self._share(), self._first_share, self._what)
        if self._terminal:
            self._draw(words, read)
        else:
            write_error(words)

    def _waited(self) -> str | None:
        """That no row was done for a while; None if one was, or a bar shows it."""
        if (waited := time.monotonic() - self._last) < self._every or self._bar is not None:
            return None
        kept = f"; {self._kept:,} later ones wait for it" if self._kept else ""
        return f"{progress_words(self._rows, 0, None, what=self._what)}, no further one for {waited:.0f} s{kept}"

    def keep(self, lines: int) -> None:
        """Remember how many lines wait for an earlier row."""
        self._kept = lines

    def name(self, problem: str) -> None:
        """Report a row that cannot be used."""
        self._named += 1
        if self._named <= MAX_NAMED:
            write_error(problem)
        if self._named == MAX_NAMED:
            write_error(f"further {self._what} with problems are counted but not shown")

    def _draw(self, words: str, share: float | None) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = BarColumn(bar_width=30), TextColumn("{task.description}")
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task("", total=None if share is None else 1.0)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], description=words, completed=share or 0.0)


def progress_words(
    rows: int, seconds: float, share: float | None, first_share: float | None = 0.0, what: str = "rows"
) -> str:
    """The progress as text: rows done, rate and, if the share of the input is known, the remaining time.

    >>> progress_words(1200, 10, 0.25, 0.0)
    '1,200 rows, 120 per second, 25 %, 30 s left'
    >>> progress_words(1200, 10, None)
    '1,200 rows, 120 per second'
    >>> progress_words(1, 0, 0.25)
    '1 row'
    """
    if rows == 1 or not seconds:  # the clock starts with the first row
        return f"{rows:,} {what if rows != 1 else what.removesuffix('s')}"
    rate = (rows - 1) / seconds
    words = f"{rows:,} {what}, {rate:,.0f} per second" if rate >= 10 else f"{rows:,} {what}, {rate:.1f} per second"
    if share is None or first_share is None or share <= first_share:
        return words
    left = seconds * (1 - share) / (share - first_share)
    return f"{words}, {100 * share:.0f} %, {_duration(left)} left"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"
