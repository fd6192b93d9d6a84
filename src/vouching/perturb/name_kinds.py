"""The kind of a name, and the sort of the subject of a sentence: a person, a film, a company.

Found by short lists, by the words around a name, by the last noun of a subject ("the film"), or by a definition in the
text ("Alien is a film"). Other names and subjects have no kind or sort and are not replaced. Not supported: gender.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple

from vouching.perturb.scene import ParsedText
from vouching.perturb.verbs import MainVerb, lexicon_lines
from vouching.text.entities import Entity
from vouching.text.words import FUNCTION_WORDS, word_before

NameKind = Literal[
    "person",
    "country",
    "the country",
    "state",
    "city",
    "place",
    "nationality",
    "school",
    "company",
    "club",
    "public body",
    "association",
    "title",
]
_WHOLE_NAMES: tuple[NameKind, ...] = ("country", "the country", "nationality", "state", "city")
"""Kinds whose names are listed; "the country" has those with an article."""
_HEADS: tuple[NameKind, ...] = ("school", "company", "club", "public body", "association")
"""Kinds shown by the head of the name: its last word, or the one before "of"."""
_TITLE_CASE = re.compile(r"[A-Z][\w’'-]*(?: (?:of|the|and|in|a|an|to|for|on|at|[A-Z][\w’'-]*)){1,6}")
_INITIAL = re.compile(r"[A-Z]\.")
_HUMAN_AFTER = re.compile(
    r"(?:,? who\b|, \d\d,|,? (?:was |is )?(?:born|married|died|said|says|told|grew up|starred|wrote)\b)"
)


class NameType(NamedTuple):
    """Kind and shape of a name; names of one type can replace each other."""

    kind: NameKind
    words: int = 0
    """Of people, 1 for a single name and 2 for more; else 0."""


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    return {kind: frozenset("|".join(lines).split("|")) for kind, lines in lexicon_sections("names.txt").items()}


def name_type(text: str, entity: Entity) -> NameType | None:
    """The type of a name in its text, or None if it is unclear.

    >>> from vouching.text.entities import find_entities
    >>> text = "He later met Marie Curie in Paris, while teaching physics at Oxford University."
    >>> [name_type(text, entity).kind for entity in find_entities(text)]
    ['person', 'city', 'school']
    """
    name, lists = entity.text, _lists()
    if entity.kind == "title":
        return NameType("title") if _TITLE_CASE.fullmatch(name) else None
    for kind in _WHOLE_NAMES:
        if name in lists[kind]:
            return NameType(kind)
    words = name.split()
    numbered = any(char.isdigit() for char in name) or re.match(r" \d", text[entity.end : entity.end + 2])
    if not entity.certain or numbered or entity.kind == "acronym" or any(word in lists["no person"] for word in words):
        return None
    if len(words) > 1 and (words[-1] in lists["place word"] or words[0] in ("Lake", "Mount", "River")):
        return NameType("place")
    head = words[words.index("of") - 1] if "of" in words[1:] else words[-1]
    for kind in _HEADS if len(words) > 1 else ():
        if head.strip(".,") in lists[kind]:
            return NameType(kind)
    return _person(text, entity, words)


def _person(text: str, entity: Entity, words: list[str]) -> NameType | None:
    """A person, by first name, title or the words that follow."""
    lists = _lists()
    titled = words[0].rstrip(".") in lists["person title"] or word_before(text, entity.start) in _titles()
    bare = [word for word in words if word.rstrip(".") not in lists["person title"]]
    if not 1 <= len(bare) <= 3 or any(not word[0].isupper() or (word.isupper() and len(word) > 2) for word in bare):
        return None
    first_name = bare[0] in lists["first name"] or _INITIAL.fullmatch(bare[0])
    surnamed = len(bare) > 1 and not _INITIAL.fullmatch(bare[-1])
    follows = _HUMAN_AFTER.match(text, entity.end)
    if titled or (first_name and surnamed) or (follows and surnamed):
        return NameType("person", min(len(bare), 2))
    return None


@cache
def _titles() -> frozenset[str]:
    return frozenset(title.lower() for title in _lists()["person title"])


def without_title(name: str) -> str:
    """A name without the titles before it."""
    words = name.split()
    while len(words) > 1 and words[0].rstrip(".") in _lists()["person title"]:
        words = words[1:]
    return " ".join(words)


_DEFINED = re.compile(r"[\"”]?(?: ?\([^()]{0,150}\)| ,)? (?:is|was) (?:an?|the) (?P<what>(?:[\w'’/-]+ ){0,9}[\w'’-]+)")
_BY_NAME = frozenset(("person", "country", "state", "city", "school", "company", "club"))
_MENTIONS_READ = 4
_PERSONAL = frozenset(("he", "she"))


@cache
def lexicon_sections(name: str) -> dict[str, tuple[str, ...]]:
    """Lines of a shipped list by "[section]"."""
    sections: dict[str, tuple[str, ...]] = {}
    current = ""
    for line in lexicon_lines(name):
        if line.startswith("["):
            current = line.strip("[]")
        else:
            sections[current] = (*sections.get(current, ()), line)
    return sections


@cache
def _nouns() -> Mapping[str, str]:
    return {noun: sort for sort, lines in lexicon_sections("sorts.txt").items() for noun in "|".join(lines).split("|")}


def defined_in(text: str, name: str) -> str | None:
    """The sort of a name according to a definition in the text.

    >>> defined_in("Alien (1979) is a British horror film by Ridley Scott.", "Alien")
    'film'
    """
    at = text.find(name)
    for _ in range(_MENTIONS_READ):
        match = _DEFINED.match(text, at + len(name)) if at >= 0 else None
        if match or at < 0:
            return _last_noun(match["what"]) if match else None
        at = text.find(name, at + 1)
    return None


def _last_noun(words: str) -> str | None:
    """The sort of the last listed noun before the first function word."""
    sort = None
    for word in words.split():
        if word.lower() in FUNCTION_WORDS:
            break
        sort = _nouns().get(word, sort)
    return sort


def whole_subject(reading: ParsedText, verb: MainVerb) -> Entity | None:
    """The name that is the whole subject, except an article."""
    return next(
        (e for e in reading.entities if 0 <= e.start - verb.subject_start <= 4 and e.end == verb.subject_end), None
    )


def sort_of(reading: ParsedText, verb: MainVerb, *texts: str) -> str | None:
    """The sort of the subject of a verb, from its text or others; None if it is unclear."""
    subject = reading.text[verb.subject_start : verb.subject_end]
    if subject.lower() in _PERSONAL:
        return "person"
    named = whole_subject(reading, verb)
    if named is None:
        head = subject.split()[-1]
        return _nouns().get(head) if subject.lower().startswith(("the ", "this ")) and " of " not in subject else None
    known = next((sort for text in (reading.text, *texts) if (sort := defined_in(text, named.text))), None)
    if known:
        return known
    kind = name_type(reading.text, named)
    return kind.kind if kind and kind.kind in _BY_NAME else None
