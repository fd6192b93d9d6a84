"""Fields of JSON that a server sent, of whatever type it sent them."""

from __future__ import annotations

from typing import Any, cast


def json_object(value: Any) -> dict[str, Any]:
    """The object that JSON holds; empty for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def json_count(value: Any) -> int | None:
    """The whole number above 0 that JSON holds; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
