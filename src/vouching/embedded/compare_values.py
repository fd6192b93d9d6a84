"""Compare the quantities and dates of a claim with those of the sources.

A value is compared only with its counterpart: the value that goes with the same words. An amount of change is compared
with the source's amount of change; values that are not found may be computed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from vouching.embedded.binding import Spot, Surroundings, rightful
from vouching.embedded.derived import derived
from vouching.embedded.parts import Part, counted_words
from vouching.embedded.scene import SAME_TOPIC, Comparison, Outcome, Scene, nearest_after, nearest_before
from vouching.reading.parsed import ParsedSentence
from vouching.text.comparison import compare_dates, compare_quantities
from vouching.text.cues import is_negated
from vouching.text.directions import side_of_change
from vouching.text.mentions import DateMention, Quantity

_AGREES, _SAME_PLACE, _SAME_NOUN, _SAME_UNIT = 0.6, 0.7, 0.5, 0.3
"""Bonuses that rank counterparts, added to the coverage of their sentence."""
_THE_SAME = 0.95
"""Share of the claim's words that a sentence must have to contradict the one that supports the claim."""
_MEETS = 0.3
"""Share of the claim's words around a value below which it is about something else."""
_MOST_READ = 8
"""Sentences out of focus that are searched for a value."""
_ON_TOPIC = 0.4
"""Share of the claim's words that must be around a bound before it permits the claim's value."""
_OF = re.compile(r" of (?:all |its |the |their )?\Z")
_PRONOUNS = frozenset(
    str.split("he she it they we i you him them us me hers theirs one himself herself itself those these")
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_PERMITS = re.compile(
    r"\b(?:can|could|may|might|possible|permitted|allowed|permissible|acceptable|suffices?|enough"
    r"|within the (?:\w+ )?(?:limit|range|deadline|period))\b",
    re.IGNORECASE,
)
"""Words with which a value inside a stated bound is claimed as no more than that."""


@dataclass(slots=True)
class _Found:
    """What the sources have of the kind of one value of the claim."""

    ranked: list[tuple[float, Comparison]] = field(default_factory=list)
    own: list[Spot] = field(default_factory=list)
    """Where they have the claimed value."""
    others: list[Spot] = field(default_factory=list)
    allowing: list[Spot] = field(default_factory=list)
    """Bounds and ranges that allow the value without stating it."""

    def best(self) -> Comparison | None:
        """The best counterpart; in a sentence with the claimed value, another value is none."""
        agreeing = {sentence for sentence, _, _ in self.own}
        ranked = [pair for pair in self.ranked if pair[1].outcome != "differs" or pair[1].sentence not in agreeing]
        return max(ranked, key=lambda pair: pair[0])[1] if ranked else None


def compare_quantity(scene: Scene, part: Part, value: Quantity) -> Comparison:
    """Find the best counterpart of a quantity and compare the two."""
    found = _Found()
    change = _is_change(scene.claim, value)
    for position, reading, coverage in _sentences(scene):
        for rival in reading.quantities:
            relation = compare_quantities(value, rival)
            if relation == "allowed":
                found.allowing.append((position, rival.start, rival.end))
            other = relation == "differs" and ((change and not _is_change(reading, rival)) or _is_head(scene, position))
            if relation in ("incomparable", "allowed") or other:
                continue
            agrees = relation in ("equal", "close") and not _denied(scene, value.start, reading, rival.start)
            agrees = agrees and not (_allows(scene, value) and rival.bound == "exact" and value.high > rival.high)
            agrees = agrees and not _on_another_side(scene, value, reading, rival)
            (found.own if agrees else found.others).append((position, rival.start, rival.end))
            after = _end_of_whole(reading, rival)
            end, words = counted_words(reading, after, set())
            end = max(rival.end, end if after == rival.end else 0)
            # Two bare numbers count the same thing; so do two numbers with one noun.
            same_noun = scene.same_meaning(part.words, reading, words) if part.words else not words
            same_place = scene.same_meaning(
                nearest_after(scene.claim, part.value_end), reading, nearest_after(reading, after)
            )
            same_words = scene.claim.text[value.start : value.end] == reading.text[rival.start : rival.end]
            slip = relation == "differs" and value.scaled and _agrees_on_another_scale(value, rival)
            related = same_noun or same_place or same_words or slip or bool(value.unit)
            if not agrees and not (position == scene.home and scene.topic >= SAME_TOPIC and related):
                continue
            same_unit = bool(value.unit) and value.unit == rival.unit
            rank = (
                coverage + _SAME_UNIT * same_unit + _SAME_NOUN * same_noun + _SAME_PLACE * same_place + _AGREES * agrees
            )
            outcome = _outcome(scene, agrees, coverage)
            found.ranked.append((rank, Comparison(part, outcome, position, rival.start, end, rival.start, rival.end)))
    return _decide(scene, part, value, found)


def compare_date(scene: Scene, part: Part, value: DateMention) -> Comparison:
    """Find the best counterpart of a date or duration and compare the two."""
    found = _Found()
    for position, reading, coverage in _sentences(scene):
        for rival in reading.dates:
            relation = compare_dates(value, rival)
            if relation == "allowed":
                found.allowing.append((position, rival.start, rival.end))
            if relation in ("incomparable", "allowed") or (relation == "differs" and _is_head(scene, position)):
                continue
            agrees = relation in ("equal", "compatible") and not _denied(scene, value.start, reading, rival.start)
            agrees = agrees and not (_allows(scene, value) and rival.bound == "exact" and _is_longer(value, rival))
            agrees = agrees and not (value.days and _on_another_side(scene, value, reading, rival))
            (found.own if agrees else found.others).append((position, rival.start, rival.end))
            same_place = scene.same_meaning(
                nearest_before(scene.claim, part.value_start), reading, nearest_before(reading, rival.start)
            )
            twin = _nearly_equal(value, rival)
            on_topic = position == scene.home and (scene.topic >= SAME_TOPIC or twin)
            if not agrees and not on_topic:
                continue
            rank = coverage + _SAME_PLACE * (same_place or twin) + _AGREES * agrees
            outcome = "absent" if relation == "more_specific" else _outcome(scene, agrees, coverage)
            start = _with_word_before(reading, rival.start) if same_place and part.words else rival.start
            found.ranked.append((rank, Comparison(part, outcome, position, start, rival.end, rival.start, rival.end)))
    return _decide(scene, part, value, found)


_ALLOWANCE = re.compile(r"\b(?:up to|within)\s+$", re.IGNORECASE)


def _allows(scene: Scene, value: Quantity | DateMention) -> bool:
    """Whether the claim grants an amount: "up to 40 days" says more than 25 days, "no more than 40 days" does not."""
    return bool(_ALLOWANCE.search(scene.claim.text, 0, value.start))


def _is_longer(value: DateMention, other: DateMention) -> bool:
    return value.days is not None and other.days is not None and value.days > other.days


def _decide(scene: Scene, part: Part, value: Quantity | DateMention, found: _Found) -> Comparison:
    decided = _compared(scene, part, found)
    if decided.outcome in ("equal", "elsewhere"):
        return decided
    return _as_year(scene, part, value) or derived(scene, part) or decided


def _as_year(scene: Scene, part: Part, value: Quantity | DateMention) -> Comparison | None:
    """The year of a source that a bare number before a noun ("the 2024 reports") may be."""
    if not isinstance(value, Quantity) or not _YEAR.fullmatch(scene.claim.text, value.start, value.end):
        return None
    for position, reading, _ in _sentences(scene):
        for date in reading.dates:
            if date.kind == "date" and date.year == value.low:
                return _comparison(part, "equal", position, date)
    return None


def _comparison(part: Part, outcome: Outcome, sentence: int, value: Quantity | DateMention) -> Comparison:
    return Comparison(part, outcome, sentence, value.start, value.end, value.start, value.end)


def _compared(scene: Scene, part: Part, found: _Found) -> Comparison:
    best = found.best()
    if found.allowing and not found.own:
        return _permitted(scene, part, found.allowing) or best or Comparison(part, "absent")
    if best and best.outcome != "differs":
        place = rightful(scene, (part.value_start, part.value_end), found.own, found.others)
        if place:
            return Comparison(part, "differs", place.sentence, place.start, place.end, place.start, place.end)
    if best and best.outcome == "elsewhere" and scene.topic >= _THE_SAME and not _meets(scene, part, found.own):
        return Comparison(part, "absent")
    if best and best.outcome == "equal" and _is_of_another_event(scene, part, found.own):
        return Comparison(part, "absent")
    if best:
        return best
    return Comparison(part, "elsewhere" if scene.topic < SAME_TOPIC and _occurs(scene, part) else "absent")


def _is_of_another_event(scene: Scene, part: Part, own: Sequence[Spot]) -> bool:
    """Whether a sentence says all that the claim says but the value, which others say of something else."""
    having = {sentence for sentence, _, _ in own}
    words = scene.claim.words
    rest = [w for w in scene.focus.lookups if not part.value_start <= words[w.position].start < part.value_end]
    if len(rest) < _OWN_EVENT or not any(
        s not in having and scene.topic_in([s]) >= _THE_SAME for s in scene.focus.sentences[:_NEAREST]
    ):
        return False
    for sentence, start, end in own:
        reading = scene.index.read(sentence)
        others = [at for at in reading.content() if not start <= reading.words[at].start < end]
        pronoun = any(word.lower in _PRONOUNS for word in reading.words)
        if pronoun or len(others) < _OWN_EVENT or scene.index.sentences[sentence].row is not None:
            return False
    return not _meets(scene, part, own)


_NEAREST, _OWN_EVENT = 3, 2
"""Best sentences that may say the rest; content words besides the value with which a sentence tells an event."""


def _meets(scene: Scene, part: Part, own: Sequence[Spot]) -> bool:
    """Whether a sentence with the value has some of the claim's other words around it."""
    around = Surroundings(scene, part.value_start, part.value_end)
    return any(around.place(*spot).support >= _MEETS for spot in own)


def _occurs(scene: Scene, part: Part) -> bool:
    """Whether a sentence out of focus has the value, in the claim's own words."""
    value = part.value
    words = [scene.lookups[p] for p in scene.claim.content(part.value_start, part.value_end) if p in scene.lookups]
    shared: set[int] = set(words[0].exact) if words else set()
    for word in words[1:]:
        shared &= word.exact
    for reading in map(scene.index.read, sorted(shared)[:_MOST_READ]):
        if isinstance(value, Quantity) and any(compare_quantities(value, q) == "equal" for q in reading.quantities):
            return True
        if isinstance(value, DateMention) and any(compare_dates(value, d) == "equal" for d in reading.dates):
            return True
    return False


def _permitted(scene: Scene, part: Part, allowing: Sequence[Spot]) -> Comparison | None:
    """The bound on what the claim is about, if the claim says no more than that a value is within it."""
    value = part.value
    if not isinstance(value, (Quantity, DateMention)) or value.bound != "exact" or value.precise:
        return None
    if not _PERMITS.search(scene.claim.text):
        return None
    around = Surroundings(scene, part.value_start, part.value_end)
    place = max((around.place(*spot) for spot in allowing), key=lambda place: place.support)
    if place.support < _ON_TOPIC:
        return None
    return Comparison(part, "equal", place.sentence, place.start, place.end, place.start, place.end)


def _sentences(scene: Scene) -> Iterator[tuple[int, ParsedSentence, float]]:
    """The focused sentences with the heads of their tables."""
    seen: set[int] = set()
    for position, reading, coverage in scene.readings():
        seen.add(position)
        yield position, reading, coverage
    for position in [*seen]:
        sentence = scene.index.sentences[position]
        if sentence.row is not None and not sentence.row.is_head and sentence.row.cells[0].column != (0, 0):
            head = scene.index.at(sentence.source, sentence.row.cells[0].column[0])
            if head is not None and head not in seen:
                seen.add(head)
                yield head, scene.index.read(head), scene.focus.coverage([position])


def _is_head(scene: Scene, position: int) -> bool:
    """Whether a sentence holds the heads of a table, which state no values of their own."""
    row = scene.index.sentences[position].row
    return row is not None and row.is_head


def _is_change(reading: ParsedSentence, value: Quantity) -> bool:
    """Whether a value is an amount of change ("by 20")."""
    return side_of_change(reading.text, value.start) == "by"


def _on_another_side(
    scene: Scene, value: Quantity | DateMention, reading: ParsedSentence, rival: Quantity | DateMention
) -> bool:
    """Whether one value is the amount of a change, and the other what it led to or began with."""
    ours = side_of_change(scene.claim.text, value.start)
    theirs = ours and side_of_change(reading.text, rival.start)
    return theirs is not None and ours != theirs


def _end_of_whole(reading: ParsedSentence, value: Quantity) -> int:
    """Where the counted words begin: in "47 of 212 members" after the whole."""
    next_value = bisect_right(reading.quantities, value.end, key=attrgetter("start"))
    for whole in reading.quantities[next_value : next_value + 1]:
        if _OF.fullmatch(reading.text, value.end, whole.start):
            return whole.end
    return value.end


def _agrees_on_another_scale(value: Quantity, rival: Quantity) -> bool:
    """Whether the values would agree if "million" were "billion", or the like."""
    return any(
        compare_quantities(
            replace(
                value,
                low=value.low * factor,
                high=value.high * factor,
                base_low=value.base_low * factor,
                base_high=value.base_high * factor,
                base_rounding=value.base_rounding * factor,
            ),
            rival,
        )
        in ("equal", "close")
        for factor in (1e-6, 1e-3, 1e3, 1e6)
    )


def _denied(scene: Scene, here: int, reading: ParsedSentence, there: int) -> bool:
    """Whether exactly one side denies the value ("not $5 but $6")."""
    return is_negated(here, scene.claim.negations) != is_negated(there, reading.negations)


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
