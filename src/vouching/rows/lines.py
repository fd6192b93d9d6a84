"""Lines of output: made of a row, or saying why it cannot be used, and what a run needs to know about them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from vouching.errors import InputError
from vouching.rows.pool import AsyncWork
from vouching.rows.read import Row
from vouching.rows.worker import Work
from vouching.types import Claim, Unverified

_MAY_PASS = ("backend", "unparsable")
"""Reasons of an Unverified that may not hold a second time: out of reach, too slow, too many calls, a garbled reply."""


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


Line = dict[str, Any]
"""A line of output, as the JSON object it is."""
Look: TypeAlias = Callable[[Line], Seen]
"""Tells about a line of output, new or found."""
LookIn: TypeAlias = Callable[[str, Line], Seen]
"""The same, from the name of the input, which a problem names, and the line."""


def fields_of(row: Row, *keys: str) -> dict[str, Any]:
    """The fields of a row. Raises InputError if it cannot be read, or lacks one of the keys.

    >>> fields_of(Row(1, "line 1", None, "it is no JSON"))
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: it is no JSON
    """
    if row.fields is None:
        raise InputError(row.problem or "it cannot be read")
    for key in keys:
        if row.fields.get(key) is None:
            raise InputError(f'the row has the keys {[*row.fields]}, wanted "{key}"')
    return row.fields


def json_work(make: Callable[[Row], Line], blank: Line | None = None, ensure_ascii: bool = False) -> Work:
    """Work that writes what ``make`` makes of a row; of one that it refuses, its id and the problem.

    Args:
        make: gives the line of a row, and raises InputError for one that cannot be used.
        blank: what stands between id and problem in the line of a row that cannot be used.
        ensure_ascii: whether to write other letters as escapes.

    >>> json_work(lambda row: fields_of(row), {"total": None})(Row(1, "line 1", None, "it is no JSON"))
    '{"id": "row-1", "total": null, "problem": "line 1: it is no JSON"}'
    """

    def work(row: Row) -> str:
        try:
            line = make(row)
        except InputError as error:
            line = _refused(row, error, blank)
        return json.dumps(line, ensure_ascii=ensure_ascii)

    return work


def async_work(
    make: Callable[[Row], Awaitable[Line]], blank: Line | None = None, ensure_ascii: bool = False
) -> AsyncWork:
    """As :func:`json_work`, for what is waited for."""

    async def work(row: Row) -> str:
        try:
            line = await make(row)
        except InputError as error:
            line = _refused(row, error, blank)
        return json.dumps(line, ensure_ascii=ensure_ascii)

    return work


def record_work(make: Callable[[Row], Awaitable[Any]]) -> AsyncWork:
    """Work that writes the record which ``make`` makes of a row; of a row that it refuses, an Unverified that says why.

    Args:
        make: gives a verdict, a report or the like, and raises InputError for a row that cannot be used.
    """
    from vouching.types.serial import to_json

    async def work(row: Row) -> str:
        try:
            return to_json(await make(row))
        except InputError as error:
            return to_json(Unverified(Claim("", id=row.name), "input", f"{row.place}: {error}"))

    return work


def _refused(row: Row, error: InputError, blank: Line | None) -> Line:
    return {"id": row.name, **(blank or {}), "problem": f"{row.place}: {error}"}


def looker(count: Callable[[Line], Mapping[str, int]] = lambda line: {}) -> LookIn:
    """Tells about lines with an ``id`` and, where a row cannot be used, a ``problem``.

    Args:
        count: what a line of a row that can be used adds to the counts.

    >>> looker()("rows.jsonl", {"id": "a", "problem": "line 3: it is no JSON"}).problem
    'rows.jsonl, line 3: it is no JSON'
    """

    def look(input_name: str, line: Line) -> Seen:
        if line.get("problem") is not None:
            return Seen(str(line["id"]), f"{input_name}, {line['problem']}")
        return Seen(str(line["id"]), counts=count(line))

    return look


def count_retryable(findings: Iterable[Mapping[str, Any]]) -> int:
    """How many findings of a row failed in a way that another try may repair.

    Args:
        findings: the JSON of verdicts and of what else a row gave.

    >>> count_retryable([{"kind": "unverified", "reason": reason} for reason in ("backend", "refused")])
    1
    """
    return sum(
        finding["kind"] == "unverified" and (finding["reason"] in _MAY_PASS or _half_searched(finding))
        for finding in findings
    )


def _half_searched(finding: Mapping[str, Any]) -> bool:
    """Whether nothing was found where one of the engines failed."""
    warnings = finding.get("warnings", ())
    return finding["reason"] == "no_evidence" and any(warning["kind"] == "engine" for warning in warnings)
