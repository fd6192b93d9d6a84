"""Sentences that exact code writes beside a claim: what follows from the values of a text by one computation.

A model reads well and computes badly, so that sums, differences, shares, durations, conversions, ranks and "is this
case in that range" are computed here and read by the model, which judges whether the claim says that. A fact is true
of the text whether or not the claim is; it is chosen by the claim's words and by the values that the claim states. Not
supported: two steps, and calendars of working days.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from vouching.reading.amounts import close, in_unit, like
from vouching.reading.steps import (
    DIFFERENCE,
    RATIO,
    TOTAL,
    WEEKDAY,
    WEEKDAYS,
    Beside,
    Fact,
    Scored,
    computed,
    cue,
    difference,
    ratio,
    spans,
    total,
)
from vouching.reading.values import Column, Value, Values, stems

_ORDER = cue(
    r"more|less|fewer|most|least|fewest|\w{3,}er than|\w{3,}est|best|worst|top|rank\w*|ahead|behind|beat\w*|exceed\w*|"
    r"above|below|outsold|maximum|minimum|lead\w*|leader|highest|lowest"
)
_MEAN = cue("average|mean")
_COUNT = cue(
    r"there (?:are|were|is)|lists?|has|have|had|names?|of the|consists?|number|many|includes?|contains?|"
    r"comprises?|offers?"
)
_BEFORE = cue(r"before|after|earlier|later|since|until|by|already|first|last|follow\w*|preced\w*|prior")
_AGE = cue(r"age[ds]?|old|child\w*|years?|teen\w*|under|over|kid\w*|boy|girl|pupil")
_WEEKEND = cue(r"weekdays?|weekends?")
_ADDED = frozenset("count time mass length area volume data energy power ratio percentage_point temperature".split())
_ONE_UNIT = frozenset("clock date day year count multiple ratio temperature".split())
_LONG_UNITS = ("month", "year")
"""Units that convert to whole days or weeks only by chance."""
_MOST_ROWS = 8
_WORTH = 0.6
"""Score below which a fact is not worth its place."""


def computed_facts(claim: str, values: Values, most: int = 3, characters: int = 360) -> list[Fact]:
    r"""The facts about a text that matter most to a claim, best first.

    >>> from vouching.reading.values import read_values
    >>> text = "| Month | Sold |\n|--|--|\n| March | 410 |\n| April | 385 |\n"
    >>> [fact.text for fact in computed_facts("In March and April together, 795 were sold.", read_values(text))][0]
    'Sold: March 410 + April 385 = 795'
    """
    scored: dict[str, tuple[float, Fact]] = {}
    for score, fact in _facts(Beside(claim, values)):
        if score > scored.get(fact.text, (0.0,))[0]:
            scored[fact.text] = (score, fact)
    chosen: list[Fact] = []
    for score, fact in sorted(scored.values(), key=lambda entry: -entry[0])[:most]:
        if score >= _WORTH and sum(len(f.text) for f in chosen) + len(fact.text) <= characters:
            chosen.append(fact)
    return chosen


def _facts(asked: Beside) -> Scored:
    yield from _of_columns(asked)
    yield from computed(asked)
    for value in asked.stated:
        yield from _conversions(asked, value)
        if value.kind in ("date", "day", "year"):
            if _BEFORE.search(asked.text):
                yield from _order_of_dates(asked, value)
        else:
            yield from _cases(asked, value)
    yield from _counts(asked)
    yield from _weekdays(asked)


def _of_columns(asked: Beside) -> Scored:
    """Ranks and totals of the columns that the claim is about, and differences between the rows that it names."""
    for column in asked.values.columns:
        numbers = [v for v in column.values if v.low == v.high]
        of_a_row = len({v.group for v in numbers}) == len(numbers)
        if len(numbers) < 2 or not of_a_row or len({v.kind for v in numbers}) > 1 or not numbers[0].label:
            continue
        if _is_numbering(numbers):
            continue
        named = _named(numbers, asked.words)
        head = asked.overlap(stems(column.head))
        kind = any(value.kind == numbers[0].kind for value in asked.stated)
        if not (head or kind or named):
            continue
        score = 1.0 + head + 0.5 * len(named) + 0.3 * kind
        if _ORDER.search(asked.text):
            yield score + 0.6, _rank(column, numbers, named)
        if numbers[0].kind not in _ADDED and not numbers[0].kind.startswith("currency"):
            continue
        if TOTAL.search(asked.text) and len(numbers) > 2 and len(named) < 2:
            added = sum(v.low for v in numbers)
            yield (
                score + 0.8,
                Fact(
                    f"{column.head}: all {len(numbers)} rows add up to {like(numbers[0], added)}",
                    spans(numbers),
                    ((numbers[0].kind, added),),
                ),
            )
        if _MEAN.search(asked.text) and len(numbers) > 2 and len(named) < 2:
            mean = sum(v.low for v in numbers) / len(numbers)
            yield (
                score + 0.4,
                Fact(
                    f"{column.head}: the mean of {len(numbers)} rows is {like(numbers[0], mean)}",
                    spans(numbers),
                    ((numbers[0].kind, mean),),
                ),
            )
        if 2 <= len(named) <= 4:
            yield from ((score + gain, fact) for gain, fact in _between(asked.text, column.head, named))


def _between(claim: str, head: str, named: Sequence[Value]) -> Scored:
    """The sum of values that a claim names; the difference and the ratio of two."""
    if TOTAL.search(claim) or len(named) > 2:
        yield 1.0, total(named, head)
    if len(named) == 2:
        if DIFFERENCE.search(claim) and re.search(r"\d|than", claim) and (fact := difference(named[0], named[1], head)):
            yield 1.0, fact
        if (RATIO.search(claim) or "%" in claim) and (fact := ratio(named[0], named[1], head)):
            yield 0.9, fact


def _conversions(asked: Beside, value: Value) -> Scored:
    """Values of the text in the unit of the claim."""
    if value.kind in _ONE_UNIT or value.kind.startswith("currency") or value.unit == "mixed":
        return
    for other in asked.values.all:
        if other.kind == value.kind and other.unit != value.unit and other.low == other.high and value.factor:
            topic = asked.topic(other)
            same = close(value, other.low)
            if topic > 0.3 and (
                same
                or (
                    other.unit not in _LONG_UNITS
                    and value.unit not in _LONG_UNITS
                    and 0.04 <= other.low / max(value.low, 1e-9) <= 25
                )
            ):
                amount = other.low / value.factor
                yield (
                    (1.0 if same else 0.3) + topic,
                    Fact(f"{other.written} = {in_unit(value, amount)}", spans((other,)), ((other.kind, other.low),)),
                )


def _cases(asked: Beside, value: Value) -> Scored:
    """How a stated value compares with the ranges and limits of the text; with exact values if the claim compares."""
    compares = value.bound != "exact"
    best: list[tuple[float, Fact]] = []
    for other in asked.values.all:
        low, high, mine = other.low, other.high, value.low
        if other.kind != value.kind:
            if not (value.kind == "count" and other.unit == "year" and _AGE.search(asked.text)):
                continue
            low, high = low / other.factor, high / other.factor
        limit = low != high or other.bound != "exact" or other.kind != value.kind
        topic = asked.topic(other)
        if not (limit or compares) or topic < (0.3 if value.kind != "count" else 0.6):
            continue
        if (other.column >= 0 and value.kind == "count") or not 0.04 <= mine / max(abs(low), abs(high), 1e-9) <= 25:
            continue
        inside = low < high and low <= mine <= high
        text = f"{value.written} is {_lies(mine, low, high)} {other.written}"
        best.append((0.3 * limit + 0.5 * inside + topic, Fact(text, spans((other,)))))
    yield from sorted(best, key=lambda entry: -entry[0])[:2]


def _lies(mine: float, low: float, high: float) -> str:
    if low == high:
        return "equal to" if mine == low else "more than" if mine > low else "less than"
    return "below" if mine < low else "above" if mine > high else "within"


def _order_of_dates(asked: Beside, value: Value) -> Scored:
    for other in asked.values.all:
        if other.kind == value.kind and other.low != value.low:
            order = "before" if value.low < other.low else "after"
            yield 0.8 * asked.topic(other), Fact(f"{value.written} is {order} {other.written}", spans((other,)))


def _counts(asked: Beside) -> Scored:
    """How many items a list or a table has."""
    numbers = {value.low for value in asked.stated if value.kind == "count"}
    if not numbers and not re.search(r"\b(?:single|only|both|one|several|no)\b", asked.text, re.I):
        return
    for entry in asked.values.lists:
        title = asked.overlap(stems(entry.title))
        inside = max((asked.overlap(stems(item)) for item in entry.items), default=0.0)
        hit = float(len(entry.items)) in numbers
        counted = bool(_COUNT.search(asked.text))
        if counted and (title >= 0.3 or inside > 0.5):
            name = f"under {entry.title[:40]!r}" if entry.title else "in the list"
            score = 0.1 + 0.6 * title + 0.5 * hit + 0.2 * counted + 0.1 * inside
            yield score, Fact(f"{len(entry.items)} items {name}", ((entry.start, entry.end),))


def _weekdays(asked: Beside) -> Scored:
    if not (WEEKDAY.search(asked.text) or _WEEKEND.search(asked.text)):
        return
    for value in asked.values.all:
        if value.kind == "date":
            day = WEEKDAYS[date.fromordinal(int(value.low)).weekday()]
            yield 0.5 + asked.topic(value), Fact(f"{value.written} is a {day}", spans((value,)))


def _is_numbering(numbers: Sequence[Value]) -> bool:
    """Whether a column only counts its rows."""
    return [v.low for v in numbers] == [*range(1, len(numbers) + 1)] and all(v.kind == "count" for v in numbers)


def _named(rows: Sequence[Value], words: frozenset[str]) -> list[Value]:
    """The rows that a claim names: it has words of their labels that few other labels have."""
    common = Counter(word for row in rows for word in row.name)
    telling = [[word for word in row.name if common[word] <= max(1, len(rows) // 3)] for row in rows]
    return [
        row
        for row, own in zip(rows, telling, strict=True)
        if own and sum(word in words for word in own) >= max(1, len(own) / 2)
    ]


def _rank(column: Column, numbers: Sequence[Value], named: Sequence[Value]) -> Fact:
    ordered = sorted(numbers, key=lambda v: v.low)
    if len(ordered) > _MOST_ROWS:
        keep = {id(v) for v in (*ordered[:2], *ordered[-2:], *named[:4])}
        ordered = [v for v in ordered if id(v) in keep]
    parts = [f"{ordered[0].label} {ordered[0].written}"]
    for before, value in pairwise(ordered):
        parts.append(f"{'=' if before.low == value.low else '<'} {value.label} {value.written}")
    return Fact(f"{column.head}: {' '.join(parts)}", spans(ordered))
