"""Rows from files and from records, and rows of known error type made of others.

Left out: which rows are held out; that is the split of whatever was trained (``train.encoder_rows.hold_out``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from vouching.bench.rows import LABELS, label_of, spans_of
from vouching.errors import InputError
from vouching.evolve.probe import ProbePlan, make_probes
from vouching.evolve.records import TYPED, Row
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


def typed_rows(held: Sequence[Row], each: int, seed: int = 0) -> list[Row]:
    """Rows of known type to reflect on, made of rows that are held out: as many of each type, if there are so many.

    They are of a set of their own and stay in the group of what they were made from. Gold types follow from strategies,
    and nobody looked at each; docs/evolve.md says how many of them are right.

    Args:
        held: held-out rows; the Attributable ones are changed.
        each: rows of each type.
        seed: of all chance.

    Raises:
        InputError: none of the rows can be used.

    >>> source = "The bridge opened in 1973 and cost $5 million. It links the town of Weston with the islands."
    >>> rows = typed_rows([Row("1", "The bridge opened in 1973.", source, "Attributable", "bridges", "g")], 1)
    >>> rows[0].error_type, rows[0].data_set, rows[0].group
    ('negation_flip', 'typed', 'bridges/g')
    """
    made = make_probes(held, {}, ProbePlan(each * len(ERROR_TYPES), "random", safe_share=0.0, seed=seed), held=[])
    return [replace(probe.row, data_set=TYPED, group=f"{probe.data_set}/{probe.group}") for probe in made.kept]


def _spans(fields: Mapping[str, Any], claim: str) -> tuple[Span, ...]:
    """The marked stretches; those without a character (words were only taken out) are left out."""
    given = fields.get("spans")
    if not isinstance(given, list):
        return ()
    marked = [one for one in cast("list[Mapping[str, Any]]", given) if one.get("start") != one.get("end")]
    return tuple(Span(claim[start:end], start, end) for start, end in spans_of({"spans": marked}, "spans", claim))
