"""How much of a right answer an answer holds: F1 over words, as question answering is measured since SQuAD.

Left out: exact match; and languages without blanks between words, which are one word here.
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


def _words(text: str) -> Counter[str]:
    return Counter(_ARTICLE.sub(" ", text.lower().translate(_NO_MARKS)).split())


def _f1(words: Counter[str], others: Counter[str]) -> float:
    if not words or not others:
        return float(words == others)
    return 2 * (words & others).total() / (words.total() + others.total())
