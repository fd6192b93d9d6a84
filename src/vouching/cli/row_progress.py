"""A batch under way, on standard error: a bar on a terminal, else a line now and then, nothing in a short run.

Left out: an estimate where nobody knows how long the input is (standard input).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

import vouching.rows
from vouching.cli.streams import PATIENCE, cannot_write, interruptible, write_error
from vouching.rows import STDIN, RowJob
from vouching.rows import Progress as Progressed
from vouching.rows.journal import Journal
from vouching.rows.pool import Waiting
from vouching.rows.read import Row, RowReader
from vouching.rows.run import BatchSummary, Seen, run_batch
from vouching.rows.worker import WorkFactory

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_SECONDS = 10.0
"""Between two lines where there is no terminal."""
BAR_SECONDS = 0.2
"""Between two changes of the bar."""
MOST_NAMED = 100
"""Rows with a problem that are named; further ones are counted."""
AGAIN = "finish with --resume"
"""How to go on with an output that is a file."""

LookIn: TypeAlias = Callable[[str, dict[str, Any]], Seen]
"""From the name of the input and a line of the output to what the batch needs to know about it."""


def show_rows(job: RowJob, again: str = AGAIN, idle: bool = True) -> BatchSummary:
    """Run a file of rows; tell how far it is, name the rows that cannot be used, and say why it stopped.

    Args:
        job: rows, work and output.
        again: how to resume an output that is a file.
        idle: whether to say that nothing was left to do.

    Raises:
        InputError: the input or the output cannot be used, or the output belongs to other rows.
        typer.Exit: the output takes no more.
    """
    again = again if job.output != STDIN and (not Path(job.output).exists() or Path(job.output).is_file()) else ""
    with RowProgress() as progress, interruptible(again):

        def watch(done: Progressed) -> None:
            progress.advance(done.share)
            if done.seen.problem is not None:
                progress.name(done.seen.problem)

        try:
            summary = vouching.rows.run_rows(job, watch)
        except OSError as error:
            raise typer.Exit(cannot_write(error, job.output)) from None
    if summary.again:
        write_error(f"{_rows(summary.again)} of an earlier run, not verified then, tried again")
    if summary.left and again:
        write_error(f"{_rows(summary.left)} not verified for now: --resume tries again")
    if summary.stopped is not None:
        write_error(f"stopped: {summary.stopped}" + (f"; mend that and {again}" if again else ""))
    elif idle and summary.found and summary.found == summary.rows:
        write_error(f"nothing to do: {job.output} is finished")
    return summary


def tell_rows(summary: BatchSummary, more: str = "") -> None:
    """Say how many rows there are, ``more`` about them, and how many cannot be used."""
    broken = f"; {summary.problems:,} of the rows cannot be used, the output says why" if summary.problems else ""
    write_error(f"{_rows(summary.rows)}{more}{broken}")


def run_rows(
    reader: RowReader, journal: Journal, work: WorkFactory | Waiting, look: LookIn, *, again: str = "", **settings: Any
) -> BatchSummary:
    """Run a batch; tell how far it is, and name the rows that cannot be used.

    Args:
        reader: the input.
        journal: the output.
        work: what is done with each row.
        look: tells what a line says; a problem names the input.
        again: how to go on after an interrupt; empty if nothing is to be said.
        settings: see :func:`~vouching.rows.run.run_batch`.
    """
    with RowProgress(reader.share) as progress, interruptible(again):

        def watch(row: Row, seen: Seen) -> None:
            progress.advance()
            if seen.problem is not None:
                progress.name(seen.problem)

        summary = run_batch(reader, journal, work, partial(look, reader.name), watch=watch, **settings)
    if summary.again:
        write_error(f"{_rows(summary.again)} of an earlier run, not verified then, tried again")
    if summary.left and again:
        write_error(f"{_rows(summary.left)} not verified for now: --resume tries again")
    return summary


def tell_stopped(stopped: str, again: str) -> None:
    """Say why a batch ended early, and how to go on; nothing about that if ``again`` is empty."""
    write_error(f"stopped: {stopped}" + (f"; mend that and {again}" if again else ""))


def _rows(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"


class RowProgress:
    """Tells how many rows are done, how fast, and how long it will take.

    Args:
        share: tells how much of the input has been read, from 0 to 1; None if nobody knows.
        what: what is counted.
    """

    def __init__(self, share: Callable[[], float | None] = lambda: None, what: str = "rows") -> None:
        self._share = share
        self._what = what
        self._terminal = sys.stderr.isatty()
        self._rows = 0
        self._named = 0
        self._start = time.monotonic()
        self._next = self._start + (PATIENCE if self._terminal else LINE_SECONDS)
        self._first_share: float | None = None
        self._bar: Progress | None = None

    def __enter__(self) -> RowProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, share: Callable[[], float | None] | None = None) -> None:
        """Count a row; ``share`` tells how much has been read, where that was not known at the start."""
        self._share = share or self._share
        now = time.monotonic()
        if self._rows == 0:
            # The rows that an earlier run finished were only read again; the rate is that of the new ones.
            self._start, self._first_share = now, self._share()
        self._rows += 1
        if now < self._next:
            return
        self._next = now + (BAR_SECONDS if self._terminal else LINE_SECONDS)
        read = self._share()
        words = progress_words(self._rows, now - self._start, read, self._first_share, self._what)
        if self._terminal:
            self._draw(words, read)
        else:
            write_error(words)

    def name(self, problem: str) -> None:
        """Name a row that cannot be used."""
        self._named += 1
        if self._named <= MOST_NAMED:
            write_error(problem)
        if self._named == MOST_NAMED:
            write_error(f"further {self._what} with a problem are counted, and no longer named here")

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
    """Rows done, rate, and the time left if the share of the input that has been read is known.

    Args:
        rows: rows done in this run.
        seconds: how long they took.
        share: how much of the input has been read, from 0 to 1; None if nobody knows.
        first_share: the same at the start of this run.
        what: what is counted.

    >>> progress_words(1200, 10, 0.25, 0.0)
    '1,200 rows, 120 a second, 25 %, 30 s left'
    >>> progress_words(1200, 10, None)
    '1,200 rows, 120 a second'
    >>> progress_words(1, 0, 0.25)
    '1 row'
    """
    if rows == 1 or not seconds:  # the clock starts with the first row, so there is no rate yet
        return f"{rows:,} {what if rows != 1 else what.removesuffix('s')}"
    rate = (rows - 1) / seconds
    words = f"{rows:,} {what}, {rate:,.0f} a second" if rate >= 10 else f"{rows:,} {what}, {rate:.1f} a second"
    if share is None or first_share is None or share <= first_share:
        return words
    left = seconds * (1 - share) / (share - first_share)
    return f"{words}, {100 * share:.0f} %, {_duration(left)} left"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"
