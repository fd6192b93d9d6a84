"""What a pronoun of an answer stands for, put behind it: "He [Albert Einstein] was born in 1867" is one claim.

An antecedent is the subject of one of the two clauses before, or a name in the question. It is added only where one
subject fits in number and kind; in doubt the claim stays as written. Not supported: pronouns deeper in a clause, and
gender (only titles and earlier pronouns tell "he" from "she").
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from operator import attrgetter

from vouching.claims.subjects import (
    Kind,
    Subject,
    described,
    gender,
    inside,
    may_be_verb,
    name_kind,
    people_in,
    possessive,
    subject_in,
)
from vouching.text.entities import find_entities
from vouching.text.framing import statement_of
from vouching.text.words import FUNCTION_WORDS

_OPENING = re.compile(
    r"""[\s*_"“'‘(]*(?:(?:and|but|so|also|then|however|moreover|overall|today|now|later|still|here)\b,?\s+)*
    (?:(?:in|on|at|by|from|since|until|after|before|during|for|with|without|as|to|under|contrary\s+to)\s[^,;:]{1,60},\s+)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?P<word>he|she|it|they)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?P<word>his|her|its|their|hers|theirs)\b", re.IGNORECASE)
_PLACE = re.compile(r"there\b(?=,|\s+(?:the|a|an|it|he|she|they|you|we)\b)", re.IGNORECASE)
_ORDERED = re.compile(
    r"\bthe\s+(?P<word>former|latter)(?:(?P<possessive>['’]s)|(?=\s*[^\w\s]|\s+(?P<next>\w+)))", re.IGNORECASE
)
_YEAR = re.compile(r"\b(?:that|the\s+same|that\s+same)\s+year\b", re.IGNORECASE)
_NOUN = re.compile(r"(?:the|this|that)\s+(?P<noun>[a-z]{3,})\b", re.IGNORECASE)
_EMPTY_IT = re.compile(
    r"""it(?:['’]s|\s+(?:is|was|will\s+be|would\s+be|seems|appears|remains))\s+(?:
        (?:\w+\s+){0,2}(?:that|to|whether|if)\b | [^.]{1,60}?\s(?:who|that)\b |
        (?:not\s+)?(?:possible|important|likely|true|clear|late|early|cold|hot|dark)\b)
    | it\s+(?:takes?|took)\s[^.]{0,40}?\bto\b | it\s+(?:rain|snow|depends)\w*
    | it\s+(?:does\s+not|doesn['’]t|did\s+not|didn['’]t)\s+matter\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NAME = r"`[^`]+`|[A-Z][\w-]*(?: [A-Z0-9][\w-]*)*"
_PAIR = re.compile(rf"(?P<first>{_NAME}) and (?:the )?(?P<second>{_NAME})")
_YEAR_NUMBER = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_THIRD = {"his": "he", "her": "she", "hers": "she", "its": "it", "their": "they", "theirs": "they"}
_WINDOW = 2
"""Clauses in which an antecedent is looked for."""


@dataclass(frozen=True, slots=True)
class _Addition:
    """What is added to a clause."""

    at: int
    text: str
    subject: Subject | None = None
    """The subject of the clause, if this is it."""


@dataclass(slots=True)
class Discourse:
    """What an answer has spoken of so far.

    >>> discourse = Discourse()
    >>> discourse.complete("Albert Einstein was a physicist.")
    ('Albert Einstein was a physicist.', '')
    >>> discourse.complete("He was born in 1867.")
    ('He [Albert Einstein] was born in 1867.', 'Albert Einstein')
    """

    question: str = ""
    _subjects: deque[Subject | None] = field(default_factory=lambda: deque[Subject | None](maxlen=_WINDOW))
    """The last first; None for a clause whose subject is unclear."""
    _people: list[str] = field(default_factory=list[str])
    """The names of people in the last clause."""
    _pair: tuple[str, ...] | None = None
    """Two names that the last clause joins."""
    _years: tuple[str, ...] = ()
    """The years in the last clause."""
    _genders: dict[str, str] = field(default_factory=dict[str, str])
    """"he" or "she" by name."""

    def complete(self, clause: str) -> tuple[str, str]:
        """The clause with what its first pronoun stands for, and what was added, "" for nothing.

        Remembers the clause for those after it.
        """
        stated = statement_of(clause)
        opening = self._ordered(stated) or self._at_opening(stated)
        found = [one for one in (opening, self._year(stated)) if one is not None]
        for one in sorted(found, key=attrgetter("at"), reverse=True):
            clause = f"{clause[: one.at]} [{one.text}]{clause[one.at :]}"
        self._remember(stated, opening.subject if opening else None)
        return clause, ", ".join(one.text for one in found)

    def _remember(self, stated: str, subject: Subject | None) -> None:
        subject = subject or subject_in(stated)
        self._subjects.appendleft(subject)
        self._people = people_in(stated)
        pairs = list(_PAIR.finditer(stated))
        self._pair = pairs[0].group("first", "second") if len(pairs) == 1 else None
        self._years = tuple(dict.fromkeys(_YEAR_NUMBER.findall(stated)))

    def _at_opening(self, stated: str) -> _Addition | None:
        """What the pronoun at the start of a clause stands for."""
        opening = _OPENING.match(stated)
        at = opening.end() if opening else 0
        if (own := _SUBJECT.match(stated, at)) and not _EMPTY_IT.match(stated, at):
            referent = self._meant_by(own.group("word").lower())
            return referent and _Addition(own.end(), inside(referent.text), referent)
        if own := _POSSESSIVE.match(stated, at):
            referent = self._meant_by(_THIRD[own.group("word").lower()])
            return referent and _Addition(own.end(), possessive(inside(referent.text)))
        if own := _PLACE.match(stated, at):
            referent = self._nearest(("thing", "name"))
            is_place = referent and any(word[:1].isupper() for word in referent.text.split()[-2:])
            return _Addition(own.end(), inside(referent.text)) if referent and is_place else None
        if own := _NOUN.match(stated, at):
            referent = self._ending_in(own.group("noun"))
            return referent and _Addition(own.end(), referent.text, referent)
        return None

    def _meant_by(self, pronoun: str) -> Subject | None:
        if pronoun in ("he", "she"):
            return self._person(pronoun)
        if pronoun == "they":
            return self._nearest(("many",))
        kinds = {subject.kind for subject in self._subjects if subject is not None}
        if {"thing", "name"} <= kinds or {"person", "name"} <= kinds:
            return None
        return self._nearest(("thing", "name")) or self._asked_about(("thing", "name"))

    def _person(self, pronoun: str) -> Subject | None:
        """The only person spoken of lately, or the only one of the pronoun's gender."""
        if self._subjects and self._subjects[0] is None:
            return None
        people = {s.text: s for s in self._subjects if s is not None and s.kind in ("person", "name")}
        if not people and not any(self._subjects):
            return self._asked_about(("person", "name"))
        people |= {name: Subject(name, "person") for name in self._people if name not in people}
        genders = {text: self._genders.get(text) or gender(text) for text in people}
        sure = [text for text in people if genders[text] == pronoun]
        fitting = sure if len(sure) == 1 else [text for text in people if genders[text] in (pronoun, None)]
        if len(fitting) != 1:
            return None
        self._genders[fitting[0]] = pronoun
        return people[fitting[0]]

    def _nearest(self, kinds: tuple[Kind, ...]) -> Subject | None:
        """The last subject of one of these kinds; None if a clause in between is unclear."""
        for subject in self._subjects:
            if subject is None or subject.kind in kinds:
                return subject
        return None

    def _asked_about(self, kinds: tuple[Kind, ...]) -> Subject | None:
        """The only name in the question, for the first clauses of an answer."""
        if any(self._subjects) or not self.question:
            return None
        names = {entity.text for entity in find_entities(self.question, [0]) if entity.certain}
        if len(names) != 1:
            return None
        [name] = names
        kind = name_kind(name)
        is_sure = kind != "name" or " " in name  # a single name may be that of a place
        return Subject(name, kind) if kind in kinds and is_sure else None

    def _ending_in(self, noun: str) -> Subject | None:
        """The subject whose name ends in this noun: "the fund" after "Nordlys Pension Fund"."""
        fitting = {
            s.text: s
            for s in self._subjects
            if s is not None and s.kind != "many" and " " in s.text and s.text.split()[-1] == noun.capitalize()
        }
        return next(iter(fitting.values())) if len(fitting) == 1 else None

    def _ordered(self, stated: str) -> _Addition | None:
        """What "the former" and "the latter" stand for: the two of a pair, or the last two subjects."""
        own = _ORDERED.search(stated)
        following = own.group("next") if own else None
        if own is None or (following and not may_be_verb(following) and following.lower() not in FUNCTION_WORDS):
            return None
        pair = next((s.parts for s in self._subjects if s is not None and s.parts), self._pair)
        if pair is None:
            last = [s for s in self._subjects if s is not None]
            if len(last) < _WINDOW or last[0].text == last[1].text:
                return None
            pair = (last[1].text, last[0].text)
        text = inside(pair[own.group("word").lower() == "latter"])
        subject = described(text) if not stated[: own.start()].strip() and not own.group("possessive") else None
        return _Addition(own.end(), possessive(text) if own.group("possessive") else text, subject)

    def _year(self, stated: str) -> _Addition | None:
        own = _YEAR.search(stated)
        if own is None or len(self._years) != 1 or _YEAR_NUMBER.search(stated):
            return None
        return _Addition(own.end(), self._years[0])
