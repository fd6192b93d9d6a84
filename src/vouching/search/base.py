"""The interfaces of search: engines, which answer queries, and finders, which find evidence for a claim.

Each has one async method, so a search by words and an agent look the same to callers. If an engine fails, the others
continue, and the result records the failure. Rankings of several engines are fused by reciprocal ranks (Cormack, Clarke
and Büttcher, SIGIR 2009): a passage gets the sum of 1 / (60 + rank) over its rankings, with ranks from 1, so scores of
different engines need not be comparable. Not supported: weights of engines.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from vouching.errors import ConfigError, InputError, SearchError
from vouching.types import Asked, EngineKind, Passage, SearchResult, Trajectory
from vouching.types.visible import hint

RANK_OFFSET = 60
"""The paper's constant; the larger, the smaller the advantage of the first rank."""


def fuse(rankings: Sequence[Sequence[Passage]], limit: int) -> list[Passage]:
    """The passages of all rankings, best first, at most ``limit``; ``score`` is the sum of reciprocal ranks.

    Equal spans of the same document are one passage, whose ``origin`` names all engines that found it. A single ranking
    keeps its own scores. Ties are in the order of the best rank, earlier rankings first.

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
        (
            min(rank for rank, _ in found),
            replace(
                found[0][1],
                score=sum(1 / (RANK_OFFSET + rank) for rank, _ in found),
                origin="+".join(dict.fromkeys(passage.origin for _, passage in found if passage.origin)),
            ),
        )
        for found in places.values()
    ]
    fused.sort(key=lambda item: (-item[1].score, item[0]))
    return [passage for _, passage in fused[:limit]]


class SearchEngine(Protocol):
    """A search engine."""

    @property
    def name(self) -> str:
        """The ``origin`` of its passages, e.g. "index:wiki" or "web:searxng"."""
        ...

    @property
    def kind(self) -> EngineKind:
        """Your own documents or the web."""
        ...

    async def search(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages, best first; possibly none. Raises SearchError if it is down or busy."""
        ...

    async def aclose(self) -> None:
        """Close files and connections; may be called twice."""
        ...


class Finder(Protocol):
    """Finds evidence for claims, with one query or with many."""

    async def find(self, question: str | None, claim: str) -> Trajectory:
        """Search for evidence for or against a claim that, if there is a ``question``, answers it.

        Failures are part of the trajectory: a failed engine is recorded in its turn, and if all fail, it ``ended`` as
        "failed".
        """
        ...

    async def aclose(self) -> None:
        """Close the engines; may be called twice."""
        ...


async def search_engines(engines: Sequence[SearchEngine], query: str, limit: int = 5) -> SearchResult:
    """Ask all engines at once and fuse their rankings; ``limit`` passages are taken from each and kept."""
    check_engines(engines)
    answers = await asyncio.gather(*(_ask(engine, query, limit) for engine in engines))
    return SearchResult(
        query, tuple(fuse([found for found, _ in answers], limit)), tuple(asked for _, asked in answers)
    )


def index_folder(given: str | Path) -> Path:
    """The folder of a local index. Raises InputError for the address of a server.

    >>> index_folder("http://localhost:9200/notes")
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: expected the folder of a local index, got http://localhost:9200/notes; did you mean ...
    """
    text = re.sub(r"(?i)(https?:)/+", r"\1//", str(given), count=1)  # a Path has dropped one of the slashes
    found = re.fullmatch(r"(?is)(opensearch[:=])?(https?://.*)|opensearch[:=](.*)", text)
    if found is None:
        return Path(given)
    meant = f"opensearch:{found[2] or found[3]}"
    advice = hint([meant] if text != meant else [], f"search this OpenSearch index with vouch check --index {meant}")
    raise InputError(f"expected the folder of a local index, got {text}{advice}")


def check_engines(engines: Sequence[SearchEngine], **numbers: int) -> None:
    """Raise ConfigError unless there is an engine and each of the numbers is at least 1."""
    if not engines:
        raise ConfigError("no search engine was given: choose an index (--index) or a web engine (--web)")
    for name, value in numbers.items():
        if value < 1:
            raise ConfigError(f"{name} must be at least 1, got {value}")


async def _ask(engine: SearchEngine, query: str, limit: int) -> tuple[list[Passage], Asked]:
    try:
        found = await engine.search(query, limit)
    except SearchError as error:
        return [], Asked(engine.name, 0, str(error))
    return found, Asked(engine.name, len(found))
