"""Output files that are rewritten: new files, and files made from a journal (accepted rows, rejected rows)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from vouching.errors import InputError, VouchError
from vouching.rows.journal import Settings
from vouching.rows.lines import LookIn
from vouching.rows.pool import AsyncWorkFactory
from vouching.rows.read import STDIN
from vouching.rows.run import BatchSummary, RowJob


def journal_beside(input: str, output: Path, *others: Path) -> Path:
    """The path of the journal of an output. Raises InputError if a file to be written belongs to something else.

    >>> journal_beside("rows.jsonl", Path("nowhere/gold.jsonl"), Path("nowhere/gold.rejected.jsonl")).name
    'gold.journal.jsonl'
    """
    written = (output, *others)
    for path in written:
        if path.suffix != ".jsonl":
            raise InputError(f"{path}: the output file must end in .jsonl")
    journal = output.with_suffix(".journal.jsonl")
    places = [path.resolve() for path in (*written, journal, Path(input))]
    if len({*places}) < len(places):
        raise InputError(
            f"{', '.join(map(str, (*written, input)))}: two of these paths are the same file; choose another output"
        )
    existing = [path for path in written if path.exists() and path.stat().st_size]
    if existing and not journal.exists():
        names = " and ".join(map(str, existing))
        raise InputError(f"found {names} but no journal ({journal}): choose another output")
    return journal


RunJob: TypeAlias = Callable[[RowJob], BatchSummary]
"""Runs a job: :func:`~vouching.rows.run.run_rows`, possibly with a progress display."""
Made: TypeAlias = tuple[bool, list[str]]
"""Whether every row was finished and usable, and the lines to print about the result."""


@dataclass(frozen=True, slots=True)
class MadeFiles:
    """Files made from a file of rows; rewritten each time from a journal of the results of all rows."""

    input: str
    """Path of the rows, or "-"."""
    output: Path
    """Path of the accepted rows."""
    resume: bool = False

    @property
    def rejected(self) -> Path:
        """Path of the rejected rows, with reasons."""
        return self.output.with_suffix(".rejected.jsonl")

    def journal(self, *others: Path) -> Path:
        """Path of the journal; see :func:`journal_beside`."""
        return journal_beside(self.input, self.output, self.rejected, *others)

    def job(
        self, work: AsyncWorkFactory, look: LookIn, settings: Settings, columns: Collection[str] = (), *others: Path
    ) -> RowJob:
        """The job that writes the journal."""
        return RowJob(self.input, str(self.journal(*others)), work, look, settings, columns, self.resume)


def json_output(path: Path, read: Callable[[Path], object], what: str) -> None:
    """Raise InputError unless a JSON output may be written: new, empty, or an earlier record of the same kind.

    Args:
        path: the output, which must end in .json.
        read: reads what the command writes, and raises VouchError for anything else.
        what: what the record is called in messages.
    """
    if path.suffix != ".json":
        raise InputError(f"{path}: the output file must end in .json")
    if path.is_file() and path.stat().st_size:
        try:
            read(path)
        except VouchError:
            raise InputError(f"{path} already exists and is not a {what}: choose another output") from None


def new_output(output: str) -> IO[bytes]:
    """Open an output that must be new or empty for writing; "-" is standard output."""
    if output == STDIN:
        return open(sys.stdout.fileno(), "wb", closefd=False)
    path = Path(output)
    try:
        if path.exists() and path.stat().st_size:
            raise InputError(f"{output} already exists and is not empty: choose another output, or delete the file")
        return path.open("wb")
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror or error}") from None


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal or another JSONL output of this package."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Overwrite a JSONL file."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
