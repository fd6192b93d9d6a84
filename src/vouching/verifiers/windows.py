"""Long texts in windows of whole sentences, for models that read only so much at once.

Left out: windows that overlap; the peers that read in windows were built without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vouching.text.sentences import sentence_spans


def windows(text: str, most: int, length: Callable[[str], int]) -> Iterator[str]:
    """The text in order, in windows of as many sentences as fit; a sentence that is longer stands alone.

    Args:
        text: what is read.
        most: length of a window, in whatever ``length`` counts.
        length: measures a sentence.

    >>> [*windows("One two. Three four. Five.", 4, lambda sentence: len(sentence.split()))]
    ['One two. Three four.', 'Five.']
    """
    first: int | None = None
    end = used = 0
    for start, stop in sentence_spans(text):
        size = length(text[start:stop])
        if first is not None and used + size > most:
            yield text[first:end]
            first, used = None, 0
        first = start if first is None else first
        end, used = stop, used + size
    if first is not None:
        yield text[first:end]
