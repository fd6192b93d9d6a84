"""A bounded sample of the names and facts of a corpus, to insert into claims.

Nothing is known about a name beyond its own text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from vouching.perturb.name_kinds import NameType, name_type, sort_of, without_title
from vouching.perturb.scene import ParsedText
from vouching.text.entities import name_key
from vouching.text.words import Word

_MAX_NAMES = 1_500
_MAX_FACTS = 3_000
_MAX_CHARACTERS = 2_000
_LONGEST_SENTENCE = 300
_LEANING = frozenset(
    str.split("""he she it they his her its their him them himself herself itself themselves this that these those such
    here there then former latter respectively above below following also too however therefore who which we i you our
    my your us same other another said says say between both today yesterday now ago recently next only again
    monday tuesday wednesday thursday friday saturday sunday""")
)
_NOT_SINGULAR = frozenset(("are", "were", "have", "do", "did", "must", "should", "could", "might"))
_IDENTITY = re.compile(
    r"(?:is|was|became|becomes|remains) (?:an?|the|one|its|whether|preceded|\w+['’]s)\b|gave birth\b|had been\b|"
    r"ha[sd] since\b"
)
"""Definitions of the subject, or continuations of earlier text, rarely fit another subject."""
_UNFIT = re.compile(r"[\"“”\[\](){}|#*;:_<>…]|\.\.|--|\bhttp|www\.| ['’]s\b|-LRB-|''|``")
_ENDS_WELL = re.compile(r"\w\w\Z|\d\Z")
_HANGING = re.compile(
    r" (?:and|or|the|an?|of|in|on|at|to|as|by|for|from|with|into|both)\Z"
    r"|\bthe (?:films|movies|novels|albums|songs|series) [A-Z0-9]"
)
"""A truncated end, or a list reduced to one item: "in the films Alien"."""
_OF_STORIES = re.compile(r"(?:is|will|would|can) ")
"""Present-tense statements about people often describe a fictional character."""
_CLAUSE_END = re.compile(
    r",? (?:and|but|or|while|who|whom|which|where|when|because|although|after|before) |,\s|\s?[;(]"
)
_LONGEST_FACT, LONGEST_NAME = 13, 4
"""In words; a longer run of capitals is rarely one name."""
_DANGLING = re.compile(
    r"\b(?:the|its) (?!(?:first|last|most|same|age|world|year|end|role)\b)(?=[a-z])"
    r"(?!(?:[\w-]+ ){1,2}of [A-Za-z]|[\w-]+ [A-Z])"
)
"""A definite noun explained only in its own text: "joined the band", unlike "joined the board of Ford"."""

Entry = TypeVar("Entry", bound=Hashable)


class Fact(NamedTuple):
    """A predicate with its subject."""

    predicate: str
    """From the verb to the end, without the stop: "won the prize in 1930"."""
    sort: str
    """Sort of its subject: "person", "film"."""
    subject: str
    """Its original subject, as a key."""
    stems: frozenset[str]
    """Stems of its content words."""
    telling: frozenset[str]
    """Stems of its names and numbers."""
    context: frozenset[str]
    """Stems of the content words of its sentence and the two neighbours: its topic."""


class CorpusPool:
    """Names by type, and predicates, of texts; a uniform sample once a list is full.

    >>> pool = CorpusPool(["Ann Lee was born in Paris.", "Bob Roy moved to Rome in 1990."])
    >>> [pool.names(NameType("city")), [fact.predicate for fact in pool.facts("person")]]
    [['Paris', 'Rome'], ['was born in Paris', 'moved to Rome in 1990']]
    """

    def __init__(self, texts: Iterable[str] = (), seed: int = 0) -> None:
        self._rng = random.Random(seed)
        self._names: dict[NameType, _Sample[str]] = {}
        self._facts: dict[str, _Sample[Fact]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add the names and facts of a text, or of the beginning of a long one."""
        reading = ParsedText(text[:_MAX_CHARACTERS])
        for entity in reading.entities:
            kind = name_type(reading.text, entity)
            name = without_title(entity.text) if kind and kind.kind == "person" else entity.text
            if kind and _UNFIT.search(name) is None and len(name.split()) <= LONGEST_NAME:
                self._names.setdefault(kind, _Sample(_MAX_NAMES)).add(name, self._rng)
        for fact in facts_of(reading):
            self._facts.setdefault(fact.sort, _Sample(_MAX_FACTS)).add(fact, self._rng)

    def names(self, kind: NameType) -> Sequence[str]:
        """The distinct names of a type, in the order they came."""
        return self._names[kind].entries if kind in self._names else ()

    def facts(self, sort: str) -> Sequence[Fact]:
        """Facts about subjects of a sort."""
        return self._facts[sort].entries if sort in self._facts else ()


class _Sample(Generic[Entry]):
    """Distinct entries; in a full sample, each new one replaces a random one with falling probability (algorithm R)."""

    def __init__(self, limit: int) -> None:
        self.entries: list[Entry] = []
        self._limit = limit
        self._known: set[Entry] = set()
        self._seen = 0

    def add(self, entry: Entry, rng: random.Random) -> None:
        """Offer an entry to the sample."""
        if entry in self._known:
            return
        self._seen += 1
        if len(self.entries) < self._limit:
            self.entries.append(entry)
            self._known.add(entry)
        elif (at := rng.randrange(self._seen)) < self._limit:
            self._known.discard(self.entries[at])
            self._known.add(entry)
            self.entries[at] = entry


def facts_of(reading: ParsedText) -> Iterator[Fact]:
    """Predicates of short self-contained sentences: singular, positive, without pronouns or quotations."""
    for at, (start, end) in enumerate(reading.sentences):
        sentence = reading.text[start:end]
        if not 20 <= len(sentence) <= _LONGEST_SENTENCE or sentence[-1] != ".":
            continue
        single = ParsedText(sentence)
        verb = single.main_verb
        if verb is None or verb.kind not in ("past", "third", "auxiliary") or single.negations or verb.subject_start:
            continue
        sort = sort_of(single, verb, reading.text)
        predicate = _CLAUSE_END.split(sentence[verb.start : single.body_end], maxsplit=1)[0]
        if sort is None or not _stands_alone(predicate) or (sort == "person" and _OF_STORIES.match(predicate)):
            continue
        words = single.between(verb.start, verb.start + len(predicate))
        fits = 4 <= len(words) <= _LONGEST_FACT and sentence[verb.start : verb.end] not in _NOT_SINGULAR
        if fits and not _LEANING & {word.lower for word in words}:
            subject = name_key(sentence[verb.subject_start : verb.subject_end])
            content = [word for word in words if word.is_content]
            telling = [word for word in content if sentence[word.start].isupper() or sentence[word.start].isdigit()]
            around = reading.sentences[max(0, at - 1) : at + 2]
            context = _stems(w for w in reading.between(around[0][0], around[-1][1]) if w.is_content)
            yield Fact(predicate, sort, subject, _stems(content), _stems(telling), context)


def _stands_alone(predicate: str) -> bool:
    """Whether a predicate is clear without its text and fits another subject."""
    unfit = _UNFIT.search(predicate) or _DANGLING.search(predicate) or _IDENTITY.match(predicate)
    return not unfit and _ENDS_WELL.search(predicate) is not None and not _HANGING.search(predicate)


def _stems(words: Iterable[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in words)


def same_name(one: str, other: str) -> bool:
    """Whether two names share a distinctive word, so that one could be mistaken for the other."""
    return bool(set(name_key(one).split()) & set(name_key(other).split()) - {"of", "the", "and", "new", "university"})
