"""JSON, read so that whatever cannot be read is a ValueError."""

from __future__ import annotations

import json
from typing import Any


class NestedTooDeeplyError(ValueError):
    """JSON with more brackets inside each other than Python can read."""


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
