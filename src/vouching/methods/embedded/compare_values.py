"""Compare the quantities and dates of a claim with those of the sources.

A value is compared only with its counterpart: the value that goes with the same words. An amount of change is compared
with the source's amount of change, or with its "from A to B". Not supported: any other arithmetic over several values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from vouching.methods.embedded.parts import Part, counted_words
from vouching.methods.embedded.reading import ParsedSentence
from vouching.methods.embedded.scene import SAME_TOPIC, Comparison, Outcome, Scene, nearest_after, nearest_before
from vouching.text.comparison import compare_dates, compare_quantities
from vouching.text.cues import is_negated
from vouching.text.mentions import DateMention, Quantity
from vouching.text.words import word_before

_AGREES, _SAME_PLACE, _SAME_NOUN, _SAME_UNIT = 0.6, 0.7, 0.5, 0.3
"""Bonuses that rank counterparts, added to the coverage of their sentence."""
_THE_SAME = 0.95
"""Share of the claim's words that a sentence must have to contradict the one that supports the claim."""
_BY = re.compile(r"\b[bB]y(?: (?:about|almost|around|exactly|nearly|only|over|roughly|some))?\s[^\s\d]{0,3}\Z")
_TO = re.compile(r"\s(?:up |down )?to\s[^\s\d]{0,3}\Z")
_OF = re.compile(r" of (?:all |its |the |their )?\Z")
_REACH = 24


def compare_quantity(scene: Scene, part: Part, value: Quantity) -> Comparison:
    """Find the best counterpart of a quantity and compare the two."""
    best: tuple[float, Comparison] | None = None
    conflict: tuple[int, int, int] | None = None
    change = _is_change(scene.claim, value)
    for position, reading, coverage in scene.readings():
        for rival in (*reading.quantities, *(_changes(reading) if change else ())):
            relation = compare_quantities(value, rival)
            if relation == "incomparable" or (relation == "differs" and change and not _is_change(reading, rival)):
                continue
            agrees = relation in ("equal", "close") and not _denied(scene, value.start, reading, rival.start)
            after = _end_of_whole(reading, rival)
            end, words = counted_words(reading, after, set())
            end = max(rival.end, end if after == rival.end else 0)
            # Two bare numbers count the same thing; so do two numbers with one noun.
            same_noun = scene.same_meaning(part.words, reading, words) if part.words else not words
            same_place = scene.same_meaning(
                nearest_after(scene.claim, part.value_end), reading, nearest_after(reading, after)
            )
            if not agrees and same_place and _covers_the_rest(scene, position):
                conflict = conflict or (position, rival.start, rival.end)
            same_words = scene.claim.text[value.start : value.end] == reading.text[rival.start : rival.end]
            slip = relation == "differs" and value.scaled and _agrees_on_another_scale(value, rival)
            related = same_noun or same_place or same_words or slip or bool(value.unit)
            if not agrees and not (position == scene.home and scene.topic >= SAME_TOPIC and related):
                continue
            same_unit = bool(value.unit) and value.unit == rival.unit
            rank = (
                coverage + _SAME_UNIT * same_unit + _SAME_NOUN * same_noun + _SAME_PLACE * same_place + _AGREES * agrees
            )
            if best is None or rank > best[0]:
                outcome = _outcome(scene, agrees, coverage)
                best = rank, Comparison(part, outcome, position, rival.start, end, rival.start, rival.end)
    return _with_conflict(best[1], conflict) if best else scene.anywhere(part)


def compare_date(scene: Scene, part: Part, value: DateMention) -> Comparison:
    """Find the best counterpart of a date or duration and compare the two."""
    best: tuple[float, Comparison] | None = None
    conflict: tuple[int, int, int] | None = None
    for position, reading, coverage in scene.readings():
        for rival in reading.dates:
            relation = compare_dates(value, rival)
            if relation == "incomparable":
                continue
            agrees = relation in ("equal", "compatible") and not _denied(scene, value.start, reading, rival.start)
            same_place = scene.same_meaning(
                nearest_before(scene.claim, part.value_start), reading, nearest_before(reading, rival.start)
            )
            if not agrees and relation == "differs" and same_place and _covers_the_rest(scene, position):
                conflict = conflict or (position, rival.start, rival.end)
            twin = _nearly_equal(value, rival)
            on_topic = position == scene.home and (scene.topic >= SAME_TOPIC or twin)
            if not agrees and not on_topic:
                continue
            rank = coverage + _SAME_PLACE * (same_place or twin) + _AGREES * agrees
            if best is None or rank > best[0]:
                outcome = "absent" if relation == "more_specific" else _outcome(scene, agrees, coverage)
                start = _with_word_before(reading, rival.start) if same_place and part.words else rival.start
                best = rank, Comparison(part, outcome, position, start, rival.end, rival.start, rival.end)
    return _with_conflict(best[1], conflict) if best else scene.anywhere(part)


def _is_change(reading: ParsedSentence, value: Quantity) -> bool:
    """Whether a value is an amount of change ("by 20")."""
    return _BY.search(reading.text[max(0, value.start - _REACH) : value.start]) is not None


def _changes(reading: ParsedSentence) -> Iterator[Quantity]:
    """The amounts of change in "from 240 to 260 euros", with the span of both values."""
    for first, last in pairwise(reading.quantities):
        gap = reading.text[first.end : last.start]
        if word_before(reading.text, first.start) == "from" and _TO.fullmatch(gap):
            by, base = abs(last.low - first.low), abs(last.base_low - first.base_low)
            if first.unit in ("", last.unit) and min(by, base) > 0:
                yield replace(last, start=first.start, low=by, high=by, base_low=base, base_high=base)


def _end_of_whole(reading: ParsedSentence, value: Quantity) -> int:
    """Where the counted words begin: in "47 of 212 members" after the whole."""
    for whole in reading.quantities:
        if whole.start > value.end and _OF.fullmatch(reading.text[value.end : whole.start]):
            return whole.end
    return value.end


def _agrees_on_another_scale(value: Quantity, rival: Quantity) -> bool:
    """Whether the values would agree if "million" were "billion", or the like."""
    return any(
        compare_quantities(
            replace(
                value,
                low=value.low * factor, high=value.high * factor, base_low=value.base_low * factor,
                base_high=value.base_high * factor, base_rounding=value.base_rounding * factor,
            ),
            rival,
        ) in ("equal", "close")
        for factor in (1e-6, 1e-3, 1e3, 1e6)
    )  # fmt: skip


def _denied(scene: Scene, here: int, reading: ParsedSentence, there: int) -> bool:
    """Whether exactly one side denies the value ("not $5 but $6")."""
    return is_negated(here, scene.claim.negations) != is_negated(there, reading.negations)


def _covers_the_rest(scene: Scene, sentence: int) -> bool:
    """Whether a sentence has all the claim's words except values and names."""
    return scene.topic_in([sentence]) >= _THE_SAME


def _with_conflict(found: Comparison, conflict: tuple[int, int, int] | None) -> Comparison:
    elsewhere = conflict is not None and conflict[0] != found.sentence
    return replace(found, rival=conflict) if found.outcome == "equal" and elsewhere else found


def _outcome(scene: Scene, agrees: bool, coverage: float) -> Outcome:
    if not agrees:
        return "differs"
    return "elsewhere" if coverage < 0.5 * scene.home_coverage else "equal"


def _with_word_before(reading: ParsedSentence, offset: int) -> int:
    before = nearest_before(reading, offset)
    return reading.words[before[0]].start if before else offset


def _nearly_equal(one: DateMention, other: DateMention) -> bool:
    """True for dates that share two of year, month and day: probably one with a slip."""
    fields = ((one.year, other.year), (one.month, other.month), (one.day, other.day))
    return sum(a is not None and a == b for a, b in fields) >= 2
