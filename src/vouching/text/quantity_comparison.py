"""Does the quantity of a claim agree with the quantity of a source?

Left out: currency conversion, and bare ratios ("0.5" against "half"), which do not say that they are ratios.
"""

from __future__ import annotations

import math
from typing import Literal

from vouching.text.mentions import Quantity

QuantityAgreement = Literal["equal", "close", "differs", "incomparable"]

_EXACT = 1e-9
_HEDGE_TOLERANCE = 0.1
# A claim more precise than a rounded source is let pass as "close" only while the rounding is this fine.
_FINE_ROUNDING = 0.05


def compare_quantities(claim: Quantity, source: Quantity, tolerance: float = 0.0) -> QuantityAgreement:
    """Compare the quantity of a claim with the quantity of a source.

    Args:
        claim: Quantity of the claim.
        source: Quantity of the source.
        tolerance: Relative difference (of the larger value) that still counts as equal; 0 or more.

    Returns:
        "equal" if the source bears the claim out, hedges, units and ranges considered; "close" if they agree only up
        to rounding, or the source leaves the claimed value open; "differs" if they contradict each other;
        "incomparable" if they measure different things (or different currencies with different numbers).

    >>> from vouching.text.quantities import find_quantities
    >>> compare_quantities(*find_quantities("33 %, one-third"))
    'equal'
    """
    if claim.dimension != source.dimension:
        return "incomparable"
    if claim.dimension == "currency" and claim.unit != source.unit:
        return "differs" if (claim.base_low, claim.base_high) == (source.base_low, source.base_high) else "incomparable"
    slack = max(_EXACT, tolerance)
    if claim.approximate or source.approximate:
        slack = max(slack, _HEDGE_TOLERANCE)
    if claim.bound != "exact" or source.bound != "exact":
        return _compare_bounds(claim, source, slack)
    if claim.low != claim.high or source.low != source.high:
        return _compare_ranges(claim, source, slack)
    return _compare_points(claim, source, slack)


def _same(left: float, right: float, slack: float) -> bool:
    # The added 1e-12 keeps a limit such as 10 % inclusive despite binary rounding.
    return left == right or abs(left - right) <= (slack + 1e-12) * max(abs(left), abs(right))


def _compare_points(claim: Quantity, source: Quantity, slack: float) -> QuantityAgreement:
    wanted, given = claim.base_low, source.base_low
    if _same(wanted, given, slack):
        return "equal"
    difference = abs(wanted - given)
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


def _interval(quantity: Quantity) -> tuple[float, float]:
    """Return the values that the quantity allows; a strict bound leaves out its own end by the smallest step."""
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
    same_number = _same(claim.base_low, source.base_low, slack) and _same(claim.base_high, source.base_high, slack)
    if claim.bound == source.bound:
        if same_number:
            return "equal"
        return "close" if _contains(_interval(claim), _interval(source)) else "differs"
    wanted, given = _interval(claim), _interval(source)
    if _contains(wanted, given):
        return "equal" if source.bound == "exact" else "close"
    if _contains(given, wanted) and claim.bound == "exact":
        return "close"
    if same_number and (claim.approximate or source.approximate):
        return "close"
    overlap = wanted[0] <= given[1] and given[0] <= wanted[1]
    if not overlap:
        return "differs"
    return "close" if same_number else "incomparable"


def _compare_ranges(claim: Quantity, source: Quantity, slack: float) -> QuantityAgreement:
    if _same(claim.base_low, source.base_low, slack) and _same(claim.base_high, source.base_high, slack):
        return "equal"
    wanted, given = (claim.base_low, claim.base_high), (source.base_low, source.base_high)
    if _contains(wanted, given):
        return "equal" if source.low == source.high else "close"
    if _contains(given, wanted):
        return "close"
    return "differs"
