"""Fields of TaxCalcBench's input: objects, lists, and leaves ``{"label", "value"}``; complaints name the path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, cast

from vouching.errors import InputError
from vouching.methods.assurance.values import read_amount


@dataclass(frozen=True, slots=True)
class Field:
    """A place in the input and what stands there."""

    path: str
    """Below return_data, e.g. "w2[0].wages"; empty for all of it."""
    value: Any = field(hash=False)
    """What stands there, as JSON."""

    def at(self, key: str) -> Field:
        """What is below a key; nothing, as an empty object, if it is absent or null."""
        below = self._object().get(key)
        return Field(f"{self.path}.{key}".lstrip("."), {} if below is None else below)

    def all(self, key: str) -> list[Field]:
        """The objects of a list; a single object counts as a list of one."""
        node = self.at(key)
        if isinstance(node.value, Mapping):
            only = cast("Mapping[str, Any]", node.value)
            return [Field(f"{node.path}[0]", only)] if only else []
        if not isinstance(node.value, list):
            raise InputError(f"return_data.{node.path}: got {node.value!r:.60}, wanted a list of objects")
        return [Field(f"{node.path}[{i}]", one) for i, one in enumerate(cast("list[Any]", node.value))]

    def leaf(self, key: str) -> Any:
        """The value of a leaf, None if there is none."""
        return self.at(key)._object().get("value")

    def text(self, key: str) -> str:
        """A leaf as a word in lower case; empty if there is none."""
        value = self.leaf(key)
        if value is not None and not isinstance(value, str):
            raise InputError(f"return_data.{self.path}.{key}.value: got {value!r:.60}, wanted text")
        return (value or "").strip().lower().replace(" ", "_")

    def true(self, key: str) -> bool:
        """A leaf as yes or no; absent is no."""
        value = self.leaf(key)
        if value not in (None, "", True, False, "true", "false", "yes", "no"):
            raise InputError(f"return_data.{self.path}.{key}.value: got {value!r:.60}, wanted true or false")
        return value in (True, "true", "yes")

    def amount(self, key: str) -> Decimal:
        """A leaf in dollars; absent is 0. "$1,234.50" is read too."""
        value = self.leaf(key)
        if value is None or value == "":
            return Decimal(0)
        amount = None if isinstance(value, bool) else read_amount(str(value))
        if amount is None or not 0 <= amount < 10**9:
            raise InputError(f"return_data.{self.path}.{key}.value: got {value!r:.60}, wanted an amount of 0 or more")
        return amount

    def date(self, key: str) -> date:
        """A leaf as a date, written 1990-05-01 or 1990/05/01."""
        value = self.leaf(key)
        try:
            return date.fromisoformat(str(value).replace("/", "-"))
        except ValueError:
            raise InputError(
                f"return_data.{self.path}.{key}.value: got {value!r:.60}, wanted a date as 1990-05-01"
            ) from None

    def leaves(self) -> Iterator[Field]:
        """Every leaf below, with its path; places in lists are not told apart."""
        if isinstance(self.value, Mapping):
            below = cast("Mapping[str, Any]", self.value)
            if "value" in below and not isinstance(below["value"], Mapping | list):
                yield Field(self.path, below["value"])
                return
            for key, value in below.items():
                yield from Field(f"{self.path}.{key}".lstrip("."), value).leaves()
        elif isinstance(self.value, list):
            for one in cast("list[Any]", self.value):
                yield from Field(self.path, one).leaves()
        else:
            yield self

    def _object(self) -> Mapping[str, Any]:
        if not isinstance(self.value, Mapping):
            raise InputError(f"return_data.{self.path}: got {self.value!r:.60}, wanted an object")
        return cast("Mapping[str, Any]", self.value)


def return_data(record: Mapping[str, Any]) -> Field:
    """The part of an input that holds the forms.

    Args:
        record: what input.json holds, or its ``input`` alone.

    Raises:
        InputError: it has no ``return_data``.
    """
    inside = record.get("input", record)
    data = cast("Mapping[str, Any]", inside).get("return_data") if isinstance(inside, Mapping) else None
    if not isinstance(data, Mapping):
        raise InputError('the input has no object "return_data": wanted {"input": {"return_header", "return_data"}}')
    return Field("", cast("Mapping[str, Any]", data))
