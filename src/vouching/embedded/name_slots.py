"""Names that can take each other's place in a sentence: of the same form, between the same words.

Not supported: types of name; a person and a place differ only in the words that names are made of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vouching.reading.evidence import is_common
from vouching.reading.parsed import ParsedSentence
from vouching.text.entities import Entity, same_entity
from vouching.text.words import stem

_REACH = 40
_COMPANY = frozenset("ab ag gmbh oy plc sa bv as nv".split())


def names_in_its_place(
    claim: ParsedSentence, value: Entity, names: Sequence[str], reading: ParsedSentence
) -> list[Entity]:
    """The names of a sentence in the place that ``value`` has in the claim, or its only person for a person.

    Args:
        claim: the claim.
        value: the name whose place it is.
        names: all names of the claim; none of these can take the place.
        reading: the sentence.
    """
    others = [e for e in reading.entities if not any(same_entity(e.text, name) for name in names)]
    found = [
        e for e in others if e.certain and _alike(value, e) and _between_the_same(claim.text, value, reading.text, e)
    ]
    people = [e for e in reading.entities if _is_person(e)]
    alone = _is_person(value) and len(people) == 1 and people[0] in others
    return found or (people if alone else [])


def _alike(one: Entity, other: Entity) -> bool:
    """Whether two names have the same form: kind, one word or several, and a last word that is ordinary or not."""
    if one.kind != other.kind or (" " in one.key) != (" " in other.key):
        return False
    lasts = [name.key.split()[-1] for name in (one, other)]
    ordinary, ordinary_too = (is_common(stem(last)) and last not in _COMPANY for last in lasts)
    return ordinary == ordinary_too


def _between_the_same(claim: str, value: Entity, source: str, rival: Entity) -> bool:
    """Whether the words before both names are the same, and those after them, if there are any."""
    before = [_word_before(claim, value.start), _word_before(source, rival.start)]
    after = [_word_after(claim, value.end), _word_after(source, rival.end)]
    if before[0] != before[1] or (after[0] != after[1] and "" not in after):
        return False
    return bool(before[0] or (after[0] == after[1] and after[0]))


def _is_person(name: Entity) -> bool:
    """Whether a name has the form of a person's: two or three words, none of them an ordinary one."""
    words = name.key.split()
    return name.kind == "name" and 2 <= len(words) <= 3 and not any(is_common(stem(w)) or len(w) < 3 for w in words)


def _word_before(text: str, start: int) -> str:
    """The stem of the word before a name, without articles; "" at the start of a clause."""
    words = re.findall(r"[^\W\d_]+|[^\w\s]", text[max(0, start - _REACH) : start])
    words = [word for word in words if word.lower() not in ("the", "a", "an")]
    return stem(words[-1].lower()) if words and words[-1][0].isalpha() else ""


def _word_after(text: str, end: int) -> str:
    """The stem of the word after a name; "" at the end of a clause."""
    found = re.match(r"\s*(\w+)", text[end:])
    return stem(found[1].lower()) if found else ""
