"""A batch under way, on standard error: a bar on a terminal, else a line now and then, nothing in a short run.

Left out: an estimate where nobody knows how long the input is (standard input).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from vouching.cli.streams import PATIENCE, interruptible, write_error
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

_MAY_PASS = ("backend", "unparsable")
"""Reasons of an Unverified that may not hold a second time: out of reach, too slow, too many calls, a garbled reply."""

LookIn: TypeAlias = Callable[[str, dict[str, Any]], Seen]
"""From the name of the input and a line of the output to what the batch needs to know about it."""


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


def may_pass(findings: Iterable[Mapping[str, Any]]) -> int:
    """On how many of the findings of a row a check failed in a way that another try may mend.

    Args:
        findings: the JSON of verdicts and of what else a row gave.

    >>> may_pass([{"kind": "unverified", "reason": "backend"}]), may_pass([{"kind": "unverified", "reason": "refused"}])
    (1, 0)
    """
    return sum(
        finding["kind"] == "unverified" and (finding["reason"] in _MAY_PASS or _half_searched(finding))
        for finding in findings
    )


def _half_searched(finding: Mapping[str, Any]) -> bool:
    """Whether nothing was found where one of the engines failed."""
    warnings = finding.get("warnings", ())
    return finding["reason"] == "no_evidence" and any(warning["kind"] == "engine" for warning in warnings)


def _rows(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"


class RowProgress:
    """Tells how many rows are done, how fast, and how long it will take.

    Args:
        share: tells how much of the input has been read, from 0 to 1; None if nobody knows.
        what: what is counted.
    """

    def __init__(self, share: Callable[[], float | None], what: str = "rows") -> None:
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

    def advance(self) -> None:
        """Count a row."""
        now = time.monotonic()
        if self._rows == 0:
            # The rows that an earlier run finished were only read again; the rate is that of the new ones.
            self._start, self._first_share = now, self._share()
        self._rows += 1
        if now < self._next:
            return
        self._next = now + (BAR_SECONDS if self._terminal else LINE_SECONDS)
        share = self._share()
        words = progress_words(self._rows, now - self._start, share, self._first_share, self._what)
        if self._terminal:
            self._draw(words, share)
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
