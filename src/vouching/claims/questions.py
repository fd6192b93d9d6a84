"""An English question as a statement with a gap: "When was the bridge opened?" -> "the bridge was opened ____".

By word order and short lists, without a parser. Not supported: negative questions, questions with two clauses before
the verb, other languages than English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from vouching.claims.question_subjects import (
    ADVERBS,
    BE,
    DETERMINERS,
    DO,
    HAVE,
    LIKE_ADJECTIVES,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATE,
    is_name,
    is_participle,
    subject_end,
)
from vouching.claims.subjects import is_plural
from vouching.perturb.verbs import AMBIGUOUS_VERBS, verb_in
from vouching.text.words import FUNCTION_WORDS

_MODAL = frozenset(str.split("can could will would may might must shall should"))
_AUXILIARY = BE | HAVE | DO | _MODAL
_EXTENT = frozenset(
    str.split("""long often far wide deep old high tall large big fast soon quickly late early heavy thick hot cold
        strong close short small""")
)
_MEASURED = frozenset(str.split("wide deep old high tall large big heavy thick apart away"))
_CLOSING = PREPOSITIONS | DETERMINERS | SUBORDINATE | frozenset(("to", "as"))
_BREAK = re.compile(r"(?:[.!?;:]|\s[–—-])\s+")
_ANY = {
    "any": ("some", "no"),
    "anyone": ("someone", "no one"),
    "anybody": ("somebody", "nobody"),
    "anything": ("something", "nothing"),
}
"""What "yes" and "no" state of them."""
_ALL = frozenset(str.split("all every everyone everybody everything both each"))
_TO_THE_READER = {
    "i": "you",
    "my": "your",
    "me": "you",
    "mine": "yours",
    "we": "you",
    "our": "your",
    "us": "you",
    "i'm": "you are",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """A statement with a gap for the answer. Both parts may be empty, not both at once."""

    before: str
    after: str = ""
    preposition: str = ""
    """What the question asks with ("on which day"): it belongs between ``before`` and an answer without its own."""


def last_question(text: str) -> list[str]:
    """The words of the last question of a text, addressed to its reader; none without a question mark.

    >>> last_question("I am 40. Can I take my dog?")
    ['Can', 'you', 'take', 'your', 'dog']
    """
    asked = text.strip()
    if not asked.endswith("?"):
        return []
    asked = _BREAK.split(asked.rstrip("? "))[-1]
    words = [word.rstrip(",") for word in asked.replace("’", "'").split()]
    spoken = [
        _TO_THE_READER.get(word.lower(), word) if word not in ("US", "ME", "I", "II") or word == "I" else word
        for word in words
    ]
    agreed = ["are" if w.lower() == "am" else w for w in spoken]
    return " ".join(agreed).split()


def is_polar(words: Sequence[str]) -> bool:
    """Whether a question can be answered by yes or no."""
    return len(words) > 1 and words[0].lower() in _AUXILIARY


def polar_statement(words: Sequence[str], *, negated: bool) -> str | None:
    """What "yes" (or, negated, "no") to a question states; None where its subject is unclear.

    >>> polar_statement(["Did", "read", "requests", "fail"], negated=True)
    'read requests did not fail'
    >>> polar_statement(["Does", "Ann", "pay", "for", "it"], negated=False)
    'Ann pays for it'
    """
    if not is_polar(words):
        return None
    auxiliary, rest = words[0].lower(), words[1:]
    length, first = subject_end(auxiliary, rest), rest[0].lower()
    if first in _ANY:
        found = "none" if negated and rest[1:2] == ["of"] else _ANY[first][negated]
        return _clause(auxiliary, [found, *rest[1:]], length, negated=False)
    if negated and first in _ALL:
        statement = _clause(auxiliary, rest, length, negated=False)
        return statement and f"not {statement}"
    asserted = rest if negated else [_ANY.get(word.lower(), (word,))[0] for word in rest]
    return _clause(auxiliary, asserted, length, negated=negated)


def asks_amount(words: Sequence[str]) -> bool:
    """Whether a question asks how many, how much, or how long, old or often.

    >>> asks_amount(["How", "many", "sons"]), asks_amount(["How", "was", "it"])
    (True, False)
    """
    lowered = [word.lower() for word in words]
    return any(a == "how" and b in _EXTENT | {"many", "much"} for a, b in pairwise(lowered))


def gap_of(words: Sequence[str]) -> Gap | None:
    """The statement that an answer to a question with a question word completes; None where it is unclear.

    >>> gap_of(["How", "many", "sons", "did", "Ann", "have"])
    Gap(before='Ann had', after='sons', preposition='')
    """
    lowered = [word.lower() for word in words]
    at = next((i for i, word in enumerate(lowered[:3]) if word in _FORMS), None)
    if at is None and words and "n't" not in lowered[0] and _verb_at(words) is None and lowered[0] not in SUBORDINATE:
        return Gap(f"{' '.join(words)} is")
    if at is None or any(word not in PREPOSITIONS for word in lowered[:at]) or len(words) < at + 2:
        return None
    gap = _FORMS[lowered[at]](list(words[at + 1 :]), asks_place=at > 0)
    if gap is None or not at:
        return gap
    return replace(gap, preposition=" ".join(lowered[:at])) if gap.before else None


def _person(rest: list[str], *, asks_place: bool) -> Gap | None:
    if rest[0].lower() in DO or asks_place or (rest[0].lower() in _MODAL | HAVE and _is_inverted(rest)):
        return _inverted(rest)
    return Gap("", " ".join(rest))


def _circumstance(rest: list[str], *, asks_place: bool) -> Gap | None:
    return _inverted(rest) if rest[0].lower() in _AUXILIARY else None


def _thing(rest: list[str], *, asks_place: bool) -> Gap | None:
    first = rest[0].lower()
    condition = rest[1:] if first == "if" else rest[2:] if rest[1:] and rest[1].lower() in ("if", "when") else []
    if condition and first in ("if", "happens", "happened"):
        return Gap(f"if {' '.join(condition)},")
    if first in BE:
        participle = len(rest) > 1 and is_participle(rest[1])
        return Gap("", " ".join(rest)) if participle and len(rest) < 4 else _inverted(rest)
    if first in _AUXILIARY:
        return _inverted(rest) if _is_inverted(rest) or first in DO else Gap("", " ".join(rest))
    if verb_in(first, "past") or verb_in(first, "third"):
        return Gap("", " ".join(rest))
    return _which(rest, asks_place=asks_place)


def _which(rest: list[str], *, asks_place: bool) -> Gap | None:
    at = _verb_at(rest)
    if at is None:
        return None
    noun, verbal, auxiliary = " ".join(rest[:at]), rest[at:], rest[at].lower()
    if asks_place:
        return _inverted(verbal) if auxiliary in _AUXILIARY else None
    if not at:
        return Gap("", " ".join(rest))
    if auxiliary in DO or (auxiliary in _MODAL | HAVE and _is_inverted(verbal)):
        inner = _inverted(verbal)
        return inner and Gap(f"the {noun} that {inner.before} is", inner.after)
    return Gap(f"the {noun} that {' '.join(verbal)} is")


def _degree(rest: list[str], *, asks_place: bool) -> Gap | None:
    kind = rest[0].lower()
    if kind in ("many", "much"):
        return _amount(rest[1:], partitive=kind == "much")
    at = next((i for i, word in enumerate(rest) if word.lower() in _AUXILIARY), None)
    if at is None or (kind not in _EXTENT and at):
        return None
    measure = " ".join(word for word in rest[:at] if word.lower() in _MEASURED)
    phrase = " ".join(rest[1:at]) if at > 2 else ""
    gap = _inverted(rest[at:])
    return gap and Gap(gap.before, " ".join(filter(None, ["" if kind == "old" else phrase or measure, gap.after])))


def _amount(rest: list[str], *, partitive: bool) -> Gap | None:
    at = _verb_at(rest)
    if at is None:
        return None
    noun, verbal, auxiliary = " ".join(rest[:at]), rest[at:], rest[at].lower()
    of = f"of {noun}" if partitive and noun else noun
    if auxiliary in BE and verbal[1:2] == ["there"]:
        return Gap(f"there {verbal[0]}", " ".join([of, *verbal[2:]]))
    is_price = auxiliary in BE and not noun and len(verbal) > 1 and not is_participle(verbal[1])
    if is_price or auxiliary in DO or (auxiliary in _MODAL | HAVE and _is_inverted(verbal)):
        gap = _inverted(verbal)
        return gap and Gap(gap.before, f"{of} {gap.after}".strip())
    return Gap("", " ".join([of, *verbal]).strip())


_FORMS = {
    "who": _person,
    "whom": _person,
    "when": _circumstance,
    "where": _circumstance,
    "why": _circumstance,
    "what": _thing,
    "which": _which,
    "how": _degree,
}


def _inverted(verbal: list[str]) -> Gap | None:
    """The statement of an auxiliary and what follows it, the answer coming last."""
    late_at = next((i for i, word in enumerate(verbal) if i > 1 and word.lower() in SUBORDINATE), len(verbal))
    auxiliary, rest, condition = verbal[0].lower(), verbal[1:late_at], " ".join(verbal[late_at:])
    if auxiliary not in _AUXILIARY or not rest:
        return None
    if auxiliary in BE and not any(is_participle(word) for word in rest):
        late = [word for word in rest if word.lower() in ("now", "today") or word in rest[_noun_end(auxiliary, rest) :]]
        return Gap(" ".join([*(word for word in rest if word not in late), verbal[0], *late]), condition)
    statement = _clause(auxiliary, rest, _subject_length(auxiliary, rest), negated=False)
    return None if statement is None else Gap(statement, condition)


def _noun_end(auxiliary: str, rest: Sequence[str]) -> int:
    """How many words are the subject of "is" if an adjective comes last: "are cancellations | free"; else all."""
    last = len(rest) - 1
    if last < 1 or is_name(rest[last]) or rest[last - 1].lower() in DETERMINERS | PREPOSITIONS | {"of"}:
        return len(rest)
    disagrees = auxiliary in ("are", "were") and is_plural(rest[last - 1]) and not is_plural(rest[last])
    word = rest[last].lower()
    is_adjective = LIKE_ADJECTIVES.match(word) and not word.endswith("ing")
    only_verb = verb_in(word, "base") is not None and word not in AMBIGUOUS_VERBS  # "open", "close"
    return last if disagrees or is_adjective or only_verb else len(rest)


def _clause(auxiliary: str, rest: Sequence[str], length: int | None, *, negated: bool) -> str | None:
    """Subject (of so many words), verb and the rest in the order of a statement."""
    if not rest or rest[0].lower() in ("not", "n't"):
        return None
    if length is None or (length == len(rest) and auxiliary not in BE):
        return None
    subject, predicate = list(rest[:length]), list(rest[length:])
    if negated:
        verb = "cannot" if auxiliary == "can" else f"{auxiliary} not"
        return " ".join([*subject, verb, *predicate])
    if auxiliary not in DO:
        return " ".join([*subject, auxiliary, *predicate])
    at = next((i for i, word in enumerate(predicate) if word.lower() not in ADVERBS), 0)
    verb = verb_in(predicate[at].lower(), "base")
    if verb is None:
        return " ".join([*subject, *(() if auxiliary == "do" else (auxiliary,)), *predicate])
    predicate[at] = {"do": verb.base, "does": verb.third, "did": verb.past}[auxiliary]
    return " ".join([*subject, *predicate])


def _subject_length(auxiliary: str, rest: Sequence[str]) -> int | None:
    """How many words are the subject in a question with a question word: what is asked for is missing at the end."""
    lowered = [word.lower() for word in rest]
    if lowered[0] in PRONOUNS and not (lowered[0] in DETERMINERS and len(rest) > 2):
        return 1
    opening = int(lowered[0] in DETERMINERS)
    first = next((i for i, word in enumerate(rest) if i >= opening and not is_name(word)), len(rest))
    first = max(first, opening + 1)
    starts_noun = False
    for at in range(first, len(rest)):
        word = lowered[at]
        if word == "of" or starts_noun:
            starts_noun = word == "of" or word in DETERMINERS
            continue
        if auxiliary not in BE | HAVE and (word == "to" or lowered[at - 1] in DETERMINERS):
            break
        if _opens_predicate(auxiliary, word, rest[at]):
            doubled = at + 1 < len(rest) and _is_base(auxiliary, word) and _is_base(auxiliary, lowered[at + 1])
            return at + doubled
    if auxiliary in BE:
        return max(1, len(rest) - 1)
    closing = next((i for i in range(first + 1, len(rest)) if lowered[i] in _CLOSING), len(rest))
    return closing - 1 if closing > 1 else None


def _is_base(auxiliary: str, word: str) -> bool:
    return auxiliary not in BE | HAVE and verb_in(word, "base") is not None


def _opens_predicate(auxiliary: str, word: str, written: str) -> bool:
    if word in ADVERBS or word in ("not", "never"):
        return True
    if auxiliary in HAVE:
        return verb_in(word, "participle") is not None or is_participle(word)
    if auxiliary in BE:
        return (
            verb_in(word, "participle") is not None
            or bool(LIKE_ADJECTIVES.match(word))
            or word in PREPOSITIONS
            or word in DETERMINERS
            or is_name(written)
        )
    return _is_base(auxiliary, word)


def _is_inverted(verbal: Sequence[str]) -> bool:
    """Whether a subject follows the auxiliary: "has the county agreed", not "has agreed"."""
    if len(verbal) < 2:
        return False
    word = verbal[1].lower()
    if verbal[0].lower() in HAVE:
        return any(is_participle(later.lower()) for later in verbal[2:])
    if word in PRONOUNS or word in DETERMINERS or is_name(verbal[1]):
        return True
    return verb_in(word, "base") is None


def _verb_at(words: Sequence[str]) -> int | None:
    """Position of the auxiliary, or of the first finite verb where there is none."""
    lowered = [word.lower() for word in words]
    found = next((i for i, word in enumerate(lowered) if word in _AUXILIARY), None)
    if found is not None:
        return found
    return next(
        (
            i
            for i, word in enumerate(lowered)
            if i
            and word not in FUNCTION_WORDS
            and (verb_in(word, "past") or verb_in(word, "third") or is_participle(words[i]))
        ),
        next((0 for word in lowered[:1] if verb_in(word, "past") or verb_in(word, "third")), None),
    )
