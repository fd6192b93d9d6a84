"""Evidence by a single query: the claim, with its question before it, put to every engine at once.

The simplest finder. Left out: a second look with other words; an agent does that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vouching.search.base import SearchEngine, check_engines, search_engines
from vouching.types import SearchTurn, Trajectory


class SingleShot:
    """Asks every engine once and keeps the best passages of all.

    Args:
        engines: whom to ask, at least one.
        most: how many passages to take from each engine, and how many to keep; at least 1.

    Raises:
        ConfigError: no engine, or ``most`` out of its range.

    >>> from vouching.types import Passage, Span
    >>> class Shelf:
    ...     name, kind = "index:shelf", "local"
    ...     async def search(self, query, most):
    ...         return [Passage(Span("It opened in 1973.", 0, 18, "bridge.txt"), 1.0, origin=self.name)]
    ...     async def aclose(self): ...
    >>> found = asyncio.run(SingleShot([Shelf()]).find("When did it open?", "In 1973."))
    >>> found.turns[0].query, [passage.span.text for passage in found.passages], found.ended
    ('When did it open? In 1973.', ['It opened in 1973.'], 'exhausted')
    """

    def __init__(self, engines: Sequence[SearchEngine], most: int = 5) -> None:
        check_engines(engines, most=most)
        self.engines = tuple(engines)
        """Whom it asks."""
        self._most = most

    async def find(self, question: str | None, claim: str) -> Trajectory:
        """What one query brings; ``ended`` is "failed" where no engine answered, else "exhausted"."""
        query = " ".join([*([question] if question else []), claim])
        result = await search_engines(self.engines, query, self._most)
        turn = SearchTurn("The claim as it stands, to every engine.", "all", query, result)
        return Trajectory(
            question=question or claim,
            answers=(claim,) if question else (),
            turns=(turn,),
            ended="failed" if result.failed else "exhausted",
            searcher="single",
        )

    async def aclose(self) -> None:
        """Close every engine."""
        await asyncio.gather(*(engine.aclose() for engine in self.engines))
