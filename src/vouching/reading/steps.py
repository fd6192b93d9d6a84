"""One step of computation over the values of a text: sums, differences, ratios, products, times between.

A step is done where the claim's words call for it, whatever value the claim states, so that the model can compare a
wrong value with the right result. The stated value only decides between operands that the claim's words leave open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations, pairwise
from typing import TypeAlias

from vouching.reading.amounts import close, duration, like, named_value, short
from vouching.reading.values import Value, Values, stems, values_in
from vouching.text.words import word_before


def cue(words: str) -> re.Pattern[str]:
    """Words that call for a step of computation."""
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


TOTAL = cue(r"total\w*|together|altogether|in all|sum|combined|add(?:s|ed)? up|all told|overall|between them")
AVERAGE = cue(r"average|mean|per|each|apiece|a head")
DIFFERENCE = cue(
    r"more|less|fewer|later|earlier|ahead|behind|r[oi]se[sn]?|grew|grow\w*|increas\w*|f[ae]ll\w*|drop\w*|declin\w*|"
    r"decreas\w*|differ\w*|gap|sav(?:e|es|ed|ing)\w*|cheaper|dearer|longer|shorter|higher|lower|older|younger|taller|"
    r"heavier|lighter|larger|smaller|bigger|faster|slower|over|under|remain\w*|left|lost|gain\w*|up|down|exceed\w*|margin"
)
RATIO = cue(
    r"per ?cent|percentage|share|half|(?:a|one) (?:third|quarter|fifth|tenth)|thirds|quarters|fifths|tenths|twice|"
    r"double\w*|triple\w*|times|\w+fold|majority|minority|proportion|ratio|out of|one in"
)
LATER = re.compile(r"\b(?:later|after(?:wards)?|from then|earlier|before)\b", re.IGNORECASE)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WEEKDAY = re.compile(r"\b(?:" + "|".join(WEEKDAYS) + r")\b")
_TO = re.compile(r"\s(?:up |down )?to\s[^\s\d]{0,3}")
_THAN = cue("than|compared|against|from")
_UNCOUNTABLE = frozenset("clock ratio multiple date day year count".split())
"""Kinds that are not multiplied."""
_MOST_VALUES, _MOST_TERMS, _FEW = 14, 6, 10
_TOPIC = 0.25
"""Weight of the claim's words that must be around the operands of a step."""
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Fact:
    """A computed sentence."""

    text: str
    operands: tuple[tuple[int, int], ...]
    """Where in the text the values are that it was computed from."""
    results: tuple[tuple[str, float], ...] = ()
    """The amounts that it computes: each with its kind, in the base unit of the kind (see :class:`Value`)."""


Scored: TypeAlias = Iterator[tuple[float, Fact]]
"""Facts with how much they matter to the claim."""
_Step: TypeAlias = Callable[[Value, Value, str], Fact | None]


class Beside:
    """A claim beside the values of a text: what of them it is about."""

    def __init__(self, claim: str, values: Values) -> None:
        self.text, self.values, self.words, self.stated = claim, values, stems(claim), values_in(claim)
        self._topics = {value.start: self.overlap(value.topic) for value in values.all}

    def overlap(self, about: frozenset[str]) -> float:
        """Weight of the claim's words that are found, in [0, 1.5]; rare words of the text weigh more."""
        return min(1.5, sum(1 / self.values.seen.get(word, 2) for word in about & self.words))

    def topic(self, *operands: Value) -> float:
        """How much operands are about what the claim is about; the least of them counts."""
        return min(self._topics[value.start] for value in operands)

    def tells(self, value: Value, others: Sequence[Value]) -> float:
        """How much the claim names this value and not the others."""
        shared = frozenset[str]().union(*(other.around for other in others if other is not value))
        return self.overlap(value.around - shared)

    def groups(self) -> Iterator[list[Value]]:
        """Exact values that a step may combine: of a sentence or a row, or of two sentences about the claim's topic."""
        groups: dict[int, list[Value]] = {}
        for value in self.values.all:
            if value.low == value.high and value.bound == "exact":
                groups.setdefault(value.group, []).append(value)
        yield from groups.values()
        prose = sorted((g for g in groups if g >= 0), key=lambda g: -max(map(self.topic, groups[g])))[:4]
        for one, other in combinations(prose, 2):
            if min(max(map(self.topic, groups[number])) for number in (one, other)) >= _TOPIC:
                yield [*groups[one], *groups[other]]


def computed(asked: Beside) -> Scored:
    """The steps that the claim's words call for."""
    kinds = {value.kind for value in asked.stated if value.low == value.high and value.bound == "exact"}
    if TOTAL.search(asked.text):
        yield from _sums(asked)
    if DIFFERENCE.search(asked.text):
        spaces = {"clock", "date", "year"} if "time" in kinds else set[str]()
        spaces |= {"ratio"} if "percentage_point" in kinds else set[str]()
        yield from _changes(asked)
        yield from _of_pairs(asked, difference, kinds | spaces, _THAN.search(asked.text) is not None)
    if RATIO.search(asked.text) or "%" in asked.text:
        yield from _of_pairs(asked, ratio, set(), True)
    yield from _products(asked)
    if "time" in kinds:
        yield from _lengths(asked)
    if kinds & {"date", "day"} or WEEKDAY.search(asked.text):
        yield from _days_later(asked)


def _sums(asked: Beside) -> Scored:
    for group in asked.groups():
        for kind in {value.kind for value in asked.stated} - {"clock", "date", "day", "year", "ratio", "multiple"}:
            alike = [v for v in group if v.kind == kind][: _MOST_TERMS + 1]
            if not 2 <= len(alike) <= _MOST_TERMS or asked.topic(*alike) < _TOPIC:
                continue
            named = [v for v in alike if asked.tells(v, alike) > 0]
            terms = named if 2 <= len(named) < len(alike) else alike
            stated = [value for value in asked.stated if value.kind == kind]
            for size in range(2, len(alike) + 1):
                subsets = combinations(alike, size)
                terms = next((t for t in subsets if any(close(v, sum(x.low for x in t)) for v in stated)), terms)
            yield 1.0 + asked.topic(*terms), total(terms, "")


def _of_pairs(asked: Beside, step: _Step, kinds: set[str], other_kinds: bool) -> Scored:
    """A step over the pairs of values that a claim names, or the one with the stated result; the best of a text.

    Values of ``kinds`` are combined; those of other kinds too where the claim names both.
    """
    best: list[tuple[float, Fact]] = []
    for group in asked.groups():
        for kind in {value.kind for value in group}:
            alike = [value for value in group if value.kind == kind][:_MOST_VALUES]
            for one, other in combinations(alike, 2):
                topic = asked.topic(one, other)
                fact = step(one, other, "")
                if topic < _TOPIC or fact is None or one.low == other.low:
                    continue
                named = min(asked.tells(one, (other,)), asked.tells(other, (one,))) > 0
                only = len(alike) == 2 and one.group == other.group and topic >= 2 * _TOPIC
                only = only and (kind != "count" or (one.label != "" and other.label != ""))
                hit = any(_gives(value, one, other) for value in asked.stated if value.low >= _FEW or kind != "count")
                if (named and (kind in kinds or other_kinds)) or ((only or hit) and (kind in kinds or not kinds)):
                    best.append((0.5 + topic + 0.6 * named + 0.3 * only + 0.7 * hit, fact))
    yield from sorted(best, key=lambda entry: -entry[0])[:2]


def _changes(asked: Beside) -> Scored:
    """The amounts of change in "from 240 to 260 euros", where the unit stands once."""
    text = asked.values.text
    for one, other in pairwise(asked.values.all):
        if one.kind != "count" or other.kind in _UNCOUNTABLE or not _TO.fullmatch(text, one.end, other.start):
            continue
        if word_before(text, one.start) == "from":
            less = abs(other.low - one.low * other.factor)
            fact = f"from {one.written} to {other.written} is {like(other, less)}"
            yield 0.7 + asked.topic(other), Fact(fact, spans((one, other)), ((other.kind, less),))


def _gives(value: Value, one: Value, other: Value) -> bool:
    """Whether a stated value is the difference or the ratio of two values."""
    low, high = sorted((abs(one.low), abs(other.low)))
    if value.kind == one.kind and close(value, high - low):
        return True
    if not low or value.kind not in ("ratio", "multiple", "count"):
        return False
    return any(close(value, result) for result in (low / high, high / low, (high - low) / low))


def _products(asked: Beside) -> Scored:
    """A value of the text so many times, where the claim has the number of times: "3 nights", "for 12 people"."""
    for times in asked.stated:
        if times.kind not in ("count", "time") or times.low != times.high:
            continue
        number = times.low / times.factor
        for value in asked.stated:
            if value is times or value.kind in {times.kind, *_UNCOUNTABLE} or not 1 < number <= 1000:
                continue
            fitting = [v for v in asked.values.all if v.kind == value.kind and v.low == v.high and v.low]
            fitting = [v for v in fitting if asked.topic(v) >= _TOPIC and v.low != value.low]
            for one in sorted(fitting, key=lambda v: -asked.topic(v) - 2 * close(value, number * v.low))[:1]:
                sign, result = ("/", one.low / number) if AVERAGE.search(asked.text) else ("x", number * one.low)
                text = f"{named_value(one)} {sign} {short(number)} = {like(one, result)}"
                yield 0.6 + asked.topic(one), Fact(text, spans((one,)), ((one.kind, result), (times.kind, times.low)))


def _lengths(asked: Beside) -> Scored:
    """Times between two clock times of a sentence or a row, or between two dates."""
    times = [value for value in asked.stated if value.kind == "time"]
    for kind in ("clock", "date", "year"):
        points = [value for value in asked.values.all if value.kind == kind][:40]
        for one, other in combinations(points, 2):
            topic = asked.topic(one, other)
            if (one.group != other.group and kind == "clock") or one.low == other.low:
                continue
            length = abs(other.low - one.low) * {"clock": 60.0, "year": 365.25 * _DAY}.get(kind, float(_DAY))
            near = any(abs(length - v.low) <= 0.06 * length for v in times)
            if (near or one.group == other.group) and (topic >= _TOPIC or (times and len(points) == 2)):
                text = f"from {one.written} to {other.written} is {duration(length)}"
                whole = length // (365.25 * _DAY) * 365.25 * _DAY  # an age is stated in whole years
                yield 0.4 + 0.6 * near + topic, Fact(text, spans((one, other)), (("time", length), ("time", whole)))
    for value in asked.values.all:
        if value.kind == "clock" and value.low != value.high and (topic := asked.topic(value)) >= _TOPIC:
            length = ((value.high - value.low) % 1440) * 60
            yield 0.6 + topic, Fact(f"{value.written} is {duration(length)}", spans((value,)), (("time", length),))


def _days_later(asked: Beside) -> Scored:
    """The weekday or the date so many days after or before another of the same sentence, where the text says so."""
    for group in asked.groups():
        for length in group:
            if length.kind != "time" or length.low % _DAY or not LATER.search(asked.values.text[length.end :][:24]):
                continue
            days = round(length.low / _DAY)
            sign = -1 if re.match(r"\W*(?:earlier|before)", asked.values.text[length.end :]) else 1
            for other in group:
                if other.kind in ("date", "day"):
                    moved = date.fromordinal(int(other.low) + sign * days)
                    day = f"{moved:%-d %B %Y}" if other.kind == "date" else f"{moved:%-d %B}"
                    text = f"{length.written} {'after' if sign > 0 else 'before'} {other.written} is {day}"
                    moved_to = ((other.kind, other.low + sign * days),)
                    yield 0.7 + asked.topic(other), Fact(text, spans((length, other)), moved_to)
            sentence = asked.values.text[max(0, length.start - 120) : length.start]
            if (found := list(WEEKDAY.finditer(sentence))) and WEEKDAY.search(asked.text):
                at = max(0, length.start - 120) + found[-1].start()
                day = WEEKDAYS[(WEEKDAYS.index(found[-1].group()) + sign * days) % 7]
                text = f"{length.written} {'after' if sign > 0 else 'before'} {found[-1].group()} is {day}"
                yield 0.7 + asked.topic(length), Fact(text, ((at, at + len(found[-1].group())), *spans((length,))))


def total(terms: Sequence[Value], head: str) -> Fact:
    """The sum of values; ``head`` is that of their column."""
    added = sum(v.low for v in terms)
    text = f"{_head(head, terms)}{' + '.join(map(named_value, terms))} = {like(terms[0], added)}"
    return Fact(text, spans(terms), ((terms[0].kind, added),))


def difference(one: Value, other: Value, head: str) -> Fact | None:
    """The larger of two values less the smaller."""
    high, low = (one, other) if one.low >= other.low else (other, one)
    less = high.low - low.low
    result, results = like(high, less), ((high.kind, less),)
    if high.kind == "ratio":
        result, results = f"{short(less * 100)} percentage points", (("percentage_point", less * 100),)
    if high.kind in ("clock", "date", "day"):
        seconds = less * (60 if high.kind == "clock" else _DAY)
        result, results = duration(seconds), (("time", seconds),)
    if high.kind == "year":
        result, results = f"{short(less)} years", (("time", less * 365.25 * _DAY),)
    text = f"{_head(head, (one, other))}{named_value(high)} - {named_value(low)} = {result}"
    return Fact(text, spans((one, other)), results)


def ratio(one: Value, other: Value, head: str) -> Fact | None:
    """How many times the smaller the larger of two values is; None where that means nothing."""
    high, low = (one, other) if one.low >= other.low else (other, one)
    if not low.low or low.low < 0 or high.kind in ("clock", "date", "day", "year", "temperature", "ratio"):
        return None
    times, share = high.low / low.low, 100 * low.low / high.low
    compared = f"{named_value(high)} is {short(times)} times {named_value(low)}, which is {short(share)}% of it"
    results = (("multiple", times), ("ratio", share / 100), ("ratio", times - 1), ("ratio", 1 - share / 100))
    return Fact(_head(head, (one, other)) + compared, spans((one, other)), results)


def _head(head: str, terms: Sequence[Value]) -> str:
    return f"{head}: " if head and all(v.column >= 0 for v in terms) else ""


def spans(values: Sequence[Value]) -> tuple[tuple[int, int], ...]:
    """Where values are in the text."""
    return tuple((value.start, value.end) for value in values)
