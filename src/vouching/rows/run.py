"""A file of rows from its first row to its finished output: what is there is confirmed, the rest is worked on.

``run_rows`` is the one way to run a file of rows: it opens the input and the output, confirms what an earlier run
finished, works on the rest in order, tells about each line as it is written, and counts. A line may say that its row
is to be worked on again; a resumed run does these rows first, then those without a line.

Not here: reading, writing and working themselves (``read``, ``journal``, ``pool``), and all printing.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import TypeAlias

from vouching.errors import BackendError, InputError
from vouching.rows.journal import Journal, Settings, open_journal
from vouching.rows.lines import Look, LookIn, Seen
from vouching.rows.pool import PATIENCE, AsyncWorkFactory, cores, in_order
from vouching.rows.read import STDIN, Row, RowReader, open_rows
from vouching.rows.worker import WorkerError, WorkFactory

_IN_MEMORY = 1 << 24
"""Bytes of rows to be worked on again; more of them wait on the disk."""


Watch: TypeAlias = Callable[[Row, Seen], None]
"""Told about each new line when it has been written."""


@dataclass(slots=True)
class BatchSummary:
    """What became of a batch."""

    rows: int = 0
    """Finished lines in the output."""
    found: int = 0
    """How many of them were there already, and stayed."""
    problems: int = 0
    """How many of them belong to rows with a problem."""
    counts: Counter[str] = field(default_factory=Counter[str])
    """Sum of the counts of all finished lines."""
    stopped: str | None = None
    """Why the batch ended early; None if every row is finished."""
    again: int = 0
    """How many rows that an earlier run had to leave open were worked on again."""
    left: int = 0
    """How many lines are open now: a resumed run tries these rows again."""

    @property
    def complete(self) -> bool:
        """Whether every row is finished and could be used."""
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
        self.left -= old.again > 0
        self.add(new)


@dataclass(frozen=True, slots=True)
class RowJob:
    """A file of rows, what is done with each of them, and where the lines go."""

    input: str | RowReader
    """Path of the rows, "-" for JSONL on standard input, or the rows themselves."""
    output: str
    """Path of the lines, which ends in .jsonl, or "-" for standard output."""
    work: WorkFactory | AsyncWorkFactory
    """Makes the function from a row, with or without a problem, to its line (a JSON object)."""
    look: LookIn
    """Tells what a line says."""
    settings: Settings
    """What makes the lines, for the note beside the output."""
    columns: Collection[str] = ()
    """A table of rows must have one of these."""
    resume: bool = False
    """Whether to finish an output that is there already."""
    jobs: int = 1
    """How many processes work; 0 for one per core."""
    stop_on_problem: bool = False
    """Whether to end before the first row with a problem, so that a resumed run begins with it."""
    patience: float = PATIENCE
    """Seconds of work before several processes do it; see :func:`~vouching.rows.pool.in_order`."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, after each new line."""

    seen: Seen
    """What the line says."""
    rows: int
    """Finished lines, with those of earlier runs."""
    share: Callable[[], float | None]
    """Tells how much of the input has been read, from 0 to 1; None if nobody knows."""


def run_rows(job: RowJob, watch: Callable[[Progress], None] = lambda progress: None) -> BatchSummary:
    r"""Run a file of rows, or what is left of it.

    Args:
        job: rows, work and output.
        watch: told about each new line when it has been written.

    Returns:
        The counts over old and new lines, and why the run had to stop, if it had; it can be resumed then.

    Raises:
        InputError: the input or the output cannot be used, or the output belongs to other rows or settings.
        OSError: the output takes no more.

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
    2 rows.jsonl, line 2: the row has the keys ['id'], wanted "x"
    >>> summary.rows, summary.problems, summary.counts["squares"]
    (2, 1, 1)
    """
    with open_rows(job.input, job.columns) if isinstance(job.input, str) else job.input as reader:
        printed = job.output == STDIN
        opened = Journal(sys.stdout.buffer) if printed else open_journal(job.output, job.settings, job.resume)
        with opened as journal:
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
    rows: Iterable[Row], journal: Journal, make_work: WorkFactory | AsyncWorkFactory, look: Look, *, jobs: int = 1,
    stop_on_problem: bool = False, watch: Watch = lambda row, seen: None, patience: float = PATIENCE,
) -> BatchSummary:  # fmt: skip
    """Work on every row whose line is not in the output yet or is open, and write the lines in the order of the rows.

    Args:
        rows: the input.
        journal: the output, opened.
        make_work: makes the function from a row, with or without a problem, to its line (a JSON object).
        look: tells what a line says.
        jobs: how many processes work.
        stop_on_problem: end before the first row with a problem, so that a resumed run begins with it.
        watch: told about each new line, for progress.
        patience: seconds of work before several processes do it; see :func:`~vouching.rows.pool.in_order`.

    Returns:
        The counts over old and new lines, and why the batch had to stop, if it had; it can be resumed then.

    Raises:
        InputError: the finished lines do not belong to these rows.
        OSError: the output takes no more.

    >>> import io
    >>> stream = io.BytesIO()
    >>> rows = [Row(1, "line 1", {"id": "a", "x": 3}), Row(2, "line 2", {"id": "b", "x": 4})]
    >>> def make_work():
    ...     return lambda row: json.dumps({"id": row.name, "square": row.fields["x"] ** 2})
    >>> run_batch(rows, Journal(stream), make_work, lambda line: Seen(line["id"], counts={"sum": line["square"]}))
    BatchSummary(rows=2, found=0, problems=0, counts=Counter({'sum': 25}), stopped=None, again=0, left=0)
    >>> print(stream.getvalue().decode(), end="")
    {"id": "a", "square": 9}
    {"id": "b", "square": 16}
    """
    summary = BatchSummary()
    waiting, broken = iter(rows), list[str]()
    with _OpenRows() as left:
        for row, seen in _confirmed(waiting, journal, look):
            summary.add(seen)
            if seen.again:
                left.add(row, journal.rows, seen.again)
        summary.found = summary.rows - len(left.lines)
        try:
            to_do = chain(left.rows(), _until_broken(waiting, broken))
            with closing(in_order(make_work, to_do, jobs, patience)) as results:
                for row, line in results:
                    seen = look(json.loads(line))
                    if seen.problem is not None and stop_on_problem:
                        summary.stopped = seen.problem
                        return summary
                    if left.lines:
                        left.repair(journal, line, seen, look, summary)
                    else:
                        journal.append(row, line)
                        summary.add(seen)
                    watch(row, seen)
        except (WorkerError, BackendError) as error:
            broken.append(str(error))
    summary.stopped = next(iter(broken), None)
    return summary


class _OpenRows:
    """Rows whose lines are open, in order, with the numbers of these and what failed; many rows wait on the disk."""

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
        """Put a line in place of the first open one, unless more failed than before."""
        number, failed = self.lines.popleft()
        summary.again += 1
        if seen.again <= failed:
            summary.replace(look(json.loads(journal.replace(number, line))), seen)

    def rows(self) -> Iterator[Row]:
        self._kept.seek(0)
        for _ in range(len(self.lines)):
            yield pickle.load(self._kept)


def _confirmed(rows: Iterator[Row], journal: Journal, look: Look) -> Iterator[tuple[Row, Seen]]:
    """The rows of the finished lines and what these say, each checked to belong to the next row."""
    for number, line in enumerate(journal.finished(), 1):
        try:
            seen = look(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"line {number} of the output is not one that this command writes: cut the file off before it"
            ) from None
        row = next(rows, None)
        if row is None:
            raise InputError(f"the output has more lines than the input has rows ({number - 1:,}): name another output")
        if row.name != seen.name:
            raise InputError(
                f"line {number} of the output belongs to row {seen.name!r}, the input has {row.name!r} there: take the "
                "same input again, or another output"
            )
        journal.confirm(row)
        yield row, seen


def _until_broken(rows: Iterator[Row], broken: list[str]) -> Iterator[Row]:
    """The rows up to where the input breaks off; what was read before is still worked on."""
    try:
        yield from rows
    except InputError as error:
        broken.append(str(error))
