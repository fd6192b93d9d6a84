"""The HTML report on a finished file of rows, made from the rows and the lines of the output.

A verdict has the place of its evidence, not the text. Sources found by search are therefore retrieved again: from an
index or a recording. Web engines are not asked again. Reports on answers hold their texts.

Not supported: rows and lines that are streams.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias, cast

from vouching.embedded.verify import open_embedded
from vouching.errors import InputError, VouchError
from vouching.inputs import as_sources, row_sources
from vouching.judging.verifier import ThresholdConfig
from vouching.models.running import run
from vouching.report.ci import CheckedText
from vouching.report.page import Entry, Record, write_report
from vouching.rows import Line, Row, open_rows
from vouching.rows.shapes import as_row
from vouching.search.evidence import Searches
from vouching.search.open import as_finder
from vouching.search.options import SearchOptions
from vouching.text.json_values import parse_json
from vouching.types import Claim, Finding, Report, Source, Unverified, Verdict
from vouching.types.serial import SCHEMAS, from_json

FindAgain: TypeAlias = Callable[[Claim, str | None, tuple[Source, ...]], tuple[Source, ...]]
"""From a claim, its question and the given sources to all its sources."""


def write_row_report(
    path: str,
    rows: str,
    lines: str,
    make_record: Callable[[Line], Record] | None = None,
    search: SearchOptions | None = None,
    threshold: float = 0.5,
) -> None:
    """Write the report on rows.

    Args:
        path: the page to write.
        rows: path of the rows.
        lines: path of the output, a line for each row.
        make_record: converts a line that is not a record itself.
        search: where sources were searched for.
        threshold: that of the check, which stops the search.

    Raises InputError if a file cannot be read or written, and ConfigError if an index has another format.
    """
    again = find_again(search, threshold) if search else None
    write_report(path, _entries(rows, lines, make_record, again), title=Path(rows).name)


def checked_rows(rows: str, lines: str, make_record: Callable[[Line], Record] | None = None) -> Iterator[CheckedText]:
    """The findings of the finished rows, each with the file and, in a file of lines, the line of its row."""
    with Path(lines).open("rb") as finished, open_rows(rows) as read:
        for line, row in zip(finished, read, strict=False):
            record = _record(line, make_record)
            findings = record.findings if isinstance(record, Report) else (record,)
            at = re.fullmatch(r"line (\d+)", row.place)
            yield CheckedText(row.name, cast("tuple[Finding, ...]", findings), rows, None, int(at[1]) if at else None)


def _record(line: bytes, make_record: Callable[[Line], Record] | None) -> Record:
    value: Line = parse_json(line)
    return make_record(value) if make_record else from_json(SCHEMAS[value["kind"]], line)


def _entries(
    rows_path: str, lines_path: str, make_record: Callable[[Line], Record] | None, again: FindAgain | None
) -> Iterator[Entry]:
    """The records of the finished lines, each with the sources of its row."""
    with Path(lines_path).open("rb") as lines, open_rows(rows_path) as rows:
        for line, row in zip(lines, rows, strict=False):
            record = _record(line, make_record)
            if isinstance(record, Report):
                yield Entry(record)
            else:
                yield Entry(record, partial(_sources, row, record, again) if again else _sources(row, record))


def _sources(row: Row, record: Verdict | Unverified, again: FindAgain | None = None) -> tuple[Source, ...]:
    """The sources of a row, with those found by search if ``again`` is given."""
    fields = row.fields or {}
    given: tuple[Source, ...] = ()
    with suppress(InputError):
        fields = as_row(fields)
        given = as_sources(row_sources(fields))
    if again is None or record.claim.text == "":
        return given
    question = fields.get("question")
    return again(record.claim, question if isinstance(question, str) else None, given)


def find_again(search: SearchOptions, threshold: float) -> FindAgain | None:
    """A function that retrieves the sources of a claim again; None where that is not possible.

    Raises InputError or ConfigError if an index or a recording cannot be read.
    """
    recorded = search.replay or search.record
    local = replace(search, web=search.web if recorded else (), pages=False, record=None, replay=recorded)
    if not local:
        return None
    finder = as_finder(
        local.engines(), open_embedded("embedded:rules", ThresholdConfig(threshold)).verify, search.queries
    )

    def find(claim: Claim, question: str | None, given: tuple[Source, ...]) -> tuple[Source, ...]:
        with suppress(VouchError):  # a recording may lack it and an index may be gone: the page is written without
            return run(Searches(finder, question).gather([claim], given))[1]
        return given

    return find
