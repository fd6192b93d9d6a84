"""Compare what claim and source do with the same content: assert, deny, demand, allow, forbid, expect.

Each statement of the claim is compared with the statement of the sources that has most of its words. A difference
counts only if that statement has enough of them and its numbers, and if the word that the modal verb, the negation or
the hedge belongs to is one of them. Statements that hold only under a condition ("only", "not until") are compared with
a claim that holds "always" or "even then", but not otherwise. Not supported: rows of tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vouching.methods.embedded.parts import Part
from vouching.methods.embedded.scene import Comparison, Lookup, Outcome, Scene, occurrences
from vouching.methods.embedded.stance import Force, Statement, Stretch, read_statements
from vouching.reading.evidence import SYNONYM_WEIGHT
from vouching.reading.parsed import ParsedSentence
from vouching.text.cues import negative_forms
from vouching.text.words import antonyms

_ENOUGH = 0.6
"""Share of the claim's words, weighted by rarity, that its counterpart must have."""
_BESIDE, _AROUND = 0.5, 0.3
"""What a word of another statement of the same sentence, or of its heading, counts."""
_SENTENCES = 4
"""How many of the best sentences are searched."""
_COMMON = 2
"""How many words claim and counterpart must share."""


@dataclass(frozen=True, slots=True)
class _Counterpart:
    """The statement of the sources that a statement of the claim is compared with."""

    sentence: int
    reading: ParsedSentence
    statement: Statement
    support: float
    """Share of the claim's words that it has, weighted by rarity."""
    pairs: Mapping[int, int]
    """Positions of the claim's words, each with that of the same word in the statement."""
    opposites: Mapping[int, int]
    """The same for words that it has as opposites."""
    exempt: Literal["claim", "source", None]
    """Which of the two excepts a word that the other includes."""

    @property
    def places(self) -> list[int]:
        """Positions of the common words in the source."""
        return [*self.pairs.values(), *self.opposites.values()]


_Places = tuple[list[int], list[int]]
"""Positions of a word of the claim in a sentence and, if there are none, of its opposites."""


class _Conflict(NamedTuple):
    outcome: Outcome
    ours: Stretch | None
    """What shows it in the claim; None for the common words."""
    theirs: Stretch | None


def compare_stances(scene: Scene) -> Iterator[Comparison]:
    """The differences in stance between the claim's statements and their counterparts."""
    for statement in read_statements(scene.claim.text):
        found = _counterpart(scene, statement)
        conflict = found and next(_conflicts(scene, statement, found), None)
        if found is None or conflict is None:
            continue
        ours = conflict.ours or _extent(scene.claim, [*found.pairs, *found.opposites])
        theirs = conflict.theirs or _extent(found.reading, found.places)
        part = Part("predicate", *ours, *ours, None, ())
        yield Comparison(part, conflict.outcome, found.sentence, *theirs, *theirs)


def disagree(scene: Scene, here: int, source: ParsedSentence, there: int) -> bool:
    """Whether one side speaks against the word at the given offsets and the other, with the same numbers, does not."""
    ours = next((s for s in read_statements(scene.claim.text) if s.start <= here < s.end), None)
    theirs = next((s for s in read_statements(source.text) if s.start <= there < s.end), None)
    if ours is None or theirs is None or ours.restricted or theirs.restricted:
        return False
    if _awaited(ours, theirs) or not _same_numbers(scene, ours, source):
        return False
    return ours.is_negative != theirs.is_negative


def restricts(reading: ParsedSentence, offset: int) -> bool:
    """Whether the statement with the word at ``offset`` holds only under a condition or for some."""
    return any(s.restricted for s in read_statements(reading.text) if s.start <= offset < s.end)


def _extent(reading: ParsedSentence, positions: Sequence[int]) -> Stretch:
    spans = [reading.span(position) for position in positions]
    return min(start for start, _ in spans), max(end for _, end in spans)


def _counterpart(scene: Scene, ours: Statement) -> _Counterpart | None:
    """The best match in prose, if it is good enough."""
    words = [word for word in scene.focus.lookups if _is_stated(scene.claim, ours, word)]
    if not words:
        return None
    total = sum(word.weight for word in words)
    best: _Counterpart | None = None
    for sentence in scene.focus.sentences[:_SENTENCES]:
        if sum(w.weight for w in words if sentence in w.exact or sentence in w.close) < _COVERABLE * total:
            continue
        reading = scene.index.read(sentence)
        places = [_places(word, reading) for word in words]
        most = sum(
            w.weight if same or opposed else w.weight * _AROUND * (sentence in w.around)
            for w, (same, opposed) in zip(words, places, strict=True)
        )
        if most / total < (best.support if best else _ENOUGH):
            continue
        for theirs in read_statements(reading.text):
            found = _match(scene, ours, sentence, theirs, list(zip(words, places, strict=True)))
            if found is not None and (best is None or found.support > best.support):
                best = found
    if (
        best is None
        or best.support < _ENOUGH
        or len(best.places) < _COMMON
        or not _same_numbers(scene, ours, best.reading)
    ):
        return None
    return None if scene.index.sentences[best.sentence].row else best


_COVERABLE = 0.35
"""Share of the claim's words without which a sentence cannot have a good enough statement, opposites aside."""


def _is_stated(claim: ParsedSentence, statement: Statement, word: Lookup) -> bool:
    at = claim.words[word.position].start
    return statement.start <= at < statement.end and not any(start <= at < end for start, end in statement.cues)


def _match(
    scene: Scene, ours: Statement, sentence: int, theirs: Statement, words: Sequence[tuple[Lookup, _Places]]
) -> _Counterpart | None:
    reading = scene.index.read(sentence)
    support = 0.0
    pairs: dict[int, int] = {}
    opposites: dict[int, int] = {}
    exempt: Literal["claim", "source", None] = None
    for word, (places, opposed) in words:
        inside = [p for p in places or opposed if theirs.start <= reading.words[p].start < theirs.end]
        if not places:
            if inside:
                opposites[word.position] = inside[0]
            support += word.weight if inside else word.weight * _AROUND * (sentence in word.around)
            continue
        share = 1.0 if word.stem in reading.positions else SYNONYM_WEIGHT
        support += word.weight * share * (1.0 if inside else _BESIDE)
        if inside:
            pairs[word.position] = inside[0]
            excepted = ours.excepts(scene.claim.words[word.position].start)
            if all(theirs.excepts(reading.words[p].start) is not excepted for p in inside):
                exempt = "claim" if excepted else "source"
    if not opposites and all(theirs.excepts(reading.words[p].start) for p in pairs.values()):
        return None
    support /= sum(word.weight for word, _ in words)
    return _Counterpart(sentence, reading, theirs, support, pairs, opposites, exempt)


def _places(word: Lookup, reading: ParsedSentence) -> _Places:
    same = occurrences(word, reading)
    if same:
        return same, []
    forms = antonyms().get(word.stem, frozenset()) | negative_forms(word.stem)
    return same, sorted(place for form in forms for place in reading.positions.get(form, ()))


def _same_numbers(scene: Scene, ours: Statement, source: ParsedSentence) -> bool:
    """Whether the source's sentence has every number of the claim's statement."""
    known = {quantity.low for quantity in source.quantities}
    return all(q.low in known for q in scene.claim.quantities if ours.start <= q.start < ours.end)


def _conflicts(scene: Scene, ours: Statement, found: _Counterpart) -> Iterator[_Conflict]:
    if not found.opposites:
        yield from _different_forces(scene, ours, found)
        yield from _different_polarity(scene, ours, found)
        if not found.exempt:
            yield from _different_certainty(scene, ours, found)
            yield from _different_shares(ours, found.statement)
    if ours.regardless and not found.statement.regardless:
        limits = found.statement.limits or found.statement.usually
        if limits:
            yield _Conflict("overstated", ours.regardless, limits)


_UNDER_EXCEPTION: dict[Force, Force] = {
    "allowed": "forbidden", "forbidden": "allowed", "required": "optional", "optional": "required",
    "recommended": "discouraged", "discouraged": "recommended",
}  # fmt: skip
_OPPOSED_FORCES: dict[Force, tuple[Force, ...]] = {
    "allowed": ("forbidden", "required"),
    "forbidden": ("allowed", "required"),
    "required": ("optional", "forbidden"),
    "optional": ("required", "forbidden"),
    "recommended": ("discouraged", "forbidden"),
    "discouraged": ("recommended", "allowed"),
}
_WEAKER_FORCES: dict[Force, tuple[Force, ...]] = {
    "required": ("allowed", "recommended"),
    "forbidden": ("optional", "discouraged"),
}


def _different_forces(scene: Scene, ours: Statement, found: _Counterpart) -> Iterator[_Conflict]:
    theirs = found.statement
    if not ours.force or not theirs.force or not ours.force_cue or not theirs.force_cue:
        return
    if not found.exempt and (ours.restricted or theirs.restricted):
        return
    force = _UNDER_EXCEPTION[theirs.force] if found.exempt else theirs.force
    weaker = force in _WEAKER_FORCES.get(ours.force, ()) and not found.exempt
    if not weaker and force not in _OPPOSED_FORCES[ours.force]:
        return
    if _is_about_common_word(scene, ours, found, ours.force_cue, "claim") or _is_about_common_word(
        scene, ours, found, theirs.force_cue, "source"
    ):
        yield _Conflict("overstated" if weaker else "opposite", ours.force_cue, theirs.force_cue)


def _different_polarity(scene: Scene, ours: Statement, found: _Counterpart) -> Iterator[_Conflict]:
    theirs = found.statement
    if ours.force or theirs.force or (not found.exempt and (ours.restricted or theirs.restricted)):
        return
    if (ours.denied == theirs.denied) is not bool(found.exempt):
        return
    if found.exempt:
        yield _Conflict("negated", None, None)
        return
    denied, side = (ours, "claim") if ours.denied else (theirs, "source")
    if not denied.denials or _awaited(ours, theirs):
        return
    if _is_about_common_word(scene, ours, found, denied.denials[0], side) and not _agrees_beside(scene, ours, found):
        yield _Conflict("negated", None, None)


def _awaited(ours: Statement, theirs: Statement) -> bool:
    """Whether the claim says that something has not come yet, and the source that it may or will."""
    return ours.is_negative and ours.is_not_yet and theirs.certainty < _SETTLED


_SETTLED, _OPEN = 3, 1


def _different_certainty(scene: Scene, ours: Statement, found: _Counterpart) -> Iterator[_Conflict]:
    theirs = found.statement
    if ours.is_negative or theirs.is_negative:
        return
    if theirs.doubt and ours.certainty > theirs.certainty:
        about = _is_about_common_word(scene, ours, found, theirs.doubt, "source")
        if theirs.certainty == _OPEN:
            asserts = not _keeps_distance(scene, ours, found) and ours.force != "allowed" and not ours.conditions
        else:
            asserts = ours.settled and not ours.force
        if asserts if about else ours.realised and ours.certainty == _SETTLED:
            yield _Conflict("unhedged", None, theirs.doubt)
    if ours.promise and theirs.may and _is_about_common_word(scene, ours, found, theirs.may, "source"):
        yield _Conflict("unhedged", ours.promise, theirs.may)
    if ours.unrealised and not theirs.unrealised and theirs.settled and theirs.certainty == _SETTLED:
        yield _Conflict("opposite", ours.unrealised, None)


def _keeps_distance(scene: Scene, ours: Statement, found: _Counterpart) -> bool:
    """Whether the claim has a word of distance of its own; one that the source has too is content."""
    ours_and_theirs = ((scene.claim.words[at], found.reading.words[its]) for at, its in found.pairs.items())
    common = {word.start for word, its in ours_and_theirs if word.stem == its.stem}
    return any(common.isdisjoint(range(start, end)) for start, end in ours.distancing)


def _different_shares(ours: Statement, theirs: Statement) -> Iterator[_Conflict]:
    """All in place of some, or only some in place of all."""
    if ours.is_negative or theirs.is_negative:
        return
    if ours.all and theirs.some and not theirs.all and not ours.some:
        yield _Conflict("overstated", ours.all, theirs.some)
    if ours.only_some and theirs.all and not theirs.some:
        yield _Conflict("opposite", ours.only_some, theirs.all)


def _is_about_common_word(
    scene: Scene, ours: Statement, found: _Counterpart, cue: Stretch, side: Literal["claim", "source"]
) -> bool:
    """Whether the content word that follows a cue (or else the one before it) is common to both."""
    if side == "claim":
        head = _head(scene.claim, ours, cue)
        return head in found.pairs
    head = _head(found.reading, found.statement, cue)
    return head is not None and found.reading.words[head].stem in {found.reading.words[p].stem for p in found.places}


def _head(reading: ParsedSentence, statement: Statement, cue: Stretch) -> int | None:
    inside = [
        i for i in reading.content(statement.start, statement.end)
        if not any(start <= reading.words[i].start < end for start, end in statement.cues)
    ]  # fmt: skip
    after = [i for i in inside if reading.words[i].start >= cue[1]]
    before = [i for i in inside if reading.words[i].end <= cue[0]]
    return after[0] if after else before[-1] if before else None


def _agrees_beside(scene: Scene, ours: Statement, found: _Counterpart) -> bool:
    """Whether another statement of the source's sentence agrees with the claim and has one of its other words."""
    missing = [w for w in scene.focus.lookups if w.position not in found.pairs and _is_stated(scene.claim, ours, w)]
    offsets = [found.reading.words[p].start for w in missing for p in occurrences(w, found.reading)]
    return any(
        other.is_negative == ours.is_negative and any(other.start <= at < other.end for at in offsets)
        for other in read_statements(found.reading.text)
        if other is not found.statement
    )
