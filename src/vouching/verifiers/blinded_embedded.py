"""The checker that needs no language model: it finds the passages that speak of what a question asks, and reads there.

It is given a sentence with a gap and the kind of value that is missing, never the value. A passage counts by the words
of the question that it has, the nearer to the gap the more; a value in it by how near the same words stand to it; a
field of a record by its name. The best value is the answer, if it is good enough; others in other places that fit as
well, and differ, make the documents contradictory. Left out: paraphrase beyond the synonym table, and arithmetic.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from vouching.text.words import find_words, synonym_groups
from vouching.types import Checked, Question, Source
from vouching.verifiers.blinded_cloze import GAP, HOURS, EmbeddedProposer
from vouching.verifiers.blinded_hours import asks_for_hours, read_hours
from vouching.verifiers.blinded_match import same_answer
from vouching.verifiers.blinded_passages import Found, Passage, read_passages
from vouching.verifiers.blinded_roles import Answered
from vouching.verifiers.embedded.evidence import SYNONYM_WEIGHT, rarity, synonyms

CLOSE = 12
"""How many of the best passages are read closely for one question."""
LEAST = 0.34
"""Score, in [0, 1], from which a value is an answer."""
LEVEL = 0.985
"""Share of the best score from which another value fits as well."""
_FADE = 4.0
"""Words from the gap at which a word of the question counts half; none counts less than a quarter."""
_NEAR = 6
"""Words from the gap that are looked for near a value."""
_COVER = 0.6
"""Weight of the words that a passage has; the rest goes to those near the value."""
_SAID_AS = {
    "star": ("rating", "rate"), "hour": ("open", "close", "operate"), "address": ("locate", "situate", "street"),
    "price": ("cost", "charge"), "review": ("customer", "reviewer"),
}  # fmt: skip
"""Names of fields and what sentences say instead, as stems are made of them."""
_GENERIC = frozenset(("busi", "business", "info", "attribut", "attribute", "value", "number", "total", "amount", "id"))
"""Words in names of fields that tell little."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of a question."""

    stem: str
    weight: float
    distance: int
    """Words from the gap; negative before it, 0 if there is none."""
    alike: frozenset[str]
    """Stems of synonyms."""

    @property
    def fading(self) -> float:
        """How much it counts, the nearer to the gap the more."""
        return self.weight * max(0.25, 1 / (1 + max(0, abs(self.distance) - 1) / _FADE))


class EmbeddedChecker:
    """Answers questions with a gap from documents: offline, and always the same.

    >>> import asyncio
    >>> asked = Question("The bridge has ____ towers.", "count")
    >>> answered = asyncio.run(EmbeddedChecker().answer([[asked]], [Source("Two spans. The bridge has three towers.")]))
    >>> answered.samples[0][0].answers, answered.samples[0][0].places[0].start
    (('three',), 26)
    """

    most_at_once = 1

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Source, ...], list[Passage]] = OrderedDict()

    async def answer(self, batches: Sequence[Sequence[Question]], sources: Sequence[Source]) -> Answered:
        """The answers to each question; see :class:`~vouching.verifiers.blinded_roles.BlindChecker`."""
        passages = self._passages(tuple(sources))
        index = _index(passages)
        return Answered(tuple((_answer(asked, passages, index),) for asked in chain.from_iterable(batches)))

    async def aclose(self) -> None:
        """There is nothing to let go of."""

    def _passages(self, sources: tuple[Source, ...]) -> list[Passage]:
        """The sources, read; those of the last call are kept."""
        if sources not in self._kept:
            self._kept.clear()
            self._kept[sources] = read_passages(sources)
        return self._kept[sources]


def _index(passages: Sequence[Passage]) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for number, passage in enumerate(passages):
        for one in passage.stems if passage.found else ():
            index.setdefault(one, []).append(number)
    return index


def _answer(asked: Question, passages: Sequence[Passage], index: dict[str, list[int]]) -> Checked:
    if asks_for_hours(asked.text, asked.wanted) and (hours := read_hours(asked.text, asked.wanted, GAP, passages)):
        return hours
    terms = _terms(asked.text)
    best = _closest(terms, passages, index)
    scored = [
        (_score(terms, passages[number], found, coverage, asked.wanted), number, found)
        for number, coverage in best
        for found in passages[number].found
        if _fits(found, passages[number], asked.wanted)
    ]
    if not scored:
        return Checked()
    top = max(score for score, _, _ in scored)
    if top < LEAST:
        return Checked()
    scored.sort(key=lambda one: -one[0])
    first = scored[0]
    answers, places = [first[2].text], [first[2].place]
    for score, number, found in scored[1:]:
        if score < LEVEL * top:
            break
        if number != first[1] and not any(same_answer(found.text, a) or same_answer(a, found.text) for a in answers):
            answers.append(found.text)
            places.append(found.place)
    return Checked(tuple(answers), tuple(places))


def _terms(question: str) -> list[_Term]:
    """The words of a question with their distance from the gap."""
    before = question.partition(GAP)[0]
    words = find_words(question)
    gap = len(find_words(before)) if GAP in question else None
    terms: list[_Term] = []
    for number, word in enumerate(words):
        distance = 0 if gap is None else number - gap if number < gap else number - gap + 1
        weight = rarity(word.stem) if word.is_content else 0.4
        alike = synonyms(synonym_groups().get(word.stem, ())) if word.is_content else set[str]()
        terms.append(_Term(word.stem, weight, distance, frozenset(alike)))
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
    fields = [number for number in shares if passages[number].name]
    sentences = sorted((n for n in shares if not passages[n].name), key=lambda n: (-shares[n], n))
    return [(number, shares[number]) for number in sentences[:CLOSE] + fields]


def _fits(found: Found, passage: Passage, wanted: str) -> bool:
    """Whether a value is of the kind that is asked for; a field may leave its unit to its name."""
    if not wanted or found.wanted == wanted:
        return True
    if wanted in (HOURS, "time_of_day"):
        return found.wanted in (HOURS, "time_of_day") and wanted != HOURS
    return bool(passage.name) and wanted not in ("date", "time_of_day") and found.wanted != HOURS


def _score(terms: Sequence[_Term], passage: Passage, found: Found, coverage: float, wanted: str) -> float:
    if passage.name:
        return _field_score(terms, passage, found, wanted)
    near = [term for term in terms if 0 < abs(term.distance) <= _NEAR]
    total = sum(term.fading for term in near)
    if not total:
        return coverage
    reached = 0.0
    for term in near:
        reached += term.fading * max(
            (_nearness(term, word.stem, number, found) for number, word in enumerate(passage.words)), default=0.0
        )
    return _COVER * coverage + (1 - _COVER) * reached / total


def _nearness(term: _Term, stem: str, number: int, found: Found) -> float:
    """How well a word of a passage stands to a value as a word of the question stands to the gap, in [0, 1]."""
    if found.first <= number < found.last:
        return 0.0
    count = 1.0 if stem == term.stem else SYNONYM_WEIGHT if stem in term.alike else 0.0
    if not count:
        return 0.0
    distance = number - found.first if number < found.first else number - found.last + 1
    side = 1.0 if (distance < 0) == (term.distance < 0) else 0.8
    return count * side * max(0.2, 1 - max(0, abs(abs(distance) - abs(term.distance)) - 1) / 8)


def _field_score(terms: Sequence[_Term], passage: Passage, found: Found, wanted: str) -> float:
    """How well a field fits: the share of its name that the question has, near the gap, and of what is around it."""
    wanted_by: dict[str, float] = {}
    for term in terms:
        closeness = max(0.2, 1 - max(0, abs(term.distance) - 1) / 12)
        for one in (term.stem, *term.alike):
            wanted_by[one] = max(wanted_by.get(one, 0.0), closeness)
    weights = {one: 0.3 if one in _GENERIC else 1.0 for one in passage.name}
    name = sum(
        weight * max((wanted_by.get(s, 0.0) for s in _spoken(one)), default=0.0) for one, weight in weights.items()
    )
    named = name / sum(weights.values())
    others = [word for word in passage.words[: found.first] + passage.words[found.last :] if word.is_content]
    beside = sum(wanted_by.get(word.stem, 0.0) for word in others) / len(others) if others else 0.0
    around = sum(term.weight for term in terms if term.stem in passage.stems) / (sum(t.weight for t in terms) or 1.0)
    kind = 1.0 if found.wanted == wanted else 0.85
    return kind * min(1.0, max(named, beside) * 0.85 + 0.15 * around)


def _spoken(name: str) -> tuple[str, ...]:
    return (name, *_SAID_AS.get(name, ()))


__all__ = ["EmbeddedChecker", "EmbeddedProposer"]
