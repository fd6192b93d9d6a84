"""What a clause is about: its subject, and whether that is a person, a thing or several, by word lists and capitals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from vouching.perturb.name_kinds import lexicon_sections, name_type
from vouching.perturb.verbs import verb_forms
from vouching.text.clauses import finite_verb, subject_of
from vouching.text.entities import find_entities

Kind: TypeAlias = Literal["person", "thing", "name", "many"]
"""A "name" may be that of a person or a thing."""

_COPULA = re.compile(
    r"(?:(?:is|was)\s+(?:called|named|known\s+as)\s+(?P<called>[^;:]+?)|(?:is|was)\s+(?P<name>[^,;:]+?))[.!]?$"
)
_JOINED = re.compile(r"(?:both\s+)?(?P<first>[^,]+?)\s+and\s+(?P<second>[^,]+)", re.IGNORECASE)
_FROM_PRONOUN = re.compile(
    r"(?:he|she|it|they|there|this|that|these|those|his|her|its|their|i|you|we|one|both|each|all)\b", re.IGNORECASE
)
_DETERMINER = re.compile(
    r"(?P<word>the|a|an|this|that|these|those|my|your|our|some|no|any|every|each|all|both)\b\s*", re.IGNORECASE
)
_INNER = re.compile(r"\s+(?:of|in|on|for|from|with|at|up|to|by|called|named)\s")
_PLURAL = frozenset(
    str.split("people children men women police two three four five six seven eight nine ten both others")
)
_SINGULAR_S = ("ss", "us", "is", "'s", "’s", "ics", "news", "series")
_NO_HEADS = frozenset(str.split("one ones former latter other others first second third last same rest"))
_PERSONS = re.compile(
    r"(?:\w+(?:man|woman|person)|student|passenger|customer|employee|patient|landlord|tenant|manager|director|owner|"
    r"visitor|guest|member|child|son|daughter|mother|father|doctor|nurse|teacher|author|president|chair|user|client|"
    r"applicant|player|officer|head|chief|lawyer|engineer|scientist|artist|writer|parent|person|guarantor|keeper)",
    re.IGNORECASE,
)
_ADVERBS = frozenset(str.split("also later then now still already often usually never always only each both"))
_NAME_WORDS = frozenset(str.split("of the de van von di la"))
_TITLES: dict[str, Literal["he", "she"]] = {
    "mr": "he",
    "sir": "he",
    "lord": "he",
    "king": "he",
    "prince": "he",
    "ms": "she",
    "mrs": "she",
    "miss": "she",
    "lady": "she",
    "queen": "she",
    "princess": "she",
}
_MAX_WORDS = 8


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that a clause is about."""

    text: str
    kind: Kind
    parts: tuple[str, str] | None = None
    """The two that a coordination joins."""


def subject_in(clause: str) -> Subject | None:
    """The subject of a clause, or the name that it is said to be; None where it is unclear.

    >>> subject_in("The Osei Scholarship is for master's students.").kind
    'thing'
    >>> subject_in("The cheapest tariff is Sprat S.").text
    'Sprat S'
    """
    subject = subject_of(clause)
    if not subject or _DETERMINER.fullmatch(subject):
        subject = _before_verb(clause)
    if not subject or len(subject.split()) > _MAX_WORDS or _FROM_PRONOUN.match(subject):
        return None
    copula = _COPULA.match(clause[clause.find(subject) + len(subject) :].strip())
    name = (copula.group("called") or copula.group("name")).strip() if copula else ""
    defined = re.match(r"(?:the|one)\b", subject, re.IGNORECASE) and not re.search(r"[A-Z]", subject[1:])
    if name[:1].isupper() and defined and len(name.split()) <= _MAX_WORDS:
        return Subject(name, name_kind(name))
    return described(subject)


def described(text: str) -> Subject | None:
    """A noun phrase with its kind; None where that is unclear."""
    joined = _JOINED.fullmatch(text)
    if joined:
        return Subject(text, "many", (joined.group("first"), joined.group("second")))
    determiner = _DETERMINER.match(text)
    word = determiner.group("word").lower() if determiner else ""
    core = text[determiner.end() :].strip() if determiner else text
    if not core or word in ("no", "any", "every", "each", "all", "some"):
        return None
    first, head = core.split()[0], _INNER.split(core)[0].split()[-1]
    if head.lower() in _NO_HEADS or head.endswith(("'s", "’s", "s'", "s’")):
        return None
    opens = not word and head == first and name_kind(core) == "name"
    if word in ("these", "those") or first.lower() in _PLURAL or is_plural(head.lower() if opens else head):
        return Subject(text, "many")
    if _PERSONS.fullmatch(head):
        return Subject(text, "person") if word in ("the", "my", "your", "our") else None
    if all(part[:1].isupper() or part[:1].isdigit() or part[:1] == "`" or part in _NAME_WORDS for part in core.split()):
        return Subject(text, "thing" if word else name_kind(text))
    return Subject(text, "thing") if word in ("the", "a", "an", "this", "that", "your", "our", "my") else None


def people_in(clause: str) -> list[str]:
    """The names of a clause that may be those of people: by first name or title, or two capitalised words and more.

    >>> people_in("Hamish Tolliver was followed by Odile Farrant.")
    ['Hamish Tolliver', 'Odile Farrant']
    """
    found = [entity for entity in find_entities(clause, [0]) if entity.kind == "name"]
    return [
        entity.text
        for entity in found
        if (kind := name_kind(entity.text)) == "person"
        or (kind == "name" and " " in entity.text and not clause[: entity.start].lower().endswith("the "))
    ]


def name_kind(text: str) -> Kind:
    """Whether a name is that of a person or a thing, as far as lists tell."""
    entities = find_entities(f"it {text}", [0])
    kind = name_type(f"it {text}", entities[0]) if len(entities) == 1 else None
    if kind is not None:
        return "person" if kind.kind == "person" else "thing"
    return "name" if all(part.replace("-", "").isalpha() for part in text.split()) and not text.isupper() else "thing"


def gender(name: str) -> Literal["he", "she"] | None:
    """The pronoun of a person, by title or first name; None if unknown.

    >>> gender("Mr Haas"), gender("Ann Lee"), gender("Ute Sandvik")
    ('he', 'she', None)
    """
    first = name.split()[0].rstrip(".")
    if first.lower() in _TITLES:
        return _TITLES[first.lower()]
    known, women, either = _first_names()
    if first not in known or first in either:
        return None
    return "she" if first in women else "he"


@cache
def _first_names() -> tuple[frozenset[str], ...]:
    """All listed first names, those of women, and those of either."""
    lists = lexicon_sections("names.txt")
    return tuple(frozenset("|".join(lists[key]).split("|")) for key in ("first name", "woman", "either"))


def is_plural(noun: str) -> bool:
    """Whether a noun in lower case looks like a plural."""
    return noun.lower() in _PLURAL or (noun.islower() and noun.endswith("s") and not noun.endswith(_SINGULAR_S))


def inside(text: str) -> str:
    """A noun phrase as it reads in the middle of a sentence."""
    return f"{text[0].lower()}{text[1:]}" if _DETERMINER.match(text) else text


def possessive(text: str) -> str:
    """A noun phrase with its possessive ending."""
    return f"{text}'" if text.endswith("s") else f"{text}'s"


def may_be_verb(word: str) -> bool:
    """Whether a lower-case word is a listed verb in any form."""
    return finite_verb(word) or word in verb_forms()


def _before_verb(clause: str) -> str:
    """The words before the first listed verb; "" where a comma or nothing comes before it."""
    words = clause.split()
    first = 2 if words and _DETERMINER.fullmatch(words[0]) else 1
    for at in range(first, min(len(words), _MAX_WORDS + 1)):
        if words[at - 1].endswith((",", ":", ";")):
            return ""
        if _is_verb(words, at):
            end = at - 1 if words[at - 1] in _ADVERBS and at > first else at
            return " ".join(words[:end]).strip(" *_\"“'‘`")
    return ""


def _is_verb(words: Sequence[str], at: int) -> bool:
    word, before = words[at].rstrip(".,;:"), words[at - 1]
    if not word.islower() or word in _ADVERBS:
        return False
    if finite_verb(word):
        return True
    forms = {form for _, form in verb_forms().get(word, ())}
    return bool(forms & {"third", "past"}) or ("base" in forms and (is_plural(before.lower()) or before[:1].isupper()))
