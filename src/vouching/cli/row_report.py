"""The HTML report on a finished file of rows, for every method of ``vouch check``.

Left out: rows and verdicts that are streams; a report reads both again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from vouching.cli.check_options import CheckOptions
from vouching.cli.found_again import FindAgain, find_again
from vouching.cli.streams import write_error
from vouching.errors import InputError
from vouching.inputs import as_sources, row_sources
from vouching.rows.read import Row, open_rows
from vouching.types import Report, Source, Unverified, Verdict
from vouching.types.serial import SCHEMAS, from_json

if TYPE_CHECKING:
    from vouching.report.page import Entry, Record

MakeRecord: TypeAlias = "Callable[[dict[str, Any]], Record]"
"""From a line of the output to the record that it stands for."""


def check_report(options: CheckOptions) -> None:
    """To be asked before the rows are checked. Raises InputError if the report could not be written afterwards."""
    if options.report is None:
        return
    from vouching.report.skeleton import page_target

    page_target(options.report)
    output = Path(str(options.output))
    if output.exists() and not output.is_file():
        raise InputError(f"got --report with --output {output}, but it is made from files: name a file")


def write_row_report(options: CheckOptions, make_record: MakeRecord | None = None) -> bool:
    """Write the report, if one is wanted, from the finished lines.

    Args:
        options: of the command that wrote the lines.
        make_record: where a line is no record itself, what makes one of it.

    Returns:
        False if it could not be written; standard error then says why.
    """
    if options.report is None:
        return True
    from vouching.report.page import write_report

    assert options.input is not None
    try:
        write_report(options.report, _entries(options, make_record), title=Path(options.input).name)
    except InputError as error:
        write_error(f"the verdicts are written, the report is not: {error}; --resume with another --report makes it")
        return False
    return True


def _entries(options: CheckOptions, make_record: MakeRecord | None) -> Iterator[Entry]:
    """The records of the finished lines, each with the sources of its row."""
    from vouching.report.page import Entry

    again = find_again(options.search, options.threshold) if options.search else None
    with Path(str(options.output)).open("rb") as lines, open_rows(str(options.input)) as rows:
        for line, row in zip(lines, rows, strict=False):
            value: dict[str, Any] = json.loads(line)
            record = make_record(value) if make_record else from_json(SCHEMAS[value["kind"]], line)
            if isinstance(record, Report):
                yield Entry(record)
            else:
                yield Entry(record, partial(_sources, row, record, again) if again else _sources(row, record))


def _sources(row: Row, record: Verdict | Unverified, again: FindAgain | None = None) -> tuple[Source, ...]:
    """The sources of a row and, if asked for, what is found for it."""
    fields = row.fields or {}
    given: tuple[Source, ...] = ()
    with suppress(InputError):
        given = as_sources(row_sources(fields))
    if again is None or record.claim.text == "":
        return given
    question = fields.get("question")
    return again(record.claim, question if isinstance(question, str) else None, given)
