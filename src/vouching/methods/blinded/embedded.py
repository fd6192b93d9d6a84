"""The checker that needs no language model: it finds the passages that speak of what a question asks, and reads there.

It is given a sentence with a gap and the kind of value that is missing, never the value. A passage counts by the words
of the question that it has, the nearer to the gap the more; a value in it by how near the same words stand to it; a
field of a record by its name. The best value is the answer, if it is good enough; others in other places that fit as
well, and differ, make the documents contradictory. Left out: paraphrase beyond the synonym table, and arithmetic.
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
from vouching.methods.embedded.evidence import SYNONYM_WEIGHT, rarity, synonyms
from vouching.text.directions import opposed
from vouching.text.words import find_words, stem, synonym_groups
from vouching.types import Checked, Question, Source, Span

CLOSE = 12
"""How many of the best passages are read closely for one question."""
_ALL_FIELDS = 500
"""How many fields are read for every question; of more, those that share a word with it."""
MINIMUM = 0.2
"""Score, in [0, 1], from which a value may be an answer."""
LEVEL = 0.985
"""Share of the best score from which another value fits as well."""
_FADE = 4.0
"""Words from the gap at which a word of the question counts half; none counts less than a quarter."""
_COUNTED = 0.1
"""What it adds if the word after the gap follows the value too."""
_CLAUSE = re.compile(r"(?<!\d),\s|[;:()]\s|\s[–—-]\s")
_NEAR = 6
"""Words from the gap that are looked for near a value."""
_COVER = 0.6
"""Weight of the words that a passage has; the rest goes to those near the value."""
_SIBLINGS = 0.93
"""The same for the same field of other records, which contradicts nothing."""
_DEPTH = 0.96
"""What each level of nesting leaves of the score of a field: what is said of the whole comes before its parts."""
_SURE, _SURE_FIELD = 0.85, 0.5
"""Score from which the best value alone is the answer: of a sentence, of a field. Chosen among .5 to .85 on 184
summaries of SummEdits (training part): .85 leaves 19 of 28 faults in right ones, and 113 of 130 in wrong ones."""
_UNSURE = 0.6
"""Share of the best score from which a value is a possible answer where no reading is sure."""
_PLENTY = frozenset(("count", "date", "ordinal", "time_of_day", HOURS, ""))
"""Kinds of values of which documents have so many that one of them always fits."""
_MAX_COMPARED = 100
"""Readings beyond which no directions are compared: somewhere there is always the opposite."""
_MAX_POSSIBLE = 8
"""Values of another kind beyond which they are no answer."""
_SAID_AS = {
    stem(name): tuple(map(stem, said.split()))
    for name, said in {
        "stars": "rating rated", "hours": "open close operate", "address": "located situated street",
        "price": "cost charge", "review": "customer reviewer guest patron client gave",
        "business": "restaurant establishment overall place shop store hotel bar cafe diner eatery spot salon company",
    }.items()
}  # fmt: skip
"""Names of fields and what sentences say instead."""
_BUSINESS, _REVIEW = stem("business"), stem("review")
_GIVING = frozenset(map(stem, "gave give gives giving awarded awards".split()))
_NEXT_ONE = frozenset(map(stem, ("another", "third", "others")))
"""Whoever gives the next rating, right before the gap."""
_RANGE = re.compile(
    r"\b(?:rang(?:e|es|ed|ing)|var(?:y|ies|ied|ying)|between|(?:ratings|reviews) from)\b[^.;]{0,40}\Z", re.IGNORECASE
)
"""What stands before the two ends of what several records say."""
_IMPLIED = {stem("date"): ("date",), stem("year"): ("date",), stem("price"): ("currency",), stem("cost"): ("currency",)}
"""Names of fields that the kind of the value says as well."""
_LEADING = 2
"""Words after the gap up to which such a word counts."""
_GENERIC = frozenset(map(stem, "business review info attributes value number total amount id".split()))
"""Words in names of fields that tell little; they count where they stand before the gap, or right after it."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of a question."""

    stem: str
    weight: float
    distance: int
    """Words from the gap; negative before it, 0 if there is none."""
    apart: bool
    """Whether a comma or the like stands between."""
    alike: frozenset[str]
    """Stems of synonyms."""

    @property
    def fading(self) -> float:
        """How much it counts, the nearer to the gap the more."""
        return self.weight * max(0.25, 1 / (1 + max(0, abs(self.distance) - 1) / _FADE))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A value that may be the answer."""

    score: float
    passage: Passage
    found: Found


class EmbeddedChecker:
    """Answers questions with a gap from documents: offline, and always the same.

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
        """There is nothing to let go of."""

    def _answered(self, asked: Asked) -> Answered:
        if not asked.batches:
            return Answered(())
        passages = self._passages(asked.sources)
        index = index_passages(passages)
        return Answered(tuple((_answer(one, passages, index),) for one in chain.from_iterable(asked.batches)))

    def _passages(self, sources: tuple[Source, ...]) -> list[Passage]:
        """The sources, read; those of the last call are kept."""
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
    """Of the same field of several records, those of records that the question names, if it names any of them."""
    said = {term.stem for term in terms}
    records = {id(one.passage.record): one.passage.record for one in scored}
    names = {key: [value for value in record if value <= said] for key, record in records.items()}
    # A record is named by its other fields: that the question states this value elsewhere says nothing.
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
    """The best reading, and those in other passages that fit as well but differ from it."""
    best = scored[0]
    level, about = [best], _named(terms, best.passage)
    for one in scored[1:]:
        # Fields of one name in several records are alternatives; fields of other names speak of something else.
        alike = one.passage.path == best.passage.path and one.passage is not best.passage
        near = one.score >= (_SIBLINGS if best.passage.path else LEVEL) * best.score
        # A sentence without a word that tells what the best one is about is about something else.
        if alike and near and (best.passage.path != () or about <= _named(terms, one.passage)):
            level.append(one)
    level = [level[at] for at in distinct([one.found.text for one in level])]
    found = [one.found for one in level]
    # Documents whose titles have the value ("1922 season", "1934 season") speak of several things.
    any_of = bool(best.passage.path) or all(_entitled(one) for one in level)
    return _checked(found, scored, any_of)


def _ends(question: str, scored: Sequence[_Reading]) -> Checked | None:
    """What several records say, and the least and the greatest of it, where a question asks for a range."""
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
    """Where no reading is sure: all that are about as good, and what else there is of a kind with a unit."""
    least = max(MINIMUM, _UNSURE * scored[0].score) if scored else MINIMUM
    near = [one.found for one in scored if one.score >= least]
    if wanted not in _PLENTY:
        near += [found for passage in passages for found in passage.found if found.wanted == wanted]
    several = [near[at] for at in distinct([found.text for found in near])]
    if len(several) > _MAX_POSSIBLE and wanted not in _PLENTY:
        several = several[: sum(one.score >= least for one in scored)]
    return _checked(several, scored, any_of=True)


def _checked(found: Sequence[Found], scored: Sequence[_Reading], any_of: bool) -> Checked:
    """The answers, with which way they went where all readings of the same value that fit somewhat say the same."""
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
    """The telling words of a question that a passage has."""
    return {term.stem for term in terms if term.weight > 1 and passage.stems.keys() & {term.stem, *term.alike}}


def _entitled(one: _Reading) -> bool:
    """Whether a value stands in the title of its document."""
    return re.search(rf"(?<!\w){re.escape(one.found.text)}(?!\w)", one.passage.title) is not None


def _terms(question: str) -> list[_Term]:
    """The words of a question with their distance from the gap."""
    words, at = find_words(question), question.find(GAP)
    gap = sum(word.end <= at for word in words) if at >= 0 else None
    terms: list[_Term] = []
    for number, word in enumerate(words):
        distance = 0 if gap is None else number - gap if number < gap else number - gap + 1
        weight = rarity(word.stem) if word.is_content else 0.4
        alike = synonyms(synonym_groups().get(word.stem, ())) if word.is_content else set[str]()
        between = question[word.end : at] if word.end <= at else question[at + len(GAP) : word.start]
        apart = gap is not None and _CLAUSE.search(between) is not None
        terms.append(_Term(word.stem, weight, distance, apart, frozenset(alike)))
    return terms


def _closest(
    terms: Sequence[_Term], passages: Sequence[Passage], index: dict[str, list[int]]
) -> list[tuple[int, float]]:
    """The passages that have most of a question's words, each with the share it has."""
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
    """Whether a value is of the kind that is asked for; a field may leave its unit to its name."""
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
    # Not cut off at 1: of two values in a sentence the one that stands as the gap does must come first.
    return _COVER * coverage + (1 - _COVER) * reached / total + _COUNTED * _counts_the_same(terms, passage, found)


def _counts_the_same(terms: Sequence[_Term], passage: Passage, found: Found) -> bool:
    """Whether the word that the gap counts ("____ friends") follows the value too."""
    counted = next((term for term in terms if 0 < term.distance <= 2 and term.weight > 1 and not term.apart), None)
    after = passage.words[found.last : found.last + 2]
    return counted is not None and any(word.stem == counted.stem or word.stem in counted.alike for word in after)


def _nearness(term: _Term, stem: str, number: int, found: Found) -> float:
    """How well the same word, or a synonym, stands to a value as a word of the question to the gap, in [0, 1]."""
    if found.first <= number < found.last:
        return 0.0
    count = 1.0 if stem == term.stem else SYNONYM_WEIGHT
    distance = number - found.first if number < found.first else number - found.last + 1
    side = 1.0 if (distance < 0) == (term.distance < 0) else 0.8
    return count * side * max(0.2, 1 - max(0, abs(abs(distance) - abs(term.distance)) - 1) / 8)


def _field_score(terms: Sequence[_Term], passage: Passage, found: Found, wanted: str) -> float:
    """How well a field fits: the share of its name that the question has, near the gap, and of what is around it."""
    near: dict[str, float] = {}
    alike: dict[str, float] = {}
    gives = any(
        not term.apart and (term.stem in _GIVING or (term.stem in _NEXT_ONE and -3 < term.distance < 0))
        for term in terms
    )
    if gives:
        near[_REVIEW] = 1.0
    for term in terms:
        closeness = max(0.2, 1 - max(0, abs(term.distance) - 1) / 12)
        generic = [name for name in _GENERIC if term.stem in _spoken(name)]
        # Who gives a place so many stars speaks of his own, not of the place's.
        told = term.distance <= _LEADING and not term.apart and not (gives and _BUSINESS in generic)
        if told or not generic:
            near[term.stem] = max(near.get(term.stem, 0.0), closeness)
            for one in term.alike:
                alike[one] = max(alike.get(one, 0.0), SYNONYM_WEIGHT * closeness)
    weights = {one: 0.3 if one in _GENERIC else 1.0 for one in passage.name}
    name = sum(weight * max(_said(one, near, wanted), alike.get(one, 0.0)) for one, weight in weights.items())
    named = name / sum(weights.values())
    others = [word for word in passage.words[: found.first] + passage.words[found.last :] if word.is_content]
    beside = sum(near.get(word.stem, 0.0) for word in others) / len(others) if others else 0.0
    own = {word.stem for word in passage.words[found.first : found.last]}  # said of another gap, if at all
    telling = [term for term in terms if term.stem not in _GENERIC]
    known = passage.stems.keys() - own
    around = sum(t.fading for t in telling if t.stem in known) / (sum(t.fading for t in telling) or 1.0)
    kind = 1.0 if found.wanted == wanted else 0.9
    return kind * _DEPTH ** (len(passage.path) - 1) * min(1.0, max(named, beside) * 0.85 + 0.15 * around)


def _said(name: str, near: dict[str, float], wanted: str) -> float:
    """How near the gap a word of a field's name is said, in [0, 1]; the kind of the value may say it too."""
    implied = 0.5 if wanted in _IMPLIED.get(name, ()) else 0.0
    return max(implied, *(near.get(one, 0.0) for one in _spoken(name)))


def _spoken(name: str) -> tuple[str, ...]:
    """A word of a name, and what sentences say instead."""
    return (name, *_SAID_AS.get(name, ()))
