"""Rows that a method learns from, read from files: the first that cannot be used ends the reading, with its place.

Not supported: leaving out bad rows silently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from vouching.errors import InputError
from vouching.rows.read import read_as

ChatMessage: TypeAlias = dict[str, str]
"""Role and content."""
T = TypeVar("T")


def read_files(paths: Sequence[str], made: Callable[[Mapping[str, Any], str], T], wanted: str) -> list[T]:
    """The rows of files, in order. Raises InputError for a row that cannot be used, and for files without a row."""
    rows = [row for path in paths for row in read_as(path, made)]
    if paths and not rows:
        raise InputError(f"{', '.join(paths)}: no rows; give some with {wanted}")
    return rows


def messages_of(fields: Mapping[str, Any], key: str) -> tuple[ChatMessage, ...]:
    """Chat messages of a row, without what else they carry."""
    given: Any = fields.get(key)
    if key not in fields:
        raise InputError(f"the row has the keys {[*fields]}, wanted {key!r}")
    if not isinstance(given, list) or not given:
        raise InputError(f"its {key} are {given!r:.80}, wanted chat messages")
    messages: list[ChatMessage] = []
    for one in cast("list[Any]", given):
        said = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
        role, content = said.get("role"), said.get("content")
        if not isinstance(role, str) or not isinstance(content, str):
            raise InputError(f"one of its {key} is {one!r:.80}, wanted role and content as texts")
        messages.append({"role": role, "content": content})
    return tuple(messages)
