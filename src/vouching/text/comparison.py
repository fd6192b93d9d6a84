"""Compare the date of a claim with the date of a source, and its quantity with the source's quantity.

A bare decimal ("0.5") may or may not be a ratio: it can equal one, but never differs from one. Not supported:
arithmetic between dates and durations, the overlap of seasons with months, currency conversion.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from vouching.text.mentions import DateMention, Quantity
from vouching.text.units import unit_called

DateAgreement = Literal["equal", "compatible", "more_specific", "allowed", "differs", "incomparable"]

_EXACT_DURATION = 0.02
_LOOSE_DURATION = 0.15
# Which agreement to keep when a date can be read in two ways; the most favourable to the claim first.
_KINDEST: tuple[DateAgreement, ...] = ("equal", "compatible", "more_specific", "allowed", "incomparable", "differs")


def compare_dates(claim: DateMention, source: DateMention) -> DateAgreement:
    """Compare the date of a claim with the date of a source.

    Returns:
        "equal" if both say the same; "compatible" if the claim agrees and is less specific than the source ("1937" for
        "3 May 1937"); "more_specific" if it agrees and is more specific; "differs" if they contradict each other;
        "incomparable" if they share no field ("May" and "1937"). Durations are equal within 2 %, or within 15 % if
        one is approximate or their units differ; bounds are compared as those of quantities ("allowed").

    >>> from vouching.text.dates import find_dates
    >>> compare_dates(find_dates("in 1937")[0], find_dates("on 3 May 1937")[0])
    'compatible'
    """
    if claim.kind == "duration" or source.kind == "duration":
        return _compare_durations(claim, source)
    if claim.bound != "exact" or source.bound != "exact":
        days = _days(claim, source), _days(source, claim)
        if days[0] and days[1]:
            return _compare_bounded_dates(claim, days[0], source, days[1])
    if claim.kind != "date" or source.kind != "date":
        return _compare_spans(claim, source)
    outcomes = [_compare_fields(claimed, given) for claimed in _readings(claim) for given in _readings(source)]
    return next(agreement for agreement in _KINDEST if agreement in outcomes)


_DAYS_OF_YEAR = 372


def _days(date: DateMention, other: DateMention) -> tuple[float, float] | None:
    """First and last day of a date or a span of years, counted from one epoch; None if it has no month and no year."""
    if date.month is None and (date.year is None or other.year is None):
        return None
    year = 0 if date.year is None or other.year is None else date.year
    last_year = date.last_year if date.last_year is not None and year else year
    month, last_month = (date.month, date.month) if date.month else (1, 12)
    if date.part and date.part.startswith("Q"):
        last_month = 3 * int(date.part[1])
        month = last_month - 2
    elif date.part:
        return None
    day, last_day = (date.day, date.day) if date.day else (1, 31)
    return (
        year * _DAYS_OF_YEAR + month * 31 + day,
        last_year * _DAYS_OF_YEAR + last_month * 31 + last_day,
    )


def _compare_bounded_dates(
    claim: DateMention, ours: tuple[float, float], source: DateMention, theirs: tuple[float, float]
) -> DateAgreement:
    claimed, given = _open_span(claim, ours), _open_span(source, theirs)
    disjoint = claimed[0] > given[1] or given[0] > claimed[1]
    if "exact" not in (claim.bound, source.bound):
        if (claim.bound in _UPWARD) != (source.bound in _UPWARD):
            return "differs" if disjoint or ours == theirs else "incomparable"
        if ours == theirs:
            return "equal" if claim.bound == source.bound else "compatible" if _contains(claimed, given) else "allowed"
        return "differs"
    if claim.bound != "exact" and _contains(claimed, given):
        return "compatible"
    if claim.bound == "exact" and _contains(ours, theirs) and not disjoint:
        return "compatible"
    return "differs" if disjoint else "allowed"


def _open_span(date: DateMention, days: tuple[float, float]) -> tuple[float, float]:
    """The days that a date with its bound allows."""
    first, last = days
    match date.bound:
        case "at_least":
            return first, math.inf
        case "more_than":
            return last + 1, math.inf
        case "at_most":
            return -math.inf, last
        case "less_than":
            return -math.inf, first - 1
        case _:
            return first, last


def _readings(date: DateMention) -> list[DateMention]:
    if not date.day_month_order_unknown:
        return [date]
    return [date, replace(date, month=date.day, day=date.month)]


def _compare_durations(claim: DateMention, source: DateMention) -> DateAgreement:
    if claim.days is None or source.days is None:
        return "incomparable"
    if claim.bound != "exact" or source.bound != "exact" or (claim.precise and source.approximate):
        slack = _LOOSE_DURATION if claim.approximate or source.approximate else _EXACT_DURATION
        agreement = _compare_bounds(_as_quantity(claim), _as_quantity(source), slack)
        return "compatible" if agreement == "close" else agreement
    claimed, given = _length_range(claim), _length_range(source)
    if claimed and given:
        ends = zip(claimed, given, strict=True)
        agree = all(abs(left - right) <= _EXACT_DURATION * max(left, right) for left, right in ends)
        return "equal" if agree else "differs"
    if claimed and claimed[0] <= source.days <= claimed[1]:
        return "equal"
    if given and given[0] <= claim.days <= given[1]:
        return "compatible"
    loose = claim.approximate or source.approximate or claim.unit != source.unit
    allowed = (_LOOSE_DURATION if loose else _EXACT_DURATION) + 1e-12
    larger = max(abs(claim.days), abs(source.days))
    equal = claim.days == source.days or abs(claim.days - source.days) <= allowed * larger
    return "equal" if equal else "differs"


def _as_quantity(date: DateMention) -> Quantity:
    """A duration as a quantity in days, with its bound."""
    low = date.first_days if date.first_days is not None else date.days or 0.0
    high = date.last_days if date.last_days is not None else date.days or 0.0
    return Quantity(
        date.start,
        date.end,
        low,
        high,
        low,
        high,
        unit=date.unit or "",
        dimension="time",
        bound=date.bound,
        approximate=date.approximate,
        precise=date.precise,
    )


def _length_range(date: DateMention) -> tuple[float, float] | None:
    return None if date.first_days is None or date.last_days is None else (date.first_days, date.last_days)


def _compare_fields(claim: DateMention, source: DateMention) -> DateAgreement:
    claimed, given = _fields(claim), _fields(source)
    quarter_agrees = _quarter_holds_month(claim, source)
    if quarter_agrees is False:
        return "differs"
    if quarter_agrees:
        # The month implies the quarter, so the quarter needs no counterpart.
        claimed.pop("part", None)
        given.pop("part", None)
    shared = claimed.keys() & given.keys()
    if any(claimed[name] != given[name] for name in shared):
        return "differs"
    if not shared and not quarter_agrees:
        return "incomparable"
    if claimed.keys() - given.keys():
        return "more_specific"
    return "equal" if claimed.keys() == given.keys() else "compatible"


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
    claimed, given = _span(claim), _span(source)
    if claimed is None or given is None:
        return "incomparable"
    if claimed == given:
        return "equal"
    if claim.kind == source.kind == "range":
        # Ranges that merely overlap differ: both ends have to agree.
        return "differs"
    if claimed[0] <= given[0] and given[1] <= claimed[1]:
        return "compatible"
    if given[0] <= claimed[0] and claimed[1] <= given[1]:
        return "more_specific"
    return "differs"


def _span(date: DateMention) -> tuple[int, int] | None:
    if date.year is None:
        return None
    return date.year, date.year if date.last_year is None else date.last_year


QuantityAgreement = Literal["equal", "close", "allowed", "differs", "incomparable"]

_EXACT = 1e-9
_HEDGE_TOLERANCE = 0.1
# A claim more precise than a rounded source counts as "close" only if the rounding is this fine.
_FINE_ROUNDING = 0.05
_HALF_DAY = 720
_FAR = 5.0
"""Ratio of a bound and a value from which the value does not support the bound."""
_UPWARD, _STRICT = frozenset(("at_least", "more_than")), frozenset(("less_than", "more_than"))


def compare_quantities(claim: Quantity, source: Quantity, tolerance: float = 0.0) -> QuantityAgreement:
    """Compare the quantity of a claim with the quantity of a source.

    Args:
        claim: quantity of the claim.
        source: quantity of the source.
        tolerance: relative difference (of the larger value) that still counts as equal; 0 or more.

    Returns:
        "equal" if the source supports the claim, hedges, units and ranges included; "close" if they agree only up to
        rounding; "allowed" if the claimed value is within the source's bound or range, which does not state it;
        "differs" if they contradict each other, as two limits with different values do; "incomparable" if they measure
        different things (or different currencies with different numbers).

    >>> from vouching.text.quantities import find_quantities
    >>> compare_quantities(*find_quantities("33 %, one-third"))
    'equal'
    """
    if {claim.unit, source.unit} == {_POUND_OF_WEIGHT, "GBP"}:
        claim, source = _as_money(claim), _as_money(source)
    if claim.dimension != source.dimension:
        return _compare_decimal_with_ratio(claim, source)
    if claim.dimension == "time_of_day":
        return _compare_clock_times(claim, source)
    if claim.per and source.per and claim.per != source.per:
        claim, source = _per_second(claim), _per_second(source)
    if claim.dimension == "currency" and claim.unit != source.unit:
        return "differs" if (claim.base_low, claim.base_high) == (source.base_low, source.base_high) else "incomparable"
    slack = max(_EXACT, tolerance)
    if claim.approximate or source.approximate:
        slack = max(slack, _HEDGE_TOLERANCE)
    if claim.bound != "exact" or source.bound != "exact" or (claim.precise and source.approximate):
        return _compare_bounds(claim, source, slack)
    if claim.low != claim.high or source.low != source.high:
        return _compare_ranges(claim, source, slack)
    return _compare_points(claim, source, slack)


_POUND_OF_WEIGHT = "lb"


def _as_money(amount: Quantity) -> Quantity:
    """An amount of "pounds", which are money where they are compared with pounds sterling."""
    unit = unit_called(_POUND_OF_WEIGHT)
    if unit is None or amount.unit != unit.name:
        return amount
    return replace(
        amount,
        unit="GBP",
        dimension="currency",
        kind="currency",
        base_low=amount.low,
        base_high=amount.high,
        base_rounding=amount.base_rounding / unit.factor,
    )


def _same(left: float, right: float, slack: float) -> bool:
    # The added 1e-12 keeps a limit such as 10 % inclusive despite binary rounding.
    return left == right or abs(left - right) <= (slack + 1e-12) * max(abs(left), abs(right))


def _compare_decimal_with_ratio(claim: Quantity, source: Quantity) -> QuantityAgreement:
    if {claim.dimension, source.dimension} != {"count", "ratio"}:
        return "incomparable"
    decimal, ratio = (claim, source) if claim.dimension == "count" else (source, claim)
    if decimal.base_rounding >= 1 or abs(decimal.low) >= 1 or decimal.low != decimal.high or ratio.low != ratio.high:
        return "incomparable"
    same = claim.bound == source.bound and _same(decimal.low, ratio.base_low, _EXACT)
    return "equal" if same else "incomparable"


def _compare_clock_times(claim: Quantity, source: Quantity) -> QuantityAgreement:
    claimed, given = (claim.low, claim.high), (source.low, source.high)
    if claimed == given:
        return "equal"
    if "clock12" in (claim.unit, source.unit):
        # "8:30" alone may be in the morning or the evening.
        same = all(left % _HALF_DAY == right % _HALF_DAY for left, right in zip(claimed, given, strict=True))
        return "close" if same else "differs"
    if claim.low == claim.high and _contains(given, claimed):
        return "close"
    return "equal" if source.low == source.high and _contains(claimed, given) else "differs"


def _per_second(rate: Quantity) -> Quantity:
    period = unit_called(rate.per)
    seconds = period.factor if period else 1.0
    low, high = rate.base_low / seconds, rate.base_high / seconds
    return replace(rate, base_low=low, base_high=high, base_rounding=rate.base_rounding / seconds)


def _compare_points(claim: Quantity, source: Quantity, slack: float) -> QuantityAgreement:
    claimed, given = claim.base_low, source.base_low
    alike = (claim.unit, claim.per) == (source.unit, source.per) and _is_whole(claim) and _is_whole(source)
    # Numbers of orders, accounts and telephones may differ only in the last of many digits.
    if claim.low == source.low if alike and slack == _EXACT else _same(claimed, given, slack):
        return "equal"
    difference = abs(claimed - given)
    half_step = claim.base_rounding * (0.5 + _EXACT)
    if claim.dimension == "ratio" and claim.kind != source.kind:
        half_step = max(claim.base_rounding, source.base_rounding) * (0.5 + _EXACT)
        return "equal" if difference <= half_step else "differs"
    if difference <= half_step:
        if claim.approximate:
            return "equal"
        if claim.scaled or claim.unit != source.unit:
            return "close"
    source_half_step = source.base_rounding * (0.5 + _EXACT)
    fine = source_half_step <= _FINE_ROUNDING * abs(given)
    return "close" if source.scaled and fine and difference <= source_half_step else "differs"


def _is_whole(quantity: Quantity) -> bool:
    return quantity.low % 1 == 0 and not quantity.scaled


def _interval(quantity: Quantity) -> tuple[float, float]:
    """The values that the quantity allows; a strict bound excludes its own end by the smallest step."""
    low, high = quantity.base_low, quantity.base_high
    match quantity.bound:
        case "at_least":
            return low, math.inf
        case "more_than":
            return math.nextafter(low, math.inf), math.inf
        case "at_most":
            return -math.inf, high
        case "less_than":
            return -math.inf, math.nextafter(high, -math.inf)
        case _:
            return low, high


def _contains(outer: tuple[float, float], inner: tuple[float, float]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _compare_bounds(claim: Quantity, source: Quantity, slack: float) -> QuantityAgreement:
    if "exact" in (claim.bound, source.bound) or not _same(claim.base_low, source.base_low, slack):
        claim, source = _inclusive(claim), _inclusive(source)
    if claim.bound != "exact" and source.bound == "exact" and not claim.approximate:
        slack = min(slack, _EXACT_DURATION)  # a limit is exact even where the value is not
    same_number = _same(claim.base_low, source.base_low, slack) and _same(claim.base_high, source.base_high, slack)
    claimed, given = _interval(claim), _interval(source)
    if "exact" not in (claim.bound, source.bound):
        return _compare_limits(claim, source, same_number)
    points = claim.low == claim.high and source.low == source.high
    if points and same_number and (claim.approximate or source.approximate):
        return "allowed" if claim.precise else "close"
    if claim.bound != "exact" and _contains(claimed, given):
        return "equal" if _near(claim, source) else "allowed"
    if claim.bound == "exact" and source.bound not in _STRICT and points and same_number and not claim.precise:
        return "close"
    return "allowed" if claimed[0] <= given[1] and given[0] <= claimed[1] else "differs"


def _near(bound: Quantity, value: Quantity) -> bool:
    """Whether one would state the bound of such a value: "more than 5" of 7, but not of 700."""
    smaller, larger = sorted((abs(bound.base_low), abs(value.base_low)))
    return larger <= _FAR * smaller


def _compare_limits(claim: Quantity, source: Quantity, same_number: bool) -> QuantityAgreement:
    """Compare two limits: those of one direction state one value; those of two may both hold, unless it is the same."""
    upward = claim.bound in _UPWARD
    if upward != (source.bound in _UPWARD):
        claimed, given = _interval(claim), _interval(source)
        disjoint = claimed[0] > given[1] or given[0] > claimed[1]
        return "differs" if same_number or disjoint else "incomparable"
    if same_number:
        # "At least 5" follows from "more than 5", but not the reverse.
        lenient = "at_least" if upward else "at_most"
        return "equal" if claim.bound == source.bound else "close" if claim.bound == lenient else "allowed"
    return "differs"


def _inclusive(quantity: Quantity) -> Quantity:
    """A strict bound of a count as an inclusive one: "more than 12 people" are at least 13."""
    whole = quantity.dimension == "count" and quantity.base_rounding == 1.0 and not quantity.scaled
    if not whole or quantity.approximate or quantity.bound not in ("more_than", "less_than"):
        return quantity
    step = 1.0 if quantity.bound == "more_than" else -1.0
    value = quantity.base_low + step
    return replace(
        quantity,
        low=value,
        high=value,
        base_low=value,
        base_high=value,
        bound="at_least" if quantity.bound == "more_than" else "at_most",
    )


def _compare_ranges(claim: Quantity, source: Quantity, slack: float) -> QuantityAgreement:
    if _same(claim.base_low, source.base_low, slack) and _same(claim.base_high, source.base_high, slack):
        return "equal"
    claimed, given = (claim.base_low, claim.base_high), (source.base_low, source.base_high)
    if source.low == source.high:
        return "equal" if _contains(claimed, given) else "differs"
    if claim.low == claim.high:
        return "allowed" if _contains(given, claimed) else "differs"
    # Ranges that merely overlap differ: both ends have to agree.
    ends = {_compare_points(_end(claim, upper), _end(source, upper), slack) for upper in (False, True)}
    return "close" if ends <= {"equal", "close"} else "differs"


def _end(quantity: Quantity, upper: bool) -> Quantity:
    written, base = (quantity.high, quantity.base_high) if upper else (quantity.low, quantity.base_low)
    return replace(quantity, low=written, high=written, base_low=base, base_high=base)
