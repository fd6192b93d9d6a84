"""Rows from files and records, judged by a verifier, and disjoint from held-out rows by claim, source and document.

Not supported: detecting paraphrased rows; ``vouching.perturb`` drops near-duplicates among probes.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from vouching.bench.catalog import DataSet
from vouching.bench.rows import LABELS, BenchRow, Fault, label_of, spans_of
from vouching.checker import Checker
from vouching.errors import InputError
from vouching.evolve.records import Row, judged_as, to_json
from vouching.inputs import as_claim, as_sources, row_sources
from vouching.metrics import document_numbers
from vouching.rows import AsyncWorkFactory, RowJob, Seen, fields_of, problem_fields, read_as
from vouching.rows.journal import Settings
from vouching.rows.read import Row as FileRow
from vouching.types import Span
from vouching.types.spans import ERROR_TYPES
from vouching.types.visible import shown_json, value_fault


def row_of(fields: Mapping[str, Any], name: str, data_set: str = "") -> Row:
    """A record with claim, source (or sources) and label (or gold) as a row. Raises InputError if it is not valid.

    ``data_set`` is the set of a record that names none under "set" or "data_set".

    >>> fields = {"claim": "It opened.", "source": "The bridge opened.", "label": "Attributable", "set": "bridges"}
    >>> row_of(fields, "1").data_set
    'bridges'
    """
    if fields.get("claim") is None:
        raise InputError(value_fault(fields, "claim"))
    claim = as_claim(fields["claim"]).text
    source = "\n\n".join(source.text for source in as_sources(row_sources(fields)))
    attributable = label_of(fields, "gold" if fields.get("label") is None and "gold" in fields else "label", LABELS)
    kind = fields.get("error_type")
    if kind is not None and (kind not in ERROR_TYPES or attributable):
        if attributable:
            raise InputError(f"a row that is Attributable must not have an error_type, got {shown_json(kind)}")
        raise InputError(f"unknown error_type {shown_json(kind)}; expected one of {', '.join(ERROR_TYPES)}")
    group = fields.get("group")
    return Row(
        id=name,
        claim=claim,
        source=source,
        label="Attributable" if attributable else "Not Attributable",
        data_set=str(fields.get("set") or fields.get("data_set") or data_set),
        group=None if group is None else str(group),
        error_type=kind,
        spans=_spans(fields, claim),
    )


def read_rows(path: Path, data_set: str | None = None) -> list[Row]:
    """The rows of a file; its name without suffixes is the set of rows that name none.

    Raises InputError, which names the place, if the file or one of its rows cannot be used.
    """
    return [*read_as(str(path), lambda fields, name: row_of(fields, name, data_set or set_name(path)))]


def set_name(path: Path) -> str:
    """The name of a file without suffixes, as the name of its set."""
    return path.name.partition(".")[0]


def _spans(fields: Mapping[str, Any], claim: str) -> tuple[Span, ...]:
    """The marked spans; empty ones (words were only removed) are excluded."""
    given = fields.get("spans")
    if not isinstance(given, list):
        return ()
    marked = [one for one in cast("list[Mapping[str, Any]]", given) if one.get("start") != one.get("end")]
    return tuple(Span(claim[start:end], start, end) for start, end in spans_of({"spans": marked}, "spans", claim))


def disjoint_rows(rows: Iterable[Row], others: Iterable[Row]) -> list[Row]:
    """The rows that share no claim, source or document with ``others``."""
    taken = keys_of(others)
    return [row for row in rows if taken.isdisjoint(row.keys)]


def refuse_shared(rows: Iterable[Row], taken: set[str]) -> None:
    """Raise InputError if a training row shares one of the keys ``taken`` (:func:`keys_of`) by held-out rows."""
    shared = [row for row in rows if not taken.isdisjoint(row.keys)]
    if shared:
        raise InputError(
            f"{len(shared):,} training rows share a claim, a source or a document with held-out rows, such as "
            f"{shared[0].id} of {shared[0].data_set or 'no set'}: exclude them (vouching.evolve.rows.disjoint_rows)"
        )


def keys_of(rows: Iterable[Row]) -> set[str]:
    """The keys of all rows, see ``Row.keys``."""
    return {key for row in rows for key in row.keys}


def judging_job(checker: Checker, input: Path, output: Path, settings: Settings) -> RowJob:
    """The job that judges every row of a file and writes :class:`Judged` records to ``output``.

    A row that cannot be used gets a line with its id and the problem. An existing output is continued.
    """
    work = AsyncWorkFactory(
        lambda: _Judge(checker, set_name(input)), checker.aclose, rows_at_once=1 if checker.embedded else 256
    )
    return RowJob(str(input), str(output), work, _look, settings, resume=output.exists())


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges a row and gives its line of the output."""

    checker: Checker
    data_set: str

    async def __call__(self, row: FileRow) -> str:
        try:
            asked = row_of(fields_of(row), row.name, self.data_set)
            return to_json(judged_as(asked, await self.checker.acheck(asked.claim, asked.source)))
        except InputError as error:
            return json.dumps({"row": {"id": row.name}, **problem_fields(row, error)}, ensure_ascii=False)


def _look(input_name: str, line: dict[str, Any]) -> Seen:
    problem = line.get("problem")
    return Seen(line["row"]["id"], f"{input_name}, {problem}" if problem else None, again=int("again" in line))


def rows_of_sets(sets: Iterable[DataSet[BenchRow]], data: Path, limit: int, seed: int = 0) -> list[Row]:
    """Claims of test sets, at most ``limit`` of each, sampled by whole groups. Responses and broken rows are skipped.

    Raises InputError if a set is missing or has no test split.
    """
    rows: list[Row] = []
    for data_set in sets:
        claims = [row for one in data_set.rows(data, "test") if (row := _as_row(one, data_set.name)) is not None]
        rows += some_groups(claims, limit, seed)
    return rows


def some_groups(rows: Sequence[Row], limit: int, seed: int = 0) -> list[Row]:
    """At most ``limit`` rows, by whole groups in random order; a group too large for the rest is skipped."""
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for number, row in zip(document_numbers(row.keys for row in rows).tolist(), rows, strict=True):
        groups[number].append(row)
    drawn = list(groups.values())
    random.Random(seed).shuffle(drawn)
    chosen: list[Row] = []
    for group in drawn:
        if len(chosen) + len(group) <= limit:
            chosen += group
    return chosen


def _as_row(one: BenchRow | Fault, name: str) -> Row | None:
    if isinstance(one, Fault) or one.is_response or one.attributable is None:
        return None
    label = "Attributable" if one.attributable else "Not Attributable"
    return Row(one.id, one.text, "\n\n".join(one.sources), label, name, one.document)
