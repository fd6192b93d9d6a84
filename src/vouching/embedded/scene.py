"""What the comparators share: the relevant sentences, how much of the claim each covers, and the outcomes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from vouching.embedded.parts import Part, split_claim
from vouching.reading.evidence import CLOSE_SENTENCES, CONTEXT_WEIGHT, SYNONYM_WEIGHT, SourceIndex, rarity
from vouching.reading.facts import computed_facts
from vouching.reading.parsed import ParsedSentence
from vouching.reading.steps import Fact
from vouching.reading.values import Value, values_in
from vouching.text.words import Word
from vouching.types import Status


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where one content word of the claim occurs in the sources."""

    position: int
    """Position of the word in the claim."""
    stem: str
    groups: tuple[int, ...]
    """Synonym groups."""
    weight: float
    """Rarity."""
    exact: frozenset[int]
    """Sentences that have the word."""
    close: frozenset[int]
    """Sentences that have only a synonym."""
    around: frozenset[int] = frozenset()
    """Sentences that have neither, but stand under a heading or column head that has the word."""

    def found_in(self, sentences: Sequence[int]) -> float:
        """1 if one of ``sentences`` has the word, less if only a synonym, else 0."""
        if not self.exact.isdisjoint(sentences):
            return 1.0
        return SYNONYM_WEIGHT if self.close and not self.close.isdisjoint(sentences) else 0.0


@dataclass(frozen=True, slots=True)
class Focus:
    """The part of the sources that a claim is compared with."""

    lookups: tuple[Lookup, ...]
    """One per content word of the claim."""
    sentences: tuple[int, ...]
    """Sentences to parse, best first; empty if no word of the claim was found."""

    def coverage(self, sentences: Sequence[int], known: Mapping[int, float] | None = None) -> float:
        """Share of the claim's content, weighted by rarity, that ``sentences`` cover together; in [0, 1].

        ``known`` gives the share for words (by position in the claim) that were compared by value, not by spelling.
        """
        total = covered = 0.0
        for word in self.lookups:
            share = known.get(word.position) if known else None
            covered += word.weight * (word.found_in(sentences) if share is None else share)
            total += word.weight
        return covered / total if total else 0.0


def focus_on(claim: ParsedSentence, index: SourceIndex) -> Focus:
    """Find the sentences that are relevant to ``claim``.

    The first covers most of it; next come those that add most to the first, then the next best ones.
    """
    lookups: list[Lookup] = []
    seen: set[str] = set()
    scores: dict[int, float] = {}
    for position in claim.content():
        word = claim.words[position]
        groups = claim.meanings[position]
        exact, close = index.having(word.stem, groups)
        lookup = Lookup(
            position,
            word.stem,
            groups,
            rarity(word.stem),
            frozenset(exact),
            frozenset(close),
            frozenset(index.around.get(word.stem, ())),
        )
        lookups.append(lookup)
        if word.stem in seen:
            continue
        seen.add(word.stem)
        for sentence in exact:
            scores[sentence] = scores.get(sentence, 0.0) + lookup.weight
        for sentence in close:
            scores[sentence] = scores.get(sentence, 0.0) + lookup.weight * SYNONYM_WEIGHT
        for sentence in lookup.around - exact - close:
            scores[sentence] = scores.get(sentence, 0.0) + lookup.weight * CONTEXT_WEIGHT
    ranked = sorted(scores, key=lambda s: (-scores[s], s))[: 4 * CLOSE_SENTENCES]
    return Focus(tuple(lookups), _complementary(lookups, ranked))


def _complementary(lookups: Sequence[Lookup], ranked: Sequence[int]) -> tuple[int, ...]:
    """The best sentence, then up to two that cover most of what is missing, then the rest by rank."""
    if not ranked:
        return ()
    chosen = [ranked[0]]
    for _ in range(2):
        gains = dict.fromkeys((s for s in ranked if s not in chosen), 0.0)
        for word in lookups:
            if not word.found_in(chosen):
                for sentence in gains.keys() & word.exact:
                    gains[sentence] += word.weight
                for sentence in gains.keys() & word.close:
                    gains[sentence] += word.weight * SYNONYM_WEIGHT
        best = max(gains, key=gains.__getitem__, default=None)  # of equal ones, the first by rank
        if best is None or gains[best] <= 0:
            break
        chosen.append(best)
    rest = [s for s in ranked if s not in chosen]
    return (*chosen, *rest[: max(0, CLOSE_SENTENCES - len(chosen))])


Outcome = Literal[
    "equal",
    "elsewhere",
    "paraphrased",
    "differs",
    "opposite",
    "reordered",
    "negated",
    "replaced",
    "overstated",
    "unhedged",
    "absent",
]
"""equal: the source has the same here. elsewhere: it occurs, but not with the claim's other words. paraphrased: by
the encoder, the source says it in other words. differs: another value or name is in its place. opposite: an antonym
is. reordered: "before" in place of "after" or vice versa. negated: the same words with opposite polarity. replaced:
another word is in the same slot. overstated: the source has a weaker qualifier, or none. unhedged: the source hedges
what the claim asserts. absent: nothing corresponds."""

_STATUS: dict[Outcome, Status] = {
    "equal": "match",
    "elsewhere": "match",
    "paraphrased": "match",
    "differs": "mismatch",
    "opposite": "mismatch",
    "reordered": "mismatch",
    "negated": "mismatch",
    "replaced": "mismatch",
    "overstated": "not_found",
    "unhedged": "mismatch",
    "absent": "not_found",
}

SAME_TOPIC = 0.5
"""Share of the claim's words (without values and names) that a sentence must cover before a difference in it counts."""
SOME_TOPIC = 0.25
"""Share it must cover before an opposite in it counts; the word with the opposite is itself not covered."""
SAME_STATEMENT = 0.6
"""Share it must cover before another word in the same slot counts as a replacement."""
SAYS_THE_REST = 0.8
"""Share it must cover before its name is taken to replace one that other sentences have."""


_MOST_FACTS, _CHARACTERS = 8, 1_000
"""Computed facts that are looked at, and their length together."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome for one part of the claim; offsets are relative to the sentence."""

    part: Part
    """Predicates may be split further, so that each piece has one outcome."""
    outcome: Outcome
    sentence: int | None = None
    """The sentence it was compared with; None if nothing corresponds."""
    start: int = 0
    """Where its counterpart starts, with the words it belongs to."""
    end: int = 0
    value_start: int = 0
    """Where the counterpart of the value itself starts."""
    value_end: int = 0
    computed: str = ""
    """The computation that gives the value, if it is not in the sources itself."""

    @property
    def status(self) -> Status:
        """SEVA's word for the outcome."""
        if self.outcome == "overstated" and self.value_end:
            return "mismatch"
        return _STATUS[self.outcome]


class Scene:
    """One claim with its focus in a set of sources."""

    def __init__(self, claim: ParsedSentence, index: SourceIndex, focus: Focus) -> None:
        self.claim = claim
        self.index = index
        self.focus = focus
        self.parts = split_claim(claim)
        self.lookups = {word.position: word for word in focus.lookups}
        self.home = focus.sentences[0] if focus.sentences else None

    @cached_property
    def topic(self) -> float:
        """``topic_in`` the home sentence."""
        return self.topic_in(self.focus.sentences[:1])

    def topic_in(self, sentences: Sequence[int]) -> float:
        """Share of the claim's words outside values and names that ``sentences`` cover; in [0, 1]."""
        values = [(p.value_start, p.value_end) for p in self.parts if p.kind in ("quantity", "date", "entity")]
        words = [
            word
            for word in self.focus.lookups
            if not any(start <= self.claim.words[word.position].start < end for start, end in values)
        ]
        if not words:
            return self.focus.coverage(sentences)
        found = sum(word.weight * word.found_in(sentences) for word in words)
        return found / sum(word.weight for word in words)

    @cached_property
    def derivations(self) -> tuple[Sequence[Value], Sequence[Fact], Sequence[int]]:
        """The values that the claim states, what follows from those of the sources, and where each source starts.

        Empty for sources that are too long to read all their values.
        """
        known = self.index.values
        if known is None:
            return (), (), ()
        facts = computed_facts(self.claim.text, known[0], _MOST_FACTS, _CHARACTERS)
        return values_in(self.claim.text), facts, known[1]

    @cached_property
    def home_coverage(self) -> float:
        """Share of all the claim's content that its home sentence covers; in [0, 1]."""
        return self.focus.coverage(self.focus.sentences[:1])

    def readings(self) -> Sequence[tuple[int, ParsedSentence, float]]:
        """The focused sentences, parsed, with their coverage, best first."""
        return self._readings

    @cached_property
    def _readings(self) -> Sequence[tuple[int, ParsedSentence, float]]:
        return [(s, self.index.read(s), self.focus.coverage([s])) for s in self.focus.sentences]

    def same_meaning(self, claim_words: Sequence[int], reading: ParsedSentence, words: Sequence[int]) -> bool:
        """Whether one of the claim's words means the same as one of a sentence's words (positions in both)."""
        lookups = (self.lookups.get(position) for position in claim_words)
        return any(lookup and any(p in words for p in occurrences(lookup, reading)) for lookup in lookups)


def occurrences(lookup: Lookup, reading: ParsedSentence) -> list[int]:
    """Word positions of the claim's word in a reading or, failing that, of its synonyms."""
    exact = reading.positions.get(lookup.stem)
    if exact:
        return exact
    return [place for group in lookup.groups for place in reading.groups.get(group, ())]


_OPPOSED = frozenset(
    {
        ("before", "after"),
        ("above", "below"),
        ("over", "under"),
        ("for", "against"),
        ("with", "without"),
        ("inside", "outside"),
        ("within", "after"),
        ("on", "off"),
    }
)
_SKIPPED = frozenset("the a an his her its their our my your this that these those".split())


def opposition(
    claim: ParsedSentence, here: int, source: ParsedSentence, there: int
) -> Literal["opposite", "reordered"] | None:
    """The relation that the prepositions before the same word in claim and source imply, if any.

    "Before" and "after" reverse an order of time; other pairs are opposites.
    """
    words = [word_before(*place, _SKIPPED) for place in ((claim, here), (source, there))]
    ours, theirs = (word.lower if word else "" for word in words)
    if (ours, theirs) not in _OPPOSED and (theirs, ours) not in _OPPOSED:
        return None
    return "reordered" if {ours, theirs} == {"before", "after"} else "opposite"


def word_before(reading: ParsedSentence, offset: int, skipped: Collection[str]) -> Word | None:
    """The last word that ends before ``offset`` and is not one of ``skipped``."""
    earlier = (reading.words[i] for i in range(reading.words_before(offset) - 1, -1, -1))
    return next((word for word in earlier if word.lower not in skipped), None)


def nearest_before(reading: ParsedSentence, offset: int) -> list[int]:
    """The nearest content word among the three words before ``offset``, as a list."""
    end = reading.words_before(offset)
    return [i for i in range(max(0, end - 3), end) if reading.words[i].is_content][-1:]


def nearest_after(reading: ParsedSentence, offset: int) -> list[int]:
    """The nearest content word among the two words after ``offset``, as a list."""
    start = reading.first_word(offset)
    return [i for i in range(start, min(start + 2, len(reading.words))) if reading.words[i].is_content][:1]
