"""Strict reading of JSON from elsewhere, and its fields, of whatever type they are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from math import isfinite
from typing import Any, cast

from vouching.types.visible import visible_line

_MAX_NESTING = 50
"""Far below Python's recursion limit."""


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


def read_json(text: str) -> object:
    """Parse JSON; raises ValueError with a readable message, also for duplicate keys and deep nesting.

    >>> read_json('{"id": 1, "id": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key "id" occurs twice in one object
    """
    too_deep = ValueError(f"JSON is nested more than {_MAX_NESTING} levels deep")
    try:
        value: object = json.loads(text, object_pairs_hook=each_key_once, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise ValueError(f"invalid JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise too_deep from None
    if text.count("[") + text.count("{") > _MAX_NESTING and _is_deep(value):
        raise too_deep
    return value


def _is_deep(value: object, levels: int = _MAX_NESTING) -> bool:
    if not isinstance(value, dict | list):
        return False
    members = cast("Iterable[object]", value.values() if isinstance(value, dict) else value)
    return levels == 0 or any(_is_deep(member, levels - 1) for member in members)


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs, as a hook of the reader of JSON; raises ValueError for a key that occurs twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key in times if times[key] > 1)
        raise ValueError(f'the key "{visible_line(twice)}" occurs twice in one object')
    return fields


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python limits the digits of integers
        raise ValueError(f"a number has {len(digits):,} digits: write it as a string, in quotes") from None
