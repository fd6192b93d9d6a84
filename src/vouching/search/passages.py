"""Splits documents into overlapping passages of whole sentences, with offsets in the document's text.

The windows are those of the encoder, in words instead of tokens. Not supported: splitting by headings or by meaning.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.tokens import OVERLAP, cut_windows
from vouching.text.sentences import sentence_spans
from vouching.text.words import lower_words, word_offsets

PASSAGE_WORDS = 160
"""Default maximal number of words; such a passage fits with a claim into one window of the encoder."""
MIN_WORDS = 2 * OVERLAP
"""Minimum of this number: a passage must be longer than its overlap."""

_LONG = 100_000
"""Characters above which words are not collected in a list to count them."""


def cut_passages(text: str, max_words: int = PASSAGE_WORDS) -> list[tuple[int, int]]:
    """Split a text into passages of whole sentences; longer sentences are split between words.

    A passage repeats the last sentences of the one before, up to 32 words.

    Returns:
        ``(start, end)`` offsets, trimmed, in order; none for a text without words. Every word is in a passage.

    >>> text = "One two three. Four five six seven. Eight."
    >>> [text[start:end] for start, end in cut_passages(text, max_words=7)]
    ['One two three. Four five six seven.', 'Four five six seven. Eight.']
    """
    if len(text) < _LONG and (count := len(lower_words(text))) <= max_words:
        return [_trimmed(text, 0, len(text))] if count else []
    words = np.frombuffer(word_offsets(text), np.int64).reshape(-1, 2)
    if (count := len(words)) <= max_words:
        return [_trimmed(text, 0, len(text))] if count else []
    sentences = np.array(sentence_spans(text), np.int64)
    first_words = np.searchsorted(words[:, 0], sentences[:, 0])
    bounds = np.unique(np.concatenate([[0], first_words, [count]])).astype(np.int32)
    return [
        _trimmed(text, _begin(words, sentences, first), _begin(words, sentences, after) if after < count else len(text))
        for first, after in cut_windows(bounds, max_words).tolist()
    ]


def pages_of(text: str, places: Sequence[int]) -> list[int]:
    r"""The pages of offsets, from 1, in a text whose pages end with a form feed.

    >>> pages_of("one\ftwo\fthree", [0, 5])
    [1, 2]
    """
    breaks = [found.start() for found in re.finditer("\f", text)]
    return [bisect_left(breaks, at) + 1 for at in places]


def _begin(words: NDArray[np.int64], sentences: NDArray[np.int64], word: int) -> int:
    """Start of a passage that begins with this word: that of its sentence if it is the first word of it."""
    at = int(words[word, 0])
    sentence = int(sentences[np.searchsorted(sentences[:, 0], at, side="right") - 1, 0])
    return sentence if not word or sentence >= words[word - 1, 1] else at


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())
