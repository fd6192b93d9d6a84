"""Claims beside a sentence that holds for some things and not for others: a condition, an exception, other days.

A claim about what is reserved ("if you ask", "on Monday", "members") agrees if it says the opposite of the main clause;
a claim about anything else agrees if it says the same. Not supported: claims that have a reservation themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vouching.methods.embedded.findings import Finding
from vouching.methods.embedded.modality import REGARDLESS
from vouching.methods.embedded.reservations import (
    CONDITION,
    FORBIDDEN,
    Reservation,
    Stretch,
    find_reservation,
    is_denied,
)
from vouching.methods.embedded.scene import Comparison, Lookup, Scene, occurrences
from vouching.methods.embedded.weekdays import find_days
from vouching.reading.parsed import ParsedSentence
from vouching.text.words import antonyms

_SENTENCES = 3
"""How many of the best sentences are searched."""
_MOST = 0.6
"""Share of the claim's words that the sentence must have, and of the reserved words that the claim must have."""
_POLAR = frozenset(("opposite", "negated", "reordered", "overstated", "unhedged"))


@dataclass(frozen=True, slots=True)
class Decided:
    """What a sentence with a reservation says of the claim."""

    sentence: int
    agrees: bool
    reserved: bool
    """Whether the claim is about what is reserved, or about the other of two subjects."""
    word: int
    """Position of the last word of the claim that the main clause has."""
    its: int
    """Position of the same word, or its opposite, in the sentence."""


def decide_reserved(scene: Scene) -> Decided | None:
    """Whether the claim agrees with the best sentence that has a reservation or names days of the week."""
    if find_reservation(scene.claim.text) or REGARDLESS.search(scene.claim.text.lower()):
        return None
    readings = [r for r in scene.readings()[:_SENTENCES] if scene.index.sentences[r[0]].row is None]
    return next((found for sentence, reading, _ in readings if (found := _decide(scene, sentence, reading))), None)


def against_reserved(scene: Scene, decided: Decided | None) -> Iterator[Finding]:
    """The word of the claim that a sentence with a reservation contradicts."""
    if decided and not decided.agrees:
        its = scene.index.read(decided.sentence).span(decided.its)
        yield Finding(*scene.claim.span(decided.word), "negated", decided.sentence, *its)


def as_reserved(scene: Scene, decided: Decided | None, comparison: Comparison) -> Comparison:
    """A comparison without the differences that a reservation explains."""
    if decided is None or not decided.agrees:
        return comparison
    part = comparison.part
    named = any(one.start < part.value_end and part.value_start < one.end for one in find_days(scene.claim.text))
    explained = named if comparison.outcome in ("differs", "absent") else comparison.outcome in _POLAR
    if comparison.outcome == "differs" and comparison.sentence == decided.sentence and not named:
        other = scene.index.read(decided.sentence).text[comparison.value_start : comparison.value_end]
        explained = scene.claim.text[part.value_start : part.value_end].lower() == other.lower()
    if explained and (named or decided.reserved):
        return replace(comparison, outcome="equal", sentence=decided.sentence)
    return comparison


def _decide(scene: Scene, sentence: int, reading: ParsedSentence) -> Decided | None:
    reservation = find_reservation(reading.text)
    inside = _on_other_days(scene, reading)
    by_days = inside is not None
    if inside is None and reservation:
        inside = _is_reserved(scene, reading, reservation)
    if inside is None:
        return None
    main = reservation.main if reservation else (0, len(reading.text))
    reserved = reservation.reserved if reservation and not by_days else (0, 0)
    same, turned = _shared(scene, reading, main, reserved)
    if not (same or turned):
        return None
    denied = reservation.denied if reservation else is_denied(reading.text, *main)
    opposed = _is_denied(scene) ^ denied ^ bool(turned)
    if by_days and inside and not opposed and reservation is None:
        return None
    opposite = by_days or reservation is None or reservation.opposite
    agrees = opposed == (inside and opposite)
    if agrees and not inside and not by_days and reservation and reservation.kind != "subject":
        return None
    word = max({**same, **turned})
    reserved_too = inside or (reservation is not None and reservation.kind == "subject")
    return Decided(sentence, agrees, reserved_too, word, {**same, **turned}[word])


def _is_denied(scene: Scene) -> bool:
    """Whether the claim, without its condition, is denied."""
    text = scene.claim.text
    condition = CONDITION.search(text.lower())
    if condition is None:
        return is_denied(text, 0, len(text))
    comma = text.find(",", condition.end())
    return is_denied(text, 0, condition.start()) ^ (comma > 0 and is_denied(text, comma, len(text)))


def _on_other_days(scene: Scene, reading: ParsedSentence) -> bool | None:
    """Whether the claim is about days other than those that a sentence names; None if that is not clear."""
    ours = find_days(scene.claim.text)
    theirs = find_days(reading.text) if ours else []
    if len(ours) != 1 or len(theirs) != 1 or any(date.month for date in (*scene.claim.dates, *reading.dates)):
        return None
    if ours[0].days <= theirs[0].days:
        return False
    return True if not ours[0].days & theirs[0].days and len(theirs[0].days) > 1 else None


def _is_reserved(scene: Scene, reading: ParsedSentence, reservation: Reservation) -> bool | None:
    """Whether the claim is about what is reserved; None if that is not clear."""
    stems = {reading.words[at].stem for at in reading.content(*reservation.main)}
    reserved = [reading.words[at] for at in reading.content(*reservation.reserved)]
    own = {word.stem for word in reserved if word.stem not in stems} or {word.stem for word in reserved}
    if not own:
        return None
    named = sum(stem in scene.claim.positions for stem in own) / len(own)
    if named >= (_MOST if reservation.kind == "condition" else 1.0):
        return True
    conditional = CONDITION.search(scene.claim.text.lower()) is not None
    return None if named or conditional else False


def _shared(
    scene: Scene, reading: ParsedSentence, main: Stretch, reserved: Stretch
) -> tuple[dict[int, int], dict[int, int]]:
    """The claim's words that a main clause has, and those of which it has an opposite, with their places.

    Both are empty if these, with the reserved ones, are not most of the claim.
    """
    same: dict[int, int] = {}
    turned: dict[int, int] = {}
    found = total = 0.0
    days = {at for one in find_days(scene.claim.text) for at in scene.claim.content(one.start, one.end)}
    for word in scene.focus.lookups:
        if word.position in days:
            continue
        total += word.weight
        places = [at for at in occurrences(word, reading) if _within(reading, at, main)]
        aside = any(_within(reading, at, reserved) for at in occurrences(word, reading))
        opposites = [] if places or aside else list(_opposites(reading, word, main))
        if places:
            same[word.position] = places[0]
        elif opposites:
            turned[word.position] = opposites[0]
        found += word.weight * bool(places or opposites or aside)
    return (same, turned) if total and found >= _MOST * total else ({}, {})


def _opposites(reading: ParsedSentence, word: Lookup, main: Stretch) -> Iterator[int]:
    for form in sorted(antonyms().get(word.stem, frozenset())):
        for at in reading.positions.get(form, ()):
            if _within(reading, at, main) and not FORBIDDEN.fullmatch(reading.words[at].lower):
                yield at


def _within(reading: ParsedSentence, at: int, stretch: Stretch) -> bool:
    return stretch[0] <= reading.words[at].start < stretch[1]
