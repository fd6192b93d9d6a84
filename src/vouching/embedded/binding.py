"""Whose value is it: which of the sources' values belongs to what the claim is about.

A value of the claim counts as supported only where its subject is. For every value of the same kind in the sentences
that were found, the claim's other words are looked for around it: in its clause, its sentence, its section's heading,
and, in a table, in its row and under its column's head. If another value stands among clearly more of them than the
claimed one ever does, the claim has given one subject's value to another.

Where one sentence has several such values ("80 m for the north tower, 95 m for the south tower"), each has a zone of
the sentence; a zone that begins with its value, or in brackets ("(2023: 8 million)"), shares the words before the first
zone. Not supported: "respectively", and pronouns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vouching.embedded.counterparts import is_head
from vouching.embedded.scene import Lookup, Scene, occurrences
from vouching.reading.evidence import SYNONYM_WEIGHT, synonyms
from vouching.reading.parsed import ParsedSentence

_SAME_SENTENCE, _SAME_SECTION, _OTHER_ZONE = 0.6, 0.4, 0.25
"""What a word of another clause, of the heading, or of another value's zone counts; one of the same clause, row or
column counts 1."""
_BREAKS = (
    re.compile(r"[;\n(—–]|\.\s|\s(?:while|whereas|but)\s"),
    re.compile(r",(?=\s)"),
    re.compile(r"\s(?:and|or|than|from|to|instead of|rather than)\s"),
)
"""What separates the zones of two values; the strongest first."""
_LABEL = re.compile(r"(?<=[:|,])[^:|,\n]*[^\W\d_][^:|,\n]*:\s*\Z")
"""The label right before a value, after what the field is about: "goals:" in "Kestrel: goals: 41"."""
_CLAUSE = re.compile(r"[,;:()\[\]—–](?=\s|$)|\s(?:and|but|while|whereas|where|which|who|whose)\s")


@dataclass(frozen=True, slots=True)
class Place:
    """A value of the sources, and how much of the claim stands around it. Offsets are relative to the sentence."""

    sentence: int
    start: int
    end: int
    support: float
    """Share of the claim's other words around it, weighted by rarity; in [0, 1]."""


class Surroundings:
    """What a claim says besides one of its values, ready to be looked for around the values of the sources."""

    def __init__(self, scene: Scene, value_start: int, value_end: int) -> None:
        self._scene = scene
        words = scene.claim.words
        rest = [w for w in scene.focus.lookups if not value_start <= words[w.position].start < value_end]
        zones = _zones_of_claim(scene, value_start)
        if zones:
            near = [w for w in rest if any(a <= words[w.position].start < b for a, b in zones)]
            rest = near or rest
        self._rest = rest
        self._total = sum(word.weight for word in self._rest)
        self._starts: dict[int, list[list[int]]] = {}

    def place(self, sentence: int, start: int, end: int, kin: Sequence[tuple[int, int]] = ()) -> Place:
        """The value at ``start..end`` of a sentence, with its support; ``kin`` are all of its kind in the sentence."""
        around = _Around(self._scene, sentence, (start, end), kin)
        starts = zip(self._rest, self._starts_in(sentence), strict=True)
        found = sum(word.weight * around.share(word, places) for word, places in starts)
        return Place(sentence, start, end, found / self._total if self._total else 0.0)

    def _starts_in(self, sentence: int) -> list[list[int]]:
        """Where each of the words is in a sentence."""
        if sentence not in self._starts:
            reading = self._scene.index.read(sentence)
            self._starts[sentence] = [[reading.words[p].start for p in occurrences(w, reading)] for w in self._rest]
        return self._starts[sentence]


def _zones_of_claim(scene: Scene, value_start: int) -> list[tuple[int, int]]:
    """The zones of one of several values of a kind in the claim; none if it has one only."""
    for kind in (scene.claim.quantities, scene.claim.dates):
        kin = [(one.start, one.end) for one in kind]
        value = next((one for one in kin if one[0] <= value_start < one[1]), None)
        if value is not None and 1 < len(kin) <= _MOST_KIN:
            return _zones(scene.claim, value, kin)
    return []


class _Around:
    """The neighbourhood of one value of a sentence."""

    def __init__(self, scene: Scene, sentence: int, value: tuple[int, int], kin: Sequence[tuple[int, int]]) -> None:
        self._sentence, self._value = sentence, value
        self._reading = reading = scene.index.read(sentence)
        row = scene.index.sentences[sentence].row
        self._zones: list[tuple[int, int]] = []
        self._elsewhere = _SAME_SENTENCE
        self._heads: frozenset[str] | None = None
        if row is not None:
            offset = scene.index.sentences[sentence].start
            cell = row.cell_at(offset + value[0])
            named = [row.cells[0], *([cell] if cell else [])]
            self._heads = frozenset(stem for each in named for stem in scene.index.stems(sentence, *each.column))
            self._zones = [(each.start - offset, each.end - offset) for each in named]
            self._elsewhere = 1.0
        elif 1 < len(kin) <= _MOST_KIN:
            self._zones = _zones(reading, value, kin)
            self._elsewhere = _OTHER_ZONE
        else:
            breaks = _clause_breaks(reading.text)
            at = bisect_right(breaks, value[0])
            self._zones = [(breaks[at - 1] if at else 0, breaks[at] if at < len(breaks) else len(reading.text))]

    def share(self, word: Lookup, starts: Sequence[int]) -> float:
        """How far a word of the claim, which ``starts`` at some places of the sentence, is around the value: 0 to 1."""
        if self._heads is not None and word.stem in self._heads:
            return 1.0
        places = [start for start in starts if not self._value[0] <= start < self._value[1]]
        if places:
            whole = 1.0 if word.stem in self._reading.positions else SYNONYM_WEIGHT
            inside = any(start <= place < end for place in places for start, end in self._zones)
            return whole if inside else whole * self._elsewhere
        if self._heads is not None:
            return SYNONYM_WEIGHT if not self._heads.isdisjoint(synonyms(word.groups)) else 0.0
        return _SAME_SECTION if self._sentence in word.around else 0.0


@lru_cache(maxsize=1_000)
def _clause_breaks(text: str) -> tuple[int, ...]:
    """Where the clauses of a sentence meet."""
    return tuple(found.start() for found in _CLAUSE.finditer(text))


def _zones(reading: ParsedSentence, value: tuple[int, int], kin: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches of a sentence that belong to one of several values of a kind."""
    text = reading.text
    # "47 of 212 members": part and whole share a zone.
    ordered = [one for one in sorted(set(kin)) if one == value or not _OF.fullmatch(text, *_gap(one, value))]
    at = ordered.index(value)
    left = _between(text, ordered[at - 1][1], value[0]) if at else 0
    right = _between(text, value[1], ordered[at + 1][0]) if at + 1 < len(ordered) else len(text)
    bracket = text.rfind("(", 0, value[0])
    closing = text.find(")", bracket) if bracket >= 0 else -1
    if bracket >= 0 and closing > value[0]:
        return _in_brackets(reading, value, (bracket, closing))
    if closing := text.rfind(")", left, value[0]) + 1:
        left = max(left, closing)
    if not at:
        return [(left, right)]
    own = [w for w in reading.words if left <= w.start < value[0] and w.is_content]
    if not own:
        return [(left, right), (0, ordered[0][0])]
    # "The price of the first is 5, that of the second 6": the second zone shares "the price".
    anaphor = _ANAPHOR.search(text, left, right)
    shared = text.find(f" {anaphor[1]} ", 0, ordered[0][0]) if anaphor else -1
    return [(left, right), (0, shared)] if shared > 0 else [(left, right)]


_MOST_KIN = 40
"""Values of one kind in a sentence; more are a list of numbers, without zones of their own."""
_ANAPHOR = re.compile(r"\b(?:that|those) (of|in|for|at|on|from)\b")
_OF = re.compile(r" (?:out )?of (?:all |its |the |their )?")


def _gap(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    first, last = sorted((one, other))
    return first[1], max(first[1], last[0])


def _in_brackets(reading: ParsedSentence, value: tuple[int, int], bracket: tuple[int, int]) -> list[tuple[int, int]]:
    """The zones of a value in brackets: all of the sentence, but of values and dates only those in the brackets."""
    others = [*reading.dates, *reading.quantities]
    outside = sorted((o.start, o.end) for o in others if not bracket[0] <= o.start < bracket[1])
    zones, begun = [bracket], 0
    for start, end in (*outside, (len(reading.text), len(reading.text))):
        for first, last in ((begun, min(start, bracket[0])), (max(begun, bracket[1]), start)):
            if first < last:
                zones.append((first, last))
        begun = end
    return zones


def _between(text: str, first: int, last: int) -> int:
    """Where the zone of a value that ends at ``first`` meets the zone of the next, which starts at ``last``."""
    for pattern in _BREAKS:
        found = pattern.search(text, first, last)
        if found:
            return found.start()
    return first


VALUES, NAMES = (0.15, 0.15), (0.3, 0.45)
"""How much more of the claim must be around another value or name than around the claimed one: in a row, in prose."""
_ENOUGH = 0.5
"""Share of the claim that must be around a value before it counts as the one that the claim is about."""
_LONGEST_STATEMENT = 400
"""Characters."""
_LISTED = re.compile(r"\s*(?:,|,?\s*(?:and|or|&)|/)\s*")
Spot = tuple[int, int, int]
"""A sentence with the start and end of a value in it."""


def _is_statement(scene: Scene, sentence: int) -> bool:
    """Whether words around a value can tell whose it is: not in a long stretch without full stops, such as a menu."""
    place = scene.index.sentences[sentence]
    return place.row is not None or place.end - place.start <= _LONGEST_STATEMENT


def _listed_together(scene: Scene, best: Place, own: Sequence[Spot], kin: Mapping[int, list[tuple[int, int]]]) -> bool:
    """Whether the claimed value is in one list with the other ("in 2008, 2009 and 2013")."""
    text = scene.index.read(best.sentence).text
    for sentence, start, end in own:
        first, last = _gap((start, end), (best.start, best.end))
        if sentence != best.sentence:
            continue
        inner = [one for one in sorted(kin[sentence]) if first <= one[0] and one[1] <= last]
        bounds = [first, *(edge for one in inner for edge in one), last]
        if all(_LISTED.fullmatch(text, *bounds[at : at + 2]) for at in range(0, len(bounds), 2)):
            return True
    return False


def _names_more(scene: Scene, value: tuple[int, int], best: Place, own: Sequence[Spot]) -> bool:
    """Whether what names the value in the claim names it in the source too, but not the other value.

    That is the word after it, or its label ("arrival: 15:30") in its clause of the same sentence.
    """
    label = _LABEL.search(scene.claim.text, 0, value[0])
    if label and any(sentence == best.sentence for sentence, _, _ in own):
        words = [w for w in scene.focus.lookups if label.start() <= scene.claim.words[w.position].start < value[0]]
        spots = [start for sentence, start, _ in own if sentence == best.sentence]
        if any(_in_clause(scene, best.sentence, words, at) for at in spots):
            return not _in_clause(scene, best.sentence, words, best.start)
    wanted = _word_after(scene.claim, value[1])
    if wanted is None or _word_after(scene.index.read(best.sentence), best.end) == wanted:
        return False
    return any(_word_after(scene.index.read(sentence), end) == wanted for sentence, _, end in own)


def _in_clause(scene: Scene, sentence: int, words: Sequence[Lookup], at: int) -> bool:
    """Whether the clause at an offset of a sentence has one of the words of a claim, or a synonym."""
    reading = scene.index.read(sentence)
    breaks = _clause_breaks(reading.text)
    clause = bisect_right(breaks, at)
    found = (reading.words[place].start for word in words for place in occurrences(word, reading))
    return any(bisect_right(breaks, start) == clause for start in found)


def _word_after(reading: ParsedSentence, end: int) -> str | None:
    """The stem of the content word that follows directly."""
    place = reading.first_word(end)
    word = reading.words[place] if place < len(reading.words) else None
    return word.stem if word is not None and word.is_content and reading.text[end : word.start].strip() == "" else None


def rightful(
    scene: Scene,
    value: tuple[int, int],
    own: Sequence[Spot],
    others: Sequence[Spot],
    margins: tuple[float, float] = VALUES,
) -> Place | None:
    """The value that the sources give to what the claim is about, if it is clearly another one than the claimed.

    Args:
        scene: the claim with its sources.
        value: start and end of the value in the claim.
        own: where the sources have the claimed value; the head of a column goes with all of its values.
        others: where they have other values of its kind.
        margins: how much more of the claim, in [0, 1], must be around the other value; see ``VALUES``.
    """
    others = [spot for spot in others if _is_statement(scene, spot[0])]
    if not others or any(is_head(scene, sentence) for sentence, _, _ in own):
        return None
    around = Surroundings(scene, *value)
    kin: dict[int, list[tuple[int, int]]] = {}
    for sentence, start, end in (*own, *others):
        kin.setdefault(sentence, []).append((start, end))
    best = max((around.place(*spot, kin[spot[0]]) for spot in others), key=lambda place: place.support)
    if best.support < _ENOUGH:
        return None
    ours = max((around.place(*spot, kin[spot[0]]).support for spot in own), default=0.0)
    margin = margins[scene.index.sentences[best.sentence].row is None]
    if best.support - ours <= margin or _listed_together(scene, best, own, kin) or _names_more(scene, value, best, own):
        return None
    return best
