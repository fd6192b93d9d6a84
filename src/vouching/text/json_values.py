"""JSON, read so that whatever cannot be read is a ValueError."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast


class NestedTooDeeplyError(ValueError):
    """JSON with more brackets inside each other than Python can read."""


MOST_LEVELS = 100
"""Objects and lists inside each other in what is accepted and kept: not every reader or writer of JSON bears more."""


def is_too_deep(value: object) -> bool:
    """Whether a value of JSON has more than ``MOST_LEVELS`` objects and lists inside each other.

    >>> is_too_deep(parse_json("[" * 100 + "]" * 100)), is_too_deep(parse_json("[" * 101 + "]" * 101))
    (False, True)
    """
    level: list[object] = [value]
    for _ in range(MOST_LEVELS):
        if not level:
            return False
        level = [member for one in level for member in _members(one) if isinstance(member, dict | list)]
    return bool(level)


def _members(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def parse_json(text: str | bytes, **hooks: Any) -> Any:
    """The value of JSON, as ``json.loads`` reads it with these hooks.

    Raises ValueError for any other text; NestedTooDeeplyError if only its depth is the problem.

    >>> parse_json('{"answer": [1, null]}')
    {'answer': [1, None]}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    vouching.text.json_values.NestedTooDeeplyError: JSON is nested too deeply
    """
    try:
        return json.loads(text, **hooks)
    except RecursionError:
        raise NestedTooDeeplyError("JSON is nested too deeply") from None
