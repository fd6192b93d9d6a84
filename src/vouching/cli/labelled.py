"""Rows with a claim, its sources and a gold label, as commands read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vouching.errors import InputError
from vouching.inputs import as_claim, as_sources, row_sources
from vouching.rows.read import Row
from vouching.types import Claim, Label, Source

LABEL_KEYS = ("label", "gold")
"""Names under which a row may carry its label; the first that is there counts."""


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A row that can be used."""

    claim: Claim
    """Its claim, which has the row's id."""
    sources: tuple[Source, ...]
    """Its sources."""
    gold: Label | None
    """Its label; None without one."""
    group: str | None
    """Its group; None without one."""


def labelled_row(row: Row) -> LabelledRow:
    """A row with its label. Raises InputError if it cannot be used.

    >>> labelled_row(Row(1, "line 1", {"claim": "It rained.", "source": "It did.", "gold": "Attributable"})).gold
    'Attributable'
    """
    if row.fields is None:
        raise InputError(str(row.problem))
    fields = row.fields
    if "claim" not in fields:
        raise InputError(f'the row has the keys {[*fields]}, wanted "claim"')
    gold = gold_of(fields)
    group = fields.get("group")
    claim = Claim(as_claim(fields["claim"]).text, id=row.name)
    return LabelledRow(claim, as_sources(row_sources(fields)), gold, None if group is None else str(group))


def gold_of(fields: Mapping[str, Any]) -> Label | None:
    """The label of a row; None without one. Raises InputError for one that there is not.

    >>> gold_of({"claim": "It rained.", "gold": "Attributable"})
    'Attributable'
    """
    given: Any = next((fields[key] for key in LABEL_KEYS if fields.get(key) is not None), None)
    if given not in (None, "Attributable", "Not Attributable"):
        raise InputError(f'the label is {given!r}, wanted "Attributable" or "Not Attributable"')
    return given
