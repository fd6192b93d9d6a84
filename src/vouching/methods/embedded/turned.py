"""Comparisons and causes that the claim and a sentence of the sources tell of the same two things.

"Ann is older than Bob" says what "Bob is younger than Ann" says, and the opposite of "Bob is older than Ann". Not
supported: more than one comparison in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vouching.methods.embedded.causes import find_cause
from vouching.methods.embedded.comparatives import Compared, find_comparison, same_scale
from vouching.methods.embedded.findings import Finding
from vouching.methods.embedded.scene import Scene, occurrences
from vouching.reading.parsed import ParsedSentence

_FINDERS: tuple[Callable[[str], Compared | None], ...] = (find_comparison, find_cause)


def turned_round(scene: Scene) -> Iterator[Finding]:
    """The word that compares two things, or tells the cause of one, with what the first sentence on both says."""
    for find in _FINDERS:
        ours = find(scene.claim.text)
        found = ours and next(_counterparts(scene, ours, find), None)
        if ours is None or found is None:
            continue
        sentence, theirs, crossed = found
        reading = scene.index.read(sentence)
        agrees = (ours.up == theirs.up) != crossed
        if agrees and not (crossed or scene.claim.words[ours.word].is_content):
            continue
        start, end = scene.claim.span(ours.word)
        if agrees:
            end = next((word.end for word in scene.claim.words[ours.word + 1 :] if word.stem in ours.second), end)
        yield Finding(start, end, "equal" if agrees else "opposite", sentence, *reading.span(theirs.word))


_ENOUGH = 0.5
"""Share of the words of an effect, or of a cause, that a sentence must have to be about it."""


def mistaken_cause(scene: Scene) -> Iterator[Finding]:
    """The cause that the claim gives, if the sources give the effect another one."""
    ours = find_cause(scene.claim.text)
    if ours is None or scene.claim.negations:
        return
    cause, effect = _cause_and_effect(ours)
    for sentence, reading, _ in scene.readings():
        theirs = find_cause(reading.text)
        if theirs is None:
            continue
        its, same = _cause_and_effect(theirs)
        if _share(scene, effect, reading, same) < _ENOUGH:
            continue
        if not _share(scene, cause, reading, frozenset(reading.positions)):
            yield Finding(*_span(scene.claim, cause), "differs", sentence, *_span(reading, its))
        return


def _cause_and_effect(compared: Compared) -> tuple[frozenset[str], frozenset[str]]:
    return (compared.first, compared.second) if compared.up else (compared.second, compared.first)


def _share(scene: Scene, wanted: frozenset[str], reading: ParsedSentence, stems: frozenset[str]) -> float:
    """Share of some words of the claim that are among some words of a sentence, in other words or the same."""
    words = [word for word in scene.focus.lookups if word.stem in wanted]
    found = sum(
        word.weight for word in words if any(reading.words[at].stem in stems for at in occurrences(word, reading))
    )
    return found / sum(word.weight for word in words) if words else 0.0


def _span(reading: ParsedSentence, stems: frozenset[str]) -> tuple[int, int]:
    places = [word for word in reading.words if word.stem in stems]
    return places[0].start, places[-1].end


def _counterparts(
    scene: Scene, ours: Compared, find: Callable[[str], Compared | None]
) -> Iterator[tuple[int, Compared, bool]]:
    """The sentences that tell the same of the same two things, and whether in the other order."""
    for sentence, reading, _ in scene.readings():
        theirs = find(reading.text)
        if theirs is None or not same_scale(ours, theirs):
            continue
        first, second = ours.first, ours.second
        straight = bool(second & theirs.second) and bool(first & theirs.first or not theirs.first)
        crossed = bool(second & theirs.first) and bool(first & theirs.second)
        mixed = straight and (first & theirs.second or second & theirs.first)
        if straight != crossed and not mixed:
            yield sentence, theirs, crossed
