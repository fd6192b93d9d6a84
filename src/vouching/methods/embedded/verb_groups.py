"""The verbs of an English sentence, found by their form and by the auxiliaries before them.

A verb without an auxiliary is one if it can only be a past tense, or if it is in the table of common verbs and stands
where a verb stands. Not supported: infinitives, questions and imperatives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from vouching.text.verbs import is_common_verb, is_participle, is_past, takes_particle, verb_key
from vouching.text.words import find_words

_BE = frozenset("is are was were be been being am isn't aren't wasn't weren't".split())
_HAVE = frozenset("has have had having hasn't haven't hadn't".split())
_MODAL = frozenset(
    """will would shall should can could may might must do does did cannot can't won't don't doesn't didn't
    couldn't wouldn't shouldn't mustn't""".split()
)
AUXILIARY = _BE | _HAVE | _MODAL
_ADVERBS = frozenset(
    """not never also then later eventually soon finally now still always already only usually often again each both
    all himself herself itself themselves actually even ever just first no longer rather back along""".split()
)
DETERMINERS = frozenset(
    """the a an this that these those his her its their our your my each every some any no all both another""".split()
)
PREPOSITIONS = frozenset(
    """to by from of in on at for with as into under over against about between during after before since until
    through without within per via among towards toward than behind beyond near onto upon off out up
    down like""".split()
)
SUBORDINATORS = frozenset(
    """that which who whom whose where when if because although though since unless while whereas but so than how
    why whether or wherever whenever what whatever whoever""".split()
)
PRONOUNS = frozenset(
    "he she it they we i you him her them us me this these those his hers its their one himself herself itself".split()
)
OBJECT_OPENERS = frozenset("the a an his her its their this that these those our your".split())
CLAUSE_OPENERS = frozenset("after before since until as".split())
_OPENERS = frozenset(("he", "she", "it", "they", "we", "i", "you", "who", "which", "that"))
_BREAK = re.compile(r"[,;:()\[\]—–|•·]|\s-\s|\.\s|\n\s*(?:\n|[-*#])|[!?]")
_ADVERB_ENDING = 5
"""Shortest adverb in "-ly"."""


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """A verb with its auxiliaries and its particle, by the positions of its words."""

    first: int
    """The first auxiliary."""
    main: int
    last: int
    """The particle, or the verb."""
    voice: Literal["active", "passive", "copula"]
    reduced: bool = False
    """A participle that follows its noun ("written by Ann")."""


class Tokens:
    """The words of a sentence with what is between them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = find_words(text)
        gaps = [text[one.end : other.start] for one, other in zip(self.words, self.words[1:], strict=False)]
        self.breaks = [True, *(bool(gap != " " and _BREAK.search(gap)) for gap in gaps)]
        """Whether punctuation stands before each word."""

    def gap(self, at: int) -> str:
        """What is between a word and the one before it."""
        return self.text[self.words[at - 1].end : self.words[at].start] if at else ""

    def is_capital(self, at: int) -> bool:
        """Whether a word begins with a capital."""
        return self.text[self.words[at].start].isupper()

    def is_number(self, at: int) -> bool:
        """Whether there is a word here that begins with a digit."""
        return at < len(self.words) and self.words[at].lower[0].isdigit()

    def is_gerund(self, at: int) -> bool:
        """Whether there is a word here that ends in "-ing"."""
        return at < len(self.words) and self.words[at].lower.endswith("ing")


def is_adverb(word: str) -> bool:
    """Whether a lower-case word is an adverb that may stand before a verb."""
    return word in _ADVERBS or (word.endswith("ly") and len(word) >= _ADVERB_ENDING and word != "supply")


def find_verbs(tokens: Tokens) -> list[VerbGroup]:
    """The verbs of a sentence, in order.

    >>> tokens = Tokens("The mill was first bought by Ann, who then sold it.")
    >>> [(tokens.words[verb.main].lower, verb.voice) for verb in find_verbs(tokens)]
    [('bought', 'passive'), ('sold', 'active')]
    """
    return _Finder(tokens).find()


class _Finder:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.words, self.breaks = tokens.words, tokens.breaks
        self.verbs: list[VerbGroup] = []

    def find(self) -> list[VerbGroup]:
        """The verbs, in order."""
        at = 0
        while at < len(self.words):
            verb = self._after_auxiliaries(at) if self.words[at].lower in AUXILIARY else self._bare(at)
            if verb is None:
                at += 1
                continue
            self.verbs.append(verb)
            at = verb.last + 1
        return self.verbs

    def _after_auxiliaries(self, first: int) -> VerbGroup | None:
        at, last = first, ""
        while at < len(self.words):
            word = self.words[at].lower
            if at > first and self.breaks[at]:
                return None
            if word in AUXILIARY or (word == "to" and last in (*_HAVE, *_BE)):
                last = "do" if word == "to" else word
            elif not is_adverb(word) and word != "since":
                break
            at += 1
        if at >= len(self.words):
            return None
        word = self.words[at]
        if last in _BE:
            if is_participle(word.lower):
                return self._verb(first, at, "passive")
            if word.lower.endswith("ing") and len(word.lower) > len("being"):
                return self._verb(first, at, "active")
            return VerbGroup(first, at - 1, at - 1, "copula")
        if last in _HAVE:
            return self._verb(first, at, "active") if is_participle(word.lower) else None
        return self._verb(first, at, "active") if word.is_content or word.lower == "own" else None

    def _verb(self, first: int, main: int, voice: Literal["active", "passive"], reduced: bool = False) -> VerbGroup:
        following = self.words[main + 1].lower if main + 1 < len(self.words) else ""
        joined = takes_particle(verb_key(self.words[main].lower), following) and not self.breaks[main + 1]
        return VerbGroup(first, main, main + joined, voice, reduced)

    def _bare(self, at: int) -> VerbGroup | None:
        """A verb without auxiliaries."""
        word = self.words[at]
        if not word.is_content or not word.lower.isalpha():
            return None
        following = self.words[at + 1].lower if at + 1 < len(self.words) and not self.breaks[at + 1] else ""
        if is_participle(word.lower) and self._by_follows(at):
            return self._verb(at, at, "passive", reduced=True)
        if at == 0 or self.tokens.is_capital(at) or not self._may_follow_subject(at):
            return None
        if self.verbs and not self.verbs[-1].reduced and self._same_clause(self.verbs[-1].last + 1, at):
            return None
        if is_past(word.lower):
            return self._verb(at, at, "active")
        return self._verb(at, at, "active") if self._is_present(at, following) else None

    def _by_follows(self, at: int) -> bool:
        """Whether "by" and no number follow, at once or, where a participle opens a clause, a little later."""
        reach = 4 if self.breaks[at] else 1
        for place in range(at + 1, min(at + 1 + reach, len(self.words))):
            if self.breaks[place] or (place == at + 1 and self.words[place].lower not in PREPOSITIONS):
                return False
            if self.words[place].lower == "by":
                return not self.tokens.is_number(place + 1) and not self.tokens.is_gerund(place + 1)
        return False

    def _same_clause(self, first: int, last: int) -> bool:
        """Whether neither punctuation nor a conjunction separates two places."""
        joints = (*SUBORDINATORS, "and", "but", *CLAUSE_OPENERS)
        return not any(self.breaks[at] or self.words[at].lower in joints for at in range(first, last + 1))

    def _may_follow_subject(self, at: int) -> bool:
        before = at - 1
        while before > 0 and is_adverb(self.words[before].lower) and self.words[before].lower != "all":
            before -= 1
        word = self.words[before].lower
        if word in _OPENERS or word in ("and", "but", "or"):
            return True
        return word not in DETERMINERS and word not in PREPOSITIONS and word not in AUXILIARY

    def _is_present(self, at: int, following: str) -> bool:
        word, before = self.words[at].lower, self.words[at - 1]
        third = word.endswith("s") and not word.endswith(("ss", "us", "is"))
        if self.breaks[at]:
            return third and is_common_verb(word) and following not in ("", "of")
        opens = following in OBJECT_OPENERS or following in PRONOUNS
        if third:
            if following in AUXILIARY or following == "of":
                return False
            return (opens and before.lower != "'s") or is_common_verb(word)
        plural = before.lower in ("we", "they", "you", "i") or (before.lower.endswith("s") and before.is_content)
        return plural and is_common_verb(word) and following not in AUXILIARY and following != "of"
