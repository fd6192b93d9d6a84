"""Each part of a claim held against the sources: equal, different, negated, overstated, or not there.

The comparison is made in the sentences that speak of the claim; the one that covers most of it is its home. A difference
counts only if the home sentence speaks of the same thing. Left out: arithmetic over several values, and coreference
beyond a name occurring anywhere in the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vouching.text.dates import DateMention, compare_dates
from vouching.text.entities import Entity, same_entity
from vouching.text.negation import is_negated, is_negative_form
from vouching.text.qualifiers import Qualifier, compare_qualifiers
from vouching.text.quantities import Quantity, compare_quantities
from vouching.text.words import antonyms, stem
from vouching.types import Status
from vouching.verifiers.embedded.evidence import SourceIndex
from vouching.verifiers.embedded.focus import Focus, Lookup
from vouching.verifiers.embedded.parts import Part, counted_words, split_claim
from vouching.verifiers.embedded.reading import Reading

Outcome = Literal["equal", "elsewhere", "differs", "opposite", "negated", "replaced", "overstated", "unhedged", "absent"]
"""equal: the source says the same here. elsewhere: it occurs, but not where the claim's other words are. differs: another
value stands in its place. opposite: an antonym does. negated: the same words with the opposite polarity. replaced: another
word fills the same slot. overstated: the source has a weaker qualifier, or none. unhedged: the source hedges what the
claim asserts. absent: nothing corresponds."""

_STATUS: dict[Outcome, Status] = {
    "equal": "match", "elsewhere": "match", "differs": "mismatch", "opposite": "mismatch", "negated": "mismatch",
    "replaced": "mismatch", "overstated": "not_found", "unhedged": "mismatch", "absent": "not_found",
}  # fmt: skip

SAME_TOPIC = 0.5
"""Share of the claim's words (values and names aside) that a sentence must cover before a difference in it counts."""
SAME_STATEMENT = 0.6
"""Share it must cover before another word in the same slot counts as a replacement."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of one part of the claim."""

    part: Part
    """The part; predicates may be cut further, so that each piece has one outcome."""
    outcome: Outcome
    """How it compares."""
    sentence: int | None = None
    """The sentence it was held against; None if nothing corresponds."""
    start: int = 0
    """Where its counterpart starts in that sentence, with the words it belongs to."""
    end: int = 0
    """Where its counterpart ends."""
    value_start: int = 0
    """Where the counterpart of the value itself starts."""
    value_end: int = 0
    """Where the counterpart of the value itself ends."""

    @property
    def status(self) -> Status:
        """SEVA's word for the outcome."""
        if self.outcome == "overstated" and self.sentence is not None and self.end:
            return "mismatch"
        return _STATUS[self.outcome]


class Comparer:
    """Compares the parts of one claim with the sources it is focused on."""

    def __init__(self, claim: Reading, index: SourceIndex, focus: Focus) -> None:
        self.claim = claim
        self.index = index
        self.focus = focus
        self.home = focus.sentences[0] if focus.sentences else None
        self.lookups = {word.position: word for word in focus.lookups}
        self.parts = split_claim(claim)
        self.topic = self._topic_coverage()

    def compare(self) -> list[Comparison]:
        """Compare every part, in the claim's order."""
        found: list[Comparison] = []
        for part in self.parts:
            if part.kind == "predicate":
                found.extend(self._predicate(part))
            elif self.home is None:
                found.append(Comparison(part, "absent"))
            elif isinstance(part.value, Quantity):
                found.append(self._quantity(part, part.value))
            elif isinstance(part.value, Entity):
                found.append(self._entity(part, part.value))
            elif isinstance(part.value, Qualifier):
                found.append(self._qualifier(part, part.value))
            elif part.value is not None:
                found.append(self._date(part, part.value))
        return found

    def _topic_coverage(self) -> float:
        """Share of the claim's words outside values and names that its home sentence covers; in [0, 1]."""
        values = [(p.value_start, p.value_end) for p in self.parts if p.kind in ("quantity", "date", "entity")]
        words = [
            word
            for word in self.focus.lookups
            if not any(start <= self.claim.words[word.position].start < end for start, end in values)
        ]
        if not words:
            return self.focus.coverage(self.focus.sentences[:1])
        found = sum(word.weight * word.found_in(self.focus.sentences[:1]) for word in words)
        return found / sum(word.weight for word in words)

    def _read(self) -> Iterator[tuple[int, Reading, float]]:
        """The focused sentences with their readings and coverage, best first."""
        for position in self.focus.sentences:
            yield position, self.index.read(position), self.focus.coverage([position])

    def _quantity(self, part: Part, value: Quantity) -> Comparison:
        best: tuple[float, Comparison] | None = None
        home_coverage = self.focus.coverage(self.focus.sentences[:1])
        for position, reading, coverage in self._read():
            for rival in reading.quantities:
                relation = compare_quantities(value, rival)
                if relation == "incomparable":
                    continue
                end, words = counted_words(reading, rival.end, set())
                shared = self._share_meaning(part.words, reading, words)
                agrees = relation in ("equal", "close")
                if not agrees and not (position == self.home and self.topic >= SAME_TOPIC and (shared or value.unit)):
                    continue
                outcome: Outcome = "equal" if agrees else "differs"
                if agrees and coverage < 0.5 * home_coverage:
                    outcome = "elsewhere"
                rank = coverage + 0.5 * shared + (0.6 if agrees else 0.0) + 0.1 * (relation == "equal")
                if best is None or rank > best[0]:
                    best = rank, Comparison(part, outcome, position, rival.start, end, rival.start, rival.end)
        return best[1] if best else self._anywhere(part)

    def _anywhere(self, part: Part) -> Comparison:
        """elsewhere if every word of the value occurs somewhere in the sources, else absent."""
        words = [self.lookups[p] for p in self.claim.content(part.value_start, part.value_end) if p in self.lookups]
        return Comparison(part, "elsewhere" if words and all(word.exact for word in words) else "absent")

    def _share_meaning(self, claim_words: Sequence[int], reading: Reading, words: Sequence[int]) -> bool:
        """Whether the words around two values mean the same; true if the claim's value stands alone."""
        if not claim_words:
            return not words
        for position in claim_words:
            lookup = self.lookups.get(position)
            if lookup and any(p in words for p in _occurrences(lookup, reading)):
                return True
        return False

    def _date(self, part: Part, value: DateMention) -> Comparison:
        best: tuple[float, Comparison] | None = None
        home_coverage = self.focus.coverage(self.focus.sentences[:1])
        for position, reading, coverage in self._read():
            for rival in reading.dates:
                relation = compare_dates(value, rival)
                if relation == "incomparable":
                    continue
                agrees = relation in ("equal", "compatible")
                if not agrees and not (position == self.home and self.topic >= SAME_TOPIC):
                    continue
                outcome: Outcome = "equal" if agrees else ("absent" if relation == "more_specific" else "differs")
                if agrees and coverage < 0.5 * home_coverage:
                    outcome = "elsewhere"
                near = self._share_meaning(part.words, reading, _content_before(reading, rival.start))
                rank = coverage + (0.6 if agrees else 0.0) + 0.3 * near + 0.05 * (relation == "more_specific")
                if best is None or rank > best[0]:
                    start = reading.words[_content_before(reading, rival.start)[0]].start if near and part.words else rival.start
                    best = rank, Comparison(part, outcome, position, start, rival.end, rival.start, rival.end)
        return best[1] if best else self._anywhere(part)

    def _entity(self, part: Part, value: Entity) -> Comparison:
        stems = [stem(word) for word in value.key.split()]
        for position, reading, _ in self._read():
            place = _find_run(reading, stems)
            if place is None:
                alias = next((e for e in reading.entities if same_entity(value.text, e.text)), None)
                place = (alias.start, alias.end) if alias else None
            place = place or self._synonym_run(value, reading)
            if place is not None:
                return Comparison(part, "equal", position, *place, *place)
        if all(self.index.postings.get(s) or s in self.index.title_stems for s in stems):
            return Comparison(part, "elsewhere")
        return self._replaced_entity(part, value) or Comparison(part, "absent")

    def _synonym_run(self, value: Entity, reading: Reading) -> tuple[int, int] | None:
        """Where synonyms of all words of a name stand ("coronavirus" for "COVID-19")."""
        lookups = [self.lookups.get(p) for p in self.claim.content(value.start, value.end)]
        places = [_occurrences(lookup, reading) for lookup in lookups if lookup]
        if not places or any(not found for found in places):
            return None
        first, last = min(found[0] for found in places), max(found[0] for found in places)
        if last - first > len(places) + 1:
            return None
        return reading.words[first].start, reading.words[last].end

    def _replaced_entity(self, part: Part, value: Entity) -> Comparison | None:
        """Another name of the home sentence in the slot of this one: after the same preposition, or alike in form."""
        if self.home is None or self.topic < SAME_TOPIC:
            return None
        reading = self.index.read(self.home)
        ours = [p.value.text for p in self.parts if isinstance(p.value, Entity)]
        rivals = [e for e in reading.entities if not any(same_entity(e.text, name) for name in ours)]
        if _is_defined_acronym(self.claim, value):
            return None
        before = _word_before(self.claim, value.start)
        best: tuple[float, Entity] | None = None
        for rival in rivals:
            same_slot = before != "" and before == _word_before(reading, rival.start)
            same_form = (len(rival.key.split()) > 1) == (len(value.key.split()) > 1) and rival.kind == value.kind
            rank = 2.0 * same_slot + same_form + 0.5 * rival.certain
            # Without a shared preposition, only the one name that is left over can be the counterpart.
            fits = same_slot or (same_form and len(rivals) == 1 and self.topic >= SAME_STATEMENT)
            if fits and (best is None or rank > best[0]):
                best = rank, rival
        if best is None:
            return None
        rival = best[1]
        return Comparison(part, "differs", self.home, rival.start, rival.end, rival.start, rival.end)

    def _qualifier(self, part: Part, value: Qualifier) -> Comparison:
        assert self.home is not None
        reading = self.index.read(self.home)
        relation = compare_qualifiers(value, reading.qualifiers)
        same_scale = [q for q in reading.qualifiers if q.scale == value.scale]
        twin = next((q for q in same_scale if q.strength >= value.strength), None)
        if relation in ("equal", "weaker") and twin is not None:
            return Comparison(part, "equal", self.home, twin.start, twin.end, twin.start, twin.end)
        for position, other, _ in self._read():
            same = next((q for q in other.qualifiers if q.word == value.word), None)
            if same is not None:
                return Comparison(part, "elsewhere", position, same.start, same.end, same.start, same.end)
        denied = is_negated(value.start, self.claim.negations)
        if value.is_hedge or denied or self.topic < SAME_TOPIC:
            return Comparison(part, "elsewhere")
        if relation == "stronger":
            weaker = same_scale[0]
            return Comparison(part, "overstated", self.home, weaker.start, weaker.end, weaker.start, weaker.end)
        return Comparison(part, "overstated")

    def _predicate(self, part: Part) -> Iterator[Comparison]:
        """Cut a predicate into runs of words with one outcome, so that each run is shown beside its counterpart."""
        run: list[int] = []
        state: tuple[Outcome, int | None] | None = None
        places: list[tuple[int, int]] = []
        for position in part.words:
            outcome, sentence, place = self._word(position)
            if run and (outcome, sentence) != state:
                yield self._piece(part, run, state, places)
                run, places = [], []
            state = (outcome, sentence)
            run.append(position)
            if place is not None:
                places.append(place)
        if run:
            yield self._piece(part, run, state, places)

    def _piece(
        self, part: Part, run: list[int], state: tuple[Outcome, int | None] | None, places: list[tuple[int, int]]
    ) -> Comparison:
        assert state is not None
        start, end = self.claim.words[run[0]].start, self.claim.words[run[-1]].end
        piece = Part("predicate", start, end, start, end, None, tuple(run))
        if not places:
            return Comparison(piece, state[0], state[1])
        first, last = min(p[0] for p in places), max(p[1] for p in places)
        if last - first > 3 * (end - start) + 20:
            first, last = places[0]
        return Comparison(piece, state[0], state[1], first, last, first, last)

    def _word(self, position: int) -> tuple[Outcome, int | None, tuple[int, int] | None]:
        """Outcome of one content word, the sentence it was found in, and its place there."""
        lookup = self.lookups.get(position)
        if lookup is None or self.home is None:
            return "absent", None, None
        word = self.claim.words[position]
        for sentence in self.focus.sentences:
            if not lookup.found_in([sentence]):
                continue
            reading = self.index.read(sentence)
            places = _occurrences(lookup, reading)
            if not places:
                continue
            denied = is_negated(word.start, self.claim.negations)
            agreeing = [p for p in places if is_negated(reading.words[p].start, reading.negations) == denied]
            # Where both sides deny something, which word is denied cannot be told without a parse.
            one_sided = bool(self.claim.negations) != bool(reading.negations)
            flipped = not agreeing and one_sided and sentence == self.home and self.topic >= SAME_TOPIC
            place = reading.words[(agreeing or places)[0]]
            if flipped:
                return "negated", sentence, (place.start, place.end)
            hedge = self._hedge_before((agreeing or places)[0], reading) if sentence == self.home else None
            return ("unhedged", sentence, (hedge, place.end)) if hedge is not None else ("equal", sentence, (place.start, place.end))
        return self._missing_word(position, lookup)

    def _hedge_before(self, place: int, reading: Reading) -> int | None:
        """Offset of a hedge ("may", "could") right before a word of the source, if the claim has none of its kind."""
        if any(q.scale == "certainty" for q in self.claim.qualifiers):
            return None
        for word in reading.words[max(0, place - 2) : place]:
            hedge = next((q for q in reading.qualifiers if q.start == word.start), None)
            if hedge is not None and hedge.scale == "certainty" and hedge.is_hedge:
                return hedge.start
        return None

    def _missing_word(self, position: int, lookup: Lookup) -> tuple[Outcome, int | None, tuple[int, int] | None]:
        assert self.home is not None
        if self.topic >= SAME_TOPIC:
            reading = self.index.read(self.home)
            word = self.claim.words[position]
            opposites = antonyms().get(lookup.stem, frozenset())
            for other in reading.words:
                if other.stem in opposites or is_negative_form(other.stem, lookup.stem):
                    denied = is_negated(word.start, self.claim.negations)
                    same = denied == is_negated(other.start, reading.negations)
                    return ("opposite" if same else "equal"), self.home, (other.start, other.end)
            if self.topic >= SAME_STATEMENT:
                rival = self._slot(position, reading)
                if rival is not None:
                    return "replaced", self.home, rival
        if lookup.exact or lookup.close:
            return "elsewhere", None, None
        return "absent", None, None

    def _slot(self, position: int, reading: Reading) -> tuple[int, int] | None:
        """The word that stands in the home sentence where the claim has this one, judged by its neighbours."""
        for step in (-1, 1):
            neighbour = position + step
            while 0 <= neighbour < len(self.claim.words) and not self.claim.words[neighbour].is_content:
                neighbour += step
            lookup = self.lookups.get(neighbour)
            if lookup is None or abs(neighbour - position) > 3:
                continue
            for place in _occurrences(lookup, reading):
                rival = place - step
                while 0 <= rival < len(reading.words) and not reading.words[rival].is_content:
                    rival -= step
                if not 0 <= rival < len(reading.words) or abs(rival - place) > 3:
                    continue
                word = reading.words[rival]
                if not any(rival in _occurrences(known, reading) for known in self.focus.lookups):
                    return word.start, word.end
        return None


def _occurrences(lookup: Lookup, reading: Reading) -> list[int]:
    """Word positions of a reading that have the claim's word or, failing that, a synonym of it."""
    exact = reading.positions.get(lookup.stem)
    if exact:
        return exact
    return [place for group in lookup.groups for place in reading.groups.get(group, ())]


def _find_run(reading: Reading, stems: Sequence[str]) -> tuple[int, int] | None:
    """The shortest stretch that has all ``stems`` close together."""
    if not stems or any(s not in reading.positions for s in stems):
        return None
    for first in reading.positions[stems[0]]:
        places = [min(reading.positions[s], key=lambda p, first=first: abs(p - first)) for s in stems]
        if max(places) - min(places) <= len(stems) + 1:
            return reading.words[min(places)].start, reading.words[max(places)].end
    return None


def _is_defined_acronym(reading: Reading, entity: Entity) -> bool:
    """True for an acronym that the claim itself spells out ("cardiothoracic ratio (CTR)")."""
    letters = [c for c in entity.text.lower() if c.isalpha()]
    before = [w.lower for w in reading.words if w.end <= entity.start][-2 * len(letters) :]
    return entity.kind == "acronym" and bool(letters) and any(word[0] == letters[0] for word in before) and (
        entity.start > 0 and reading.text[entity.start - 1] == "("
    )


def _word_before(reading: Reading, offset: int) -> str:
    """The preposition right before ``offset`` (articles skipped), or "" if another word stands there."""
    for word in reversed([w for w in reading.words if w.end <= offset]):
        if word.lower in ("the", "a", "an"):
            continue
        return word.lower if not word.is_content else ""
    return ""


def _content_before(reading: Reading, offset: int) -> list[int]:
    """The content word before a preposition before ``offset``; empty if there is none within three words."""
    earlier = [i for i, w in enumerate(reading.words) if w.end <= offset]
    for position in reversed(earlier[-3:]):
        if reading.words[position].is_content:
            return [position]
    return []
