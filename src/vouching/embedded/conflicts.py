"""Where one place of the sources supports a claim and another, about the same subject, says otherwise.

Sentences that have nearly all of the claim and do not differ from it are set aside, and the claim is compared with the
rest. It is disputed if the rest has the claim's other values and one of its names, and exactly one part differs: a
value, a name where there can be only one, a negation, an opposite. A sentence is about something else if it has a
value, a name or a heading of its own, or a narrower subject; one that has both values settles the matter; and one that
tells of an earlier state, a condition or a plan contradicts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from vouching.embedded.counterparts import compare_values, mentions_like
from vouching.embedded.features import Segment, compare_parts
from vouching.embedded.parts import Part, Value
from vouching.embedded.scene import Comparison, Scene, focus_on, occurrences
from vouching.embedded.voice import compare_in_own_voice
from vouching.reading.evidence import Sentence, SourceIndex
from vouching.reading.parsed import ParsedSentence
from vouching.text.clauses import finite_verb
from vouching.text.entities import Entity, same_entity
from vouching.text.mentions import DateMention, Quantity
from vouching.text.words import FUNCTION_WORDS, Word, lower_words, stem
from vouching.types import Alignment, ReasoningStep, Span, VerdictWarning

_COVERED = 0.85
"""Share of the claim's words, weighted by rarity, that a sentence which supports it by itself has."""
_SAME_WORDS = 0.35
"""Share of the claim's words in a sentence that says otherwise in the claim's own words."""
_DESIGNATOR = re.compile(r"(?<=\w )[A-Z]\b")
_MISSPELT = 75
"""Similarity, out of 100, above which two names may be one."""
_THE_SAME = frozenset({"equal", "close"})
_AGREE = frozenset({"equal", "close", "compatible", "allowed", "more_specific"})
_CONTRARY = frozenset({"differs", "opposite", "negated", "reordered"})
_POLARITY = frozenset({"negated", "opposite", "reordered"})
_FORMER = frozenset(
    str.split("""former formerly previous previously earlier original originally initially until once
        used planned example examples instead if unless except otherwise""")
)
"""Words of an earlier state of things, of another one, or of a condition."""
_PRONOUNS = frozenset("he she it they his her its their".split())
_AGAIN = frozenset("also again another besides".split())
"""With these, a date or a name is one of several."""
_PART_OF = re.compile(r" of (?:all |its |the |their |these |those )")
_SECTIONS = frozenset(
    stem(word)
    for word in str.split("""abstract about addendum annex appendix background conclusion description details facts faq
        footnotes general history introduction notes note overview remarks summary""")
)
"""Headings of the parts that any document may have."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two places of the sources that disagree about a part of a claim."""

    claimed: Span
    """The part, with offsets in the claim as it is read."""
    supporting: Span
    """What agrees with it."""
    against: Span
    """What does not."""
    sources: tuple[int, int]
    """Positions of the two sources, which may be one."""

    @property
    def words(self) -> str:
        """Who says what.

        >>> year, other = Span("1931", 40, 44, "doc.md"), Span("1937", 9, 13, "doc.md")
        >>> Conflict(year, year, other, (0, 0)).words
        'doc.md says "1931", and also "1937"'
        """
        other = "and also" if self.sources[0] == self.sources[1] else f"and {self.against.source_id} says"
        return f'{self.supporting.source_id} says "{self.supporting.text}", {other} "{self.against.text}"'

    @property
    def entry(self) -> Alignment:
        """The part with what is against it."""
        return Alignment(self.claimed, self.against, "mismatch")

    @property
    def step(self) -> ReasoningStep:
        """The same as a step of the argument."""
        message = f"The sources disagree: {self.words}."
        return ReasoningStep(self.claimed.text, self.against.text, "not_supported", message)

    @property
    def warning(self) -> VerdictWarning:
        """The same for the reader of the verdict."""
        return VerdictWarning("conflict", self.step.explanation, self.against)


def find_conflict(segments: Sequence[Segment], index: SourceIndex) -> Conflict | None:
    """Where the sources both support and contradict a claim, if they do.

    Args:
        segments: the sentences of the claim.
        index: the sources.
    """
    for segment in segments:
        homes = {s for s in _covering(segment) if _agrees(segment, s, index)}
        if not homes:
            continue
        others, _, _ = compare_in_own_voice(segment.reading.text, index.without(homes))
        comparisons = [c for other in others for c in other.comparisons]
        rest = [c for c in comparisons if c.outcome not in _CONTRARY]
        values = [c for c in comparisons if c.outcome in _CONTRARY - _POLARITY]
        contrary = [c for c in comparisons if c.outcome in _POLARITY] or values
        sentence = contrary[0].sentence if contrary else None
        if sentence is None or not _is_one(contrary) or _lacks_another(rest):
            continue
        if contrary is not values and any(_is_other_value(c, index) for c in values):
            continue
        home = min(homes)
        if _is_alike(segment, home, sentence, contrary, index):
            return _between(segment, home, sentence, contrary[0], index)
    return None


def _is_other_value(found: Comparison, index: SourceIndex) -> bool:
    """Whether a sentence that denies the claim does not have a value of it either."""
    value, sentence = found.part.value, found.sentence
    if value is None or sentence is None:
        return True
    return not any(
        compare_values(mention, value) in _THE_SAME for mention in mentions_like(index.read(sentence), value)
    )


def _is_alike(segment: Segment, home: int, sentence: int, contrary: Sequence[Comparison], index: SourceIndex) -> bool:
    """Whether a sentence says otherwise of the same subject, in the same case, as the one that supports the claim."""
    scene, reading = Scene(segment.reading, index, segment.focus), index.read(sentence)
    return (
        not _is_narrowed(scene, reading)
        and _shares_a_word(index.read(home), reading, contrary)
        and all(_counts(c, scene, reading) for c in contrary)
        and not _adds(segment, index.read(home), sentence, contrary, index)
        and not _is_of_another(segment, home, contrary[0], index)
    )


def _shares_a_word(home: ParsedSentence, reading: ParsedSentence, contrary: Sequence[Comparison]) -> bool:
    """Whether two sentences have a content word in common outside what differs; else they have no common subject."""
    return any(
        word.is_content and word.stem in home.positions and not any(_is_inside(word, c, reading) for c in contrary)
        for word in reading.words
    )


def _adds(
    segment: Segment, home: ParsedSentence, sentence: int, contrary: Sequence[Comparison], index: SourceIndex
) -> bool:
    """Whether a sentence in the words of the claim has others too ("for members", "in winter", "Room B")."""
    reading = index.read(sentence)
    if segment.focus.coverage([sentence]) < _SAME_WORDS:
        return False
    known = {*segment.reading.positions, *home.positions}
    letters = [set(_DESIGNATOR.findall(side.text)) for side in (home, reading)]
    return (bool(letters[1]) and letters[0] != letters[1]) or any(
        word.stem not in known
        and word.lower not in FUNCTION_WORDS
        and not any(_is_inside(word, c, reading) for c in contrary)
        for word in reading.words
    )


def _is_inside(word: Word, found: Comparison, reading: ParsedSentence) -> bool:
    """Whether a word belongs to what differs: of a quantity, its number and unit; a name may have a date besides."""
    if isinstance(found.part.value, Quantity):
        return any(
            found.value_start == mention.start and mention.start <= word.start < mention.end
            for mention in mentions_like(reading, found.part.value)
        )
    dates = reading.dates if isinstance(found.part.value, Entity) else ()
    return found.value_start <= word.start < found.value_end or any(d.start <= word.start < d.end for d in dates)


def _lacks_another(comparisons: Sequence[Comparison]) -> bool:
    """Whether the rest of the sources has something else for a part of a claim, or not its values and names."""
    names = [c.outcome == "equal" for c in comparisons if c.part.kind == "entity"]
    values = [c.outcome == "equal" for c in comparisons if c.part.kind in ("quantity", "date")]
    replaced = any(c.outcome == "replaced" for c in comparisons)
    return replaced or not all(values) or bool(names and not any(names))


def _covering(segment: Segment) -> list[int]:
    """The sentences that have nearly all words of a claim."""
    words = sorted(segment.focus.lookups, key=lambda word: -word.weight)[:3]
    found = frozenset[int]().union(*(word.exact | word.close for word in words))
    return sorted(s for s in found if segment.focus.coverage([s]) >= _COVERED)


def _agrees(segment: Segment, sentence: int, index: SourceIndex) -> bool:
    """Whether a sentence does not differ from the claim."""
    return not any(c.outcome in _CONTRARY for c in _alone(segment, sentence, index))


def _between(segment: Segment, home: int, sentence: int, against: Comparison, index: SourceIndex) -> Conflict:
    part, offset = against.part, segment.reading.offset
    agreeing = next((c for c in _alone(segment, home, index) if c.part.value_start == part.value_start), None)
    places = (index.sentences[home].source, index.sentences[sentence].source)
    if part.value is None or agreeing is None or agreeing.outcome != "equal" or agreeing.value_end == 0:
        found = [index.span(s, 0, len(index.read(s).text.rstrip())) for s in (home, sentence)]
        whole = segment.reading.text
        return Conflict(Span(whole, offset, offset + len(whole)), found[0], found[1], places)
    claimed = Span(
        segment.reading.text[part.value_start : part.value_end], offset + part.value_start, offset + part.value_end
    )
    supporting = index.span(home, agreeing.value_start, agreeing.value_end)
    return Conflict(claimed, supporting, index.span(sentence, against.value_start, against.value_end), places)


def _alone(segment: Segment, sentence: int, index: SourceIndex) -> list[Comparison]:
    """The claim compared with one sentence, as if the sources had no other."""
    view = replace(
        index,
        postings={word_stem: [sentence] for word_stem in index.read(sentence).positions},
        around={word.stem: [sentence] for word in segment.focus.lookups if sentence in word.around},
    )
    return list(compare_parts(Scene(segment.reading, view, focus_on(segment.reading, view))))


def _is_one(contrary: Sequence[Comparison]) -> bool:
    """Whether differences are one: the same value, or the same statement denied."""
    if all(c.outcome in _POLARITY for c in contrary):
        return True
    return len({(c.outcome, c.part.value_start) for c in contrary}) == 1


def _counts(found: Comparison, scene: Scene, reading: ParsedSentence) -> bool:
    """Whether a difference excludes what the claim says."""
    ours, theirs = ({w.lower for w in side.words} for side in (scene.claim, reading))
    value = found.part.value
    if (theirs - ours) & _FORMER:
        return False
    if found.outcome == "reordered":
        return True
    if found.outcome != "differs":
        return True
    if found.part.kind == "predicate" or (found.part.kind in ("date", "entity") and (theirs - ours) & _AGAIN):
        return False
    if isinstance(value, Entity):
        other = reading.text[found.value_start : found.value_end]
        alike = fuzz.partial_ratio(value.text.lower(), other.lower()) > _MISSPELT
        return not alike and (_has_one(scene.claim, value.start) or _has_one(reading, found.value_start))
    if isinstance(value, Quantity) and _is_label(scene.claim, found.part):
        return False
    return not _PART_OF.match(reading.text, found.value_end) and not any(
        compare_values(mention, part.value) in _THE_SAME
        for mention in mentions_like(reading, value)
        if mention.start == found.value_start
        for part in scene.parts
        if part != found.part
    )


def _is_label(claim: ParsedSentence, part: Part) -> bool:
    """Whether a number is a part of what the claim is about ("version 2.1", "step 4"): bare, and before the verb."""
    bare = isinstance(part.value, Quantity) and not part.value.unit and not part.words
    return bare and finite_verb(claim.text[part.value_end :]) and not finite_verb(claim.text[: part.value_start])


_BE = re.compile(r"\b(?:is|are|was|were|be|been)\b[^,;:]*\Z", re.IGNORECASE)


def _has_one(reading: ParsedSentence, place: int) -> bool:
    """Whether the name at a place is the only one that can be there: after a form of "be"."""
    return bool(_BE.search(reading.text, 0, place)) and reading.words[0].lower != "there"


def _is_narrowed(scene: Scene, reading: ParsedSentence) -> bool:
    """Whether another word stands before the claim's first one ("the staff car park" for "the car park")."""
    first = next(iter(scene.focus.lookups), None)
    places = occurrences(first, reading) if first else []
    if first is None or not places or not places[0]:
        return False
    before, word = reading.words[places[0] - 1], reading.words[places[0]]
    ours = scene.claim.words[first.position - 1].stem if first.position else ""
    known = before.stem in (ours, *scene.claim.positions) or before.lower.isdigit()
    return before.is_content and not known and reading.text[before.end : word.start] in (" ", "-")


def _is_of_another(segment: Segment, home: int, against: Comparison, index: SourceIndex) -> bool:
    """Whether the supporting sentence speaks of something else than a contrary one, or knows what that says."""
    sentence = against.sentence
    if sentence is None:
        return True
    ours, theirs = index.read(home), index.read(sentence)
    if any(
        compare_values(known, mention) in _THE_SAME
        for mention in mentions_like(theirs, against.part.value)
        if mention.start == against.value_start
        for known in mentions_like(ours, against.part.value)
    ):
        return True
    before = [_named_before(s, index) for s in (home, sentence)]
    if all(before) and before[0].isdisjoint(before[1]):
        return True
    headings = [_heading_stems(index.sentences[s], index) - segment.reading.positions.keys() for s in (home, sentence)]
    if headings[0] and headings[1] and headings[0] != headings[1]:
        return True
    own = list(_own_values(segment.reading, ours, None))
    other = list(_own_values(segment.reading, theirs, against))
    return any(
        mine and yours and not any(_same(one, two) for one in mine for two in yours)
        for kinds in (Entity, (Quantity, DateMention))
        for mine, yours in [[[v for v in side if isinstance(v, kinds)] for side in (own, other)]]
    )


def _named_before(sentence: int, index: SourceIndex) -> set[str]:
    """The names in the sentence before one that begins with a pronoun; empty for others."""
    place = index.sentences[sentence]
    first = lower_words(index.plain[place.source].text, place.start, place.end)[:1]
    if not first or first[0] not in _PRONOUNS or not sentence:
        return set()
    return {word for name in index.read(sentence - 1).entities for word in name.key.split()}


def _heading_stems(sentence: Sentence, index: SourceIndex) -> frozenset[str]:
    """The words of a heading that tell of what it is about."""
    if sentence.heading is None:
        return frozenset()
    words = lower_words(index.plain[sentence.source].text, *sentence.heading)
    return frozenset(stem(word) for word in words if word not in FUNCTION_WORDS) - _SECTIONS


def _own_values(claim: ParsedSentence, reading: ParsedSentence, against: Comparison | None) -> Iterator[Value]:
    """The values and names of a sentence that the claim does not have, but for what contradicts it."""
    for value in (*reading.quantities, *reading.dates, *(name for name in reading.entities if name.certain)):
        contrary = against and value.start < against.value_end and against.value_start < value.end
        if not contrary and not any(_same(value, own) for own in (*claim.quantities, *claim.dates, *claim.entities)):
            yield value


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, Entity) and isinstance(other, Entity):
        return same_entity(one.text, other.text)
    return compare_values(one, other) in _AGREE
