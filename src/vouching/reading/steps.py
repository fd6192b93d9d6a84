"""One step of computation over the values of a text: sums, differences, ratios, products, times between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from vouching.reading.amounts import close, duration, like, named_value, short
from vouching.reading.values import Value, Values, stems, values_in


def cue(words: str) -> re.Pattern[str]:
    """Words that call for a step of computation."""
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


TOTAL = cue(
    r"total\w*|together|altogether|in all|sum|combined|add(?:s|ed)? up|all told|overall|both|between them|"
    r"jointly|whole"
)
AVERAGE = cue(r"average|mean|per|each|apiece|a head")
DIFFERENCE = cue(
    r"more|less|fewer|\w{2,}er|later|earlier|ahead|behind|r[oi]se[sn]?|grew|grow\w*|increas\w*|f[ae]ll\w*|"
    r"drop\w*|declin\w*|decreas\w*|differ\w*|gap|sav(?:e|es|ed|ing)\w*|extra|additional\w*|above|below|"
    r"over|under|remain\w*|left|rest|short of|lost|gain\w*|up|down|change\w*|margin|exceed\w*"
)
RATIO = cue(
    r"per ?cent|percentage|share|half|third|quarter|fifth|tenth|twice|double\w*|triple\w*|times|\w*fold|"
    r"majority|minority|most|proportion|ratio|out of|one in"
)
_PRODUCT = cue(
    r"cost\w*|pay\w*|price\w*|for|take\w*|last\w*|need\w*|amount\w*|earn\w*|charge\w*|total\w*|a (?:day|"
    r"week|month|year)"
)
_MOST_VALUES, _MOST_TERMS = 14, 9
_FEW = 3
"""Results below this are too common to mean anything unless the claim's words ask for the step."""
_SMALL = 100
"""Bare numbers below this need operands that the claim's words name."""
_AROUND = 0.4
"""Weight of the claim's words that must be around the values of a product."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A computed sentence."""

    text: str
    operands: tuple[tuple[int, int], ...]
    """Where in the text the values are that it was computed from."""


Scored: TypeAlias = Iterator[tuple[float, Fact]]
"""Facts with how much they matter to the claim."""


class Beside:
    """A claim beside the values of a text: what of them it is about."""

    def __init__(self, claim: str, values: Values) -> None:
        self.text, self.values, self.words, self.stated = claim, values, stems(claim), values_in(claim)
        self._topics = {value.start: self.overlap(value.topic) for value in values.all}

    def overlap(self, about: frozenset[str]) -> float:
        """Weight of the claim's words that are found, in [0, 1.5]; rare words of the text weigh more."""
        return min(1.5, sum(self.values.rarity.get(word, 0.5) for word in about & self.words))

    def topic(self, *operands: Value) -> float:
        """How much operands are about what the claim is about; the least of them counts."""
        return min(self._topics[value.start] for value in operands)

    def near(self, group: Sequence[Value]) -> float:
        """How much the best value of a group is about what the claim is about."""
        return max((self._topics[value.start] for value in group[:_MOST_VALUES]), default=0.0)


def derived(asked: Beside, value: Value, weight: float) -> Scored:
    """Steps that give a stated value."""
    if value.low != value.high or value.bound != "exact":
        return
    common = value.kind == "count" and value.low < _FEW
    least = 0.1 if value.kind == "count" and value.low < _SMALL else -1.0
    for group in _groups(asked):
        alike = [v for v in group if v.kind == value.kind and v.low == v.high][:_MOST_VALUES]
        near = 0.3 + asked.near(group)
        if TOTAL.search(asked.text) or not common:
            for size in (2, 3, 4):
                gain = 0.6 if TOTAL.search(asked.text) else 0.0
                if size > 2 and not gain:
                    break
                for terms in combinations(alike[:_MOST_TERMS], size):
                    if close(value, sum(v.low for v in terms)) and _of_one_size(terms) and asked.topic(*terms) > least:
                        yield weight * (near + gain + asked.topic(*terms)), total(terms, "")
        if DIFFERENCE.search(asked.text) or not common:
            gain = 0.6 if DIFFERENCE.search(asked.text) else 0.0
            for pair in combinations(alike, 2):
                gap = abs(pair[0].low - pair[1].low)
                if close(value, gap) and _of_one_size(pair) and asked.topic(*pair) > least:
                    yield weight * (near + gain + asked.topic(*pair)), difference(*pair, "")
        if value.kind in ("ratio", "multiple", "count") and (RATIO.search(asked.text) or "%" in asked.text):
            others = [v for v in group if v.kind not in ("ratio", "multiple") and v.low == v.high and v.low][
                :_MOST_VALUES
            ]
            for one, other in combinations(others, 2):
                if one.kind == other.kind and (fact := ratio(one, other, "")):
                    low, high = sorted((abs(one.low), abs(other.low)))
                    if close(value, low / high) or close(value, high / low) or close(value, (high - low) / low):
                        yield weight * (near + 0.6 + asked.topic(one, other)), fact
        yield from ((weight * s, f) for s, f in _products(asked, value, group))
    if value.kind == "time":
        yield from _lengths(asked, value)


def _products(asked: Beside, value: Value, group: Sequence[Value]) -> Scored:
    """A value so many times, where the claim or the text has the number of times."""
    near = asked.near(group)
    if value.kind in ("clock", "ratio") or near < _AROUND or not _PRODUCT.search(asked.text):
        return
    own = [v for v in asked.stated if v.kind in ("count", "time") and v.start != value.start]
    times = {
        v.low / v.factor: v
        for v in [*own, *(v for v in group if v.kind in ("count", "time"))]
        if 1 < v.low / v.factor <= 400
    }
    for one in group:
        if one.kind != value.kind or one.low != one.high or not one.low:
            continue
        for number, factor in times.items():
            if factor is not one and number * one.low != one.low and close(value, number * one.low):
                score = 0.5 + near + 0.3 * (factor in own)
                yield (
                    score,
                    Fact(
                        f"{named_value(one)} x {short(number)} = {like(one, number * one.low)}",
                        ((one.start, one.end),),
                    ),
                )
            if factor is not one and number and AVERAGE.search(asked.text) and close(value, one.low / number):
                yield (
                    0.5 + near,
                    Fact(
                        f"{named_value(one)} / {short(number)} = {like(one, one.low / number)}",
                        ((one.start, one.end),),
                    ),
                )


def _lengths(asked: Beside, value: Value) -> Scored:
    """Times between two clock times or dates of the text; a claim with a duration may mean one of them."""
    for kind in ("clock", "date", "day", "year"):
        points = [v for v in asked.values.all if v.kind == kind][:40]
        for one, other in combinations(points, 2):
            same = one.group == other.group or (one.column == other.column != -1) or kind != "clock"
            length = abs(other.low - one.low) * {"clock": 60.0, "year": 365.25 * 86_400}.get(kind, 86_400.0)
            if kind == "clock" and one.high != one.low:
                length = (one.high - one.low) * 60
            topic = asked.topic(one, other)
            slack = 0.004 if value.unit not in ("year", "month") or kind != "date" else 0.06
            near = length and abs(length - value.low) <= slack * length
            if same and length and (near or topic > 0.9):
                text = f"from {one.written} to {other.written} is {duration(length)}"
                yield (1.2 if near else 0.2) + topic, Fact(text, spans((one, other)))
    for span in (v for v in asked.values.all if v.kind == "clock" and v.low != v.high):
        length = ((span.high - span.low) % 1440) * 60
        topic = asked.topic(span)
        if length:
            yield (
                (1.2 if abs(length - value.low) < 60 else 0.4) + topic,
                Fact(f"{span.written} is {duration(length)}", spans((span,))),
            )


def _groups(asked: Beside) -> Iterator[list[Value]]:
    """Values that one step may combine: of a sentence, a row, a column, or the two sentences nearest to the claim."""
    groups: dict[int, list[Value]] = {}
    for value in asked.values.all:
        groups.setdefault(value.group, []).append(value)
    yield from groups.values()
    yield from (list(column.values) for column in asked.values.columns if len(column.values) > 1)
    prose = sorted((g for g in groups if g >= 0), key=lambda g: -asked.near(groups[g]))[:4]
    yield from ([*groups[one], *groups[other]] for one, other in combinations(prose, 2))


def _of_one_size(terms: Sequence[Value]) -> bool:
    """Whether bare numbers are near enough in size to be of one thing."""
    sizes = sorted(abs(v.low) for v in terms)
    return terms[0].kind != "count" or sizes[0] * 300 >= sizes[-1]


def total(terms: Sequence[Value], head: str) -> Fact:
    """The sum of values; ``head`` is that of their column."""
    added = sum(v.low for v in terms)
    return Fact(f"{_head(head, terms)}{' + '.join(map(named_value, terms))} = {like(terms[0], added)}", spans(terms))


def difference(one: Value, other: Value, head: str) -> Fact:
    """The larger of two values less the smaller."""
    high, low = (one, other) if one.low >= other.low else (other, one)
    result = like(high, high.low - low.low)
    if high.kind == "ratio":
        result = f"{short((high.low - low.low) * 100)} percentage points"
    if high.kind == "clock":
        result = duration((high.low - low.low) * 60)
    return Fact(f"{_head(head, (one, other))}{named_value(high)} - {named_value(low)} = {result}", spans((one, other)))


def ratio(one: Value, other: Value, head: str) -> Fact | None:
    """How many times the smaller the larger of two values is; None where that means nothing."""
    high, low = (one, other) if one.low >= other.low else (other, one)
    if not low.low or low.low < 0 or high.kind in ("clock", "date", "day", "year", "temperature"):
        return None
    times, share = high.low / low.low, 100 * low.low / high.low
    compared = f"{named_value(high)} is {short(times)} times {named_value(low)}, which is {short(share)}% of it"
    return Fact(_head(head, (one, other)) + compared, spans((one, other)))


def _head(head: str, terms: Sequence[Value]) -> str:
    return f"{head}: " if head and all(v.column >= 0 for v in terms) else ""


def spans(values: Sequence[Value]) -> tuple[tuple[int, int], ...]:
    """Where values are in the text."""
    return tuple((value.start, value.end) for value in values)
