"""What tells whether passages are about a question and enough to answer it: plain features, each in [0, 1].

A passage has a subject: its title, or the first name in it. It is linked to a passage that names its subject; questions
of several steps are answered along such links, from a name in the question to a subject that the question does not
name. Words are compared as stems and weigh as much as they are rare. Not supported: paraphrases, and languages other
than English.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Literal, TypeAlias

from vouching.reading.evidence import rarity
from vouching.text.dates import find_dates
from vouching.text.entities import find_entities
from vouching.text.quantities import find_quantities
from vouching.text.sentences import sentence_spans
from vouching.text.words import find_words
from vouching.types import Source

Kind: TypeAlias = Literal["date", "number", "yes or no", "name", "any"]
Features: TypeAlias = dict[str, float]

_YES_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "date",
        re.compile(
            r"\bwhen\b|\b(?:what|which|in what|in which) (?:\w+ )?(?:year|date|day|month|decade|century)\b"
            r"|\bdate of\b|\bwhat time\b",
            re.IGNORECASE,
        ),
    ),
    (
        "number",
        re.compile(
            r"\bhow (?:many|much|long|far|old|tall|high|large|big|deep|wide|often|fast)\b"
            r"|\bwhat (?:\w+ )?(?:percentage|percent|number|population|amount|age)\b|\bpopulation of\b",
            re.IGNORECASE,
        ),
    ),
    ("name", re.compile(r"\b(?:who|whom|whose|where|which)\b|\bnames?\b|\bplace of\b|\bcountry\b", re.IGNORECASE)),
)
_SAID = re.compile(r"\W*(?:yes|no)\b", re.IGNORECASE)


def expected_kind(question: str) -> Kind:
    """The kind of value that a question asks for; "any" if its words do not tell.

    >>> [expected_kind(q) for q in ("When did it open?", "How many towers?", "Who built it?", "Is it open?", "Why?")]
    ['date', 'number', 'name', 'yes or no', 'any']
    """
    if _YES_NO.match(question.strip()):
        return "yes or no"
    found: dict[Kind, int] = {kind: match.start() for kind, form in _KINDS if (match := form.search(question))}
    return min(found, key=lambda kind: found[kind]) if found else "any"


def has_kind(text: str, kind: Kind, but: str = "") -> bool:
    """Whether a text has a value of a kind; a name does not count if ``but`` has it too.

    >>> has_kind("It opened in 1973.", "date"), has_kind("Ada built it.", "number"), has_kind("Yes.", "yes or no")
    (True, False, True)
    """
    if kind == "any":
        return True
    if kind == "yes or no":
        return bool(_SAID.match(text))
    if kind == "name":
        known = _stems(but)
        return any(not _stems(name) <= known for name in _names(text))
    dates = find_dates(text)
    return bool(dates if kind == "date" else find_quantities(text, dates))


@lru_cache(maxsize=2_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in find_words(text) if word.is_content)


@lru_cache(maxsize=2_000)
def _names(text: str) -> tuple[str, ...]:
    starts = [start for start, _ in sentence_spans(text)]
    return tuple(dict.fromkeys(name.text for name in find_entities(text, starts) if name.certain))


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage as the features see it."""

    stems: frozenset[str]
    subject: frozenset[str]
    """Stems of its subject; empty if it has none."""
    sentences: tuple[frozenset[str], ...]
    """Stems of each sentence."""


@lru_cache(maxsize=2_000)
def _passage(title: str, text: str) -> _Passage:
    subject = re.sub(r"\s*\(.*?\)", "", title) or title
    if not subject:
        first = find_entities(text[:300])
        subject = first[0].text if first else ""
    spans = sentence_spans(text)
    sentences = tuple(_stems(text[start:end]) for start, end in spans)
    return _Passage(_stems(title).union(*sentences), _stems(subject), sentences)


def weigh(stems: frozenset[str]) -> float:
    """The rarity of stems, added up."""
    return sum(map(rarity, stems))


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    """Share of ``whole`` that is in ``part``, weighted by rarity; 0 if ``whole`` is empty."""
    return weigh(part & whole) / weigh(whole) if whole else 0.0


class Context:
    """A question beside its passages. Raises ValueError if the question has no content word."""

    def __init__(self, question: str, sources: Sequence[Source]) -> None:
        self.question, self.sources = question, tuple(sources)
        self.asked = _stems(question) - _ASKING
        if not self.asked:
            raise ValueError(f"the question {question!r} has no word to look for")
        self.kind: Kind = expected_kind(question)
        self.names = [stems for name in _names(question) if (stems := _stems(name))]
        self._passages = [_passage(source.title, source.text) for source in sources]
        self.covers = [_share(one.stems, self.asked) for one in self._passages]
        """Share of the question's words in each passage, weighted by rarity."""
        self.has_value = [self.kind == "yes or no" or has_kind(s.text, self.kind, question) for s in sources]
        """Whether each passage has a value of the kind that is asked for; any passage may support yes or no."""
        self._known = [bool(one.subject) and one.subject <= self.asked for one in self._passages]
        self._holders = Counter(stem for one in self._passages for stem in one.stems & self.asked)
        everything = [one.stems for one in self._passages]
        self._links = [
            [n for n, other in enumerate(everything) if n != m and one.subject and one.subject <= other]
            for m, one in enumerate(self._passages)
        ]
        """For each passage, those that name its subject."""

    def linked(self, number: int) -> float:
        """How much of the question a passage covers that leads to this one by naming its subject, in [0, 1].

        0 if the question itself names the subject.
        """
        return 0.0 if self._known[number] else max((self.covers[n] for n in self._links[number]), default=0.0)

    def leads(self, number: int) -> float:
        """How much of the question is covered by a passage to which this one leads, in [0, 1]."""
        return max(
            (self.covers[m] for m, names in enumerate(self._links) if number in names and not self._known[m]),
            default=0.0,
        )

    def of_passage(self, number: int) -> Features:
        """The features of a passage for its relevance."""
        one, most = self._passages[number], max(self.covers)
        held = sum(name <= one.stems for name in self.names)
        return {
            "covers": self.covers[number],
            "covers_of_best": self.covers[number] / most if most else 0.0,
            "sentence": max((_share(stems, self.asked) for stems in one.sentences), default=0.0),
            "alone": weigh(frozenset(s for s in one.stems & self.asked if self._holders[s] == 1)) / weigh(self.asked),
            "subject_asked": float(self._known[number]),
            "subject_share": _share(self.asked, one.subject),
            "names": held / len(self.names) if self.names else 0.0,
            "linked": self.linked(number),
            "leads": self.leads(number),
            "value": float(self.has_value[number]),
        }

    def of_set(self, relevance: Sequence[float]) -> Features:
        """The features of all passages together for their sufficiency; ``relevance`` is P for each passage."""
        order = sorted(range(len(relevance)), key=lambda n: -relevance[n])
        found = frozenset[str]().union(*(one.stems for one in self._passages))
        best = frozenset[str]().union(*(self._passages[n].stems for n in order[:_BEST]))
        subjects = [one.subject for one, known in zip(self._passages, self._known, strict=True) if known]
        about = [any(name <= subject or subject <= name for subject in subjects) for name in self.names]
        chain = max(
            (min(relevance[m], relevance[n]) for m, names in enumerate(self._links) for n in names), default=0.0
        )
        ranked = [relevance[n] for n in order] + [0.0] * _BEST
        return {
            "asks_much": min(1.0, len(self.asked) / _MANY_WORDS),
            "many_names": min(1.0, len(self.names) / _MANY_NAMES),
            "titled": sum(bool(source.title) for source in self.sources) / len(self.sources),
            "covers": _share(found, self.asked),
            "best_cover": _share(best, self.asked),
            "one_covers": max(self.covers),
            "first": ranked[0],
            "second": ranked[1],
            "third": ranked[2],
            "names": sum(name <= found for name in self.names) / len(self.names) if self.names else 1.0,
            "names_are_subjects": sum(about) / len(about) if about else 1.0,
            "one_answers": max((self.covers[n] for n in order if self.has_value[n]), default=0.0),
            "chain": chain,
            "value": max((relevance[n] for n in order if self.has_value[n]), default=0.0),
            "linked_value": max((self.linked(n) * relevance[n] for n in order if self.has_value[n]), default=0.0),
        }

    def of_answer(self, answer: str, relevance: Sequence[float]) -> Features:
        """The features of an answer for whether it addresses the question."""
        said = _stems(answer)
        new = said - self.asked
        placed = [_share(one.stems, new or said) for one in self._passages]
        near = [
            _share(stems, self.asked)
            for one in self._passages
            for stems in one.sentences
            if _share(stems, new or said) > _MOST
        ]
        return {
            "kind": float(has_kind(answer, self.kind, self.question)),
            "kind_told": float(self.kind != "any"),
            "covers": _share(said, self.asked),
            "new": _share(new, said) if said else 1.0,
            "relevant_place": max((p * r for p, r in zip(placed, relevance, strict=True)), default=0.0),
            "near": max(near, default=0.0),
            "short": float(len(said) <= _SHORT),
        }

    def reasons(self, number: int) -> tuple[str, ...]:
        """What a passage has for the question, in words."""
        words = self._in_words(self._passages[number].stems)
        found = [f"has {words}" if words else "has no word of the question"]
        if self.linked(number):
            leader = max(self._links[number], key=lambda n: self.covers[n])
            found.append(f"its subject is named in {self.sources[leader].title or self.sources[leader].id}")
        return tuple(found)

    def gaps(self) -> tuple[str, ...]:
        """What the passages lack, in words; empty if nothing is seen to be missing."""
        found = frozenset[str]().union(*(one.stems for one in self._passages))
        lacking = self._in_words(self.asked - found)
        wanted = self.kind not in ("any", "yes or no") and not any(self.has_value)
        return (
            *([f"no source has {lacking}"] if lacking else []),
            *([f"no source has a {self.kind}"] if wanted else []),
        )

    def answer_reasons(self, answer: str) -> tuple[str, ...]:
        """What speaks for or against an answer, in words."""
        if self.kind == "any":
            return ()
        has = has_kind(answer, self.kind, self.question)
        return (f"the question asks for a {self.kind}, and the answer has {'one' if has else 'none'}",)

    def _in_words(self, stems: frozenset[str]) -> str:
        """The words of the question with these stems, as written."""
        words = find_words(self.question)
        shown = [
            f'"{self.question[word.start : word.end]}"' for word in words if word.is_content and word.stem in stems
        ]
        return ", ".join(dict.fromkeys(shown))


_ASKING = frozenset({"many", "much"})
"""Words that ask for a number: no passage repeats them."""
_BEST = 3
"""Passages that count as the best ones: questions seldom need more."""
_MANY_WORDS, _MANY_NAMES = 12, 3
"""Content words and names of a question from which it counts as long."""
_MOST = 0.8
"""Share of an answer's words that a sentence must have to be its place."""
_SHORT = 5
"""Content words of an answer that is a value rather than a sentence."""


def probability(features: Features, model: Mapping[str, float]) -> float:
    """P of a logistic model: 1 / (1 + exp(-(intercept + sum of weight * feature))).

    >>> round(probability({"covers": 0.5}, {"intercept": -1.0, "covers": 4.0}), 4)  # 1 / (1 + exp(-1))
    0.7311
    """
    odds = model["intercept"] + sum(model[name] * value for name, value in features.items())
    return 1 / (1 + exp(-odds)) if odds >= 0 else exp(odds) / (1 + exp(odds))
