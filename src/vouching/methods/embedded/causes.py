"""Which of two things is said to bring about the other: "A led to B", "B because of A", "due to A, B".

The words around the connective are sorted into those that only one side has. Not supported: causes in two sentences,
chains of causes, and denied causes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from vouching.methods.embedded.comparatives import Compared
from vouching.text.cues import find_negations
from vouching.text.words import Word, find_words

_FORWARD = (
    r"caus(?:ed|es|ing)|led to|leads to|leading to|result(?:ed|s|ing) in|br(?:ought|ings) about|trigger(?:ed|s|ing)"
    r"|g(?:ave|ives|iving) rise to|(?:is|are|was|were) (?:the (?:main )?(?:cause|reason) (?:of|for)|responsible for)"
    r"|which is why"
)
_BACKWARD = (
    r"(?:caused|brought about|triggered) by|because(?: of)?|due to|owing to|thanks to|on account of|down to|for lack of"
    r"|(?:result|stemm?)(?:ed|s|ing) from|as a (?:result|consequence) of|attribut(?:ed|able) to|(?<=, )as"
)
_CONNECTIVE = re.compile(rf"\b(?:(?P<backward>{_BACKWARD})|(?P<forward>{_FORWARD}))\b", re.IGNORECASE)
_CUE = re.compile(
    "caus|led to|lead|result|about|trigger|rise to|respons|due|owing|stem|thanks|attribut|account|down|, as|lack"
)
_BREAK = re.compile(r"[,;:()]|\.\s|\b(?:but|although|while|whereas)\b")
_RELATIVE = ("which ", "who ", "that ", "whose ", "where ")
_CACHED = 4_000


@lru_cache(maxsize=_CACHED)
def find_cause(text: str) -> Compared | None:
    """The two sides of the first connective of a sentence; ``up`` if the first side brings about the second.

    >>> found = find_cause("The road was closed because of the flood.")
    >>> found and (found.up, sorted(found.first), sorted(found.second))
    (False, ['clos', 'road'], ['flood'])
    """
    found = _CONNECTIVE.search(text) if _CUE.search(text.lower()) else None
    words = find_words(text) if found else []
    if not found or find_negations(text, words):
        return None
    word = next(at for at, word in enumerate(words) if word.end > found.start())
    before, after = text[: found.start()].rstrip(" ,"), found.end()
    stop = _BREAK.search(text, after)
    end = stop.start() if stop else len(text)
    if not before.strip(" \"'*"):  # "Because of the flood, the road was closed"
        begin = end
        stop = _BREAK.search(text, end + 1)
        left, right = _stems(words, begin, stop.start() if stop else len(text)), _stems(words, after, end)
    else:
        before = before.removesuffix(" which").rstrip(" ,")
        begins = [match.end() for match in _BREAK.finditer(before)]
        begin = begins[-1] if begins else 0
        if before[begin:].lstrip().startswith(_RELATIVE):
            return None
        left, right = _stems(words, begin, len(before)), _stems(words, after, end)
    shared = left & right
    left, right = left - shared, right - shared
    if not left or not right:
        return None
    return Compared(word, found["forward"] is not None, "cause", left, right, False, shared, frozenset())


def _stems(words: list[Word], start: int, end: int) -> frozenset[str]:
    return frozenset(word.stem for word in words if start <= word.start < end and word.is_content)
