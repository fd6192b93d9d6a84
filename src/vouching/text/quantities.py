"""Quantities of a text: numbers with sign, currency, unit, range, hedge and bound, with exact offsets.

Times of day ("3 pm"), shares ("one in five") and proportions ("3:1") each have their own dimension. Not supported: what
is counted ("500 people" is the number 500), the noun after a rank, currency conversion, and vague amounts ("several",
"hundreds"). A change ("rose from 5 to 10") is two quantities, not a range.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from vouching.text.bounds import read_hedge
from vouching.text.framing import names_a_place
from vouching.text.layout import without_emphasis
from vouching.text.mentions import DateMention, Quantity, QuantityKind
from vouching.text.number_forms import NUMBER_WORDS
from vouching.text.numerals import Numeral, find_numerals
from vouching.text.units import (
    COUNT,
    MULTIPLE,
    ORDINAL,
    RATIO,
    Unit,
    currency_before,
    is_difference,
    unit_after,
    unit_called,
)
from vouching.text.words import word_before

_RANGE_GAP = re.compile(r"\s?[-–—]\s?|\s(?:to|and|through|until|till|up to)\s")
_CHANGE = re.compile(
    r"\b(?:r[oi]se[ns]?|risen|rising|gr[eo]wn?|gr(?:ows|owing|owth)|increas\w{1,3}|climb\w{0,3}|jump\w{0,3}|[wW]ent|go(?:es)?|soar\w{0,3}"
    r"|fell|fall(?:s|en|ing)?|drop\w{0,4}|declin\w{1,3}|decreas\w{1,3}|reduc\w{1,4}|cut|slid|shr[aiu]nk|mov\w{1,3}|chang\w{1,3}"
    r"|shift\w{0,3}|rais\w{1,3}|lower\w{0,3}|improv\w{1,5}|up|down|expand\w{0,3}|surg\w{1,3})\b[^.;,]{0,40} from \Z",
    re.IGNORECASE,
)
_CHANGE_REACH = 64
_SHARE_GAP = re.compile(r" (?:out of(?: every)?|in(?P<every> every)?) ")
_SHARE_WHOLES = frozenset((3, 4, 5, 8, 10, 100, 1000, 10_000, 100_000, 1_000_000))
_TIME_UNIT = "second|minute|hour|day|week|month|year"
_NOUNS = r"(?: (?!(?:and|or|in|on|at|to|of|but|for|was|were|is|are)\b)[a-z]{2,20}){0,2}?"
_RATE = re.compile(
    rf"{_NOUNS} (?:(?:per|an?|each|every) (?P<unit>{_TIME_UNIT})|"
    r"(?P<adverb>hourly|daily|weekly|monthly|yearly|annually))\b"
    rf"|/(?P<slash>{_TIME_UNIT})\b"
)
_ADVERBS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
_CLOCK_12 = r"(?:1[0-2]|0?[1-9])"
_HALVES = r"(?:[aApP]\.[mM]\.|[ap]m\b|[AP]M\b|[ap]\.m\b)"
_CLOCK = re.compile(
    r"(?<![\w.,:/])(?:(?<![^\W\d]-)|(?<=[aApP][mM]-))"
    rf"(?:(?:(?P<first>{_CLOCK_12})(?:[:.](?P<first_minute>[0-5]\d))?(?:[-–]| to ))?"
    rf"(?P<hour>{_CLOCK_12})(?:[:.](?P<minute>[0-5]\d))?[ \u00a0]?(?P<half>{_HALVES})"
    r"|(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?(?![\w:/]|[.,]\d)"
    r"|(?P<oclock>1[0-2]|[1-9]) o['’]clock\b|(?:12 |(?<=at ))(?P<named>noon|midnight)\b)"
)
_MAYBE_CLOCK = re.compile(r"\d[ \u00a0]?[aApP]\.?[mM]|o['’]clock|noon|midnight")
_PROPORTION = re.compile(r"(?<![\w.,:/-])(?P<left>\d{1,4}(?:\.\d{1,3})?):(?P<right>\d{1,4})(?![\w:/-]|[.,]\d)")
_NAMED_PROPORTION = re.compile(r"(?i:\b(?:ratio|scale|odds|proportion)\b)[^.;]{0,16}\Z")
_PART_OF = re.compile(r" (?:of )?an?(?= )")
_MILLION_LETTER = re.compile(r"[ \u00a0]?[mM](?!\w)")
_MINUS = frozenset("-−")
_LONGEST_GAP = len(" through ")


@dataclass(frozen=True, slots=True)
class _Amount:
    """A signed numeral with its unit."""

    start: int
    end: int
    value: float
    numeral: Numeral
    unit: Unit


def find_quantities(text: str, dates: Sequence[DateMention] = ()) -> list[Quantity]:
    """Find every quantity of a text, in order and without overlap.

    Numbers inside one of ``dates`` (those of the same text, in order; see ``find_dates``) are skipped.

    >>> [(q.low, q.unit) for q in find_quantities("It cost $1.2 million and weighs more than 5 kg.")]
    [(1200000.0, 'USD'), (5.0, 'kg')]
    >>> [(q.start, q.low) for q in find_quantities("As Table 2 shows, it has **95** million cells.")]
    [(27, 95000000.0)]
    """
    plain, offsets = without_emphasis(text)
    if plain != text:
        found = [_moved(quantity, offsets) for quantity in find_quantities(plain)]
        return [one for one in found if not any(d.start < one.end and one.start < d.end for d in dates)]
    marked = _outside(dates, _marked(text))
    amounts = _outside(marked, _outside(dates, _measure_all(text)))
    quantities: list[Quantity] = []
    index = 0
    while index < len(amounts):
        first = amounts[index]
        second = amounts[index + 1] if index + 1 < len(amounts) else None
        share = _share(text, first, second) if second else None
        last = _range_end(text, first, second) if second and not share else None
        quantities.append(share or _quantity(text, first, last))
        index += 2 if last or share else 1
    found = sorted(quantities + marked, key=lambda quantity: quantity.start) if marked else quantities
    return [one for one in found if not names_a_place(text, one.start)]


def _moved(quantity: Quantity, offsets: Sequence[int]) -> Quantity:
    """The quantity of a text without emphasis, at its offsets in the text with it."""
    hedges = tuple((offsets[start], offsets[end - 1] + 1) for start, end in quantity.hedges)
    return replace(
        quantity,
        start=offsets[quantity.start],
        end=offsets[quantity.end - 1] + 1,
        hedge_start=offsets[quantity.hedge_start],
        hedges=hedges,
    )


def _marked(text: str) -> list[Quantity]:
    """Find the times of day and the proportions, whose numbers have no meaning on their own."""
    if ":" not in text and not _MAYBE_CLOCK.search(text):
        return []
    found: list[Quantity] = []
    for match in _CLOCK.finditer(text):
        if not (match["h"] and _is_proportion(text, match.start())):
            found.append(_clock_time(match))
    for match in _PROPORTION.finditer(text):
        left, right = float(match["left"]), float(match["right"])
        if left + right > 0 and (
            match["right"][1:] == "" or not _CLOCK.match(text, match.start()) or _is_proportion(text, match.start())
        ):
            # The left share of the whole distinguishes all proportions, 3:0 included.
            found.append(_special(match, left / (left + right), left / (left + right), "", "proportion"))
    found.sort(key=lambda quantity: quantity.start)
    return found


def _is_proportion(text: str, start: int) -> bool:
    return _NAMED_PROPORTION.search(text[max(0, start - 28) : start]) is not None


def _special(match: re.Match[str], low: float, high: float, unit: str, dimension: str) -> Quantity:
    start, end = match.span()
    return Quantity(start, end, low, high, low, high, unit=unit, dimension=dimension, hedge_start=start)


def _clock_time(match: re.Match[str]) -> Quantity:
    """A time of day in minutes since midnight; the unit "clock12" does not say which half of the day."""
    if match["half"]:
        noon = 720 * (match["half"][0] in "pP")
        high = _minutes(match["hour"], match["minute"]) % 720 + noon
        low = _minutes(match["first"], match["first_minute"]) % 720 + noon if match["first"] else high
        return _special(match, low if low <= high else (low - 720) % 1440, high, "clock", "time_of_day")
    if match["oclock"]:
        minutes = _minutes(match["oclock"], None)
        return _special(match, minutes, minutes, "clock12", "time_of_day")
    if match["named"]:
        minutes = 720.0 if match["named"] == "noon" else 0.0
        return _special(match, minutes, minutes, "clock", "time_of_day")
    minutes = _minutes(match["h"], match["m"]) + int(match["s"] or 0) / 60
    half_open = match["h"][0] != "0" and int(match["h"]) <= 12
    return _special(match, minutes, minutes, "clock12" if half_open else "clock", "time_of_day")


def _minutes(hour: str, minute: str | None) -> float:
    return 60.0 * int(hour) + int(minute or 0)


def _measure_all(text: str) -> Iterator[_Amount]:
    last_end = 0
    for numeral in find_numerals(text):
        amount = _measure(text, numeral)
        if amount.start >= last_end:
            yield amount
            last_end = amount.end


_Span = TypeVar("_Span", _Amount, Quantity)


def _outside(taken: Sequence[DateMention] | Sequence[Quantity], amounts: Iterable[_Span]) -> list[_Span]:
    kept: list[_Span] = []
    index = 0
    for amount in amounts:
        while index < len(taken) and taken[index].end <= amount.start:
            index += 1
        if index == len(taken) or taken[index].start >= amount.end:
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
        # Millions of pounds are money, not a weight.
        unit = unit_called("GBP") or unit
    if unit.zero and is_difference(text, start, end):
        unit = replace(unit, zero=0.0)
    return _Amount(start, end, value, numeral, unit)


def _signed(text: str, start: int, value: float) -> tuple[int, float]:
    """Include a minus sign that touches the number and nothing on its left."""
    sign = text[start - 1 : start] if start else ""
    free = start < 2 or text[start - 2].isspace() or text[start - 2] in "([~≈<>"
    if sign and sign in _MINUS and free:
        return start - 1, -value
    word = text[max(0, start - 6) : start]
    if word in ("minus ", "Minus ") and not _takes_away(text, start - 6):
        return start - 6, -value
    return start, value


def _takes_away(text: str, start: int) -> bool:
    """Distinguish "ten minus 5" and "x minus 5" from "at minus 5"."""
    before = word_before(text, start)
    return text[max(0, start - 2) : start].strip().isdigit() or before in NUMBER_WORDS or len(before) == 1


def _share(text: str, first: _Amount, second: _Amount) -> Quantity | None:
    """Read "one in five" and "3 out of 4" as fractions."""
    if second.start - first.end > len(" out of every "):
        return None
    gap = _SHARE_GAP.fullmatch(text[first.end : second.start])
    cardinal = first.numeral.form == second.numeral.form == "cardinal"
    if not gap or not cardinal or first.unit is not COUNT or second.unit is not COUNT:
        return None
    part, whole = first.value, second.value
    usual = "out" in gap.group() or gap["every"] or part == 1 or whole in _SHARE_WHOLES
    if not usual or not 0 < part < whole:
        return None
    value = part / whole
    numeral = Numeral(first.start, second.end, value, "fraction", 0.0)
    return _quantity(text, _Amount(first.start, second.end, value, numeral, RATIO), None)


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
    if gap == " and " and before != "between":
        return None
    if before == "from" and _CHANGE.search(text, max(0, first.start - _CHANGE_REACH), first.start):
        return None
    if before == "by" and " to " in gap and first.unit is not COUNT:  # "up by 20 euros to 260 euros"
        return None
    if first.unit.dimension != second.unit.dimension and COUNT not in (first.unit, second.unit):
        return None
    low, high = _aligned(first, second)
    return second if low.unit.to_base(low.value) < high.unit.to_base(high.value) else None


def _aligned(first: _Amount, second: _Amount) -> tuple[_Amount, _Amount]:
    """Give both ends of a range the unit and the scale that only one of them has: "$5-10 million"."""
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
        per=_period(text, high),
        hedge_start=hedge.start,
        hedges=hedge.words,
        precise=hedge.precise,
    )


def _period(text: str, amount: _Amount) -> str:
    """Return the time unit of a rate: "day" for "5 mg daily" and for "100 requests a day"."""
    if amount.unit.dimension in ("ordinal", "multiple", "time", "speed", "data_rate"):
        return ""
    found = _RATE.match(text, amount.end)
    if not found:
        return ""
    adverb = found["adverb"]
    return _ADVERBS.get(adverb, "year") if adverb else found["unit"] or found["slash"]


def _kind(amount: _Amount) -> QuantityKind:
    if amount.numeral.form in ("ordinal", "multiple"):
        return "ordinal" if amount.numeral.form == "ordinal" else "multiple"
    if amount.unit.dimension == "currency":
        return "currency"
    if amount.unit is RATIO:
        return "fraction"
    return "percent" if amount.unit.name in ("percent", "percentage_point", "basis_point") else "number"
