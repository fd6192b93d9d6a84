"""Outputs that are written anew: new files, and those beside a journal: accepted rows, rejected rows and the like."""

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
    """The path of the journal of an output, ``OUTPUT.journal.jsonl`` without its ending.

    Args:
        input: path of the rows.
        output: path of the accepted rows.
        others: paths of what else is written.

    Raises:
        InputError: a file that would be written is something else's.

    >>> journal_beside("rows.jsonl", Path("nowhere/gold.jsonl"), Path("nowhere/gold.rejected.jsonl")).name
    'gold.journal.jsonl'
    """
    written = (output, *others)
    for path in written:
        if path.suffix != ".jsonl":
            raise InputError(f"{path}: wanted an output that ends in .jsonl")
    journal = output.with_suffix(".journal.jsonl")
    places = [path.resolve() for path in (*written, journal, Path(input))]
    if len({*places}) < len(places):
        raise InputError(f"{', '.join(map(str, (*written, input)))}: two of these are one file, name another")
    there = [path for path in written if path.exists() and path.stat().st_size]
    if there and not journal.exists():
        raise InputError(f"{' and '.join(map(str, there))} is there already, but not its journal: name another output")
    return journal


RunJob: TypeAlias = Callable[[RowJob], BatchSummary]
"""Runs a job: :func:`~vouching.rows.run.run_rows`, or what also shows how far it is."""
Made: TypeAlias = tuple[bool, list[str]]
"""Whether every row was finished and could be used, and what is to be said about what was made."""


@dataclass(frozen=True, slots=True)
class MadeFiles:
    """What is made of a file of rows, written anew each time from a journal of what became of each row."""

    input: str
    """Path of the rows, or "-"."""
    output: Path
    """Path of what was accepted; the journal stands beside it, ``OUTPUT.journal.jsonl`` without its ending."""
    resume: bool = False
    """Whether to resume a run that was cut short."""

    @property
    def rejected(self) -> Path:
        """Path of what was rejected, with the reasons."""
        return self.output.with_suffix(".rejected.jsonl")

    def journal(self, *others: Path) -> Path:
        """Path of the journal. Raises InputError if a file that would be written is something else's."""
        return journal_beside(self.input, self.output, self.rejected, *others)

    def job(
        self, work: AsyncWorkFactory, look: LookIn, settings: Settings, columns: Collection[str] = (), *others: Path
    ) -> RowJob:
        """What makes the lines of the journal; see :class:`~vouching.rows.run.RowJob` and :meth:`journal`."""
        return RowJob(self.input, str(self.journal(*others)), work, look, settings, columns, self.resume)


def json_output(path: Path, read: Callable[[Path], object], what: str) -> None:
    """See that an output of one record may be written: it is new, empty, or an older one of the same kind.

    Args:
        path: the output.
        read: reads what the command writes, and raises VouchError for anything else.
        what: what that is called.

    Raises:
        InputError: its ending is not .json, or a file is there that is something else.
    """
    if path.suffix != ".json":
        raise InputError(f"{path}: wanted an output that ends in .json")
    if path.is_file() and path.stat().st_size:
        try:
            read(path)
        except VouchError:
            raise InputError(f"{path} is there already and no {what}: name another output") from None


def new_output(output: str) -> IO[bytes]:
    """An output opened for writing, new or empty; "-" is standard output.

    Raises:
        InputError: there is something in it, or it cannot be written.
    """
    if output == STDIN:
        return open(sys.stdout.fileno(), "wb", closefd=False)
    path = Path(output)
    try:
        if path.exists() and path.stat().st_size:
            raise InputError(f"{output} is there already and not empty: name a new file, or remove that one")
        return path.open("wb")
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error.strerror or error}") from None


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a journal or of another output of this program, one JSON object each."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows anew, a line of JSON each."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
