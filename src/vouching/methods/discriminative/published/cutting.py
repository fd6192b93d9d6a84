"""The windows in which published verifiers read a document, by the rules of their authors' code.

The sentences are those of our own splitter; the authors use that of nltk, which downloads data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from vouching.judging.windows import windows
from vouching.text.sentences import sentence_spans

Length: TypeAlias = Callable[[str], int]
"""Length of a sentence, in words or tokens."""
Cut: TypeAlias = Callable[[str, int, Length], list[str]]
"""From a document, a limit and a measure to its windows; none for an empty document."""
_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> int:
    """Number of words between blanks."""
    return len(text.split())


def words_and_marks(text: str) -> int:
    """Number of words and punctuation marks; nltk's ``word_tokenize``, which FactCG counts with, also splits "don't".

    >>> words_and_marks("It opened in 1973, twice.")
    7
    """
    return len(_WORD.findall(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space between them."""
    return [text[start:end] for start, end in sentence_spans(text)]


def whole_or_windows(text: str, limit: int, length: Length) -> list[str]:
    """The text as it is if it fits, else windows of whole sentences."""
    return [text] if length(text) <= limit else [*windows(text, limit, length)]


def minicheck_windows(text: str, limit: int, length: Length) -> list[str]:
    r"""Sentences joined by a blank, and lines as they are (MiniCheck, ``inference.py``, ``inference_per_example``).

    >>> minicheck_windows("One two.  Three.\nFour five.", 3, words)
    ['One two. Three.', 'Four five.']
    """
    lines = [sentences(line) for line in text.split("\n")]
    parts = [part for line in lines for part in ("\n", *line)][1:]
    joined = (" ".join(window).replace(" \n ", "\n").strip() for window in _packed(parts, limit, length))
    return [window for window in joined if window]


def factcg_windows(text: str, limit: int, length: Length) -> list[str]:
    """Sentences, a line each (FactCG, ``inference.py``, ``chunking_src``)."""
    return ["\n".join(window) for window in _packed(sentences(text), limit, length) if window]


def alignscore_windows(text: str, limit: int, length: Length) -> list[str]:
    """Windows with equal numbers of sentences, about ``limit`` words each (AlignScore, ``inference_per_example``).

    >>> alignscore_windows("One two. Three four. Five six.", 3, words)
    ['One two.', 'Three four.', 'Five six.']
    """
    found = sentences(text)
    size = max(len(found) // (length(text) // limit + 1), 1)
    return [" ".join(found[start : start + size]) for start in range(0, len(found), size)]


def _packed(parts: Iterable[str], limit: int, length: Length) -> Iterator[list[str]]:
    """As many parts in a row as fit into ``limit``; a longer part goes alone."""
    window: list[str] = []
    total = 0
    for part in parts:
        size = length(part)
        if total + size > limit:
            yield window
            window, total = [], 0
        window.append(part)
        total += size
    yield window
