"""The records of quantities and dates that the finders return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Bound = Literal["exact", "at_least", "more_than", "at_most", "less_than"]
"""Side of the written number on which the true number may be."""

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
    """True for a duration that is hedged or given as a range."""
    bound: Bound = "exact"
    """From words such as "more than" before a duration, "before" or "by" before a date."""
    precise: bool = False
    """True for "exactly 5 days"."""
    hedge_start: int = 0
    """Where hedging or bounding words before it begin; ``start`` or 0 if there are none."""
    hedges: tuple[tuple[int, int], ...] = ()
    """Where the words that hedge or bound it are."""


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
    hedges: tuple[tuple[int, int], ...] = ()
    """Where the words that hedge or bound it are, before and after."""
    precise: bool = False
    """True for "exactly 500"."""
