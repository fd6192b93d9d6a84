"""A row of an input, and JSON as rows hold it, read strictly."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

Fields = dict[str, Any]
_DEEPEST = 50
"""Levels of nesting in a row; Python itself gives up at some hundreds, in whatever it is doing then."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an input.

    >>> Row(3, "line 4", {"claim": "It opened in 1973."}).name, Row(3, "line 4", {"id": 7}).name
    ('row-3', '7')
    """

    number: int
    """Which row it is, from 1; blank lines and headers do not count."""
    place: str
    """Where it stands, for messages: "line 4" of a text, "row 3" of a table without lines."""
    fields: Fields | None
    """What it holds; None if it cannot be read."""
    problem: str | None = None
    """Why it cannot be read; None if it can."""

    @property
    def name(self) -> str:
        """Its id, see :func:`row_name`."""
        return row_name(self.fields or {}, self.number)


def row_name(fields: Mapping[str, Any], number: int) -> str:
    """The id of a row as text; "row-N" if it has none, or one that no file can hold (a lone surrogate).

    A record of what could not be verified has its id in its claim.

    >>> row_name({"id": 7}, 1), row_name({}, 1), row_name({"kind": "unverified", "claim": {"id": "a"}}, 1)
    ('7', 'row-1', 'a')
    """
    given, claim = fields.get("id"), fields.get("claim")
    if given is None and fields.get("kind") == "unverified" and isinstance(claim, Mapping):
        given = cast("Mapping[str, Any]", claim).get("id")
    if given is not None:
        with suppress(UnicodeEncodeError):
            return str(given).encode().decode()
    return f"row-{number}"


def read_json(text: str) -> object:
    """What a JSON text holds. Raises ValueError, in words for a reader; a key that occurs twice is an error too.

    >>> read_json('{"id": 1, "id": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'id' occurs twice in an object
    """
    too_deep = ValueError(f"it is nested more than {_DEEPEST} levels deep")
    try:
        value: object = json.loads(text, object_pairs_hook=_object, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise too_deep from None
    if text.count("[") + text.count("{") > _DEEPEST and _is_deep(value):
        raise too_deep
    return value


def _is_deep(value: object, levels: int = _DEEPEST) -> bool:
    """Whether lists and objects are nested in more than so many levels."""
    if not isinstance(value, dict | list):
        return False
    members = cast("Iterable[object]", value.values() if isinstance(value, dict) else value)
    return levels == 0 or any(_is_deep(member, levels - 1) for member in members)


def _object(pairs: list[tuple[str, Any]]) -> Fields:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in an object")
    return fields


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python reads some thousands of digits, as their time grows with the square of their number
        raise ValueError(f"it has a number of {len(digits):,} digits: put it in quotes, as a text") from None
