"""When the sources show what a part of a claim should be: stronger evidence than a verdict needs.

A part is exchanged only for one of its kind that the sources give to the same subject: the sentence, with its heading
and the heads of its columns, has nearly all the claim's other words, all its other values, names and quantifiers, as
many negations and the same conditions; the words next to the part are among them; and no other value of the kind, and
not the claimed one, stands nearly as close. Not supported: evidence that is spread over sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vouching.embedded.binding import Surroundings
from vouching.embedded.counterparts import (
    compare_values,
    compares_things,
    distance,
    may_be_a_year,
    mentions_like,
    number_of,
    same_number,
    weight_of,
)
from vouching.embedded.name_slots import names_in_its_place
from vouching.embedded.parts import Part, Value, counted_words
from vouching.embedded.scene import SAME_TOPIC, Comparison, Lookup, Scene, occurrences
from vouching.reading.parsed import ParsedSentence
from vouching.text.bounds import read_hedge
from vouching.text.cues import Qualifier, is_negated
from vouching.text.entities import Entity, same_entity
from vouching.text.mentions import DateMention, Quantity
from vouching.text.words import stem, word_before

SAYS_THE_REST = 0.65
"""Share of the claim's other words, weighted by rarity, that must be around the evidence."""
ALL_OF_THE_REST = 0.85
"""The same share for a claim that denies something, and if there are few words."""
_CLEARLY = 0.1
"""How much more of the claim must be around the evidence than around any rival."""
_IN_ROW = 0.04
"""The same between two cells of one row, which the heads of their columns distinguish."""
_HALF = 0.5
_MIN_WORDS = 2
"""Other words of the claim that the evidence must have."""
_WRONG = frozenset({"differs", "opposite", "reordered", "negated", "overstated", "unhedged"})
_AGREE = frozenset({"equal", "close", "compatible"})
_RANGE = re.compile(r"\bfrom\b[^;]{1,40}\bto\s*[£$€]?\Z")
_PARTS = re.compile(r";\s|\s(?:while|whereas)\s")
_ONE_OF = re.compile(r" of (?:all |its |the |their |these |those )?")
_CITED = re.compile(r"\(\d{4}\)")
_STOP = re.compile(r"[,;:()](?:\s|$)")
_NOTE = re.compile(r"\([^():]*: [^()]*\)")
"""A note with its own subject: "(2023: 274)"."""
_CONDITIONS = frozenset(str.split("until unless except only if unless without provided"))
_UNREAL = frozenset(
    str.split("""aim aims aimed plan plans planned intend intends intended propose proposes proposed hope hopes hoped
        target targets targeted seek seeks want wants wanted would expects expect demand demands demanded will""")
)
"""Verbs, besides the hedges, that keep a clause from saying that something is so."""
_CHANGES = frozenset(
    str.split("""add adds added rise rises rose risen increase increases increased grow grows grew fall falls fell
        drop drops dropped decrease decreases decreased reduce reduces reduced cut cuts save saves saved gain gains
        gained exceed exceeds exceeded""")
)
"""Verbs after which a number is an amount of change."""
_HYPOTHETICAL = frozenset("would could might should too enough".split())
_OTHERS = frozenset("other another others further additional remaining more extra".split())
_SIDES = frozenset("before after since until".split())
"""With these, a date is a bound."""
_PRONOUNS = frozenset("he she it they this these that those".split())
_PLACES = frozenset("there here".split())


@dataclass(frozen=True, slots=True)
class _Rival:
    """A value of the sources, and how much of the claim stands around it."""

    support: float
    sentence: int
    mention: Quantity | DateMention


class Grounds:
    """One sentence of a claim and its sources, asked for evidence part by part."""

    def __init__(self, scene: Scene, comparisons: Sequence[Comparison]) -> None:
        self.scene = scene
        self.comparisons = comparisons

    def value(self, part: Part) -> tuple[ParsedSentence, Quantity | DateMention, bool] | None:
        """The value that the sources give to what the claim is about in place of a number or date, if they show it.

        Also its sentence, and whether that is the row of a table.
        """
        own, others = self._places(part)
        best = self._best(part, others)
        if best is None or self._is_whole(part) or may_be_a_year(self.scene.claim.text, part.value):
            return None
        in_row = self._in_row(best.sentence)
        if in_row and (self.scene.claim.negations or compares_things(self.scene.claim)):
            return None
        reading = self.scene.index.read(best.sentence)
        if not self._alike_in_bounds(part, best) or not self.reads_alike(part, reading, best.mention.start):
            return None
        if not all(self._stands_closer(part, best, rival) for rival in own):
            return None
        if not self.same_statement(part, best.sentence, best.mention.start):
            return None
        if any(compare_values(best.mention, other.value) in _AGREE for other in self.scene.parts if other != part):
            return None  # it has its place in the claim already
        return reading, best.mention, in_row

    def _places(self, part: Part) -> tuple[list[_Rival], list[_Rival]]:
        """Where the sources have the value of a part, and where they have other values of its kind."""
        around = Surroundings(self.scene, part.value_start, part.value_end)
        found: list[tuple[bool, int, Quantity | DateMention]] = []
        kin: dict[int, list[tuple[int, int]]] = {}
        for position, reading, _ in self.scene.readings():
            for rival in (*reading.quantities, *reading.dates):
                agrees = compare_values(part.value, rival) in _AGREE or same_number(
                    self.scene.claim, part, reading, rival
                )
                if agrees or (
                    type(rival) is type(part.value) and self._counts_the_same(part, position, reading, rival)
                ):
                    found.append((agrees, position, rival))
                    kin.setdefault(position, []).append((rival.start, rival.end))
        own, others = list[_Rival](), list[_Rival]()
        for agrees, position, rival in found:
            support = around.place(position, rival.start, rival.end, kin[position]).support
            (own if agrees else others).append(_Rival(support, position, rival))
        return own, others

    def _best(self, part: Part, others: Sequence[_Rival]) -> _Rival | None:
        """The value that stands among clearly more of the claim than any other; with another bound, the same number."""
        best = max(others, key=lambda rival: rival.support, default=None)
        if best is None or best.support < SAYS_THE_REST:
            return None
        here = [rival for rival in others if rival.sentence == best.sentence]
        bounded = [rival for rival in here if number_of(rival.mention) == number_of(part.value)]
        if bounded:
            return bounded[0] if len(bounded) == 1 else None
        in_row = self._in_row(best.sentence)
        for rival in others:
            clearly = _IN_ROW if in_row and rival in here else _CLEARLY
            near = rival.support > best.support - clearly or (
                rival in here and not in_row and self._is_nearer(part, rival, best)
            )
            if near and compare_values(best.mention, rival.mention) not in _AGREE:
                return None
        return None if compare_values(part.value, best.mention) == "allowed" else best

    def _is_nearer(self, part: Part, rival: _Rival, best: _Rival) -> bool:
        """Whether the content word before the value in the claim stands nearer to another value than to the best."""
        words, reading = self.scene.claim.words, self.scene.index.read(best.sentence)
        earlier = (w for w in reversed(self.scene.focus.lookups) if words[w.position].end <= part.value_start)
        head = next(earlier, None)
        places = [reading.words[p].start for p in occurrences(head, reading)] if head else []
        gaps = [min((distance(reading.text, p, r.mention.start) for p in places), default=0) for r in (rival, best)]
        return gaps[0] < gaps[1]

    def _in_row(self, sentence: int) -> bool:
        """Whether a sentence is a row of a table."""
        return self.scene.index.sentences[sentence].row is not None

    def _counts_the_same(
        self, part: Part, sentence: int, reading: ParsedSentence, rival: Quantity | DateMention
    ) -> bool:
        """Whether a bare number of the source counts what the claim's number counts."""
        if any(_ONE_OF.fullmatch(reading.text, q.end, rival.start) for q in reading.quantities):
            return False  # a whole
        if isinstance(rival, DateMention) or rival.unit:
            return True
        whole = next((q for q in reading.quantities if _ONE_OF.fullmatch(reading.text, rival.end, q.start)), rival)
        _, words = counted_words(reading, whole.end, set())
        if not part.words:
            return not words
        return self.scene.same_meaning(part.words, reading, words) or any(
            self._is_over(sentence, w) for w in part.words
        )

    def _is_whole(self, part: Part) -> bool:
        """Whether another number of the claim is a part of this one ("two of the three")."""
        claim = self.scene.claim
        return any(_ONE_OF.fullmatch(claim.text, q.end, part.value_start) for q in claim.quantities)

    def _alike_in_bounds(self, part: Part, best: _Rival) -> bool:
        """Whether both values are denied or neither is, and both are ends or amounts of a change or neither is."""
        claim, reading = self.scene.claim, self.scene.index.read(best.sentence)
        places = ((claim, part.value_start), (reading, best.mention.start))
        if _CITED.fullmatch(reading.text, best.mention.start - 1, best.mention.end + 1):
            return False  # the year of a publication
        denied = {is_negated(start, side.negations) for side, start in places}
        ours, theirs = (word_before(side.text, read_hedge(side.text, start, start).start) for side, start in places)
        sides = {ours, theirs}
        if len(sides) > 1 and not sides.isdisjoint(_SIDES):
            return False
        return len(denied) == 1 and (
            ours == theirs
            or not (ours == "by" or theirs in ("by", "from") or _RANGE.search(reading.text, 0, best.mention.start))
        )

    def _stands_closer(self, part: Part, best: _Rival, own: _Rival) -> bool:
        """Whether the claim's other words belong to the evidence rather than to the claimed value."""
        if self.scene.claim.words[0].lower in _PRONOUNS or any(w.lower in _PLACES for w in self.scene.claim.words):
            return False
        if best.sentence != own.sentence:
            return own.support < best.support - _CLEARLY
        if self._in_row(best.sentence):
            return own.support < best.support - _IN_ROW
        reading = self.scene.index.read(best.sentence)
        closer = 0
        for word in self._rest(part):
            places = [reading.words[p].start for p in occurrences(word, reading)]
            places = [p for p in places if not any(m.start <= p < m.end for m in (best.mention, own.mention))]
            start = self.scene.claim.words[word.position].start
            in_value = any(
                p.value_start <= start < p.value_end for p in self.scene.parts if p.kind in ("quantity", "date")
            )
            if places and (in_value or max(places) > min(best.mention.start, own.mention.start)):
                gaps = [min(distance(reading.text, p, m.start) for p in places) for m in (best.mention, own.mention)]
                if gaps[1] < gaps[0]:
                    return False
                closer += gaps[0] < gaps[1]
        return closer >= _MIN_WORDS

    def _rest(self, part: Part) -> Iterator[Lookup]:
        """The claim's words outside a part."""
        for word in self.scene.focus.lookups:
            if not part.value_start <= self.scene.claim.words[word.position].start < part.value_end:
                yield word

    def _in_name(self, word: Lookup) -> bool:
        start = self.scene.claim.words[word.position].start
        return any(p.kind == "entity" and p.value_start <= start < p.value_end for p in self.scene.parts)

    def _is_over(self, sentence: int, word: int) -> bool:
        """Whether the heading of a sentence, or a head of its columns, has a word of the claim."""
        return sentence in self.scene.index.around.get(self.scene.claim.words[word].stem, ())

    def reads_alike(self, part: Part, reading: ParsedSentence, place: int) -> bool:
        """Whether a statement about the value at ``place`` is no more real, no less restricted and of the same note."""
        ours = {w.lower for w in self.scene.claim.words}
        earlier = [w.lower for w in reading.words if w.end <= place]
        clause = max((found.end() for found in _STOP.finditer(reading.text, 0, place)), default=0)
        near = [w.lower for w in reading.words if clause <= w.start and w.end <= place]
        hedges = {
            q.word for q in reading.qualifiers if q.scale == "certainty" and q.is_hedge and clause <= q.start < place
        }
        if {*earlier} & _CONDITIONS and not ours & _CONDITIONS:
            return False
        if compares_things(reading) != compares_things(self.scene.claim) or ours & _HYPOTHETICAL - {
            w.lower for w in reading.words
        }:
            return False
        if (hedges or {*near} & _UNREAL) and not (
            ours & _UNREAL or any(q.scale == "certainty" for q in self.scene.claim.qualifiers)
        ):
            return False
        if ({*near[-3:]} & _OTHERS) - ours or ({*near[-2:]} & _CHANGES and not ours & _CHANGES):
            return False
        for note in _NOTE.finditer(reading.text):
            inside = note.start() <= place < note.end()
            values = [p for p in self.scene.parts if p.value is not None and p != part]
            spots = [
                m.start for p in values for m in mentions_like(reading, p.value) if compare_values(p.value, m) in _AGREE
            ]
            in_note = any(note.start() <= spot < note.end() for spot in spots)
            if inside != in_note:
                return False
        return True

    def same_statement(self, part: Part, sentence: int, place: int, denied: bool = False) -> bool:
        """Whether a sentence agrees with the rest of the claim: its values, names and negations, and no other error.

        With ``denied`` it has one negation more.
        """
        reading = self.scene.index.read(sentence)
        if len(self.scene.claim.negations) + denied != len(reading.negations):
            return False
        for comparison in self.comparisons:
            other = comparison.part
            if other.value_start < part.value_end and part.value_start < other.value_end:
                continue
            if denied and comparison.outcome == "negated":
                continue
            if comparison.outcome in _WRONG or not self._has(sentence, reading, other.value):
                return False
        cuts = (
            [] if _PARTS.search(self.scene.claim.text) else [found.start() for found in _PARTS.finditer(reading.text)]
        )
        own, rest = bisect_right(cuts, place), list(self._rest(part))
        found = [
            word
            for word in rest
            if sentence in word.around
            or any(bisect_right(cuts, reading.words[p].start) == own for p in occurrences(word, reading))
        ]
        plain = [word for word in rest if not self._in_name(word)]
        share = SAYS_THE_REST if not self.scene.claim.negations else ALL_OF_THE_REST
        enough = weight_of(found) >= share * weight_of(rest)
        enough = enough and (len(found) > _MIN_WORDS or weight_of(found) >= ALL_OF_THE_REST * weight_of(rest))
        on_topic = weight_of(word for word in found if word in plain) >= SAME_TOPIC * weight_of(plain)
        in_row = self.scene.index.sentences[sentence].row is not None
        return (
            (len(found) >= _MIN_WORDS or self._is_only_value(part, sentence, rest))
            and (in_row or (enough and on_topic))
            and self._has_neighbours(part, {w.position for w in found})
        )

    def _is_only_value(self, part: Part, sentence: int, rest: Sequence[Lookup]) -> bool:
        """Whether the claim has one other word, and the sources have that word once and with one value of the kind."""
        values = list(mentions_like(self.scene.index.read(sentence), part.value))
        return len(values) == len(rest) == 1 and (rest[0].exact | rest[0].close) == frozenset((sentence,))

    def _has_neighbours(self, part: Part, found: set[int]) -> bool:
        """Whether the words next to the part are among those found."""
        words = self.scene.claim.words
        after = next((i for i, w in enumerate(words) if w.start >= part.value_end), None)
        before = next(
            (i for i in reversed(range(len(words))) if words[i].end <= part.value_start and words[i].is_content), None
        )
        if before is not None and words[before].lower in _CHANGES and before not in found:
            return False
        return after is None or not words[after].is_content or after not in self.scene.lookups or after in found

    def _has(self, sentence: int, reading: ParsedSentence, value: Value | None) -> bool:
        """Whether a sentence, or what it stands under, has a value, name or quantifier of the claim."""
        if isinstance(value, Entity):
            index = self.scene.index
            stems = [stem(word) for word in value.key.split()]
            known = all(
                s in reading.positions or sentence in index.around.get(s, ()) or s in index.title_stems for s in stems
            )
            return known or any(same_entity(value.text, e.text) for e in reading.entities)
        if isinstance(value, (Quantity, DateMention)):
            # A part of a date ("2024") may be in the heading.
            words = self.scene.claim.content(value.start, value.end)
            heads = bool(words) and all(self._is_over(sentence, word) for word in words)
            return heads or any(compare_values(value, m) in _AGREE for m in mentions_like(reading, value))
        if isinstance(value, Qualifier) and value.scale in ("quantity", "exclusivity"):
            return any(q.scale == value.scale and q.strength >= value.strength for q in reading.qualifiers)
        return True

    def name(self, part: Part, value: Entity) -> str | None:
        """The name that the sources have in the place of one of the claim, if they show it."""
        if self.scene.claim.negations:
            return None
        names = [p.value.text for p in self.scene.parts if isinstance(p.value, Entity)]
        found = dict[str, str]()
        for position, reading, _ in self.scene.readings():
            rivals = names_in_its_place(self.scene.claim, value, names, reading)
            if rivals and self.covers(part, position, rivals[0].start):
                if self._has(position, reading, value) or not self.only_there(part, position, _HALF):
                    return None
                found.update((rival.key, rival.text) for rival in rivals)
        return next(iter(found.values())) if len(found) == 1 else None

    def covers(self, part: Part, sentence: int, place: int, denied: bool = False) -> bool:
        """Whether what a sentence says around ``place`` is the claim but for one part."""
        alike = self.reads_alike(part, self.scene.index.read(sentence), place)
        return alike and self.same_statement(part, sentence, place, denied)

    def stands_among(self, part: Part, sentence: int, place: int) -> bool:
        """Whether the claim's other words are in the same clause as a place of a sentence."""
        around = Surroundings(self.scene, part.value_start, part.value_end)
        return around.place(sentence, place, place + 1).support >= ALL_OF_THE_REST

    def is_denied(self, part: Part, sentence: int, place: int) -> bool:
        """Whether exactly one of a part and its counterpart is in the scope of a negation."""
        reading = self.scene.index.read(sentence)
        return is_negated(part.value_start, self.scene.claim.negations) != is_negated(place, reading.negations)

    def only_there(self, part: Part, sentence: int, share: float = 1 - 2 * _CLEARLY) -> bool:
        """Whether every sentence that has the words of a part has less of the rest of the claim, by that share."""
        own = [
            self.scene.lookups[p]
            for p in self.scene.claim.content(part.value_start, part.value_end)
            if p in self.scene.lookups
        ]
        rest = list(self._rest(part))
        cover = {p: sum(w.weight for w in rest if w.found_in([p])) for p, _, _ in self.scene.readings()}
        having = [p for p, reading, _ in self.scene.readings() if own and all(occurrences(w, reading) for w in own)]
        return all(cover[p] < share * cover.get(sentence, 0.0) for p in having)
