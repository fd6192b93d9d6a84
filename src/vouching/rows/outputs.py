"""Output files that are rewritten: new files, and files made from a journal (accepted rows, rejected rows)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path
from typing import IO, Any, TypeAlias

from vouching.errors import InputError, VouchError
from vouching.rows.journal import Settings
from vouching.rows.lines import LookIn
from vouching.rows.pool import AnyWorkFactory, OpenWork
from vouching.rows.read import STDIN
from vouching.rows.run import BatchSummary, RowJob
from vouching.text.json_values import parse_json


def journal_beside(input: str, output: Path, *others: Path, ending: str = ".journal.jsonl") -> Path:
    """The path of the journal of an output, which ends in ``ending``.

    Raises InputError if a file to be written belongs to something else.

    >>> journal_beside("rows.jsonl", Path("nowhere/gold.jsonl"), Path("nowhere/gold.rejected.jsonl")).name
    'gold.journal.jsonl'
    """
    written = (output, *others)
    for path in written:
        if path.suffix != ".jsonl":
            raise InputError(f"{path}: the output file must end in .jsonl")
    journal = output.with_suffix(ending)
    places = [realpath(path) for path in (*written, journal, input)]  # also of a loop of links, which cannot be opened
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
    in_blocks: bool = False
    """Whether the rows are those of a folder: the journal is then a folder with a part for each block."""

    @property
    def rejected(self) -> Path:
        """Path of the rejected rows, with reasons."""
        return self.output.with_suffix(".rejected.jsonl")

    def journal(self, *others: Path) -> Path:
        """Path of the journal; see :func:`journal_beside`."""
        ending = ".journal" if self.in_blocks else ".journal.jsonl"
        return journal_beside(self.input, self.output, self.rejected, *others, ending=ending)

    def job(
        self,
        work: AnyWorkFactory,
        look: LookIn,
        settings: Settings,
        columns: Collection[str] = (),
        *others: Path,
        open_work: OpenWork | None = None,
        waits: str | None = "a language model",
    ) -> RowJob:
        """The job that writes the journal; see :class:`RowJob`."""
        output = str(self.journal(*others))
        return RowJob(self.input, output, work, look, settings, columns, self.resume, open_work=open_work, waits=waits)


def json_output(path: Path, read: Callable[[Path], object], what: str) -> None:
    """Raise InputError unless a JSON output may be written: new, empty, or an earlier record of the same kind.

    Its folder is made.

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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


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
    """The lines of a journal or another JSONL output of this package; those of a folder, part by part."""
    for part in sorted(path.glob("parts/*.jsonl")) if path.is_dir() else (path,):
        with part.open(encoding="utf-8") as lines:
            yield from map(parse_json, lines)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Overwrite a JSONL file."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
