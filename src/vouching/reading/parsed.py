"""What the rules see in a text: words, values, names, negations and qualifiers, with offsets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

from vouching.text.bounds import resolve_negations
from vouching.text.cues import Negation, Qualifier, find_negations, find_qualifiers
from vouching.text.dates import find_dates
from vouching.text.entities import Entity, find_entities
from vouching.text.mentions import DateMention, Quantity
from vouching.text.quantities import find_quantities
from vouching.text.words import Word, concepts, find_words

_start = attrgetter("start")
_end = attrgetter("end")


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """One sentence of a source, or a whole claim. All offsets are relative to ``text``."""

    text: str
    offset: int
    """Where it starts in the text it was taken from."""
    words: list[Word]
    dates: list[DateMention]
    """Dates and durations."""
    quantities: list[Quantity]
    """Quantities, without dates."""
    entities: list[Entity]
    negations: list[Negation]
    qualifiers: list[Qualifier]
    meanings: list[tuple[int, ...]]
    """Synonym groups of each word."""
    positions: Mapping[str, list[int]]
    """Word positions by stem."""
    groups: Mapping[int, list[int]]
    """Word positions by synonym group."""

    def word_at(self, offset: int) -> int | None:
        """Position of the word that covers ``offset``, or None."""
        place = bisect_right(self.words, offset, key=_start) - 1
        return place if place >= 0 and offset < self.words[place].end else None

    def words_before(self, offset: int) -> int:
        """How many words end before ``offset``."""
        return bisect_right(self.words, offset, key=_end)

    def first_word(self, offset: int) -> int:
        """Position of the first word that starts at ``offset`` or later; the number of words if none does."""
        return bisect_left(self.words, offset, key=_start)

    def span(self, position: int) -> tuple[int, int]:
        """Start and end of the word at ``position``."""
        return self.words[position].start, self.words[position].end

    def content(self, start: int = 0, end: int | None = None) -> list[int]:
        """Positions of the content words inside ``start..end``."""
        first, last = self.first_word(start), len(self.words) if end is None else self.words_before(end)
        return [i for i in range(first, last) if self.words[i].is_content]


def read(text: str, offset: int = 0) -> ParsedSentence:
    """Parse ``text``, which starts at ``offset`` of a longer text."""
    words = find_words(text)
    dates = find_dates(text)
    negations, quantities, dates = resolve_negations(
        text, find_negations(text, words), find_quantities(text, dates), dates
    )
    positions: dict[str, list[int]] = {}
    groups: dict[int, list[int]] = {}
    meanings = concepts(words)
    for index, word in enumerate(words):
        positions.setdefault(word.stem, []).append(index)
        for group in meanings[index]:
            groups.setdefault(group, []).append(index)
    return ParsedSentence(
        text=text,
        offset=offset,
        words=words,
        dates=dates,
        quantities=quantities,
        entities=find_entities(text, [0]),
        negations=negations,
        qualifiers=find_qualifiers(words),
        meanings=meanings,
        positions=positions,
        groups=groups,
    )
