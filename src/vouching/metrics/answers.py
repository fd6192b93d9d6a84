"""How much of a right answer an answer holds: exact match and F1 over words, as in question answering since SQuAD.

Left out: languages without blanks between words, which are one word here.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from vouching.errors import InputError

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


def token_f1(answer: str, references: Sequence[str]) -> float:
    """F1 of the words of an answer and of the reference that it is nearest to (Rajpurkar et al. 2016), in [0, 1].

    Words are lower case, without marks and articles, and each counts as often as it stands there. Two texts without a
    word are equal, and one without a word has nothing in common with one that has some.

    Raises:
        InputError: no reference.

    >>> token_f1("The bridge opened in 1973.", ["1937", "in 1973"])  # 2 of 4 words, 2 of 2: 2 * .5 * 1 / 1.5
    0.6666666666666666
    """
    if not references:
        raise InputError("the F1 of words needs at least one reference, got none")
    words = _words(answer)
    return max(_f1(words, _words(reference)) for reference in references)


def exact_match(answer: str, references: Sequence[str]) -> float:
    """1 if an answer has the words of a reference, in its order (Rajpurkar et al. 2016); else 0.

    Words as in :func:`token_f1`.

    Raises:
        InputError: no reference.

    >>> exact_match("The Golden Gate.", ["golden gate", "Gate"]), exact_match("gate golden", ["golden gate"])
    (1.0, 0.0)
    """
    if not references:
        raise InputError("an exact match needs at least one reference, got none")
    return float(normalised(answer) in map(normalised, references))


def normalised(text: str) -> str:
    """The words of an answer as they are compared: lower case, without marks and articles, one blank between them.

    >>> normalised("The  Akashi-Kaikyo, a bridge")
    'akashikaikyo bridge'
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_MARKS)).split())


def _words(text: str) -> Counter[str]:
    return Counter(normalised(text).split())


def _f1(words: Counter[str], others: Counter[str]) -> float:
    if not words or not others:
        return float(words == others)
    return 2 * (words & others).total() / (words.total() + others.total())
