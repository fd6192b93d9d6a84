"""Values of a claim that follow from two or more values of the sources in one step.

A total ("together they cost 26"), a difference ("rose by 17", "15 more than"), a multiple ("two semesters cost 4,200"),
a ratio ("twice as much") or the time between two dates or clock times ("open for seven hours"). Which step is tried
depends on the claim's words, and its other words have to be where the operands are. Not supported: two steps, shares of
a whole that only another sentence states, and calendars of working days.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations
from typing import TypeVar

from vouching.methods.embedded.parts import Part
from vouching.methods.embedded.scene import Comparison, Scene
from vouching.text.comparison import compare_quantities
from vouching.text.mentions import DateMention, Quantity

_TOTAL = re.compile(
    r"\b(?:total(?:s|led|ling)?|together|altogether|in all|sum|combined|add(?:s|ed)? up|all told|overall|joint(?:ly)?"
    r")\b",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    r"\b(?:(?:more|less|fewer|[a-z]{2,}er)\b[^.;]{0,60} than|r[oi]se[sn]?|gr(?:e|o)wn?|grows|growth"
    r"|increas\w+|went (?:up|down)|gone (?:up|down)|f[ae]ll(?:s|en)?|dropp?\w*|declin\w+|decreas\w+|shr[aiu]nk"
    r"|los[et]s?|gain\w*|sav(?:e|es|ed|ing)|exceed\w*|outstrip\w*|tops|differ\w*|gap|short of|adds?|extra|additional\w*"
    r"|above|below|remaining|rest|others?|not|no longer|never|n't|without|left)\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"\b(?:number|amount|sum|year|month|day|hour|minute|long|old|age)s?\b")
_LONGEST = 16
"""Characters of a word that names a step; longer matches have other words between."""
_MOST_VALUES = 12
"""Values of one group whose pairs are tried."""
_MOST_TERMS = 4
"""Terms of a sum over part of a group."""
_ON_TOPIC = 0.45
"""Share of the claim's words that the operands' sentences must cover."""
_ABOUT, _EXACT = 0.03, 0.002
"""Relative difference that a value with "about", and one without, may have from a computed one."""
_ROUNDED = 0.1
"""Relative difference beyond which no rounding makes two values one; saves comparing them."""
_FEW = 3
"""Differences below this are too common to mean anything."""
_YEAR, _MONTH = 365.25, 365.25 / 12


@dataclass(frozen=True, slots=True)
class _Operand:
    sentence: int
    value: Quantity | DateMention


def computed(scene: Scene, part: Part, value: Quantity | DateMention) -> Comparison | None:
    """The first operand of a step that gives a claimed value; None if no step does."""
    for operands in _steps(scene, value):
        if _covered(scene, part, [operand.sentence for operand in operands]) >= _ON_TOPIC:
            first = operands[0]
            start, end = first.value.start, first.value.end
            return Comparison(part, "equal", first.sentence, start, end, start, end)
    return None


def _covered(scene: Scene, part: Part, sentences: Sequence[int]) -> float:
    """Share of the claim's words that the sentences have, without the value and the words that name the step."""
    words = scene.claim.words
    steps = [found.span() for cue in (_TOTAL, _DIFFERENCE, _AMOUNT) for found in cue.finditer(scene.claim.text)]
    left_out = [
        (part.value_start, part.value_end),
        *((first, last) for first, last in steps if last - first < _LONGEST),
    ]
    rest = [
        w for w in scene.focus.lookups
        if not any(start <= words[w.position].start < end for start, end in left_out)
        and not any(q.start <= words[w.position].start < q.end for q in scene.claim.quantities)
    ]  # fmt: skip
    total = sum(word.weight for word in rest)
    return sum(word.weight * word.found_in(sentences) for word in rest) / total if total else 0.0


def _steps(scene: Scene, value: Quantity | DateMention) -> Iterator[Sequence[_Operand]]:
    """The operands of each step that gives the value."""
    text = scene.claim.text
    if value.bound != "exact":
        return
    if isinstance(value, DateMention):
        if value.kind == "duration":
            yield from _times_between(scene, value)
        return
    total, difference = _TOTAL.search(text), _DIFFERENCE.search(text)
    counts = [q.low for q in scene.claim.quantities if q.start != value.start and _is_small_count(q)]
    wholes = [q for q in scene.claim.quantities if q.unit and q.bound == "exact"]
    for group in _groups(scene):
        alike = [o for o in group if isinstance(o.value, Quantity) and _comparable(o.value, value)]
        alike = [o for o in alike if not _gives(value, _quantity(o))][:_MOST_VALUES]
        # Percentages differ by percentage points.
        if difference and value.dimension != "ratio" and not (value.dimension == "count" and value.low < _FEW):
            yield from (pair for pair in combinations(alike, 2) if _gives(value, _minus(*pair)))
        if total:
            for size in range(2, min(_MOST_TERMS, len(alike)) + 1):
                yield from (terms for terms in combinations(alike, size) if _gives(value, _sum(terms)))
            if len(alike) > _MOST_TERMS and _gives(value, _sum(alike)):
                yield alike
        if value.unit and counts:
            yield from ([o] for o in alike for count in counts if _gives(value, _scaled(_quantity(o), count)))
        if _is_small_count(value):
            yield from ([o] for o in group for whole in wholes if _is_part(o, whole, value.low))
        if value.kind == "multiple" or (value.dimension == "ratio" and value.kind == "fraction"):
            others = [o for o in group if isinstance(o.value, Quantity)][:_MOST_VALUES]
            yield from (pair for pair in combinations(others, 2) if _is_ratio(value, *map(_quantity, pair)))


def _groups(scene: Scene) -> Iterator[list[_Operand]]:
    """Values that one step may combine: of one sentence, of one column, or of two sentences."""
    sentences = [*scene.focus.sentences]
    values = {s: [_Operand(s, v) for v in _values(scene, s)] for s in sentences}
    yield from (values[s] for s in sentences)
    rows = [s for s in sentences if scene.index.sentences[s].row is not None]
    for row in rows[:2]:
        yield from _columns(scene, row)
    for one, other in combinations(sentences[:4], 2):
        if one not in rows or other not in rows:
            yield [*values[one], *values[other]]


def _values(scene: Scene, sentence: int) -> list[Quantity | DateMention]:
    reading = scene.index.read(sentence)
    return [*reading.quantities, *reading.dates]


def _columns(scene: Scene, sentence: int) -> Iterator[list[_Operand]]:
    """The values of each column of the table that a row belongs to; of long tables, those of the rows in focus."""
    index = scene.index
    first = last = sentence
    while first > 0 and _same_table(scene, sentence, first - 1):
        first -= 1
    while last + 1 < len(index.sentences) and _same_table(scene, sentence, last + 1):
        last += 1
    rows = (
        range(first, last + 1)
        if last - first < _MOST_VALUES
        else [s for s in scene.focus.sentences if first <= s <= last]
    )
    columns: dict[tuple[int, int], list[_Operand]] = {}
    for row in rows:
        stretch = index.sentences[row]
        assert stretch.row is not None
        for value in () if stretch.row.is_head else _values(scene, row):
            cell = stretch.row.cell_at(stretch.start + value.start)
            if cell is not None:
                columns.setdefault(cell.column, []).append(_Operand(row, value))
    for column in columns.values():
        yield [operand for operand in column if operand.sentence in scene.focus.sentences]
        yield column


def _same_table(scene: Scene, sentence: int, other: int) -> bool:
    one, two = scene.index.sentences[sentence], scene.index.sentences[other]
    if one.row is None or two.row is None or one.source != two.source:
        return False
    return one.row.cells[0].column == two.row.cells[0].column and len(one.row.cells) == len(two.row.cells)


def _is_small_count(quantity: Quantity) -> bool:
    return quantity.dimension in ("count", "multiple") and quantity.low == quantity.high and 2 <= quantity.low <= 100


def _comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two values can be added up: of one kind, and in one currency."""
    currencies = one.dimension == "currency" and one.unit != other.unit
    points = one.unit == "percent" and other.dimension == "percentage_point"
    return (one.dimension == other.dimension or points) and one.low == one.high and not currencies


def _quantity(operand: _Operand) -> Quantity:
    assert isinstance(operand.value, Quantity)
    return operand.value


def _gives(value: Quantity, result: Quantity) -> bool:
    if value.dimension == "percentage_point" and result.unit == "percent":
        result = replace(
            result, base_low=result.base_low * 100, base_high=result.base_high * 100, dimension="percentage_point",
            unit=value.unit, kind=value.kind, base_rounding=result.base_rounding * 100,
        )  # fmt: skip
    if abs(value.base_low - result.base_low) > _ROUNDED * abs(value.base_low):
        return False
    slack = _ABOUT if value.approximate else 0.0
    value, result = replace(value, per="", approximate=False), replace(result, per="", approximate=False)
    return compare_quantities(value, result, slack) in ("equal", "close")


def _minus(one: _Operand, other: _Operand) -> Quantity:
    return _with(_quantity(one), abs(_quantity(one).base_low - _quantity(other).base_low))


def _sum(operands: Sequence[_Operand]) -> Quantity:
    return _with(_quantity(operands[0]), sum(_quantity(operand).base_low for operand in operands))


def _is_part(operand: _Operand, whole: Quantity, count: float) -> bool:
    """Whether a source's value, as many times, is another value of the claim."""
    return (
        isinstance(operand.value, Quantity)
        and _comparable(operand.value, whole)
        and _gives(whole, _scaled(operand.value, count))
    )


def _scaled(one: Quantity, count: float) -> Quantity:
    return _with(one, one.base_low * count)


def _with(one: Quantity, base: float) -> Quantity:
    """A quantity like ``one``, exact, with another value in base units."""
    factor = one.base_low / one.low if one.low else 1.0
    base = round(base, 12) if abs(base) < 1e6 else base
    low = base / factor if factor else base
    return replace(
        one, low=low, high=low, base_low=base, base_high=base, bound="exact", scaled=False, base_rounding=0.0
    )


def _is_ratio(value: Quantity, one: Quantity, other: Quantity) -> bool:
    if one.dimension != other.dimension or (one.unit != other.unit and one.dimension == "currency"):
        return False
    low, high = sorted((abs(one.base_low), abs(other.base_low)))
    return low > 0 and any(abs(ratio - value.low) < 1e-9 * value.low for ratio in (high / low, low / high))


_Time = TypeVar("_Time", Quantity, DateMention)


def _times_between(scene: Scene, value: DateMention) -> Iterator[Sequence[_Operand]]:
    """Pairs of dates or clock times that have the duration between them."""
    for group in _groups(scene):
        for one, other in combinations(group[: 2 * _MOST_VALUES], 2):
            length = _length(one.value, other.value, value)
            if (
                length is not None
                and abs(length - (value.days or 0.0)) <= (_ABOUT if value.approximate else _EXACT) * length
            ):
                yield one, other


def _length(one: Quantity | DateMention, other: Quantity | DateMention, asked: DateMention) -> float | None:
    """Days between two points in time, in whole units of the duration that is asked for."""
    if isinstance(one, Quantity) or isinstance(other, Quantity):
        if not (isinstance(one, Quantity) and isinstance(other, Quantity)):
            return None
        if one.dimension != "time_of_day" or other.dimension != "time_of_day" or one.low == other.low:
            return None
        return abs(other.low - one.low) / 1440
    if one.kind != "date" or other.kind != "date" or one.year is None or other.year is None:
        return None
    days = [_day(one), _day(other)]
    if days[0] and days[1]:
        days_between = abs((days[1] - days[0]).days)
        if asked.unit in ("year", "month"):  # an age counts whole years
            unit = _YEAR if asked.unit == "year" else _MONTH
            return int(days_between / unit + 0.003) * unit
        return float(days_between)
    if asked.unit in ("year", "decade", "century"):
        return abs(other.year - one.year) * _YEAR
    if one.month and other.month and asked.unit == "month":
        return abs(12 * (other.year - one.year) + other.month - one.month) * _MONTH
    return None


def _day(mention: DateMention) -> date | None:
    if not (mention.year and mention.month and mention.day) or mention.year < 1:
        return None
    try:
        return date(mention.year, mention.month, mention.day)
    except ValueError:
        return None
