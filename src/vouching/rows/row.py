"""An input row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from vouching.types.visible import shown_keys, value_fault

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an input.

    >>> Row(3, "line 4", {"claim": "It opened in 1973."}).name, Row(3, "line 4", {"id": 7}).name
    ('row-3', '7')
    """

    number: int
    """Starts at 1; blank lines and headers do not count."""
    place: str
    """For messages: "line 4" of a text file, "row 3" of a table without lines."""
    fields: Fields | None
    """None if the row cannot be read."""
    problem: str | None = None
    """Why the row cannot be read."""
    unnamed: str | None = None
    """What a row without an id is called; None for "row-N"."""
    again: bool = False
    """Whether it could be read, but got no answer in time, as ``problem`` says. A resumed run asks again."""

    @property
    def name(self) -> str:
        """Its id, see :func:`row_name`."""
        name = row_name(self.fields or {}, self.number)
        return self.unnamed if self.unnamed is not None and name == f"row-{self.number}" else name


class RowDigest:
    """A digest of what rows say, in their order.

    >>> first, second = RowDigest(), RowDigest()
    >>> first.add(Row(1, "line 1", {"id": "a"}))
    >>> second.add(Row(7, "line 9", {"id": "a"}))
    >>> first.hexdigest() == second.hexdigest() != RowDigest().hexdigest()
    True
    """

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, row: Row) -> None:
        """Take in the next row."""
        self._digest.update(json.dumps([row.fields, row.problem], default=str).encode())

    def hexdigest(self) -> str:
        """The digest of the rows so far."""
        return self._digest.hexdigest()


def row_name(fields: Mapping[str, Any], number: int) -> str:
    """The id of a row as text; "row-N" if it has none, or one that cannot be encoded (a lone surrogate).

    The id of an unverified record is that of its claim.

    >>> row_name({"id": 7}, 1), row_name({}, 1), row_name({"kind": "unverified", "claim": {"id": "a"}}, 1)
    ('7', 'row-1', 'a')
    """
    given = _id_of(fields)
    if given is not None:
        with suppress(UnicodeEncodeError):
            return str(given).encode().decode()
    return f"row-{number}"


def has_id(fields: Mapping[str, Any]) -> bool:
    """Whether a row has an id of its own, which may read "row-3" too.

    >>> has_id({"id": "row-3"}), has_id({}), has_id({"id": chr(0xD800)})
    (True, False, False)
    """
    given = _id_of(fields)
    return given is not None and row_name(fields, -1) == str(given)


def _id_of(fields: Mapping[str, Any]) -> Any:
    given, claim = fields.get("id"), fields.get("claim")
    if given is None and fields.get("kind") == "unverified" and isinstance(claim, Mapping):
        return cast("Mapping[str, Any]", claim).get("id")
    return given


def lacking(row: Mapping[str, Any], *keys: str) -> str:
    """The message about a row that has none of these keys, or one that is null."""
    null = next((key for key in keys if key in row), None)
    names = " or ".join(f'"{key}"' for key in keys)
    return value_fault(row, null) if null else f"the row has no {names}; {shown_keys(row)}"
