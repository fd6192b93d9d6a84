"""Whether a text is one of a set of others, or near enough to give it away: what may not be trained on.

Two texts overlap if half of the runs of eight words of the shorter occur in the other, whatever their case and signs; a
text of fewer words must be the same. Left out: paraphrase and translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from vouching.text.words import lower_words

_RUN = 8
_SHARE = 0.5


class KnownTexts:
    """Texts that others are compared with.

    >>> known = KnownTexts(["Write a poem about the long road to the sea, and use no commas."])
    >>> known.find("Please write a poem about the long road to the sea, with commas.")
    'Write a poem about the long road to the sea, and use no commas.'
    >>> known.find("Write a poem.") is None
    True
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(texts))
        """The texts, each once."""
        self._runs = [_runs(text) for text in self.texts]
        self._where: dict[tuple[str, ...], list[int]] = {}
        for number, runs in enumerate(self._runs):
            for run in runs:
                self._where.setdefault(run, []).append(number)

    def find(self, text: str) -> str | None:
        """The text that overlaps most with this one; None if none does."""
        runs = _runs(text)
        shared = Counter(number for run in runs for number in self._where.get(run, ()))
        shares = {number: count / min(len(runs), len(self._runs[number])) for number, count in shared.items()}
        best = max(shares, key=lambda number: shares[number], default=None)
        return self.texts[best] if best is not None and shares[best] >= _SHARE else None


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of eight words; of a shorter text, all of it."""
    words = lower_words(text)
    if not words:
        return frozenset()
    return frozenset(tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)))
