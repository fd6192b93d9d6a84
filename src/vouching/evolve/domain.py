"""What kind of text a claim and its source are, as numbers: what a router goes by.

Nothing here says whether the claim is supported, and no verifier is asked: long or short, talk or prose, dense with
numbers and names, close to the words of its source or not. Left out: topics; they would have to be learned.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from vouching.metrics.arrays import FloatArray
from vouching.text.dates import find_dates
from vouching.text.entities import find_entities
from vouching.text.negation import find_negations
from vouching.text.quantities import find_quantities
from vouching.text.sentences import sentence_spans
from vouching.text.words import Word, find_words

_LONGEST = 20_000
"""Characters of a source that are looked at."""
_TALK = frozenset({"i", "me", "my", "you", "your", "we", "our", "us", "yeah", "okay", "i'm", "it's", "don't"})
_QUOTES = re.compile('["“”]')


class _Texts(NamedTuple):
    """A claim and its source, read once."""

    claim: str
    source: str
    claim_words: list[Word]
    source_words: list[Word]
    sentences: int

    def per_claim_word(self, number: int) -> float:
        return number / max(1, len(self.claim_words))

    def per_sentence(self, number: int) -> float:
        return number / max(1, self.sentences)


def _in_source(texts: _Texts) -> float:
    known = {word.stem for word in texts.source_words}
    content = [word.stem in known for word in texts.claim_words if word.is_content]
    return sum(content) / max(1, len(content))


def _numbers(texts: _Texts) -> float:
    dates = find_dates(texts.claim)
    return texts.per_claim_word(len(find_quantities(texts.claim, dates)))


def _talk(texts: _Texts) -> float:
    return sum(word.lower in _TALK for word in texts.source_words) / max(1, len(texts.source_words))


def _letters(texts: _Texts) -> float:
    return sum(word.end - word.start for word in texts.source_words) / max(1, len(texts.source_words))


_MEASURES: Mapping[str, Callable[[_Texts], float]] = MappingProxyType(
    {
        "claim words, log": lambda texts: math.log1p(len(texts.claim_words)),
        "source words, log": lambda texts: math.log1p(len(texts.source_words)),
        "source sentences, log": lambda texts: math.log1p(texts.sentences),
        "words of a source sentence, log": lambda texts: math.log1p(texts.per_sentence(len(texts.source_words))),
        "claim words in the source": _in_source,
        "numbers in the claim": _numbers,
        "dates in the claim": lambda texts: texts.per_claim_word(len(find_dates(texts.claim))),
        "names in the claim": lambda texts: texts.per_claim_word(len(find_entities(texts.claim))),
        "denials in the claim": lambda texts: texts.per_claim_word(len(find_negations(texts.claim, texts.claim_words))),
        "talk in the source": _talk,
        "questions in the source": lambda texts: texts.per_sentence(texts.source.count("?")),
        "quotation marks in the source": lambda texts: texts.per_sentence(len(_QUOTES.findall(texts.source))),
        "letters of a source word": _letters,
    }
)
FEATURES: tuple[str, ...] = tuple(_MEASURES)
"""Names of the features, in order."""


def domain_features(claim: str, source: str) -> FloatArray:
    """The features of a claim and its source, (F,); of a long source only the first 20,000 characters count.

    >>> found = dict(zip(FEATURES, domain_features("It opened in 1937.", "It opened in 1973.").tolist(), strict=True))
    >>> found["claim words in the source"], found["dates in the claim"]  # "opened", not "1937"; 1 of 4 words
    (0.5, 0.25)
    """
    source = source[:_LONGEST]
    texts = _Texts(claim, source, find_words(claim), find_words(source), len(sentence_spans(source)))
    return np.array([measure(texts) for measure in _MEASURES.values()])
