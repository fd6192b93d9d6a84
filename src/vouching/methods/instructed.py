"""What a row asks a method to judge that judges by instructions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vouching.errors import InputError
from vouching.inputs import SourcesLike, row_sources
from vouching.types.visible import value_fault


def instructed(row: Mapping[str, Any], method: str, verifier: object) -> tuple[str, str, object, SourcesLike]:
    """Instruction, response, the row's own checklist or rules if it has any, and sources. Raises InputError.

    >>> instructed({"instruction": "Use no commas.", "response": "So be it."}, "rules", None)
    ('Use no commas.', 'So be it.', None, ())
    """
    from vouching.methods.checklist.items import instruction_of, row_items
    from vouching.rules.verify import named_items

    if row.get("response") is None:
        raise InputError(value_fault(row, "response"))
    items = named_items(row) if method == "rules" and row.get("instruction_id_list") else row_items(row)
    if getattr(getattr(verifier, "config", None), "holistic", False):
        items = None
    sources = row_sources(row, needed=False)
    return instruction_of(row), row["response"], items, sources or ()
