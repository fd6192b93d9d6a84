"""Fields of JSON that a server sent, of whatever type it sent them."""

from __future__ import annotations

from math import isfinite
from typing import Any, cast


def json_object(value: Any) -> dict[str, Any]:
    """The object that JSON holds; empty for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def json_count(value: Any) -> int | None:
    """The whole number above 0 that JSON holds; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def json_number(value: Any) -> float | None:
    """The finite number that JSON holds; None for anything else, such as a whole number of 400 digits.

    >>> json_number(-1), json_number(10**400), json_number(True)
    (-1.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
