"""Output lines: results, or the problem of a row that cannot be used."""

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
from vouching.types.visible import shown_keys

_RETRYABLE = ("backend", "unparsable")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run needs to know about an output line."""

    name: str
    """Id of its row."""
    problem: str | None = None
    """What is wrong with the row; None if it could be processed."""
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """What the line adds to the counts of the run."""
    again: int = 0
    """How many parts of the row failed for now; a resumed run retries them."""


Line = dict[str, Any]
"""An output line, parsed."""
Look: TypeAlias = Callable[[Line], Seen]
LookIn: TypeAlias = Callable[[str, Line], Seen]
"""As :data:`Look`, with the name of the input first, which problems mention."""


def fields_of(row: Row, *keys: str) -> dict[str, Any]:
    """The fields of a row. Raises InputError if the row cannot be read or lacks one of the keys.

    >>> fields_of(Row(1, "line 1", None, "invalid JSON"))
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: invalid JSON
    """
    if row.fields is None:
        raise InputError(row.problem or "the row cannot be read")
    for key in keys:
        if row.fields.get(key) is None:
            raise InputError(f'the row has no value for "{key}"; {shown_keys(row.fields)}')
    return row.fields


def json_work(make: Callable[[Row], Line], blank: Line | None = None, ensure_ascii: bool = False) -> Work:
    """Work that writes the line made from a row; if ``make`` raises InputError, the row's id and the problem.

    Args:
        make: returns the line of a row, or raises InputError.
        blank: placed between id and problem in the line of a row that cannot be used.
        ensure_ascii: whether to escape non-ASCII characters.

    >>> json_work(lambda row: fields_of(row), {"total": None})(Row(1, "line 1", None, "invalid JSON"))
    '{"id": "row-1", "total": null, "problem": "line 1: invalid JSON"}'
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
    """:func:`json_work` for an asynchronous ``make``."""

    async def work(row: Row) -> str:
        try:
            line = await make(row)
        except InputError as error:
            line = _refused(row, error, blank)
        return json.dumps(line, ensure_ascii=ensure_ascii)

    return work


def record_work(make: Callable[[Row], Awaitable[Any]]) -> AsyncWork:
    """Work that writes the record made from a row, or an Unverified with the message of the InputError raised."""
    from vouching.types.serial import to_line

    async def work(row: Row) -> str:
        try:
            return to_line(await make(row))
        except InputError as error:
            return to_line(unusable(row, error))

    return work


def _refused(row: Row, error: InputError, blank: Line | None) -> Line:
    return {"id": row.name, **(blank or {}), **problem_fields(row, error)}


def problem_fields(row: Row, error: InputError) -> Line:
    """The fields of a line that say what is wrong with a row, and whether a resumed run retries it."""
    return {"problem": f"{row.place}: {error}", **({"again": True} if row.again else {})}


def unusable(row: Row, problem: object) -> Unverified:
    """The record of a row that cannot be used, or that failed for now."""
    return Unverified(Claim("", id=row.name), "backend" if row.again else "input", f"{row.place}: {problem}")


def no_counts(line: Line) -> Mapping[str, int]:
    """Counts nothing."""
    return {}


def looker(count: Callable[[Line], Mapping[str, int]] = no_counts) -> LookIn:
    """A :data:`LookIn`, picklable if ``count`` is, for lines with an ``id`` and, for an unusable row, a ``problem``.

    Args:
        count: what the line of a usable row adds to the counts.

    >>> looker()("rows.jsonl", {"id": "a", "problem": "line 3: invalid JSON"}).problem
    'rows.jsonl, line 3: invalid JSON'
    """
    return _Looker(count)


@dataclass(frozen=True, slots=True)
class _Looker:
    """What :func:`looker` returns."""

    count: Callable[[Line], Mapping[str, int]]

    def __call__(self, input_name: str, line: Line) -> Seen:
        if line.get("problem") is not None:
            return Seen(str(line["id"]), f"{input_name}, {line['problem']}", again=int("again" in line))
        return Seen(str(line["id"]), counts=self.count(line))


def count_retryable(findings: Iterable[Mapping[str, Any]]) -> int:
    """How many findings (verdicts and other records, as JSON) failed in a way that a retry may fix.

    >>> count_retryable([{"kind": "unverified", "reason": reason} for reason in ("backend", "refused")])
    1
    """
    return sum(
        finding["kind"] == "unverified" and (finding["reason"] in _RETRYABLE or _half_searched(finding))
        for finding in findings
    )


def _half_searched(finding: Mapping[str, Any]) -> bool:
    """Whether no evidence was found while one of the search engines failed."""
    warnings = finding.get("warnings", ())
    return finding["reason"] == "no_evidence" and any(warning["kind"] == "engine" for warning in warnings)
