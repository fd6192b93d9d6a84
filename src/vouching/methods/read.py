"""Read the training rows of a method from files; the first unusable row raises an error with its place.

Not supported: skipping bad rows silently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from vouching.errors import InputError
from vouching.rows.read import read_as
from vouching.types.visible import shown_json, shown_keys

ChatMessage: TypeAlias = dict[str, str]
"""Role and content."""
T = TypeVar("T")


def read_files(paths: Sequence[str], made: Callable[[Mapping[str, Any], str], T], columns: str) -> list[T]:
    """The rows of files, in order. Raises InputError for an unusable row, and for files without a row."""
    rows = [row for path in paths for row in read_as(path, made)]
    if paths and not rows:
        raise InputError(f"there are no rows in {', '.join(paths)}: expected rows with {columns}")
    return rows


def messages_of(fields: Mapping[str, Any], key: str) -> tuple[ChatMessage, ...]:
    """The chat messages of a row, without their other fields."""
    given: Any = fields.get(key)
    if key not in fields:
        raise InputError(f'the row has no "{key}"; {shown_keys(fields)}')
    if not isinstance(given, list) or not given:
        got = shown_json(cast("object", given), 80)
        raise InputError(f'"{key}" must be a list of at least one chat message, got {got}')
    messages: list[ChatMessage] = []
    for one in cast("list[Any]", given):
        message = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
        role, content = message.get("role"), message.get("content")
        if not isinstance(role, str) or not isinstance(content, str):
            got = shown_json(cast("object", one), 80)
            raise InputError(f'each chat message in "{key}" must have the strings "role" and "content", got {got}')
        messages.append({"role": role, "content": content})
    return tuple(messages)
