"""Where the subject of a yes-or-no question ends: "Can members | rotate keys", "Is the park | open on Sundays".

Word order and short lists, without a parser: many words can be a noun and a verb. The end is certain where only one
word can be the verb, or where one is followed by what follows a verb; otherwise it is unknown. Not supported: relative
clauses in a subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from vouching.claims.subjects import is_plural
from vouching.perturb.verbs import AMBIGUOUS_VERBS, verb_in
from vouching.text.verbs import is_common_verb
from vouching.text.words import FUNCTION_WORDS

BE = frozenset(str.split("is are was were am"))
HAVE = frozenset(str.split("has have had"))
DO = frozenset(str.split("do does did"))
PRONOUNS = frozenset(
    str.split("""i you he she it we they there this these anyone anybody everyone everybody someone nobody""")
)
DETERMINERS = frozenset(
    str.split("""a an the my your his her its our their this that these those any some all each every no both""")
)
ADVERBS = frozenset(str.split("also still already ever always now only really just usually normally currently"))
PREPOSITIONS = frozenset(
    str.split("""in on at by until till after before from to for with within under over up since during between near
        through below above against around about into""")
)
SUBORDINATE = frozenset(str.split("when if while because once unless"))
LIKE_ADJECTIVES = re.compile(r"\w+(?:able|ible|ive|ous|ful|ory|ed|ing|less)$")
_OBJECTS = DETERMINERS | frozenset(str.split("it them him us me you her himself itself themselves what how whether"))
_CLAUSES = SUBORDINATE | frozenset(str.split("to that which who whom whose where whether although though than as"))
_ONLY_VERBS = re.compile(r"\w{2,}(?:ate|ify|ize|ise)$")
_ONLY_NOUNS = re.compile(r"\w{2,}(?:tion|sion|ment|ness|ity|ance|ence|ship|ism|hood|oval|ival|\d)$")
_NO_VERBS = re.compile(r"(?:\w+(?:ing|ly|ed|able|ible|ous|ful|less|[^s]s|[^a-z])|[^a-z].*|\w)$")
_BARE_INFINITIVE = frozenset(str.split("help let go come dare"))
_LATE = frozenset(str.split("today tomorrow tonight yesterday daily weekly monthly yearly there here again"))
_SURE, _LISTED, _UNLISTED = 3, 2, 1
"""How much a word looks like the verb."""


def subject_end(auxiliary: str, rest: Sequence[str]) -> int | None:
    """How many words after the auxiliary of a yes-or-no question are its subject; None where that is unclear.

    >>> subject_end("can", ["members", "rotate", "keys"]), subject_end("can", ["the", "night", "shift", "change"])
    (1, None)
    """
    lowered = [word.lower() for word in rest]
    if lowered[0] in PRONOUNS and not (lowered[0] in DETERMINERS and len(rest) > 2):
        return 1
    opening = int(lowered[0] in DETERMINERS)
    names = next((i for i, word in enumerate(rest) if i >= opening and not is_name(word)), len(rest))
    first = max(names, opening + 1)
    if lowered[first : first + 1] == ["of"] or lowered[1:2] == ["of"]:
        first = _after_noun(lowered, lowered.index("of") + 1)
    if auxiliary in BE:
        return _before_predicate(rest, lowered, first)
    if auxiliary in HAVE:
        return next((i for i in range(first, len(rest)) if is_participle(rest[i]) or lowered[i] in ADVERBS), None)
    return _before_verb(auxiliary, lowered, first)


def is_name(word: str) -> bool:
    """Whether a word is written as a name or a number."""
    return word.lstrip("\"“'‘`(")[:1].isupper() or word[:1].isdigit()


def is_participle(word: str) -> bool:
    """Whether a word can only be a participle."""
    lowered = word.lower()
    regular = len(lowered) > 4 and lowered.endswith("ed") and word == lowered
    return regular or (verb_in(lowered, "participle") is not None and verb_in(lowered, "base") is None)


def _before_predicate(rest: Sequence[str], lowered: Sequence[str], first: int) -> int | None:
    """The end of the subject of "is": before a participle, an adjective, a preposition, a name or a determiner."""
    last = len(rest) - 1
    while last > first and lowered[last] in _LATE:
        last -= 1
    for at in range(first, len(rest)):
        word = lowered[at]
        if word in ADVERBS or word in DETERMINERS or word == "not" or is_name(rest[at]):
            return at
        if is_participle(rest[at]) or verb_in(word, "participle") or LIKE_ADJECTIVES.match(word):
            return at
        if word in PREPOSITIONS:
            return _around_place(rest, lowered, at)
        if word == "of":
            return _before_predicate(rest, lowered, _after_noun(lowered, at + 1))
    return max(1, last)


def _after_noun(lowered: Sequence[str], at: int) -> int:
    """The place after the first word of a noun phrase that is no determiner."""
    return at + 1 + (lowered[at : at + 1] != [] and lowered[at] in DETERMINERS)


def _around_place(rest: Sequence[str], lowered: Sequence[str], at: int) -> int | None:
    """The end of a subject, given the place of the first preposition, which may belong to the subject."""
    later = [i for i in range(at + 2, len(rest)) if is_participle(rest[i]) and lowered[i - 1] not in DETERMINERS]
    if later:
        return later[0] if later == [len(rest) - 1] else None
    head = lowered[int(lowered[0] in DETERMINERS) : at]
    # "the park open on": the last word may be an adjective
    is_noun = len(head) < 2 or is_plural(head[-1]) or is_name(rest[at - 1]) or _ONLY_NOUNS.match(head[-1])
    return at if is_noun else None


def _before_verb(auxiliary: str, lowered: Sequence[str], first: int) -> int | None:
    """The end of the subject of "do" or a modal: before the verb."""
    places = {at: how for at in range(first, len(lowered)) if (how := _verb_likeness(lowered, at, auxiliary))}
    stop = next((i for i, word in enumerate(lowered) if i >= first and word in _CLAUSES), len(lowered))
    adverb = next((i for i in range(first, stop) if lowered[i] in ADVERBS), None)
    if adverb is not None:
        return adverb
    places = {at: how for at, how in places.items() if at < stop}
    if not places:
        return None
    best = max(places.values())
    chosen = next(at for at, how in places.items() if how == best)
    before = [at for at in places if at < chosen]
    after = [at for at in places if at > chosen]
    if best == _SURE:
        # "the club pay | for court use": an earlier verb would have the place as its complement
        is_clear = not any(word in PREPOSITIONS for at in before for word in lowered[at:chosen])
    elif best == _LISTED:
        is_clear = not before and not any(places[at] == best or _has_object(lowered, at) for at in after)
        is_clear = is_clear and (len(places) == 1 or chosen < len(lowered) - 1)
    else:
        is_clear = len(places) == 1
    return chosen if is_clear else None


def _verb_likeness(lowered: Sequence[str], at: int, auxiliary: str) -> int:
    """How much the word looks like the verb after a subject of the words before it; 0 if it cannot be."""
    word, before = lowered[at], lowered[at - 1]
    if before in DETERMINERS | PREPOSITIONS | FUNCTION_WORDS or before.endswith(("'s", "s'")) or word in _OBJECTS:
        return 0
    if not _can_be_subject(lowered[:at], auxiliary):
        return 0
    is_listed = verb_in(word, "base") is not None or (is_common_verb(word) and not _NO_VERBS.match(word))
    if not is_listed and _is_no_verb(word):
        return 0
    following = lowered[at + 1] if at + 1 < len(lowered) else ""
    is_only_verb = verb_in(word, "base") is not None and word not in AMBIGUOUS_VERBS
    if is_only_verb or _ONLY_VERBS.match(word) or following in _OBJECTS or _takes_infinitive(word, following):
        return _SURE
    return _LISTED if is_listed else _UNLISTED


def _is_no_verb(word: str) -> bool:
    function = FUNCTION_WORDS | PREPOSITIONS | DETERMINERS | ADVERBS | _LATE
    return word in function or bool(_NO_VERBS.match(word) or _ONLY_NOUNS.match(word))


def _takes_infinitive(word: str, following: str) -> bool:
    return word in _BARE_INFINITIVE and (verb_in(following, "base") is not None or is_common_verb(following))


def _can_be_subject(words: Sequence[str], auxiliary: str) -> bool:
    """Whether words can be a subject: agreeing with "do" or "does", with a plural only at the end."""
    head = words
    for at, word in enumerate(words):
        if at and (word in PREPOSITIONS or word == "of"):
            head = words[:at]
            break
    plural = [is_plural(word) for word in head]
    if any(plural[:-1]) and not plural[-1] and (auxiliary == "do" or words[0] not in DETERMINERS):
        return False
    return not (auxiliary == "does" and plural[-1])


def _has_object(lowered: Sequence[str], at: int) -> bool:
    """Whether an object seems to follow: a determiner, a pronoun or a plural."""
    following = lowered[at + 1] if at + 1 < len(lowered) else ""
    return following in _OBJECTS or is_plural(following)
