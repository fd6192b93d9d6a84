"""Values of units: from JSON or a form to what a unit's type says, and back to text.

"$1,234.50", "1,234.50", "USD 1234.5" and "(1,234.50)" for a loss are amounts; a thousands separator stands before
three digits, or it is none. Left out: decimal commas ("1.234,50"), which cannot be told from separators safely.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from vouching.errors import InputError
from vouching.types import TaskUnit, Value, ValueType

_AMOUNT = re.compile(
    r"(?P<open>\()?\s*(?P<sign>[-+−]?)\s*(?:[$€£¥]|[A-Z]{3}\b)?\s*(?P<inner>[-−]?)(?P<digits>\d{1,3}(?:,\d{3})+|\d+)"
    r"(?P<cents>\.\d+)?\s*(?:[$€£¥]|[A-Z]{3})?\s*(?P<close>\))?",
    re.ASCII,
)
_LONGEST = 60
LARGEST = Decimal(10) ** 18
"""Numbers from here up are no amounts but mistakes."""


def read_amount(text: str) -> Decimal | None:
    """The number in an amount of money as people write it; None if it is none.

    >>> read_amount("$1,234.50"), read_amount("(12)"), read_amount("-$3"), read_amount("1,23")
    (Decimal('1234.50'), Decimal('-12'), Decimal('-3'), None)
    """
    found = _AMOUNT.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    signs = sum(bool(part) and part != "+" for part in (found["open"], found["sign"], found["inner"]))
    if signs > 1:
        return None
    number = Decimal(found["digits"].replace(",", "") + (found["cents"] or ""))
    return -number if signs else number


def read_value(raw: Any, unit: TaskUnit, place: str) -> Value:
    """A unit's value from JSON.

    Args:
        raw: as it was written.
        unit: says what it must be.
        place: the JSON path to it, for messages.

    Raises:
        InputError: it is of another type, not finite, or none of the choices.

    >>> read_value("$1,234.50", TaskUnit("9", "amount"), "values.9")
    Decimal('1234.50')
    >>> read_value("abc", TaskUnit("9", "amount"), "values.9")
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: values.9 is 'abc', wanted an amount: a number, or a text such as $1,234.50
    """
    if unit.type == "boolean":
        if isinstance(raw, bool):
            return raw
        raise InputError(f"{place} is {shown_value(raw)}, wanted true or false")
    if unit.type in ("choice", "text"):
        return _read_text(raw, unit, place)
    wanted = {
        "amount": "an amount: a number, or a text such as $1,234.50", "number": "a number",
        "integer": "a whole number",
    }[unit.type]  # fmt: skip
    number = read_amount(raw) if unit.type == "amount" and isinstance(raw, str) else as_decimal(raw)
    if number is None:
        raise InputError(f"{place} is {shown_value(raw)}, wanted {wanted}")
    if abs(number) >= LARGEST:
        raise InputError(f"{place} is {shown_value(raw)}, wanted {wanted} below 10^18")
    if unit.type == "integer" and number != number.to_integral_value():
        raise InputError(f"{place} is {shown_value(raw)}, wanted a whole number")
    return number


def _read_text(raw: Any, unit: TaskUnit, place: str) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise InputError(f"{place} is {shown_value(raw)}, wanted a text with something in it")
    if unit.type == "choice" and raw not in unit.choices:
        raise InputError(f"{place} is {shown_value(raw)}, wanted one of {', '.join(unit.choices)}")
    return raw


def as_decimal(raw: Any) -> Decimal | None:
    """A number of JSON as an exact decimal; None for what is no number, or not finite.

    >>> as_decimal(0.1), as_decimal(float("nan")), as_decimal(True)
    (Decimal('0.1'), None, None)
    """
    if isinstance(raw, bool) or not isinstance(raw, int | float | Decimal):
        return None
    if isinstance(raw, int):
        return Decimal(raw) if abs(raw) < 10**40 else None
    if isinstance(raw, float):
        return Decimal(repr(raw)) if math.isfinite(raw) else None
    return raw if raw.is_finite() else None


def value_text(value: Value | None, kind: ValueType = "number") -> str:
    """A value as text: numbers without exponent and idle noughts, amounts with both digits of their cents, "" for None.

    >>> value_text(Decimal("1E+3")), value_text(Decimal("0.50")), value_text(Decimal("0.5"), "amount"), value_text(True)
    ('1000', '0.5', '0.50', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        text = f"{value:f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        text += "0" if kind == "amount" and text[-2:-1] == "." else ""
        return "0" if text == "-0" else text
    return value or ""


def value_json(value: Value | None) -> bool | int | float | str | None:
    """A value as JSON has it.

    >>> value_json(Decimal("12.50")), value_json(Decimal("12")), value_json("yes")
    (12.5, 12, 'yes')
    """
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def same_value(one: Value, other: Value) -> bool:
    """Whether two values are equal; a number never equals a truth value or a text.

    >>> same_value(Decimal("1.50"), Decimal("1.5")), same_value(True, Decimal(1))
    (True, False)
    """
    return isinstance(one, bool) == isinstance(other, bool) and type(one) is type(other) and one == other


def shown_value(raw: Any) -> str:
    """A value that is refused, for a message: as JSON writes it, texts in single quotes.

    >>> shown_value(None), shown_value(True), shown_value("12 apples")
    ('null', 'true', "'12 apples'")
    """
    if raw is None or isinstance(raw, bool):
        return {None: "null", True: "true", False: "false"}[raw]
    # repr of a whole number with thousands of digits raises.
    text = "a number of enormous length" if isinstance(raw, int) and abs(raw) >= 10**40 else repr(raw)
    return text if len(text) <= 60 else f"{text[:60]}..."
