"""Long sources in windows: cut between sentences, overlapping, and the few that a claim's words point to.

Left out: windows made of sentences from different places, and choosing by meaning; that is the encoder's own work.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

OVERLAP = 32
"""Most tokens that a window repeats of the one before."""
Windows: TypeAlias = NDArray[np.int32]
"""(W, 2): first token and the one after the last, both columns increasing."""


def cut_windows(sentence_starts: NDArray[np.int32], budget: int) -> Windows:
    """Cut tokens into windows of whole sentences; a sentence beyond the budget is cut itself.

    Windows follow each other without a gap. Each repeats the last sentences of the one before, as far as these have
    at most ``OVERLAP`` tokens (pieces of a long sentence: half the budget, if that is less).

    Args:
        sentence_starts: (S + 1,) first token of each sentence and, last, the end; increasing.
        budget: most tokens of a window, at least 1.

    Returns:
        (W, 2) first and after last token; none if there are no tokens.

    >>> cut_windows(np.array([0, 30, 60, 90], np.int32), budget=64).tolist()
    [[0, 60], [30, 90]]
    >>> cut_windows(np.array([0, 10], np.int32), budget=4).tolist()
    [[0, 4], [2, 6], [4, 8], [6, 10]]
    """
    bounds = np.unique(sentence_starts)
    windows: list[tuple[int, int]] = []
    sentence = 0
    while sentence < len(bounds) - 1:
        first = int(bounds[sentence])
        after = int(np.searchsorted(bounds, first + budget, side="right")) - 1
        if after == sentence:
            end = int(bounds[sentence + 1])
            step = budget - min(OVERLAP, budget // 2)
            pieces = range(first, end - (budget - step), step)
            windows += [(start, min(start + budget, end)) for start in pieces]
            sentence += 1
            continue
        windows.append((first, int(bounds[after])))
        if after == len(bounds) - 1:
            break
        # As much as overlaps, as long as the next sentence fits in too; else the window would say nothing new.
        earliest = max(int(bounds[after]) - OVERLAP, int(bounds[after + 1]) - budget)
        sentence = min(after, max(sentence + 1, int(np.searchsorted(bounds, earliest, side="left"))))
    return np.array(windows, np.int32).reshape(-1, 2)


class TokenIndex:
    """Where each token id occurs in a long array of them; made once, asked for every claim.

    Args:
        ids: (T,) token ids.
    """

    def __init__(self, ids: NDArray[np.int32]) -> None:
        self._places = np.argsort(ids, kind="stable").astype(np.int32)
        self._sorted = ids[self._places]

    def places(self, token: int) -> NDArray[np.int32]:
        """Positions of a token id, increasing.

        >>> TokenIndex(np.array([5, 7, 5], np.int32)).places(5)
        array([0, 2], dtype=int32)
        """
        low, high = np.searchsorted(self._sorted, [token, token + 1])
        return self._places[low:high]

    def preselect(self, claim: NDArray[np.int32], windows: Windows, most: int) -> NDArray[np.intp]:
        """Numbers of the windows that share the rarest tokens with a claim, at most ``most``, in order of the text.

        A shared token counts once, by the inverse document frequency of BM25 (Robertson & Zaragoza 2009, eq. 3.3) over
        the windows; of windows with equal sums the first is taken.

        >>> windows = np.array([[0, 2], [2, 4], [4, 6]], np.int32)
        >>> TokenIndex(np.array([1, 2, 1, 3, 1, 4], np.int32)).preselect(np.array([1, 4], np.int32), windows, most=1)
        array([2])
        """
        if len(windows) <= most:
            return np.arange(len(windows))
        score = np.zeros(len(windows))
        for token in np.unique(claim).tolist():
            places = self.places(token)
            has = np.searchsorted(places, windows[:, 1]) > np.searchsorted(places, windows[:, 0])
            having = has.sum()
            score += has * np.log1p((len(windows) - having + 0.5) / (having + 0.5))
        return np.sort(np.argsort(-score, kind="stable")[:most])
