"""How computed amounts are written: as the value that they come from is, or in the unit of a claim."""

from __future__ import annotations

import re

from vouching.reading.values import Value

_NUMBER = re.compile(r"\d[\d,. \u00a0\u202f]*\d|\d")


def named_value(value: Value) -> str:
    """A value with its label: "March 410" for a cell, "12 cabins" in a sentence."""
    if value.column >= 0:
        return f"{value.label} {value.written}".strip()
    return f"{value.written} {value.label}".strip()


def like(one: Value, base: float) -> str:
    """An amount in base units, written as another value is: as "230 million" beside "540 million"."""
    if one.kind == "time" and one.unit == "mixed":
        return duration(base)
    found = _NUMBER.search(one.written)
    if found is None:
        return f"{short(base / one.factor if one.factor else base)} {one.unit}".strip()
    digits = re.sub(r"[^\d.]|[.,](?=\d{3}(?:\D|$))", "", found.group())
    number = float(digits) if re.fullmatch(r"\d+(?:\.\d+)?", digits) else 0.0
    each = one.low / number if number and one.low == one.high else one.factor
    return _NUMBER.sub(short(base / each if each else base), one.written, count=1)


def in_unit(value: Value, amount: float) -> str:
    """An amount in the unit of a value."""
    if value.unit == "percent":
        return f"{short(amount)}%"
    if not value.unit:
        return short(amount)
    return f"{short(amount)} {value.unit}{'s' if value.kind == 'time' and amount != 1 else ''}"


def short(number: float) -> str:
    """A number as people write it.

    >>> short(1234.0), short(2.5), short(1 / 3)
    ('1,234', '2.5', '0.33')
    """
    text = f"{number:,.2f}"
    return text.rstrip("0").rstrip(".")


def duration(seconds: float) -> str:
    """A length of time in days, or in hours and minutes.

    >>> duration(27000.0), duration(10 * 86400.0)
    ('7 hours 30 minutes', '10 days')
    """
    if seconds >= 2 * 86_400:
        days = round(seconds / 86_400)
        years = (
            f" ({short(days / 365.25)} years)"
            if days >= 365
            else f" ({short(days / 7)} weeks)"
            if days % 7 == 0
            else ""
        )
        return f"{days:,} days{years}" if days < 3650 else f"{short(days / 365.25)} years"
    hours, minutes = divmod(round(seconds / 60), 60)
    parts = [f"{n} {word}{'s' * (n != 1)}" for n, word in ((hours, "hour"), (minutes, "minute")) if n]
    return " ".join(parts)


def close(value: Value, result: float) -> bool:
    """Whether a stated value is the result, as far as it was rounded: "33 %" and "a third" are 1 / 3."""
    return abs(value.low - result) <= max(value.rounding, 1e-6 * abs(result))


def equal(one: Value, other: Value) -> bool:
    """Whether two values are the same amount of one kind."""
    return one.kind == other.kind and abs(one.low - other.low) <= 1e-9 * max(1.0, abs(one.low))
