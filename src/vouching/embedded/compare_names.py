"""Compare the names of a claim with those of the sources: the same, elsewhere, replaced by another, or unknown."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz

from vouching.embedded.binding import NAMES, Spot, rightful
from vouching.embedded.counterparts import is_head
from vouching.embedded.parts import Part
from vouching.embedded.scene import (
    SAME_STATEMENT,
    SAME_TOPIC,
    SAYS_THE_REST,
    Comparison,
    Scene,
    nearest_after,
    nearest_before,
    occurrences,
    word_before,
)
from vouching.reading.parsed import ParsedSentence
from vouching.text.entities import Entity, same_entity
from vouching.text.words import stem

_MISSPELT = 75
"""Similarity, out of 100, above which two names may be one with a spelling slip."""


def compare_name(scene: Scene, part: Part, value: Entity) -> Comparison:
    """Find where a name occurs, in any form, or which name takes its place."""
    stems = [stem(word) for word in value.key.split()]
    own = [
        (position, *place)
        for position, reading, _ in scene.readings()
        if (place := _place(scene, value, stems, reading))
    ]
    if own:
        position, *place = own[0]
        bound = rightful(scene, (part.value_start, part.value_end), own, _others(scene, value, own), NAMES)
        if bound:
            return Comparison(part, "differs", bound.sentence, bound.start, bound.end, bound.start, bound.end)
        other = _in_its_slot(scene, part, value) if position != scene.home else None
        start, end = place
        return other or Comparison(part, "equal", position, start, end, start, end)
    if all(scene.index.postings.get(s) for s in stems):
        return _in_its_slot(scene, part, value) or Comparison(part, "elsewhere")
    in_titles = all(scene.index.postings.get(s) or s in scene.index.title_stems for s in stems)
    # A title names the topic of a source; it does not overrule another name in this slot.
    return _replacement(scene, part, value) or Comparison(part, "elsewhere" if in_titles else "absent")


def _place(scene: Scene, value: Entity, stems: Sequence[str], reading: ParsedSentence) -> tuple[int, int] | None:
    """Where a sentence has a name, in any form."""
    place = _find_run(reading, stems)
    if place is None:
        alias = next((e for e in reading.entities if same_entity(value.text, e.text)), None)
        place = (alias.start, alias.end) if alias else _synonym_run(scene, value, reading)
    if place is None and value.kind == "acronym":
        place = _spelled_out(reading, [c for c in value.text.lower() if c.isalnum()])
    return place


def _others(scene: Scene, value: Entity, own: Sequence[Spot]) -> list[Spot]:
    """Where other names of this form are, in sentences that do not have it; names that the claim has do not count."""
    ours = [p.value.text for p in scene.parts if isinstance(p.value, Entity)]
    taken = {position for position, _, _ in own}
    return [
        (position, rival.start, rival.end)
        for position, reading, _ in scene.readings()
        if position not in taken and not is_head(scene, position)
        for rival in reading.entities
        if rival.kind == value.kind
        and (" " in rival.key) == (" " in value.key)
        and not _is_speaker(reading, rival)
        and not any(same_entity(rival.text, name) for name in ours)
    ]


def _is_speaker(reading: ParsedSentence, name: Entity) -> bool:
    """Whether a name only stands for who said so ("as Ann Lee said", "according to Ann Lee")."""
    before = reading.text[: name.start].lower().rstrip()
    return before.endswith((" as", "according to")) or before in ("as", "according to")


def _find_run(reading: ParsedSentence, stems: Sequence[str]) -> tuple[int, int] | None:
    """The shortest stretch that has all ``stems`` close together."""
    if not stems or any(s not in reading.positions for s in stems):
        return None
    for first in reading.positions[stems[0]]:
        places = [min(reading.positions[s], key=lambda p, first=first: abs(p - first)) for s in stems]
        if max(places) - min(places) <= len(stems) + 1:
            return reading.words[min(places)].start, reading.words[max(places)].end
    return None


def _synonym_run(scene: Scene, value: Entity, reading: ParsedSentence) -> tuple[int, int] | None:
    """Where synonyms of all words of a name occur ("coronavirus" for "COVID-19")."""
    lookups = [scene.lookups.get(p) for p in scene.claim.content(value.start, value.end)]
    places = [occurrences(lookup, reading) for lookup in lookups if lookup]
    # A name with a word that is not looked up ("World War I") means more than its other words.
    if not places or len(places) < len(value.key.split()) or any(not found for found in places):
        return None
    first, last = min(found[0] for found in places), max(found[0] for found in places)
    if last - first > len(places) + 1:
        return None
    return reading.words[first].start, reading.words[last].end


def _spelled_out(reading: ParsedSentence, letters: Sequence[str]) -> tuple[int, int] | None:
    """Where capitalised words have these initials; small words between them are skipped."""
    words = [w for w in reading.words if w.is_content and reading.text[w.start].isupper()]
    for first in range(len(words) - len(letters) + 1):
        run = words[first : first + len(letters)]
        close = run[-1].end - run[0].start < 25 * len(run)
        if len(letters) > 1 and close and all(w.lower[0] == c for w, c in zip(run, letters, strict=True)):
            return run[0].start, run[-1].end
    return None


def _replacement(scene: Scene, part: Part, value: Entity) -> Comparison | None:
    """Another name in the same slot of the home sentence."""
    if scene.home is None or scene.topic < SAME_TOPIC or is_head(scene, scene.home):
        return None
    if _is_defined_acronym(scene.claim, value):
        return None
    reading = scene.index.read(scene.home)
    ours = [p.value.text for p in scene.parts if isinstance(p.value, Entity)]
    rivals = [e for e in reading.entities if not any(same_entity(e.text, name) for name in ours)]
    before = _preposition_before(scene.claim, value.start)
    words = value.key.split()
    best: tuple[float, Entity] | None = None
    for rival in rivals:
        same_slot = before != "" and before == _preposition_before(reading, rival.start)
        same_form = (len(rival.key.split()) > 1) == (len(words) > 1) and rival.kind == value.kind
        # Half a name in common ("Pierre" for "Marie Curie"), or the only remaining name.
        half = same_form and len(words) > 1 and _half_the_same(words, rival.key.split())
        alone = same_form and len(rivals) == 1 and scene.topic >= SAME_STATEMENT
        rank = 2.0 * half + 2.0 * same_slot + same_form + 0.5 * rival.certain
        if (same_slot or half or alone) and (best is None or rank > best[0]):
            best = rank, rival
    if best is None:
        return None
    rival = best[1]
    return Comparison(part, "differs", scene.home, rival.start, rival.end, rival.start, rival.end)


def _in_its_slot(scene: Scene, part: Part, value: Entity) -> Comparison | None:
    """Another name next to the same word of a home sentence that has the rest of the claim."""
    if scene.home is None or scene.topic < SAYS_THE_REST or is_head(scene, scene.home):
        return None
    reading = scene.index.read(scene.home)
    ours = [p.value for p in scene.parts if isinstance(p.value, Entity)]
    for rival in reading.entities:
        alike = rival.certain and rival.kind == value.kind and (" " in rival.key) == (" " in value.key)
        known = any(fuzz.ratio(rival.key, name.key) > _MISSPELT for name in ours) or any(
            same_entity(rival.text, name.text) for name in ours
        )
        if alike and not known and _beside_the_same(scene, value, reading, rival):
            return Comparison(part, "differs", scene.home, rival.start, rival.end, rival.start, rival.end)
    return None


def _beside_the_same(scene: Scene, value: Entity, reading: ParsedSentence, rival: Entity) -> bool:
    """Whether the same lower-case word, with the same gap, precedes or follows both names."""
    claim = scene.claim
    for here, there, gaps in (
        (nearest_before(claim, value.start), nearest_before(reading, rival.start), _gap_before),
        (nearest_after(claim, value.end), nearest_after(reading, rival.end), _gap_after),
    ):
        if not scene.same_meaning(here, reading, there) or claim.text[claim.words[here[0]].start].isupper():
            continue
        if gaps(claim, value, here[0]) == gaps(reading, rival, there[0]) and _article(claim, value) == _article(
            reading, rival
        ):
            return True
    return False


def _gap_before(reading: ParsedSentence, name: Entity, word: int) -> list[str]:
    return reading.text[reading.words[word].end : name.start].lower().split()


def _gap_after(reading: ParsedSentence, name: Entity, word: int) -> list[str]:
    return reading.text[name.end : reading.words[word].start].lower().split()


def _article(reading: ParsedSentence, name: Entity) -> bool:
    """Whether an article precedes a name: "the Englishman" describes, "Casey" names."""
    word = word_before(reading, name.start, ())
    return word is not None and word.lower in ("the", "a", "an") and not reading.text[word.end : name.start].strip()


def _half_the_same(words: Sequence[str], others: Sequence[str]) -> bool:
    """True for names that share a word and are not forms of one name ("Andy Cooper", "Andrew Lewis Cooper")."""
    return bool(set(words) & set(others)) and not (words[-1] == others[-1] and words[0][0] == others[0][0])


def _is_defined_acronym(reading: ParsedSentence, entity: Entity) -> bool:
    """True for an acronym that the claim itself spells out ("cardiothoracic ratio (CTR)")."""
    letters = [c for c in entity.text.lower() if c.isalpha()]
    before = [w.lower for w in reading.words if w.end <= entity.start][-2 * len(letters) :]
    in_brackets = entity.start > 0 and reading.text[entity.start - 1] == "("
    return in_brackets and entity.kind == "acronym" and any(word[0] == letters[0] for word in before)


def _preposition_before(reading: ParsedSentence, offset: int) -> str:
    """The preposition right before ``offset``, ignoring articles; "" if another word is there."""
    word = word_before(reading, offset, ("the", "a", "an"))
    return word.lower if word and not word.is_content else ""
