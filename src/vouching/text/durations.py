"""Lengths of time in a text: "three years", "a five-year plan", "two hours and ten minutes".

Left out: rates ("once a year", "60 km an hour") and lengths told by two dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vouching.text.hedges import read_hedge
from vouching.text.mentions import DateMention
from vouching.text.neighbours import word_before, word_list
from vouching.text.numerals import Numeral
from vouching.text.units import Unit, unit_after, unit_called

_DAY_SECONDS = 86_400.0
_RANGE_GAPS = frozenset(("-", "–", " - ", " – ", " to ", " or "))
_COMPOUND_GAPS = frozenset((" ", ", ", " and ", ", and "))
_FRACTION_OF = re.compile(r" (?:of )?an?(?= )")
_ONE_UNIT = re.compile(r"\b[Aa]n? (hour|day|week|fortnight|month|year|decade|century|millennium)\b(?!['’])")
_ALWAYS_A_LENGTH = frozenset(("fortnight", "decade", "century", "millennium"))
_LENGTH_PREPOSITIONS = frozenset(
    word_list(
        "for in within after about nearly over than least lasted took lasting almost around under roughly "
        "approximately takes spent before"
    )
)


def find_durations(text: str, numerals: Sequence[Numeral]) -> list[DateMention]:
    """Find every duration of a text, given the text's numerals (see ``find_numerals``).

    >>> from vouching.text.numerals import find_numerals
    >>> find_durations("after 10 days", find_numerals("after 10 days"))[0].days
    10.0
    """
    found = [*_counted(text, numerals), *_single(text)]
    found.sort(key=lambda duration: duration.start)
    joined: list[DateMention] = []
    for duration in found:
        if joined and duration.start < joined[-1].end:
            continue
        if joined and _continues(text, joined[-1], duration):
            joined[-1] = _sum(joined[-1], duration)
        else:
            joined.append(duration)
    return joined


def _counted(text: str, numerals: Sequence[Numeral]) -> Iterator[DateMention]:
    previous: Numeral | None = None
    for numeral in numerals:
        unit_and_end = _time_unit(text, numeral)
        if unit_and_end:
            unit, end = unit_and_end
            low = previous if previous and _is_range(text, previous, numeral) else numeral
            duration = _duration(text, low.start, end, (low.value + numeral.value) / 2, unit, low is not numeral)
            if low is not numeral:
                first, last = (unit.to_base(count) / _DAY_SECONDS for count in (low.value, numeral.value))
                duration = replace(duration, first_days=first, last_days=last)
            yield duration
        previous = numeral


def _is_range(text: str, low: Numeral, high: Numeral) -> bool:
    if low.value >= high.value or high.start - low.end > len(" and "):
        return False
    gap = text[low.end : high.start]
    return gap in _RANGE_GAPS or (gap == " and " and word_before(text, low.start) == "between")


def _time_unit(text: str, numeral: Numeral) -> tuple[Unit, int] | None:
    if numeral.form == "fraction":
        article = _FRACTION_OF.match(text, numeral.end)
        found = unit_after(text, article.end()) if article else None
    else:
        found = unit_after(text, numeral.end) if numeral.form == "cardinal" else None
    return found if found and found[0].dimension == "time" else None


def _single(text: str) -> Iterator[DateMention]:
    for match in _ONE_UNIT.finditer(text):
        unit = unit_called(match.group(1))
        alone = match.start() == 0 or word_before(text, match.start()) in _LENGTH_PREPOSITIONS
        if unit and (alone or unit.name in _ALWAYS_A_LENGTH):
            yield _duration(text, match.start(), match.end(), 1.0, unit, approximate=False)


def _duration(text: str, start: int, end: int, count: float, unit: Unit, approximate: bool) -> DateMention:
    hedge = read_hedge(text, start, end)
    loose = approximate or hedge.approximate or hedge.bound != "exact"
    days = unit.to_base(count) / _DAY_SECONDS
    return DateMention(start, end, "duration", days=days, unit=unit.name, approximate=loose)


def _continues(text: str, first: DateMention, second: DateMention) -> bool:
    """Tell whether the second duration adds a smaller unit to the first, as in "two years and three months"."""
    if second.start - first.end > len(", and ") or text[first.end : second.start] not in _COMPOUND_GAPS:
        return False
    first_unit, second_unit = unit_called(first.unit or ""), unit_called(second.unit or "")
    return first_unit is not None and second_unit is not None and second_unit.factor < first_unit.factor


def _sum(first: DateMention, second: DateMention) -> DateMention:
    days = (first.days or 0.0) + (second.days or 0.0)
    first = replace(first, first_days=None, last_days=None)
    return replace(first, end=second.end, days=days, unit="mixed", approximate=first.approximate or second.approximate)
