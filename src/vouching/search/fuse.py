"""Several rankings made one, by reciprocal ranks (Cormack, Clarke and Büttcher, SIGIR 2009).

A passage gets the sum of 1 / (60 + rank) over the rankings it stands in, ranks from 1: scores of engines need not be
comparable. Left out: weights of rankings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vouching.types import Passage

RANK_OFFSET = 60
"""The constant of the paper: how little the first place counts more than the second."""


def fuse(rankings: Sequence[Sequence[Passage]], most: int) -> list[Passage]:
    """The passages of all rankings, best first, at most ``most``; ``score`` is the sum of reciprocal ranks.

    The same piece of the same document is one passage, and its ``origin`` names all who found it. A single ranking
    keeps its own scores. Passages that are level stay in the order of their best rank, earlier rankings first.

    >>> from vouching.types import Span
    >>> def found(name, origin):
    ...     return Passage(Span(name, 0, 1, source_id=name), 1.0, origin=origin)
    >>> both = fuse([[found("a", "x"), found("b", "x")], [found("b", "y")]], most=2)
    >>> [(p.span.text, p.origin, round(p.score, 4)) for p in both]  # 1/62 + 1/61, then 1/61
    [('b', 'x+y', 0.0325), ('a', 'x', 0.0164)]
    """
    filled = [ranking for ranking in rankings if ranking]
    if len(filled) == 1:
        return [*filled[0][:most]]
    places: dict[tuple[str | None, int, int, str], list[tuple[int, Passage]]] = {}
    for ranking in filled:
        for rank, passage in enumerate(ranking, 1):
            span = passage.span
            places.setdefault((span.source_id, span.start, span.end, span.text), []).append((rank, passage))
    fused = [
        (min(rank for rank, _ in found), replace(
            found[0][1],
            score=sum(1 / (RANK_OFFSET + rank) for rank, _ in found),
            origin="+".join(dict.fromkeys(passage.origin for _, passage in found if passage.origin)),
        ))
        for found in places.values()
    ]  # fmt: skip
    fused.sort(key=lambda item: (-item[1].score, item[0]))
    return [passage for _, passage in fused[:most]]
