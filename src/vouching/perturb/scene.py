"""A claim and its source, parsed once for all strategies; each property is computed on first use.

Not supported: languages other than English, whose words the lists do not have.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter

from vouching.perturb.verbs import MainVerb, find_main_verb
from vouching.text.cues import Negation, Qualifier, find_negations, find_qualifiers
from vouching.text.dates import find_dates
from vouching.text.entities import Entity, find_entities
from vouching.text.mentions import DateMention, Quantity
from vouching.text.numerals import Numeral, find_numerals
from vouching.text.quantities import find_quantities
from vouching.text.sentences import sentence_spans
from vouching.text.words import Word, find_words

_HOME_SENTENCES = 2


class ParsedText:
    """The words, numbers, dates and names of a text.

    >>> reading = ParsedText("Ann Lee paid $5 in 1973.")
    >>> [entity.text for entity in reading.entities], [date.year for date in reading.dates], reading.body_end
    (['Ann Lee'], [1973], 23)
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> list[Word]:
        """Its words."""
        return find_words(self.text)

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Offsets of its sentences."""
        return sentence_spans(self.text)

    @cached_property
    def entities(self) -> list[Entity]:
        """Its names."""
        return find_entities(self.text, [start for start, _ in self.sentences])

    @cached_property
    def dates(self) -> list[DateMention]:
        """Its dates, spans of years and durations."""
        return find_dates(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Its numbers other than dates."""
        return find_quantities(self.text, self.dates)

    @cached_property
    def numerals(self) -> list[Numeral]:
        """Its numbers as written, without units."""
        return find_numerals(self.text)

    @cached_property
    def negations(self) -> list[Negation]:
        """Its negation cues."""
        return find_negations(self.text, self.words)

    @cached_property
    def qualifiers(self) -> list[Qualifier]:
        """Its strengthening and weakening words."""
        return find_qualifiers(self.words)

    @cached_property
    def lower_set(self) -> frozenset[str]:
        """Its words in lower case."""
        return frozenset(word.lower for word in self.words)

    @cached_property
    def main_verb(self) -> MainVerb | None:
        """The finite verb of its first sentence, where it is unambiguous."""
        return find_main_verb(self.text, self.between(*self.sentences[0])) if self.sentences else None

    @cached_property
    def is_one_sentence(self) -> bool:
        """Whether it is a single sentence and not a question."""
        return len(self.sentences) == 1 and "?" not in self.text

    @cached_property
    def body_end(self) -> int:
        """Offset before the final stop and the blanks around it."""
        return len(self.text.rstrip().rstrip(".!?").rstrip())

    def between(self, start: int, end: int) -> Sequence[Word]:
        """Words within a stretch."""
        first = bisect_left(self.words, start, key=attrgetter("start"))
        return self.words[first : bisect_right(self.words, end, lo=first, key=attrgetter("end"))]

    def in_name(self, start: int, end: int) -> bool:
        """Whether a stretch touches a name; a lone capital at the start of a sentence does not count."""
        return any(entity.start < end and start < entity.end for entity in self.entities if entity.certain)


class Scene:
    """A claim with the source that supports it."""

    def __init__(self, claim: str, source: str) -> None:
        self.claim = ParsedText(claim)
        self.source = ParsedText(source)

    @cached_property
    def home(self) -> ParsedText:
        """The sentences of the source that share most content words with the claim."""
        stems, source = {word.stem for word in self.claim.words if word.is_content}, self.source
        shares = [(-len(stems & {w.stem for w in source.between(a, b)}), a, b) for a, b in source.sentences]
        best = sorted((start, end) for _, start, end in sorted(shares)[:_HOME_SENTENCES])
        return ParsedText(" ".join(source.text[start:end] for start, end in best))
