"""Does the date of a claim agree with the date of a source?

Left out: arithmetic between dates and durations, and the overlap of seasons with months.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from vouching.text.mentions import DateMention

DateAgreement = Literal["equal", "compatible", "more_specific", "differs", "incomparable"]

_EXACT_DURATION = 0.02
_LOOSE_DURATION = 0.15
# Which agreement to keep when a date can be read in two ways; the first is the kindest to the claim.
_KINDEST: tuple[DateAgreement, ...] = ("equal", "compatible", "more_specific", "incomparable", "differs")


def compare_dates(claim: DateMention, source: DateMention) -> DateAgreement:
    """Compare the date of a claim with the date of a source.

    Returns:
        "equal" if both say the same; "compatible" if the claim says less than the source and agrees ("1937" against
        "3 May 1937"); "more_specific" if the claim agrees but says more; "differs" if they contradict each other;
        "incomparable" if they share no field ("May" against "1937"). Durations are equal within 2 %, or within 15 % if
        one is approximate or their units differ.

    >>> from vouching.text.dates import find_dates
    >>> compare_dates(find_dates("in 1937")[0], find_dates("on 3 May 1937")[0])
    'compatible'
    """
    if claim.kind == "duration" or source.kind == "duration":
        return _compare_durations(claim, source)
    if claim.kind != "date" or source.kind != "date":
        return _compare_spans(claim, source)
    outcomes = [_compare_fields(wanted, given) for wanted in _readings(claim) for given in _readings(source)]
    return next(agreement for agreement in _KINDEST if agreement in outcomes)


def _readings(date: DateMention) -> list[DateMention]:
    if not date.day_month_order_unknown:
        return [date]
    return [date, replace(date, month=date.day, day=date.month)]


def _compare_durations(claim: DateMention, source: DateMention) -> DateAgreement:
    if claim.days is None or source.days is None:
        return "incomparable"
    wanted, given = _length_range(claim), _length_range(source)
    if wanted and given:
        ends = zip(wanted, given, strict=True)
        agree = all(abs(left - right) <= _EXACT_DURATION * max(left, right) for left, right in ends)
        return "equal" if agree else "differs"
    if wanted and wanted[0] <= source.days <= wanted[1]:
        return "equal"
    if given and given[0] <= claim.days <= given[1]:
        return "compatible"
    loose = claim.approximate or source.approximate or claim.unit != source.unit
    allowed = (_LOOSE_DURATION if loose else _EXACT_DURATION) + 1e-12
    larger = max(abs(claim.days), abs(source.days))
    equal = claim.days == source.days or abs(claim.days - source.days) <= allowed * larger
    return "equal" if equal else "differs"


def _length_range(date: DateMention) -> tuple[float, float] | None:
    return None if date.first_days is None or date.last_days is None else (date.first_days, date.last_days)


def _compare_fields(claim: DateMention, source: DateMention) -> DateAgreement:
    wanted, given = _fields(claim), _fields(source)
    quarter_agrees = _quarter_holds_month(claim, source)
    if quarter_agrees is False:
        return "differs"
    if quarter_agrees:
        # The month says all that the quarter does, so the quarter needs no counterpart.
        wanted.pop("part", None)
        given.pop("part", None)
    shared = wanted.keys() & given.keys()
    if any(wanted[name] != given[name] for name in shared):
        return "differs"
    if not shared and not quarter_agrees:
        return "incomparable"
    if wanted.keys() - given.keys():
        return "more_specific"
    return "equal" if wanted.keys() == given.keys() else "compatible"


def _fields(date: DateMention) -> dict[str, int | str]:
    named = {"year": date.year, "month": date.month, "day": date.day, "weekday": date.weekday, "part": date.part}
    return {name: value for name, value in named.items() if value is not None}


def _quarter_holds_month(claim: DateMention, source: DateMention) -> bool | None:
    """Check a quarter of one side against the month of the other; None if there is no such pair."""
    for part, month in ((claim.part, source.month), (source.part, claim.month)):
        if part and part.startswith("Q") and month:
            return int(part[1]) == (month + 2) // 3
    return None


def _compare_spans(claim: DateMention, source: DateMention) -> DateAgreement:
    wanted, given = _span(claim), _span(source)
    if wanted is None or given is None:
        return "incomparable"
    if wanted == given:
        return "equal"
    if claim.kind == source.kind == "range":
        # Ranges that merely overlap say different things: both ends have to agree.
        return "differs"
    if wanted[0] <= given[0] and given[1] <= wanted[1]:
        return "compatible"
    if given[0] <= wanted[0] and wanted[1] <= given[1]:
        return "more_specific"
    return "differs"


def _span(date: DateMention) -> tuple[int, int] | None:
    if date.year is None:
        return None
    return date.year, date.year if date.last_year is None else date.last_year
