"""The records of quantities and dates that the finders return, with the words that hedge or bound a number.

"about 500", "more than 5" and "10 or more" are read next to the number. Not supported: hedges further away ("by some
accounts, 500") and those that qualify the whole sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Bound = Literal["exact", "at_least", "more_than", "at_most", "less_than"]
"""Side of the written number on which the true number may be."""

_BEFORE: dict[str, Bound | Literal["about"]] = {
    **dict.fromkeys(("about", "around", "approximately", "approx", "approx.", "roughly", "nearly", "almost"), "about"),
    **dict.fromkeys(("some", "circa", "c.", "ca.", "ca", "estimated", "an estimated", "close to", "~", "≈"), "about"),
    **dict.fromkeys(("more than", "over", "above", "greater than", "exceeding", "upwards of", ">"), "more_than"),
    **dict.fromkeys(("in excess of", "larger than", "higher than", "longer than"), "more_than"),
    **dict.fromkeys(
        ("at least", "no fewer than", "no less than", "not less than", "a minimum of", "≥", ">="), "at_least"
    ),
    **dict.fromkeys(("at most", "up to", "no more than", "not more than", "a maximum of", "as many as"), "at_most"),
    **dict.fromkeys(("as much as", "≤", "<="), "at_most"),
    **dict.fromkeys(("less than", "fewer than", "under", "below", "smaller than", "lower than", "<"), "less_than"),
}
_LONGEST_FIRST = "|".join(re.escape(phrase) for phrase in sorted(_BEFORE, key=len, reverse=True))
_LAST_BEFORE = re.compile(rf"(?<![^\W_])(?P<phrase>{_LONGEST_FIRST})[ \u00a0]?\Z", re.IGNORECASE)
_REACH = max(map(len, _BEFORE)) + 1
_ENDINGS = frozenset(phrase[-1] for phrase in _BEFORE)
_AFTER = re.compile(
    r"(?P<about>-?ish\b| or so\b| approximately\b)|(?P<at_least>\+| or (?:more|greater|over|above)\b| and above\b)"
    r"|(?P<at_most> or (?:less|fewer|under|below)\b)"
)


@dataclass(frozen=True, slots=True)
class Hedge:
    """Words around a number that make it approximate or a bound."""

    start: int
    """Offset where the hedging words begin; the number's own start if there are none."""
    approximate: bool
    bound: Bound


def read_hedge(text: str, start: int, end: int) -> Hedge:
    """Read the hedges and bounds around the number at ``start..end``.

    >>> read_hedge("more than about 500 men", 16, 19)
    Hedge(start=0, approximate=True, bound='more_than')
    """
    first, approximate, bound = start, False, "exact"
    while found := _phrase_before(text, first):
        meaning = _BEFORE[found.group("phrase").lower()]
        if meaning == "about":
            approximate = True
        else:
            bound = meaning
        first = found.start()
    after = _AFTER.match(text, end)
    if after and after.lastgroup == "about":
        approximate = True
    elif after and bound == "exact":
        bound = "at_least" if after.lastgroup == "at_least" else "at_most"
    return Hedge(first, approximate, bound)


def _phrase_before(text: str, start: int) -> re.Match[str] | None:
    # Most numbers have no hedge: one look at the last letter saves the search.
    last = text[max(0, start - 2) : start].rstrip(" \u00a0")[-1:].lower()
    return _LAST_BEFORE.search(text, max(0, start - _REACH), start) if last in _ENDINGS else None


DateKind = Literal["date", "decade", "century", "range", "duration"]
QuantityKind = Literal["number", "percent", "currency", "ordinal", "fraction", "multiple"]


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date, a span of years or a duration found in a text. Fields that the text does not give are None."""

    start: int
    end: int
    kind: DateKind
    """A decade, century or range spans ``year`` to ``last_year``."""
    year: int | None = None
    """Year, or first year of a span; negative for BC (44 BC is -44)."""
    month: int | None = None
    """Month, 1 to 12."""
    day: int | None = None
    """Day of the month, 1 to 31."""
    weekday: int | None = None
    """Day of the week, 0 (Monday) to 6 (Sunday)."""
    part: str | None = None
    """"spring", "summer", "autumn" or "winter", or a quarter "Q1" to "Q4"."""
    last_year: int | None = None
    """Last year of a decade, century or range, inclusive."""
    day_month_order_unknown: bool = False
    """True for "03/05/2020": month and day may be swapped."""
    days: float | None = None
    """Length of a duration in days (a year is 365.25 days); the middle for "5-10 years"."""
    unit: str | None = None
    """Time unit of a duration as written: "day", "year", ...; "mixed" for "two years and three months"."""
    first_days: float | None = None
    """Lower end of a duration given as a range, in days."""
    last_days: float | None = None
    """Upper end of a duration given as a range, in days."""
    approximate: bool = False
    """True for a duration that is hedged, bounded or given as a range."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, found in a text."""

    start: int
    """Offset of the number with its sign and currency."""
    end: int
    """Offset after the number with its scale word and unit."""
    low: float
    """The number in the written unit; the lower end of a range."""
    high: float
    """The upper end of a range; equal to ``low`` otherwise."""
    base_low: float
    """``low`` in the base unit of the dimension (5 km is 5000 m, 5 % is 0.05)."""
    base_high: float
    """``high`` in the base unit."""
    kind: QuantityKind = "number"
    """What kind of number it is; a measure such as "5 km" is a number with a unit."""
    unit: str = ""
    """Normalised unit ("km", "percent", "USD"); "" for a bare number."""
    dimension: str = "count"
    """What is measured; only quantities of one dimension can be compared."""
    bound: Bound = "exact"
    """From words such as "more than"."""
    approximate: bool = False
    """True if hedged ("about 500")."""
    base_rounding: float = 0.0
    """Size of one unit in the last written place, in base units; 0 if the number is exact by nature (a fraction)."""
    scaled: bool = False
    """True if written with a scale ("1.2 million", "10k"), which suggests a rounded number."""
    per: str = ""
    """Time unit of a rate ("day" for "5 mg daily"), which the other fields do not include; "" if there is none."""
    hedge_start: int = 0
    """Offset where hedging or bounding words before the number begin; equal to ``start`` if there are none."""
