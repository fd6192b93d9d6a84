"""A checker without a language model: it retrieves the passages that a question is about and reads the answer there.

It gets a sentence with a gap and the kind of the missing value, never the value. Passages are scored by the words of
the question that they contain, with more weight near the gap; values by how close the same words are to them; fields of
a record by their names. The best value is the answer if its score suffices; others that fit equally well and differ
make the documents contradictory.

Not supported: paraphrases beyond the synonym table, and arithmetic.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from vouching.judging.matching import alike, distinct
from vouching.judging.values import HOURS, find_values
from vouching.methods.blinded.cloze import GAP
from vouching.methods.blinded.passages import (
    Found,
    Passage,
    asks_for_hours,
    direction_of,
    index_passages,
    names_days,
    read_days,
    read_hours,
    read_passages,
)
from vouching.methods.blinded.roles import Answered, Asked
from vouching.reading.evidence import SYNONYM_WEIGHT, rarity, synonyms
from vouching.text.directions import opposed
from vouching.text.words import find_words, stem, synonym_groups
from vouching.types import Checked, Question, Source, Span

CLOSE = 12
"""Number of the best passages that are read for a question."""
_ALL_FIELDS = 500
"""Number of fields that are read for every question; of more, only those that share a word with it."""
MINIMUM = 0.2
"""Score, in [0, 1], from which a value may be an answer."""
LEVEL = 0.985
"""Share of the best score from which another value is tied with it."""
_FADE = 4.0
"""Distance from the gap, in words, at which a word counts half; no word counts less than a quarter."""
_COUNTED = 0.1
"""Bonus if the word after the gap also follows the value."""
_CLAUSE = re.compile(r"(?<!\d),\s|[;:()]\s|\s[–—-]\s")
_NEAR = 6
"""Distance from the gap, in words, up to which words are searched near a value."""
_COVER = 0.6
"""Weight of the words in the passage; the rest is for those near the value."""
_SIBLINGS = 0.93
"""Like LEVEL, for the same field of other records, which does not contradict."""
_DEPTH = 0.96
"""Factor per level of nesting on the score of a field: statements about the whole precede those about its parts."""
_SURE, _SURE_FIELD = 0.85, 0.5
"""Score from which the best value alone is the answer: of a sentence, of a field. Chosen among .5 to .85 on 184
summaries of SummEdits (training part): .85 leaves 19 of 28 faults in right ones, and 113 of 130 in wrong ones."""
_UNSURE = 0.6
"""Share of the best score from which a value is a possible answer where no reading is sure."""
_PLENTY = frozenset(("count", "date", "ordinal", "time_of_day", HOURS, ""))
"""Kinds of values so frequent in documents that one of them always fits."""
_MAX_COMPARED = 100
"""Maximum number of readings whose directions are compared; among more, the opposite always occurs."""
_MAX_POSSIBLE = 8
"""Maximum number of possible answers of a kind that is not frequent."""
_SYNONYMS_OF_FIELD = {
    stem(name): tuple(map(stem, words.split()))
    for name, words in {
        "stars": "rating rated",
        "hours": "open close operate",
        "address": "located situated street",
        "price": "cost charge",
        "review": "customer reviewer guest patron client gave",
        "business": "restaurant establishment overall place shop store hotel bar cafe diner eatery spot salon company",
    }.items()
}
"""Names of fields and the words that sentences use for them."""
_BUSINESS, _REVIEW = stem("business"), stem("review")
_GIVING = frozenset(map(stem, "gave give gives giving awarded awards".split()))
_NEXT_ONE = frozenset(map(stem, ("another", "third", "others")))
"""Refer to the author of the next rating, right before the gap."""
_RANGE = re.compile(
    r"\b(?:rang(?:e|es|ed|ing)|var(?:y|ies|ied|ying)|between|(?:ratings|reviews) from)\b[^.;]{0,40}\Z", re.IGNORECASE
)
"""Precedes the two ends of a range over several records."""
_IMPLIED = {stem("date"): ("date",), stem("year"): ("date",), stem("price"): ("currency",), stem("cost"): ("currency",)}
"""Names of fields that the kind of the value implies."""
_LEADING = 2
"""Words after the gap up to which a generic word counts."""
_GENERIC = frozenset(map(stem, "business review info attributes value number total amount id".split()))
"""Uninformative words in names of fields; they count only before the gap or right after it."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of a question."""

    stem: str
    weight: float
    distance: int
    """Words from the gap; negative before it, 0 if there is no gap."""
    outside: bool
    """Whether a comma or the like is between the word and the gap."""
    alike: frozenset[str]
    """Stems of synonyms."""

    @property
    def fading(self) -> float:
        """Its weight, decreasing with the distance from the gap."""
        return self.weight * max(0.25, 1 / (1 + max(0, abs(self.distance) - 1) / _FADE))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A value that may be the answer."""

    score: float
    passage: Passage
    found: Found


class EmbeddedChecker:
    """Answers questions with a gap from documents, offline and deterministically.

    >>> import asyncio
    >>> question = Question("The bridge has ____ towers.", "count")
    >>> asked = Asked(((question,),), (Source("Two spans. The bridge has three towers."),))
    >>> [answered] = asyncio.run(EmbeddedChecker().answer([asked]))
    >>> answered.samples[0][0].answers, answered.samples[0][0].places[0].start
    (('three',), 26)
    """

    max_at_once = 1

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Source, ...], list[Passage]] = OrderedDict()

    async def answer(self, asked: Sequence[Asked]) -> list[Answered]:
        """The answers to the questions; see :class:`~vouching.methods.blinded.roles.BlindChecker`."""
        return [self._answered(one) for one in asked]

    async def aclose(self) -> None:
        """Nothing to release."""

    def _answered(self, asked: Asked) -> Answered:
        if not asked.batches:
            return Answered(())
        passages = self._passages(asked.sources)
        index = index_passages(passages)
        return Answered(tuple((_answer(one, passages, index),) for one in chain.from_iterable(asked.batches)))

    def _passages(self, sources: tuple[Source, ...]) -> list[Passage]:
        """The passages of the sources; those of the last call are cached."""
        if sources not in self._kept:
            self._kept.clear()
            self._kept[sources] = read_passages(sources)
        return self._kept[sources]


def _answer(asked: Question, passages: Sequence[Passage], index: dict[str, list[int]]) -> Checked:
    hours: Checked | None = None
    if asked.wanted == "time" and (days := read_days(asked.text, GAP, passages)) is not None:
        return days
    if asks_for_hours(asked.text, asked.wanted):
        hours = read_hours(asked.text, asked.wanted, GAP, passages)
        if hours is not None and names_days(asked.text):
            return hours
    terms = _terms(asked.text)
    scored = [
        _Reading(_score(terms, passages[number], found, coverage, asked.wanted), passages[number], found)
        for number, coverage in _closest(terms, passages, index)
        for found in passages[number].found
        if _fits(found, passages[number], asked.wanted)
    ]
    scored = sorted(_of_named_records(terms, scored), key=lambda one: -one.score)
    if hours is not None and (not scored or scored[0].score < _SURE_FIELD):
        return hours
    if (ends := _ends(asked.text, scored)) is not None:
        return ends
    if scored and scored[0].score >= (_SURE_FIELD if scored[0].passage.name else _SURE):
        return _chosen(terms, scored)
    return _possible(scored, asked.wanted, passages)


def _of_named_records(terms: Sequence[_Term], scored: Sequence[_Reading]) -> list[_Reading]:
    """Of the same field of several records, the readings from records that the question names, if it names any."""
    stems = {term.stem for term in terms}
    records = {id(one.passage.record): one.passage.record for one in scored}
    names = {key: [value for value in record if value <= stems] for key, record in records.items()}
    # A record is named by its other fields: this value may occur elsewhere in the question.
    named = {
        id(one.passage): frozenset(value for value in names[id(one.passage.record)] if value != one.passage.own)
        for one in scored
    }
    by: dict[tuple[str, ...], set[frozenset[frozenset[str]]]] = {}
    for one in scored:
        by.setdefault(one.passage.path, set()).add(named[id(one.passage)])
    # "Q1 of 2022" names the first quarter of each year, but that of 2022 by more.
    return [one for one in scored if not any(named[id(one.passage)] < other for other in by[one.passage.path])]


def _chosen(terms: Sequence[_Term], scored: Sequence[_Reading]) -> Checked:
    """The best reading, and those of other passages that are tied with it but differ."""
    best = scored[0]
    tied, about = [best], _named(terms, best.passage)
    for one in scored[1:]:
        # Fields of one name in several records are alternatives; fields with other names are unrelated.
        alike = one.passage.path == best.passage.path and one.passage is not best.passage
        near = one.score >= (_SIBLINGS if best.passage.path else LEVEL) * best.score
        # A sentence that lacks an informative word of the best one is about something else.
        if alike and near and (best.passage.path != () or about <= _named(terms, one.passage)):
            tied.append(one)
    tied = [tied[at] for at in distinct([one.found.text for one in tied])]
    found = [one.found for one in tied]
    # Documents with the value in their titles ("1922 season", "1934 season") are about different things.
    any_of = bool(best.passage.path) or all(_in_title(one) for one in tied)
    return _checked(found, scored, any_of)


def _ends(question: str, scored: Sequence[_Reading]) -> Checked | None:
    """The values of several records with their minimum and maximum, where a question asks for a range."""
    if not _RANGE.search(question.partition(GAP)[0]):
        return None
    paths = Counter(one.passage.path for one in scored if one.passage.path and one.score >= _SURE_FIELD)
    best = next((one for one in scored if paths[one.passage.path] > 1), None)
    if best is None:
        return None
    found = [one.found for one in scored if one.passage.path == best.passage.path]
    amounts = {value.quantity.low: one for one in found for value in find_values(one.text) if value.quantity}
    if not amounts:
        return None
    least, greatest = amounts[min(amounts)], amounts[max(amounts)]
    texts = (*(one.text for one in found), *(f"{least.text} {joint} {greatest.text}" for joint in ("to", "and")))
    return Checked(texts, (*(one.place for one in found), least.place, least.place), any_of=True)


def _possible(scored: Sequence[_Reading], wanted: str, passages: Sequence[Passage]) -> Checked:
    """Where no reading is sure: all that are about as good, and all others of a kind with a unit."""
    least = max(MINIMUM, _UNSURE * scored[0].score) if scored else MINIMUM
    near = [one.found for one in scored if one.score >= least]
    if wanted not in _PLENTY:
        near += [found for passage in passages for found in passage.found if found.wanted == wanted]
    several = [near[at] for at in distinct([found.text for found in near])]
    if len(several) > _MAX_POSSIBLE and wanted not in _PLENTY:
        several = several[: sum(one.score >= least for one in scored)]
    return _checked(several, scored, any_of=True)


def _checked(found: Sequence[Found], scored: Sequence[_Reading], any_of: bool) -> Checked:
    """The answers with their directions, where all fitting readings of the same value agree."""
    fitting = [one for one in scored if one.score >= _UNSURE * scored[0].score]
    if len(fitting) > _MAX_COMPARED:
        fitting = []
    ways = {one.found.place: direction_of(one.found, one.passage) for one in fitting}
    went: list[Span | None] = []
    for one in found:
        if (way := ways.get(one.place)) is not None:
            others = [ways[o.found.place] for o in fitting if alike(one.text, o.found.text)]
            way = way if all(other and not opposed(way.text, other.text) for other in others) else None
        went.append(way)
    return Checked(tuple(o.text for o in found), tuple(o.place for o in found), any_of=any_of, directions=tuple(went))


def _named(terms: Sequence[_Term], passage: Passage) -> set[str]:
    """The informative words of a question that a passage contains."""
    return {term.stem for term in terms if term.weight > 1 and passage.stems.keys() & {term.stem, *term.alike}}


def _in_title(one: _Reading) -> bool:
    return re.search(rf"(?<!\w){re.escape(one.found.text)}(?!\w)", one.passage.title) is not None


def _terms(question: str) -> list[_Term]:
    """The words of a question with their distances from the gap."""
    words, at = find_words(question), question.find(GAP)
    gap = sum(word.end <= at for word in words) if at >= 0 else None
    terms: list[_Term] = []
    for number, word in enumerate(words):
        distance = 0 if gap is None else number - gap if number < gap else number - gap + 1
        weight = rarity(word.stem) if word.is_content else 0.4
        alike = synonyms(synonym_groups().get(word.stem, ())) if word.is_content else set[str]()
        between = question[word.end : at] if word.end <= at else question[at + len(GAP) : word.start]
        outside = gap is not None and _CLAUSE.search(between) is not None
        terms.append(_Term(word.stem, weight, distance, outside, frozenset(alike)))
    return terms


def _closest(
    terms: Sequence[_Term], passages: Sequence[Passage], index: dict[str, list[int]]
) -> list[tuple[int, float]]:
    """The passages with most of a question's words, each with its share."""
    total = sum(term.fading for term in terms) or 1.0
    shares: dict[int, float] = {}
    for term in terms:
        counts = {number: passages[number].stems[term.stem] for number in index.get(term.stem, ())}
        for other in term.alike:
            for number in index.get(other, ()):
                counts[number] = max(counts.get(number, 0.0), SYNONYM_WEIGHT * passages[number].stems[other])
        for number, count in counts.items():
            shares[number] = shares.get(number, 0.0) + term.fading * count / total
    sentences = sorted((n for n in shares if not passages[n].name), key=lambda n: (-shares[n], n))
    fields = [number for number, passage in enumerate(passages) if passage.name and passage.found]
    if len(fields) > _ALL_FIELDS:
        fields = [number for number in fields if number in shares]
    return [(number, shares.get(number, 0.0)) for number in sentences[:CLOSE] + fields]


def _fits(found: Found, passage: Passage, wanted: str) -> bool:
    """Whether a value is of the requested kind; the name of a field may imply the unit."""
    if not wanted or found.wanted == wanted:
        return True
    if wanted in (HOURS, "time_of_day"):
        return wanted == "time_of_day" and found.wanted == HOURS
    if not passage.name or wanted in ("date", "ordinal", "multiple"):
        return False
    plain = found.wanted == "count" or (found.wanted == "date" and found.text.isdigit())
    return plain or (wanted == "count" and found.wanted not in ("date", "time_of_day", HOURS))


def _score(terms: Sequence[_Term], passage: Passage, found: Found, coverage: float, wanted: str) -> float:
    if passage.name:
        return _field_score(terms, passage, found, wanted)
    near = [term for term in terms if 0 < abs(term.distance) <= _NEAR]
    total = sum(term.fading for term in near)
    if not total:
        return coverage
    reached = 0.0
    for term in near:
        places = chain.from_iterable(passage.at.get(one, ()) for one in (term.stem, *term.alike))
        reached += term.fading * max(
            (_nearness(term, passage.words[number].stem, number, found) for number in places), default=0.0
        )
    # Not clipped to 1: of two values in a sentence the one in the position of the gap must come first.
    return _COVER * coverage + (1 - _COVER) * reached / total + _COUNTED * _counts_the_same(terms, passage, found)


def _counts_the_same(terms: Sequence[_Term], passage: Passage, found: Found) -> bool:
    """Whether the word that the gap counts ("____ friends") also follows the value."""
    counted = next((term for term in terms if 0 < term.distance <= 2 and term.weight > 1 and not term.outside), None)
    after = passage.words[found.last : found.last + 2]
    return counted is not None and any(word.stem == counted.stem or word.stem in counted.alike for word in after)


def _nearness(term: _Term, stem: str, number: int, found: Found) -> float:
    """How well the position of a word relative to a value matches that of a term relative to the gap, in [0, 1]."""
    if found.first <= number < found.last:
        return 0.0
    count = 1.0 if stem == term.stem else SYNONYM_WEIGHT
    distance = number - found.first if number < found.first else number - found.last + 1
    side = 1.0 if (distance < 0) == (term.distance < 0) else 0.8
    return count * side * max(0.2, 1 - max(0, abs(abs(distance) - abs(term.distance)) - 1) / 8)


def _field_score(terms: Sequence[_Term], passage: Passage, found: Found, wanted: str) -> float:
    """How well a field fits: by the share of its name in the question, near the gap, and by its surroundings."""
    near: dict[str, float] = {}
    alike: dict[str, float] = {}
    gives = any(
        not term.outside and (term.stem in _GIVING or (term.stem in _NEXT_ONE and -3 < term.distance < 0))
        for term in terms
    )
    if gives:
        near[_REVIEW] = 1.0
    for term in terms:
        closeness = max(0.2, 1 - max(0, abs(term.distance) - 1) / 12)
        generic = [name for name in _GENERIC if term.stem in _words_for(name)]
        # "A guest gave it 4 stars" is about that guest's rating, not the place's.
        counts = term.distance <= _LEADING and not term.outside and not (gives and _BUSINESS in generic)
        if counts or not generic:
            near[term.stem] = max(near.get(term.stem, 0.0), closeness)
            for one in term.alike:
                alike[one] = max(alike.get(one, 0.0), SYNONYM_WEIGHT * closeness)
    weights = {one: 0.3 if one in _GENERIC else 1.0 for one in passage.name}
    name = sum(weight * max(_mentioned(one, near, wanted), alike.get(one, 0.0)) for one, weight in weights.items())
    named = name / sum(weights.values())
    others = [word for word in passage.words[: found.first] + passage.words[found.last :] if word.is_content]
    beside = sum(near.get(word.stem, 0.0) for word in others) / len(others) if others else 0.0
    own = {word.stem for word in passage.words[found.first : found.last]}  # stated in another gap, if at all
    informative = [term for term in terms if term.stem not in _GENERIC]
    known = passage.stems.keys() - own
    around = sum(t.fading for t in informative if t.stem in known) / (sum(t.fading for t in informative) or 1.0)
    kind = 1.0 if found.wanted == wanted else 0.9
    return kind * _DEPTH ** (len(passage.path) - 1) * min(1.0, max(named, beside) * 0.85 + 0.15 * around)


def _mentioned(name: str, near: dict[str, float], wanted: str) -> float:
    """How near the gap a word of a field's name occurs, in [0, 1]; the kind of the value may imply it."""
    implied = 0.5 if wanted in _IMPLIED.get(name, ()) else 0.0
    return max(implied, *(near.get(one, 0.0) for one in _words_for(name)))


def _words_for(name: str) -> tuple[str, ...]:
    return (name, *_SYNONYMS_OF_FIELD.get(name, ()))
