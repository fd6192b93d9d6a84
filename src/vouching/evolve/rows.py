"""Rows from files and from records, and rows of known error type made of others.

Left out: which rows are held out; that is the split of whatever was trained (``train.encoder_rows.hold_out``).

Rows that are held out stay apart from what is learned from: no claim, source or document in both.

Left out: rows that say the same in other words; ``vouching.perturb`` drops near-duplicates among probes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from vouching.bench.rows import LABELS, label_of, spans_of
from vouching.errors import InputError
from vouching.evolve.records import Row
from vouching.inputs import as_claim, as_sources, row_sources
from vouching.rows.read import read_as
from vouching.types import Span
from vouching.types.spans import ERROR_TYPES


def row_of(fields: Mapping[str, Any], name: str, data_set: str = "") -> Row:
    """A record with claim, source (or sources) and label (or gold) as a row, with what else is known.

    Args:
        fields: the record.
        name: its id.
        data_set: the set of a record that names none under "set" or "data_set".

    Raises:
        InputError: what is wrong with it.

    >>> fields = {"claim": "It opened.", "source": "The bridge opened.", "label": "Attributable", "set": "bridges"}
    >>> row_of(fields, "1").data_set
    'bridges'
    """
    if "claim" not in fields:
        raise InputError(f'the row has the keys {[*fields]}, wanted "claim", "source" and "label"')
    claim = as_claim(fields["claim"]).text
    source = "\n\n".join(source.text for source in as_sources(row_sources(fields)))
    attributable = label_of(fields, "gold" if fields.get("label") is None and "gold" in fields else "label", LABELS)
    kind = fields.get("error_type")
    if kind is not None and (kind not in ERROR_TYPES or attributable):
        wanted = "none, as it is Attributable" if attributable else f"one of {', '.join(ERROR_TYPES)}"
        raise InputError(f"its error_type is {kind!r}, wanted {wanted}")
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
    """The rows of a file; its name without endings is the set of rows that name none.

    Raises:
        InputError: the file or a row of it cannot be used; the message says where.
    """
    return [*read_as(str(path), lambda fields, name: row_of(fields, name, data_set or set_name(path)))]


def set_name(path: Path) -> str:
    """What the set of a file is called.

    >>> set_name(Path("data/wice.jsonl.gz"))
    'wice'
    """
    return path.name.partition(".")[0]


def _spans(fields: Mapping[str, Any], claim: str) -> tuple[Span, ...]:
    """The marked stretches; those without a character (words were only taken out) are left out."""
    given = fields.get("spans")
    if not isinstance(given, list):
        return ()
    marked = [one for one in cast("list[Mapping[str, Any]]", given) if one.get("start") != one.get("end")]
    return tuple(Span(claim[start:end], start, end) for start, end in spans_of({"spans": marked}, "spans", claim))


def rows_apart(rows: Iterable[Row], others: Iterable[Row]) -> list[Row]:
    """The rows that share no claim, source or document with ``others``.

    >>> held = Row("1", "It opened.", "The bridge opened.", "Attributable")
    >>> [row.id for row in rows_apart([Row("2", "It opened.", "s", "Attributable"), held], [])]
    ['2', '1']
    >>> rows_apart([Row("2", "it  opened.", "s", "Attributable")], [held])
    []
    """
    taken = keys_of(others)
    return [row for row in rows if taken.isdisjoint(row.keys)]


def refuse_shared(rows: Iterable[Row], taken: set[str]) -> None:
    """Raise InputError if a training row shares a claim, a source or a document with rows that are held out.

    Args:
        rows: to learn from, whatever for.
        taken: the keys of what is held out, as :func:`keys_of` gives them.
    """
    shared = [row for row in rows if not taken.isdisjoint(row.keys)]
    if shared:
        raise InputError(
            f"{len(shared):,} training rows share a claim, a source or a document with rows that are held out, the "
            f"first is {shared[0].id} of {shared[0].data_set or 'no set'}: take them out (evolve.apart.rows_apart)"
        )


def keys_of(rows: Iterable[Row]) -> set[str]:
    """All that ties rows to others."""
    return {key for row in rows for key in row.keys}
