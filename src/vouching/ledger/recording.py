"""Keeping what the commands print: one result, or every row of a file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vouching.ledger.ledger import Ledger, open_ledger
from vouching.rows import AsyncWorkFactory, Row, RowJob
from vouching.rows.pool import OpenWork, StreamWorkFactory
from vouching.text.json_values import parse_json
from vouching.types.ledger import Entry, EntryKind

_NO_VERDICTS = "work on a stream of rows makes no verdicts that a ledger could keep"


def keep_result(target: str, kind: EntryKind, inputs: Mapping[str, Any], record: Mapping[str, Any]) -> int:
    """Append one result to the ledger at ``target``, and return its id. Raises as ``open_ledger`` and ``append``."""
    with open_ledger(target) as ledger:
        return ledger.append([_entry(ledger, kind, inputs, record)])[0]


def kept_job(job: RowJob, target: str, kind: EntryKind) -> RowJob:
    """The same job, with every line appended to a ledger before it is written.

    Rows that cannot be used are not appended; those that a resumed run tries again are appended again.
    """
    open_ledger(target).close()  # a target that cannot be used shows before any file is created
    opens = None if job.open_work is None else _KeptWork(job.open_work, target, kind)
    if isinstance(job.work, AsyncWorkFactory):
        return replace(job, work=_kept_async(job.work, target, kind), open_work=opens)
    if isinstance(job.work, StreamWorkFactory):
        raise TypeError(_NO_VERDICTS)
    return replace(job, work=_KeptWork(job.work, target, kind), open_work=opens)


@dataclass(frozen=True, slots=True)
class _KeptWork:
    """A factory of work that appends; also used in worker processes, each with a connection of its own."""

    make: OpenWork
    target: str
    kind: EntryKind

    def __call__(self) -> Any:
        work = self.make()
        if isinstance(work, AsyncWorkFactory):
            return _kept_async(work, self.target, self.kind)
        if isinstance(work, StreamWorkFactory):
            raise TypeError(_NO_VERDICTS)
        ledger = open_ledger(self.target)

        def kept(row: Row) -> str:
            line = work(row)
            ledger.append(_of_line(ledger, self.kind, row, line))
            return line

        return kept


def _kept_async(factory: AsyncWorkFactory, target: str, kind: EntryKind) -> AsyncWorkFactory:
    ledger = open_ledger(target)

    def make() -> Any:
        work = factory.make_work()

        async def kept(row: Row) -> str:
            line = await work(row)
            await asyncio.to_thread(ledger.append, _of_line(ledger, kind, row, line))
            return line

        return kept

    async def close() -> None:
        ledger.close()
        if factory.aclose is not None:
            await factory.aclose()

    return replace(factory, make_work=make, aclose=close)


def _of_line(ledger: Ledger, kind: EntryKind, row: Row, line: str) -> list[Entry]:
    """The entry of a line; none for a row that could not be used."""
    record: dict[str, Any] = parse_json(line)
    if row.fields is None or record.get("reason") == "input" or record.get("problem") is not None:
        return []
    return [_entry(ledger, kind, row.fields, record)]


def _entry(ledger: Ledger, kind: EntryKind, inputs: Mapping[str, Any], record: Mapping[str, Any]) -> Entry:
    if kind == "check" and record.get("kind") == "report":
        kind = "check-response"
    return Entry(ledger.stream, kind, inputs, record, ledger.caller)
