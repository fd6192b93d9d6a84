"""Passages by the words they share with a query: BM25 over the segments of an index.

score(q, p) = sum over terms t of q of idf(t) f / (f + k1 (1 - b + b |p| / mean |p|)),
idf(t) = ln(1 + (N - n + .5) / (n + .5)): f how often p has t, n how many of the N passages have it.

This is BM25 (Robertson & Zaragoza 2009, eq. 3.15) with Lucene's idf, as the package bm25s has it too; that one stores
finished scores, which go stale with every document that comes or goes. Here postings hold counts, and N, n and mean |p|
are those of the passages that are left: an index scores as one built at once, in whatever steps it came to be. Left
out: fields (words of the title count several times instead), and skipping passages that cannot be among the best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vouching.search.segment import Segment

K1 = 0.9
"""How soon more of the same word counts no more; chosen with ``B`` on training questions, see docs/search.md."""
B = 0.75
"""How much long passages are held back, 0 to 1."""
Place = tuple[int, int]
"""A passage of an index: number of the segment, number in it."""


class Bm25:
    """Segments that can be searched by words.

    Args:
        segments: the segments of an index.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._passages = sum(int(segment.left.sum()) for segment in segments)
        total = sum(int(segment.lengths[segment.left].sum()) for segment in segments)
        mean = total / max(1, self._passages) or 1.0
        self._damping = [(K1 * (1 - B + B * segment.lengths / mean)).astype(np.float32) for segment in segments]

    def search(self, terms: Sequence[str], limit: int) -> list[tuple[Place, float]]:
        """The passages with the highest scores, best first, at most ``limit``; each has one of the terms at least.

        Args:
            terms: stems, each once, see :func:`vouching.search.terms.query_terms`.
            limit: how many.
        """
        scores = [np.zeros(len(segment), np.float32) for segment in self._segments]
        for term in terms:
            found = [segment.postings(term) for segment in self._segments]
            having = sum(len(postings.passages) for postings in found if postings)
            idf = math.log1p((self._passages - having + 0.5) / (having + 0.5))
            for postings, score, damping in zip(found, scores, self._damping, strict=True):
                if postings:
                    counts = postings.counts.astype(np.float32)
                    score[postings.passages] += idf * counts / (counts + damping[postings.passages])
        return best(scores, limit)


def best(scores: Sequence[NDArray[np.float32]], limit: int) -> list[tuple[Place, float]]:
    """The highest positive scores of several segments with their places, best first; of equals the first.

    >>> best([np.array([0, 2], np.float32), np.array([3, 0, 2], np.float32)], limit=2)
    [((1, 0), 3.0), ((0, 1), 2.0)]
    """
    found: list[tuple[Place, float]] = []
    for number, score in enumerate(scores):
        places = np.flatnonzero(score > 0)
        if len(places) > limit:
            places = places[score[places] >= np.partition(score[places], -limit)[-limit]]
        places = places[np.argsort(-score[places], kind="stable")[:limit]]
        found += [
            ((number, place), value) for place, value in zip(places.tolist(), score[places].tolist(), strict=True)
        ]
    return sorted(found, key=lambda item: (-item[1], item[0]))[:limit]
