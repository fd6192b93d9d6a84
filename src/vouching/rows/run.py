"""A batch from its rows to its finished output: what is there is confirmed, the rest is worked on.

A line may say that its row is to be worked on again; a resumed batch does these rows first, then those without a line.

Left out: reading, writing and working themselves (``rows``, ``journal``, ``pool``), and all printing.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import Any, TypeAlias

from vouching.errors import BackendError, InputError
from vouching.rows.journal import Journal
from vouching.rows.pool import PATIENCE, Waiting, in_order
from vouching.rows.read import Row
from vouching.rows.worker import WorkerError, WorkFactory

_IN_MEMORY = 1 << 24
"""Bytes of rows to be worked on again; more of them wait on the disk."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a batch needs to know about a line of its output."""

    name: str
    """Id of the row it belongs to."""
    problem: str | None = None
    """What is wrong with that row; None if it could be worked on."""
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """What the line adds to the counts of the batch."""
    again: int = 0
    """How many parts of the row could not be worked on for now, so that a resumed run is to try again."""


Look: TypeAlias = Callable[[dict[str, Any]], Seen]
"""Tells about a line of output, new or found; the line is passed as the JSON object it is."""
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


def run_batch(
    rows: Iterable[Row], journal: Journal, make_work: WorkFactory | Waiting, look: Look, *, jobs: int = 1,
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
                        left.mend(journal, line, seen, look, summary)
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

    def mend(self, journal: Journal, line: str, seen: Seen, look: Look, summary: BatchSummary) -> None:
        """Put a line in place of the first open one, unless more failed than before."""
        number, failed = self.lines.popleft()
        summary.again += 1
        if seen.again <= failed:
            summary.replace(look(json.loads(journal.mend(number, line))), seen)

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
