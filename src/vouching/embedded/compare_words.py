"""Compare a claim's other words and qualifiers with the sources: found, negated, opposite, replaced, overstated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vouching.embedded.counterparts import side_by_side
from vouching.embedded.parts import Part
from vouching.embedded.scene import (
    SAME_STATEMENT,
    SAME_TOPIC,
    SOME_TOPIC,
    Comparison,
    Lookup,
    Outcome,
    Scene,
    occurrences,
    opposition,
)
from vouching.reading.parsed import ParsedSentence
from vouching.text.cues import Qualifier, compare_qualifiers, is_negated, negative_forms
from vouching.text.words import antonyms

_HARDLY_ANY, _MANY = 0.2, 0.6
"""Strengths at which a qualifier of the claim ("few") denies one of the source ("most")."""
_LESSER = frozenset("one second third fourth fifth vice deputy acting associated allegedly".split())
_NEAR = 3
"""Maximum distance between neighbours, in words."""
_MOSTLY = 0.65
"""Share of the claim's words that a sentence must cover before a denied word in it counts."""
_MODAL = frozenset(("may", "must"))
"""Compared with what the source demands or allows, not as qualifiers."""


@dataclass(frozen=True, slots=True)
class _Found:
    outcome: Outcome
    sentence: int | None = None
    place: tuple[int, int] | None = None


def compare_qualifier(scene: Scene, part: Part, value: Qualifier) -> Comparison:
    """Whether the source is at least as strong as the claim's qualifier."""
    home = scene.home
    assert home is not None
    reading = scene.index.read(home)
    relation = compare_qualifiers(value, reading.qualifiers)
    same_scale = [q for q in reading.qualifiers if q.scale == value.scale]
    twin = next((q for q in same_scale if q.strength >= value.strength), None)
    if value.strength <= _HARDLY_ANY and same_scale and min(q.strength for q in same_scale) >= _MANY:
        strong = same_scale[0]
        return Comparison(part, "opposite", home, strong.start, strong.end, strong.start, strong.end)
    if relation in ("equal", "weaker") and twin is not None:
        return Comparison(part, "equal", home, twin.start, twin.end, twin.start, twin.end)
    for position, other, _ in scene.readings():
        same = next((q for q in other.qualifiers if q.word == value.word), None)
        if same is not None:
            return Comparison(part, "elsewhere", position, same.start, same.end, same.start, same.end)
    denied = is_negated(value.start, scene.claim.negations)
    if value.is_hedge or denied or value.word in _MODAL:
        return Comparison(part, "elsewhere")
    if relation == "stronger":
        weaker = same_scale[0]
        return Comparison(part, "overstated", home, weaker.start, weaker.end, weaker.start, weaker.end)
    return Comparison(part, "overstated")


def compare_predicate(scene: Scene, part: Part) -> Iterator[Comparison]:
    """Split a predicate into runs of words with one outcome, each with its counterpart."""
    run: list[tuple[int, _Found]] = []
    for position in part.words:
        found = _compare_word(scene, position)
        if run and (found.outcome, found.sentence) != (run[-1][1].outcome, run[-1][1].sentence):
            yield _piece(scene, run)
            run = []
        run.append((position, found))
    if run:
        yield _piece(scene, run)


def compare_counted(scene: Scene, part: Part) -> Iterator[Comparison]:
    """Words that go with a number and whose opposite is in their place ("the third largest")."""
    for position in part.words:
        lookup = scene.lookups.get(position)
        found = lookup and _opposed_in_its_slot(scene, position, lookup)
        if found and found.outcome == "opposite":
            yield _piece(scene, [(position, found)])


def _piece(scene: Scene, run: list[tuple[int, _Found]]) -> Comparison:
    start, end = scene.claim.words[run[0][0]].start, scene.claim.words[run[-1][0]].end
    piece = Part("predicate", start, end, start, end, None, tuple(position for position, _ in run))
    found = run[0][1]
    places = [f.place for _, f in run if f.place is not None]
    if not places:
        return Comparison(piece, found.outcome, found.sentence)
    first, last = min(p[0] for p in places), max(p[1] for p in places)
    if last - first > 3 * (end - start) + 20:
        first, last = places[0]
    return Comparison(piece, found.outcome, found.sentence, first, last, first, last)


def _compare_word(scene: Scene, position: int) -> _Found:
    lookup = scene.lookups.get(position)
    if lookup is None or scene.home is None:
        return _Found("absent")
    word = scene.claim.words[position]
    denied = is_negated(word.start, scene.claim.negations)
    opposed = _opposed_in_its_slot(scene, position, lookup)
    if opposed is not None:
        return opposed
    for sentence in scene.focus.sentences:
        if not lookup.found_in([sentence]):
            continue
        reading = scene.index.read(sentence)
        places = occurrences(lookup, reading)
        if not places:
            continue
        agreeing = next((p for p in places if is_negated(reading.words[p].start, reading.negations) == denied), None)
        place = places[0] if agreeing is None else agreeing
        start, end = reading.words[place].start, reading.words[place].end
        if sentence != scene.home:
            return _Found("equal", sentence, (start, end))
        # Where both sides deny something, only a parse could show which word is denied.
        one_sided = bool(scene.claim.negations) != bool(reading.negations)
        if agreeing is None and one_sided and scene.topic >= _MOSTLY:
            return _Found("negated", sentence, (start, end))
        opposite = opposition(scene.claim, word.start, reading, start)
        if opposite is not None:
            return _Found(opposite, sentence, (start, end))
        rank = _rank_before(scene, place, reading)
        return _Found("equal", sentence, (start, end)) if rank is None else _Found("unhedged", sentence, (rank, end))
    return _missing_word(scene, position, lookup)


def _opposed_in_its_slot(scene: Scene, position: int, lookup: Lookup) -> _Found | None:
    """An opposite in the slot of this word in the home sentence; it overrides other sentences."""
    if scene.home is None or max(scene.topic, scene.home_coverage) < SAME_TOPIC:
        return None
    reading = scene.index.read(scene.home)
    rival = None if lookup.stem in reading.positions else _slot(scene, position, reading)
    place = None if rival is None else reading.word_at(rival[0])
    if place is None or reading.words[place].stem not in antonyms().get(lookup.stem, frozenset()):
        return None
    denied = is_negated(scene.claim.words[position].start, scene.claim.negations)
    same = denied == is_negated(reading.words[place].start, reading.negations)
    return _Found("opposite" if same else "equal", scene.home, rival)


def _rank_before(scene: Scene, place: int, reading: ParsedSentence) -> int | None:
    """Offset of a rank ("one of the", "second", "vice") right before a word of the source, if the claim has none."""
    before = reading.words[max(0, place - 3) : place]
    lesser = [w for w in before if w.lower in _LESSER]
    ours = {word.lower for word in scene.claim.words} if lesser else ()
    weaker = next((w for w in lesser if w.lower not in ours), None)
    ranks = weaker is not None and (weaker.lower != "one" or (before[-2:-1] and before[-2].lower == "of"))
    return weaker.start if weaker is not None and ranks else None


def _missing_word(scene: Scene, position: int, lookup: Lookup) -> _Found:
    if scene.home is not None and scene.topic >= SOME_TOPIC:
        reading = scene.index.read(scene.home)
        denied = is_negated(scene.claim.words[position].start, scene.claim.negations)
        opposites = antonyms().get(lookup.stem, frozenset()) | negative_forms(lookup.stem)
        places = [reading.positions[stem][0] for stem in opposites if stem in reading.positions]
        if places:
            other = reading.words[min(places)]
            same = denied == is_negated(other.start, reading.negations)
            return _Found("opposite" if same else "equal", scene.home, (other.start, other.end))
        rival = _slot(scene, position, reading)
        if rival is not None:
            # Two capitalised words in one slot are two names, even at the start of a sentence; so are two codes.
            ours, theirs = scene.claim.text[slice(*scene.claim.span(position))], reading.text[slice(*rival)]
            if (ours[0].isupper() and theirs[0].isupper()) or (_has_digit(ours) and _has_digit(theirs)):
                return _Found("differs", scene.home, rival)
            if scene.topic >= SAME_STATEMENT:
                return _Found("replaced", scene.home, rival)
    return _Found("elsewhere" if lookup.exact or lookup.close else "absent")


def _has_digit(text: str) -> bool:
    return any(c.isdigit() for c in text)


def _slot(scene: Scene, position: int, reading: ParsedSentence) -> tuple[int, int] | None:
    """The word of the home sentence in this word's slot, judged by its neighbours."""
    for step in (-1, 1):
        neighbour = position + step
        while 0 <= neighbour < len(scene.claim.words) and not scene.claim.words[neighbour].is_content:
            neighbour += step
        lookup = scene.lookups.get(neighbour)
        if lookup is None or abs(neighbour - position) > _NEAR:
            continue
        for place in occurrences(lookup, reading):
            rival = place - step
            while 0 <= rival < len(reading.words) and not reading.words[rival].is_content:
                rival -= step
            if not 0 <= rival < len(reading.words) or abs(rival - place) > _NEAR or scene.home is None:
                continue
            if not side_by_side(scene, scene.home, reading.words[place].start, reading.words[rival].start):
                continue
            if not any(rival in occurrences(known, reading) for known in scene.focus.lookups):
                return reading.words[rival].start, reading.words[rival].end
    return None
