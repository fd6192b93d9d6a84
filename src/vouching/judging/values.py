"""The quantities, with unit and hedge, and the dates of a text.

A length of time ("two hours") is a quantity, a year is a date. Not supported: numbers inside names and codes ("24/7",
telephone numbers), and words for a person ("one reviewer", "the second customer").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from vouching.text.dates import find_dates
from vouching.text.mentions import DateMention, Quantity
from vouching.text.quantities import find_quantities
from vouching.types import Span

_AFTER = re.compile(r"\+|(?:-?ish| or so)\b| or (?:more|greater|over|above|less|fewer|under|below)\b| and above\b")
_BOTH_ENDS = re.compile(r"\d\s?(?:[-–]|to)\s?\d")
_SOMEBODY = re.compile(
    r"(?:one|first|second|third) (?:\w+ )?(?:reviews?|reviewer|customer|guest|patron|diner|visitor|client|person|man"
    r"|woman|user|critic|author|expert|day)\b",
    re.IGNORECASE,
)
_SAID_BY_ONE = re.compile(
    r"one (?:gave|gives|giving|says|said|praised|complain\w*|mention\w*|rated|who|even|also)\b", re.IGNORECASE
)
_WHOLE = re.compile(r" stars? out of (?:\d{1,3}|five|ten)\b")
"""The scale of a rating, after its unit."""
_DIGIT = re.compile(r"\d")
_JOINT = re.compile(r"\s?[-–—]\s?|\s(?:to|until|till|and|through)\s")
HOURS = "hours"
"""The kind of a stated beginning and end; other kinds are dimensions and "date"."""


@dataclass(frozen=True, slots=True)
class Value:
    """A quantity or a date in a text."""

    start: int
    """Offset of its first character, including hedges such as "about"."""
    end: int
    """Offset after its last."""
    text: str
    quantity: Quantity | None = None
    """None for a date."""
    date: DateMention | None = None
    """None for a quantity."""

    @property
    def wanted(self) -> str:
        """The dimension of the quantity, or "date"."""
        return "date" if self.quantity is None else self.quantity.dimension

    @property
    def bare(self) -> float | None:
        """The number of a count or a year, which can be confused; None for anything else."""
        if self.date is not None:
            alone = self.date.kind == "date" and self.date.month is None and self.date.weekday is None
            return float(self.date.year) if alone and self.date.year is not None else None
        assert self.quantity is not None
        plain = self.quantity.dimension == "count" and self.quantity.low == self.quantity.high
        return self.quantity.low if plain else None


@lru_cache(maxsize=32_768)
def find_values(text: str) -> tuple[Value, ...]:
    """Every quantity and every date with a number in a text, in order and without overlap.

    >>> [value.text for value in find_values("About 500 men marched 5 km or more on 3 May 1937, for two hours.")]
    ['About 500', '5 km or more', '3 May 1937', 'two hours']
    """
    dates = [date for date in find_dates(text) if date.kind != "duration"]
    values = [
        Value(date.start, date.end, text[date.start : date.end], date=date)
        for date in dates
        if date.year is not None or date.day is not None or _DIGIT.search(text, date.start, date.end)
    ]
    values += [_of_quantity(text, quantity) for quantity in find_quantities(text, dates)]
    values = [value for value in values if not any(one.match(text, value.start) for one in (_SOMEBODY, _SAID_BY_ONE))]
    values.sort(key=lambda value: value.start)
    # A value inside the one before it is the scale of a rating ("3 stars out of 5").
    pairs = zip((None, *values), values, strict=False)
    return tuple(value for before, value in pairs if before is None or value.start >= before.end)


def find_numbers(text: str) -> tuple[Value, ...]:
    """The values of a text that are numbers: a year is one, a date with a day or a month is not."""
    return tuple(value for value in find_values(text) if value.date is None or value.bare is not None)


def points(value: Value) -> tuple[Value, ...]:
    """The two ends of a range of hours ("5-9 pm"), which a text may also state separately; any other value unchanged.

    >>> [end.quantity.low for end in points(find_values("5-9 pm")[0]) if end.quantity]
    [300.0, 1260.0]
    """
    hours = value.quantity
    if hours is None or hours.dimension != "time_of_day" or not _BOTH_ENDS.search(value.text):
        return (value,)
    # "pm" applies to the end only: "9-9 pm" may begin in the morning.
    first, last = hours.low % 720, hours.high
    begins = replace(hours, low=first, high=first, base_low=first, base_high=first, unit="clock12")
    ends = replace(hours, low=last, high=last, base_low=last, base_high=last)
    return replace(value, quantity=begins), replace(value, quantity=ends)


def stated(text: str, values: Sequence[Value]) -> list[tuple[Span, str]]:
    """What can be asked about, with its kind: each value, with two joined hours as one."""
    joined = {
        second: first
        for first, second in pairwise(values)
        if first.wanted == second.wanted == "time_of_day" and _JOINT.fullmatch(text, first.end, second.start)
    }
    firsts = {*joined.values()} - joined.keys()
    found: list[tuple[Span, str]] = []
    for value in values:
        if value not in firsts:
            start = joined[value].start if value in joined else value.start
            hours = value in joined or len(points(value)) > 1
            found.append((Span(text[start : value.end], start, value.end), HOURS if hours else value.wanted))
    return found


def _of_quantity(text: str, quantity: Quantity) -> Value:
    after = _WHOLE.match(text, quantity.end) or _AFTER.match(text, quantity.end)
    end = after.end() if after else quantity.end
    return Value(quantity.hedge_start, end, text[quantity.hedge_start : end], quantity=quantity)
