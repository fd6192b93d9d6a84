"""Words that show what an author thinks of a clause: "knows", "claims", "pretends", "the rumour", "it is possible".

A word has a class in ``lexicon/commitment.txt``. factive: the clause holds, also where the word is denied. committing:
it holds unless the word is denied. neutral: it is somebody else's. counter: it does not hold. supposed: it is only
imagined, wished or asked for (Karttunen 1971; Kiparsky and Kiparsky 1970). Not supported: other languages than English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from vouching.text.words import lexicon_lines

Attitude: TypeAlias = Literal["reported", "denied", "supposed", "asked", "about"]
"""reported: somebody says or believes it. denied: the author says that it is not so. supposed: imagined, wished,
planned, or the condition of something else. asked: a question. about: text about claims."""
PartOfSpeech: TypeAlias = Literal["verb", "noun", "adjective"]
Class: TypeAlias = Literal["factive", "committing", "neutral", "counter", "supposed"]
PARTS: tuple[PartOfSpeech, ...] = get_args(PartOfSpeech)
_CLASSES: tuple[Class, ...] = get_args(Class)

TOKEN = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[^\w\s]")
"""A word or a sign."""
DETERMINERS = frozenset("the a an this that his her its their our my your any no".split())
"""Words after which a form such as "report" is a noun."""
_DENIALS = frozenset("not never no nobody none nothing neither nor cannot without hardly few".split())
_WRONGLY = frozenset("falsely wrongly mistakenly erroneously incorrectly untruthfully baselessly".split())
_REACH = 5
"""How far before a word its denial stands, in words."""
_BEFORE_CLAUSE = 10
"""How far before "that" the word stands that the clause depends on."""
_OWN_VOICE = re.compile(
    r"(?:(?<!of )\b(?:this|our|the) (?:\w+ )?(?:polic(?:y|ies)|leaflet|label|contract|agreement|lease|law|act|section"
    r"|article|clause|rules?|regulations?|manual|guide|page|table|notice|terms|document|documentation|handbook"
    r"|minutes|court|tribunal)|\b(?:section|article|clause|regulation|rule|paragraph|schedule|part|chapter) [\d.]+\w?"
    r"(?: of (?:the|this|our) \w+)?) (?:also |then )?$",
    re.IGNORECASE,
)
"""A document that speaks of itself, or a text that makes true what it states."""


class Cue(NamedTuple):
    """A word with a clause."""

    base: str
    """Its base form."""
    kind: Class


@cache
def cues() -> dict[PartOfSpeech, dict[str, Cue]]:
    """The words of the lexicon by part of speech and form.

    >>> cues()["verb"]["thought"], cues()["noun"]["theories"]
    (Cue(base='think', kind='neutral'), Cue(base='theory', kind='neutral'))
    """
    found: dict[PartOfSpeech, dict[str, Cue]] = {part: {} for part in PARTS}
    part, kind = PARTS[0], _CLASSES[0]
    for line in lexicon_lines("commitment.txt"):
        words = line.split()
        if words[0] in PARTS and words[-1] in _CLASSES:
            part, kind = cast("tuple[PartOfSpeech, Class]", words)
            continue
        for form in (*words, *_inflected(words[0], part)):
            found[part][form] = Cue(words[0], kind)
    return found


def cue_at(words: Sequence[str], at: int, part: PartOfSpeech) -> Cue | None:
    """The cue that a word is, given the words of its sentence in lower case; None for other words."""
    is_noun = at > 0 and words[at - 1] in DETERMINERS
    return None if part == "verb" and is_noun else cues()[part].get(words[at])


def attitude_of(text: str, words: Sequence[str], at: int, cue: Cue, part: PartOfSpeech) -> Attitude | None:
    """What the author thinks of the clause of a cue; None if the author asserts the clause.

    Args:
        text: what stands before the cue.
        words: the words and signs of the sentence in lower case.
        at: position of the cue among them.
        cue: its class.
        part: its part of speech.
    """
    near = words[max(0, at - _REACH) : at]
    denied = any(word in _DENIALS or word.endswith("n't") for word in near)
    if cue.kind == "factive" or (denied and words[at] == "told"):
        return None
    if any(word in _WRONGLY for word in (*near[-3:], *words[at + 1 : at + 3])):
        return "denied"
    if cue.kind == "counter":
        return "denied" if not denied else "reported" if part == "verb" else None
    if cue.base in _DOUBTS and not _NOBODY.isdisjoint(near):
        return None
    if cue.kind == "committing":
        return "supposed" if denied else None
    if cue.kind == "neutral" and part == "verb" and _OWN_VOICE.search(text):
        return None
    return "reported" if cue.kind == "neutral" else "supposed"


_DOUBTS = frozenset("doubt deny dispute question".split())
"""Verbs and nouns that assert what they are about where there are none ("there is no doubt that ...")."""
_NOBODY = frozenset("nobody no none".split())


def commits_to(before: str) -> bool:
    """Whether the words before a clause, up to "that", commit the author to it.

    >>> commits_to("Tests have shown that"), commits_to("Tests have not shown that"), commits_to("The myth holds that")
    (True, False, False)
    """
    tokens = list(TOKEN.finditer(before))
    words = [token[0].lower() for token in tokens]
    nearest = range(len(words) - 2, max(-1, len(words) - 2 - _BEFORE_CLAUSE), -1)
    for part in PARTS:
        for at in nearest:
            if cue := cue_at(words, at, part):
                return attitude_of(before[: tokens[at].start()], words, at, cue, part) is None
    return False


def is_speech(before: str) -> bool:
    """Whether the last word of a text is a verb that reports what follows.

    >>> is_speech("A response that says"), is_speech("The mayor confirmed")
    (True, False)
    """
    words = [token[0].lower() for token in TOKEN.finditer(before)]
    cue = cues()["verb"].get(words[-1]) if words else None
    return cue is not None and cue.kind in ("neutral", "counter", "supposed")


def _inflected(word: str, part: PartOfSpeech) -> Iterator[str]:
    consonant_y = word.endswith("y") and word[-2] not in "aeiou"
    if part == "noun":
        yield f"{word[:-1]}ies" if consonant_y else f"{word}s"
    elif part == "verb":
        root = word.removesuffix("e")
        doubles = root == word and re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]|admit|forget|regret", root)
        stem = f"{root}{root[-1]}" if doubles else root
        yield f"{word[:-1]}ies" if consonant_y else f"{word}es" if word.endswith(("sh", "ch", "s")) else f"{word}s"
        yield f"{word[:-1]}ied" if consonant_y else f"{stem}ed"
        yield f"{stem}ing"
