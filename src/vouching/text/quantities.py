"""Quantities of a text: numbers with sign, currency, unit, range, hedge and bound, at exact offsets.

Left out: what is being counted ("500 people" is the number 500), the noun after a rank, changes written as
"from 5 to 10" (two quantities), currency conversion, and vague amounts ("several", "hundreds").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from vouching.text.hedges import read_hedge
from vouching.text.mentions import DateMention, Quantity, QuantityKind
from vouching.text.neighbours import word_before
from vouching.text.numerals import Numeral, find_numerals, parse_number
from vouching.text.quantity_comparison import compare_quantities
from vouching.text.units import (
    COUNT,
    MULTIPLE,
    ORDINAL,
    RATIO,
    Unit,
    currency_before,
    unit_after,
    unit_called,
)

__all__ = ["Quantity", "compare_quantities", "find_quantities", "parse_number"]

_RANGE_GAP = re.compile(r"\s?[-–—]\s?|\s(?:to|and|or)\s")
_PART_OF = re.compile(r" (?:of )?an?(?= )")
_MILLION_LETTER = re.compile(r"[ \u00a0]?[mM](?!\w)")
_MINUS = frozenset("-−")
_LONGEST_GAP = 5


@dataclass(frozen=True, slots=True)
class _Amount:
    """A signed numeral with the unit that stands next to it."""

    start: int
    end: int
    value: float
    numeral: Numeral
    unit: Unit


def find_quantities(text: str, dates: Sequence[DateMention] = ()) -> list[Quantity]:
    """Find every quantity of a text, in order and without overlap.

    Args:
        text: Any string.
        dates: Dates of the same text, in order (see ``find_dates``); numbers inside them are left out.

    >>> [(q.low, q.unit) for q in find_quantities("It cost $1.2 million and weighs more than 5 kg.")]
    [(1200000.0, 'USD'), (5.0, 'kg')]
    """
    amounts = _outside(dates, _measure_all(text))
    quantities: list[Quantity] = []
    index = 0
    while index < len(amounts):
        first = amounts[index]
        second = amounts[index + 1] if index + 1 < len(amounts) else None
        last = _range_end(text, first, second) if second else None
        quantities.append(_quantity(text, first, last))
        index += 2 if last else 1
    return quantities


def _measure_all(text: str) -> Iterator[_Amount]:
    last_end = 0
    for numeral in find_numerals(text):
        amount = _measure(text, numeral)
        if amount.start >= last_end:
            yield amount
            last_end = amount.end


def _outside(dates: Sequence[DateMention], amounts: Iterable[_Amount]) -> list[_Amount]:
    kept: list[_Amount] = []
    index = 0
    for amount in amounts:
        while index < len(dates) and dates[index].end <= amount.start:
            index += 1
        if index == len(dates) or dates[index].start >= amount.end:
            kept.append(amount)
    return kept


def _measure(text: str, numeral: Numeral) -> _Amount:
    """Attach sign, currency and unit to a numeral."""
    start, end, value = numeral.start, numeral.end, numeral.value
    if numeral.form in ("ordinal", "multiple"):
        return _Amount(start, end, value, numeral, ORDINAL if numeral.form == "ordinal" else MULTIPLE)
    start, value = _signed(text, start, value)
    currency = currency_before(text, start)
    if currency:
        unit, start = currency
        start, value = _signed(text, start, value)
        million = None if numeral.scaled else _MILLION_LETTER.match(text, end)
        if million:
            end, value = million.end(), value * 1e6
            numeral = replace(numeral, rounding=numeral.rounding * 1e6, scaled=True)
        return _Amount(start, end, value, numeral, unit)
    part_of = _PART_OF.match(text, end) if numeral.form == "fraction" else None
    found = unit_after(text, part_of.end() if part_of else end)
    if not found:
        return _Amount(start, end, value, numeral, RATIO if numeral.form == "fraction" else COUNT)
    unit, end = found
    if unit.name == "lb" and numeral.scaled:
        # Nobody weighs millions of pounds; the word means money there.
        unit = unit_called("GBP") or unit
    return _Amount(start, end, value, numeral, unit)


def _signed(text: str, start: int, value: float) -> tuple[int, float]:
    """Take in a minus that is glued to the number and free on its left."""
    sign = text[start - 1 : start] if start else ""
    free = start < 2 or text[start - 2].isspace() or text[start - 2] in "([~≈<>"
    if sign and sign in _MINUS and free:
        return start - 1, -value
    return start, value


def _range_end(text: str, first: _Amount, second: _Amount) -> _Amount | None:
    """Return the upper end if the two amounts form a range such as "5-10 %" or "between 5 and 10"."""
    if first.numeral.form == "multiple" or first.numeral.form != second.numeral.form:
        return None
    if second.start - first.end > _LONGEST_GAP:
        return None
    gap = text[first.end : second.start]
    if not _RANGE_GAP.fullmatch(gap):
        return None
    before = word_before(text, first.start)
    if (gap == " and " and before != "between") or gap == " or " or (gap == " to " and before == "from"):
        return None
    if first.unit.dimension != second.unit.dimension and COUNT not in (first.unit, second.unit):
        return None
    low, high = _aligned(first, second)
    return second if low.unit.to_base(low.value) < high.unit.to_base(high.value) else None


def _aligned(first: _Amount, second: _Amount) -> tuple[_Amount, _Amount]:
    """Let both ends of a range share the unit and the scale that only one of them carries: "$5-10 million"."""
    if first.unit is COUNT:
        first = replace(first, unit=second.unit)
    if second.unit is COUNT:
        second = replace(second, unit=first.unit)
    if second.numeral.scaled and not first.numeral.scaled and abs(first.value) < 1000:
        scale = 1000.0
        while scale * 1000 <= abs(second.value):
            scale *= 1000
        first = replace(first, value=first.value * scale)
    return first, second


def _quantity(text: str, first: _Amount, last: _Amount | None) -> Quantity:
    low, high = _aligned(first, last) if last else (first, first)
    hedge = read_hedge(text, low.start, high.end)
    rounding = max(low.numeral.rounding, high.numeral.rounding) * high.unit.factor
    return Quantity(
        start=low.start,
        end=high.end,
        low=low.value,
        high=high.value,
        base_low=low.unit.to_base(low.value),
        base_high=high.unit.to_base(high.value),
        kind=_kind(high),
        unit=high.unit.name,
        dimension=high.unit.dimension,
        bound=hedge.bound,
        approximate=hedge.approximate or low.numeral.approximate,
        base_rounding=rounding,
        scaled=high.numeral.scaled,
        hedge_start=hedge.start,
    )


def _kind(amount: _Amount) -> QuantityKind:
    if amount.numeral.form in ("ordinal", "multiple"):
        return "ordinal" if amount.numeral.form == "ordinal" else "multiple"
    if amount.unit.dimension == "currency":
        return "currency"
    if amount.unit is RATIO:
        return "fraction"
    return "percent" if amount.unit.name in ("percent", "percentage_point", "basis_point") else "number"
