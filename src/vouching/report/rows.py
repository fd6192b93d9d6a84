"""The HTML report on a finished file of rows, made from the rows and the lines of the output.

A verdict says where its evidence stands, and does not hold the text. What was found for a claim is looked for once
more: an index and a recording give the same again; what an engine on the web found stands in no file but a recording,
and is not asked for twice. Reports on answers hold their texts. Not here: rows and lines that are streams.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from vouching.errors import InputError, VouchError
from vouching.inputs import as_sources, row_sources
from vouching.methods.base import ThresholdConfig
from vouching.methods.embedded.verify import open_embedded
from vouching.models.running import run
from vouching.report.page import Entry, Record, write_report
from vouching.rows import Line, Row, open_rows
from vouching.search.evidence import Searches
from vouching.search.open import as_finder
from vouching.search.options import SearchOptions
from vouching.types import Claim, Report, Source, Unverified, Verdict
from vouching.types.serial import SCHEMAS, from_json

FindAgain: TypeAlias = Callable[[Claim, str | None, tuple[Source, ...]], tuple[Source, ...]]
"""From a claim, its question and the sources that came with it to these and what is found."""


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
        path: where it goes.
        rows: path of the rows.
        lines: path of what came out, a line for each.
        make_record: where a line is no record itself, what makes one of it.
        search: where sources were searched for.
        threshold: of the check, which says when enough was found.

    Raises:
        InputError: a file cannot be read, or the report not be written.
        ConfigError: an index has another format.
    """
    again = find_again(search, threshold) if search else None
    write_report(path, _entries(rows, lines, make_record, again), title=Path(rows).name)


def _entries(
    rows_path: str, lines_path: str, make_record: Callable[[Line], Record] | None, again: FindAgain | None
) -> Iterator[Entry]:
    """The records of the finished lines, each with the sources of its row."""
    with Path(lines_path).open("rb") as lines, open_rows(rows_path) as rows:
        for line, row in zip(lines, rows, strict=False):
            value: Line = json.loads(line)
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


def find_again(search: SearchOptions, threshold: float) -> FindAgain | None:
    """What gives the texts that were found for a claim; None where they cannot be had again.

    Args:
        search: where they were found.
        threshold: of the check, which says when enough was found.

    Raises:
        InputError: an index or a recording cannot be read.
        ConfigError: an index has another format.

    >>> find_again(SearchOptions(web=("wikipedia",)), 0.5) is None
    True
    """
    recorded = search.replay or search.record
    local = replace(search, web=search.web if recorded else (), pages=False, record=None, replay=recorded)
    if not local:
        return None
    finder = as_finder(
        local.engines(), open_embedded("embedded:rules", ThresholdConfig(threshold)).verify, search.queries
    )

    def find(claim: Claim, question: str | None, given: tuple[Source, ...]) -> tuple[Source, ...]:
        with suppress(VouchError):  # what another recording lacks, or an index that is gone: the page is without it
            return run(Searches(finder, question).gather([claim], given))[1]
        return given

    return find
