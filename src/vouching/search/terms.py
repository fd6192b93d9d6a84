"""The index terms of a text: the stems of its words, and its script.

Stems are those that verifiers compare (``text.words``): inflected forms match, accents are ignored. Each character of
Chinese, Japanese or Korean is a word. Not supported: splitting compounds, synonyms, and segmentation of other scripts
without spaces.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter

from vouching.text.words import find_words, lower_words, stem

_MAX_KNOWN = 1_000_000
_INITIAL = itemgetter(slice(0, 1))


def terms(text: str) -> list[str]:
    """The stems of a text's words, in order.

    >>> terms("Cafés improved, improvements studied")
    ['caf', 'improv', 'improv', 'study']
    """
    return [stem(word) for word in lower_words(text)]


def query_terms(query: str) -> list[str]:
    """The distinct stems of a query, without function words unless it has nothing else.

    >>> query_terms("Who built the mills of the mill town?"), query_terms("The Who")
    (['build', 'mill', 'town'], ['the', 'who'])
    """
    words = find_words(query)
    return [*dict.fromkeys(word.stem for word in [w for w in words if w.is_content] or words)]


def scripts(words: Iterable[str]) -> Counter[str]:
    """Number of words that begin with a letter of each script; other words are not counted.

    >>> scripts(["mill", "Oslo", "москва", "1973"])
    Counter({'latin': 2, 'cyrillic': 1})
    """
    found: Counter[str] = Counter()
    for letter, count in Counter(map(_INITIAL, words)).items():
        if script := _script(letter):
            found[script] += count
    return found


class Stems(dict[str, str]):
    """The stems of many texts; each word is stemmed once."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_KNOWN:
            self.clear()
        found = self[word] = stem(word)
        return found

    def of(self, text: str) -> list[str]:
        """As :func:`terms`."""
        return [*map(self.__getitem__, lower_words(text))]


@lru_cache(maxsize=10_000)
def _script(letter: str) -> str:
    """The first word of a letter's Unicode name, which is its script for nearly all; empty for other characters."""
    return unicodedata.name(letter, "").split(" ")[0].lower() if letter.isalpha() else ""
