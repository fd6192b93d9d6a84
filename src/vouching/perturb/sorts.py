"""What sort of thing the subject of a sentence is: a person, a film, a company.

Told by its last noun ("the film"), by its name, or by the text that says what it is ("Alien is a film"). Left out:
whatever none of these tells; it has no sort.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from vouching.perturb.main_verb import MainVerb
from vouching.perturb.name_kinds import name_type
from vouching.perturb.scene import Reading
from vouching.perturb.verbs import lexicon_lines
from vouching.text.entities import Entity
from vouching.text.words import FUNCTION_WORDS

_DEFINED = re.compile(r"[\"”]?(?: ?\([^()]{0,150}\)| ,)? (?:is|was) (?:an?|the) (?P<what>(?:[\w'’/-]+ ){0,9}[\w'’-]+)")
_BY_NAME = frozenset(("person", "country", "state", "city", "school", "company", "club"))
_MENTIONS_READ = 4
_PERSONAL = frozenset(("he", "she"))


def lexicon_sections(name: str) -> dict[str, tuple[str, ...]]:
    """Lines of a shipped list by the "[section]" they stand under."""
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
    """The sort that each listed noun tells."""
    return {noun: sort for sort, lines in lexicon_sections("sorts.txt").items() for noun in "|".join(lines).split("|")}


def defined_in(text: str, name: str) -> str | None:
    """The sort of a name that a text says what it is.

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
    """The sort told by the last listed noun before the first function word."""
    sort = None
    for word in words.split():
        if word.lower() in FUNCTION_WORDS:
            break
        sort = _nouns().get(word, sort)
    return sort


def whole_subject(reading: Reading, verb: MainVerb) -> Entity | None:
    """The name that is the subject, all of it but an article."""
    return next(
        (e for e in reading.entities if 0 <= e.start - verb.subject_start <= 4 and e.end == verb.subject_end), None
    )


def sort_of(reading: Reading, verb: MainVerb, *texts: str) -> str | None:
    """The sort of the subject of a verb, as its text or one of others tells; None if nothing does.

    >>> reading = Reading("The film opened in 1973.")
    >>> sort_of(reading, reading.main_verb)
    'film'
    """
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
