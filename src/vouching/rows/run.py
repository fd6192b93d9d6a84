"""Run a file of rows: confirm what an earlier run finished, process the rest in order, write and count the lines.

A line may say that its row should be retried; a resumed run does those rows first, then the rows without a line.
"""

from __future__ import annotations

import pickle
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import TypeAlias

from vouching.errors import BackendError, InputError
from vouching.rows.ahead import AheadLines
from vouching.rows.columns import Table
from vouching.rows.journal import Journal, Settings, open_journal
from vouching.rows.lines import Look, LookIn, Seen
from vouching.rows.pool import PATIENCE, AnyWorkFactory, AsyncWorkFactory, OpenWork, cores, in_order
from vouching.rows.read import STDIN, Row, RowReader, open_rows
from vouching.rows.worker import WorkerError
from vouching.text.json_values import parse_json

_IN_MEMORY = 1 << 24
"""Bytes of rows to retry that are kept in memory; more are spooled to disk."""


Watch: TypeAlias = Callable[[Row, Seen], None]


@dataclass(slots=True)
class BatchSummary:
    """The result of a run."""

    rows: int = 0
    """Finished lines in the output."""
    found: int = 0
    """How many of them an earlier run had finished."""
    problems: int = 0
    """How many of them belong to rows with a problem."""
    counts: Counter[str] = field(default_factory=Counter[str])
    """Sum over all finished lines."""
    stopped: str | None = None
    """Why the run ended early; None if every row is finished."""
    again: int = 0
    """How many open rows of an earlier run were retried."""
    left: int = 0
    """How many lines are still open; a resumed run retries their rows."""
    ahead: int = 0
    """How many answered rows wait for a row before them; a resumed run does not ask for them again."""

    @property
    def complete(self) -> bool:
        """Whether every row is finished and was usable."""
        return self.stopped is None and not self.problems

    def add(self, seen: Seen) -> None:
        """Count a finished line."""
        self.rows += 1
        self.problems += seen.problem is not None
        self.counts.update(seen.counts)
        self.left += seen.again > 0

    def replace(self, old: Seen, new: Seen) -> None:
        """Count a line in place of an open one."""
        self.counts.subtract(old.counts)
        self.rows -= 1
        self.problems -= old.problem is not None
        self.left -= old.again > 0
        self.add(new)


@dataclass(frozen=True, slots=True)
class RowJob:
    """A file of rows, how to process each row, and where the lines go."""

    input: str | RowReader
    """Path of the rows, "-" for JSONL on standard input, or the rows themselves."""
    output: str
    """Path of the lines, which ends in .jsonl, or "-" for standard output."""
    work: AnyWorkFactory
    """Makes the function from a row, which may have a problem, to its line (a JSON object)."""
    look: LookIn
    """Reads the status of a line."""
    settings: Settings
    """The settings that determine the lines, for the note next to the output."""
    columns: Collection[str] = ()
    """A table of rows must have one of these."""
    resume: bool = False
    """Whether to continue an existing output."""
    jobs: int = 1
    """Number of processes; 0 for one per core."""
    stop_on_problem: bool = False
    """Whether to stop before the first row with a problem; a resumed run starts with it."""
    patience: float = PATIENCE
    """Seconds of work before worker processes are started."""
    open_work: OpenWork | None = None
    """Opens the work in another process or on another machine; None if ``work`` does."""
    waits: str | None = None
    """What the work waits for, such as "a language model": more processes do not help. None for nothing."""
    table: Table | None = None
    """The columns of its lines as Parquet; None if they have none."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run after a new line."""

    seen: Seen
    rows: int
    """Finished lines, including those of earlier runs."""
    share: Callable[[], float | None]
    """Returns the share of the input read so far, from 0 to 1, or None if unknown."""


def run_rows(
    job: RowJob,
    watch: Callable[[Progress], None] = lambda progress: None,
    kept: Callable[[int], None] = lambda lines: None,
) -> BatchSummary:
    r"""Run a file of rows, or what an earlier run left of it.

    Args:
        job: rows, work and output.
        watch: called after each new line is written.
        kept: called with the number of lines that wait for an earlier row, whenever it may have changed.

    Raises:
        InputError: the input or output cannot be used, or the output belongs to other rows or settings.
        OSError: the output cannot be written, for example because the disk is full.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from vouching.rows import fields_of, json_work, looker
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows.jsonl").write_text('{"id": "a", "x": 3}\n{"id": "b"}\n')
    >>> work = json_work(lambda row: {"id": row.name, "square": float(fields_of(row, "x")["x"]) ** 2})
    >>> look = looker(lambda line: {"squares": 1})
    >>> job = RowJob(str(folder / "rows.jsonl"), str(folder / "out.jsonl"), lambda: work, look, {"command": "square"})
    >>> summary = run_rows(job, lambda progress: print(progress.rows, progress.seen.problem))
    1 None
    2 rows.jsonl, line 2: the row has no value for "x"; its keys are id
    >>> summary.rows, summary.problems, summary.counts["squares"]
    (2, 1, 1)
    """
    with open_rows(job.input, job.columns) if isinstance(job.input, str) else job.input as reader:
        printed = job.output == STDIN
        opened = Journal(sys.stdout.buffer) if printed else open_journal(job.output, job.settings, job.resume)
        with opened as journal:
            journal.ahead.tell = kept
            return run_batch(
                reader,
                journal,
                job.work,
                lambda line: job.look(reader.name, line),
                jobs=job.jobs or cores(),
                stop_on_problem=job.stop_on_problem,
                watch=lambda row, seen: watch(Progress(seen, journal.rows, reader.share)),
                patience=job.patience,
            )


def run_batch(
    rows: Iterable[Row],
    journal: Journal,
    make_work: AnyWorkFactory,
    look: Look,
    *,
    jobs: int = 1,
    stop_on_problem: bool = False,
    watch: Watch = lambda row, seen: None,
    patience: float = PATIENCE,
) -> BatchSummary:
    """Process every row whose line is missing or open, and write the lines in the order of the rows.

    Raises InputError if the finished lines do not belong to these rows, OSError if the output cannot be written.
    """
    summary = BatchSummary()
    waiting, broken = iter(rows), list[str]()
    with _OpenRows() as left:
        for row, seen in _confirmed(waiting, journal, look):
            summary.add(seen)
            if seen.again:
                left.add(row, journal.rows, seen.again)
            else:
                journal.ahead.drop(row)
        summary.found = summary.rows - len(left.lines)
        try:
            to_do = chain(left.rows(), _until_broken(waiting, broken))
            if isinstance(make_work, AsyncWorkFactory):
                journal.ahead.open()

            def keep(row: Row, line: str) -> None:
                seen = look(parse_json(line))
                if seen.problem is None and not seen.again:
                    journal.ahead.keep(row, line)

            def work(rows: Iterable[Row]) -> Generator[tuple[Row, str]]:
                return in_order(make_work, rows, jobs, patience, keep)

            with closing(_with_known(to_do, journal.ahead, work)) as results:
                for row, line in results:
                    seen = look(parse_json(line))
                    if seen.problem is not None and stop_on_problem:
                        broken.insert(0, seen.problem)
                        break
                    if left.lines:
                        left.repair(journal, line, seen, look, summary)
                    else:
                        journal.append(row, line)
                        summary.add(seen)
                    journal.ahead.drop(row)
                    watch(row, seen)
        except (WorkerError, BackendError) as error:
            broken.append(str(error))
    summary.stopped, summary.ahead = next(iter(broken), None), len(journal.ahead)
    return summary


def _with_known(
    rows: Iterator[Row], ahead: AheadLines, work: Callable[[Iterable[Row]], Generator[tuple[Row, str]]]
) -> Generator[tuple[Row, str]]:
    """Every row with its line, in order; work is done on the rows whose line an earlier run has not kept."""
    waiting = deque[tuple[Row, str | None]]()

    def unknown() -> Iterator[Row]:
        for row in rows:
            waiting.append((row, line := ahead.get(row)))
            if line is None:
                yield row

    def known() -> Iterator[tuple[Row, str]]:
        while waiting and (line := waiting[0][1]) is not None:
            yield waiting.popleft()[0], line

    with closing(work(unknown())) as results:
        for row, line in results:
            yield from known()
            yield row, line
            waiting.popleft()
    yield from known()


class _OpenRows:
    """Rows with open lines, in order, each with its line number and number of failures; spooled to disk."""

    def __init__(self) -> None:
        self.lines = deque[tuple[int, int]]()
        self._kept = SpooledTemporaryFile[bytes](_IN_MEMORY)

    def __enter__(self) -> _OpenRows:
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    def add(self, row: Row, line: int, failed: int) -> None:
        pickle.dump(row, self._kept)
        self.lines.append((line, failed))

    def repair(self, journal: Journal, line: str, seen: Seen, look: Look, summary: BatchSummary) -> None:
        """Replace the first open line, unless more parts failed than last time."""
        number, failed = self.lines.popleft()
        summary.again += 1
        if seen.again <= failed:
            summary.replace(look(parse_json(journal.replace(number, line))), seen)

    def rows(self) -> Iterator[Row]:
        self._kept.seek(0)
        for _ in range(len(self.lines)):
            yield pickle.load(self._kept)


def _confirmed(rows: Iterator[Row], journal: Journal, look: Look) -> Iterator[tuple[Row, Seen]]:
    """The rows of the finished lines with the status of these, each line checked against its row."""
    for number, line in enumerate(journal.finished(), 1):
        try:
            seen = look(parse_json(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"line {number} of the output was not written by this command: truncate the file before that line"
            ) from None
        row = next(rows, None)
        if row is None:
            raise InputError(
                f"the output has more lines than the input has rows ({number - 1:,}): choose another output"
            )
        if row.name != seen.name:
            raise InputError(
                f"line {number} of the output belongs to row {seen.name!r}, but row {number} of the input is "
                f"{row.name!r}: use the same input, or choose another output"
            )
        journal.confirm(row)
        yield row, seen


def _until_broken(rows: Iterator[Row], broken: list[str]) -> Iterator[Row]:
    """The rows up to where the input breaks off; rows read before that are still processed."""
    try:
        yield from rows
    except InputError as error:
        broken.append(str(error))
