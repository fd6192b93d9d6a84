"""Read almost-JSON of language models by the library json-repair, within bounds."""

from __future__ import annotations

from typing import Any

LONGEST_REPAIRED = 10_000
"""Characters: what json-repair takes grows with the square of the length of some texts, to seconds at this one."""


def repaired_json(text: str) -> Any:
    """The value that json-repair reads; None for a text that is too long, or nested too deeply.

    >>> repaired_json("{'label': 'Attributable',}"), repaired_json("[" * 3000)
    ({'label': 'Attributable'}, None)
    """
    from json_repair import repair_json

    try:
        return repair_json(text, return_objects=True, skip_json_loads=True) if len(text) <= LONGEST_REPAIRED else None
    except (ValueError, RecursionError):
        return None
