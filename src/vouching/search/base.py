"""The seams of search: an engine can be asked, a finder finds evidence for a claim; and several engines asked at once.

An engine implements one async method, and so does a finder: a search by words and an agent look alike from outside. A
failing engine leaves the others working: what went wrong stands in the result, never in place of it. Several rankings
become one by reciprocal ranks (Cormack, Clarke and Büttcher, SIGIR 2009): a passage gets the sum of 1 / (60 + rank)
over the rankings it stands in, ranks from 1, so scores of engines need not be comparable. Not supported: weights of
engines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from vouching.errors import ConfigError, SearchError
from vouching.types import Asked, EngineKind, Passage, SearchResult, Trajectory

RANK_OFFSET = 60
"""The constant of the paper: how little the first place counts more than the second."""


def fuse(rankings: Sequence[Sequence[Passage]], limit: int) -> list[Passage]:
    """The passages of all rankings, best first, at most ``limit``; ``score`` is the sum of reciprocal ranks.

    The same piece of the same document is one passage, and its ``origin`` names all who found it. A single ranking
    keeps its own scores. Passages that are level stay in the order of their best rank, earlier rankings first.

    >>> from vouching.types import Span
    >>> def found(name, origin):
    ...     return Passage(Span(name, 0, 1, source_id=name), 1.0, origin=origin)
    >>> both = fuse([[found("a", "x"), found("b", "x")], [found("b", "y")]], limit=2)
    >>> [(p.span.text, p.origin, round(p.score, 4)) for p in both]  # 1/62 + 1/61, then 1/61
    [('b', 'x+y', 0.0325), ('a', 'x', 0.0164)]
    """
    filled = [ranking for ranking in rankings if ranking]
    if len(filled) == 1:
        return [*filled[0][:limit]]
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
    return [passage for _, passage in fused[:limit]]


class SearchEngine(Protocol):
    """Something that can be searched."""

    @property
    def name(self) -> str:
        """What a passage's ``origin`` says, e.g. "index:wiki" or "web:searxng"."""
        ...

    @property
    def kind(self) -> EngineKind:
        """Whether it looks in documents of one's own or on the web."""
        ...

    async def search(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages, best first; none is an answer too.

        Raises:
            SearchError: it is down, busy or answers with something unreadable.
        """
        ...

    async def aclose(self) -> None:
        """Let go of files and connections; closing twice is fine."""
        ...


class Finder(Protocol):
    """Something that finds evidence, with one query or with many."""

    async def find(self, question: str | None, claim: str) -> Trajectory:
        """The way to the evidence for a claim; its ``passages`` are what was found.

        What goes wrong is part of the trajectory: a failed engine stands in its turn, and where all is lost it
        ``ended`` as "failed".

        Args:
            question: what the claim answers; None if it stands alone.
            claim: what evidence is wanted for or against, with the words that it leans on.
        """
        ...

    async def aclose(self) -> None:
        """Let go of the engines; closing twice is fine."""
        ...


async def search_engines(engines: Sequence[SearchEngine], query: str, limit: int = 5) -> SearchResult:
    """Ask every engine at once and fuse what they return by reciprocal ranks.

    Args:
        engines: whom to ask, at least one.
        query: what to ask for.
        limit: how many passages to take from each engine, and how many to keep.

    Returns:
        The passages, best first, and each engine with what it found or why it failed.

    Raises:
        ConfigError: no engine was given.
    """
    check_engines(engines)
    answers = await asyncio.gather(*(_ask(engine, query, limit) for engine in engines))
    return SearchResult(
        query, tuple(fuse([found for found, _ in answers], limit)), tuple(asked for _, asked in answers)
    )


def check_engines(engines: Sequence[SearchEngine], **numbers: int) -> None:
    """Raise ConfigError unless there is an engine and each of the numbers is at least 1.

    >>> check_engines([])
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: no search engine was given: name an index (--index) or a web engine (--web)
    """
    if not engines:
        raise ConfigError("no search engine was given: name an index (--index) or a web engine (--web)")
    for name, value in numbers.items():
        if value < 1:
            raise ConfigError(f"{name} must be at least 1, got {value}")


async def _ask(engine: SearchEngine, query: str, limit: int) -> tuple[list[Passage], Asked]:
    try:
        found = await engine.search(query, limit)
    except SearchError as error:
        return [], Asked(engine.name, 0, str(error))
    return found, Asked(engine.name, len(found))
