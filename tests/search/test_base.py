"""Several engines asked at once: fused by rank, and one that fails leaves the others working."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from vouching.errors import ConfigError, SearchError
from vouching.search.base import fuse, search_engines
from vouching.types import Asked, EngineKind, Passage, Span


@dataclass
class Shelf:
    """An engine that returns the same passages for every query, or fails."""

    name: str
    texts: tuple[str, ...] = ()
    failure: str | None = None
    kind: EngineKind = "local"

    async def search(self, query: str, limit: int) -> list[Passage]:
        if self.failure:
            raise SearchError(self.failure)
        return [passage(text, self.name) for text in self.texts][:limit]

    async def aclose(self) -> None:
        pass


def passage(text: str, origin: str = "") -> Passage:
    return Passage(Span(text, 0, len(text), source_id=text), 1.0, origin=origin)


def test_a_failing_engine_is_named_and_the_others_answer() -> None:
    engines = [Shelf("index:a", ("one", "two")), Shelf("web:b", failure="web:b answered 503")]
    result = asyncio.run(search_engines(engines, "q", limit=5))
    assert [p.span.text for p in result.passages] == ["one", "two"]
    assert result.asked == (Asked("index:a", 2), Asked("web:b", 0, "web:b answered 503"))


def test_an_error_in_vouching_is_not_taken_for_a_failing_engine() -> None:
    class Broken(Shelf):
        async def search(self, query: str, limit: int) -> list[Passage]:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(search_engines([Broken("index:a")], "q"))


def test_a_search_without_engines_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no search engine was given"):
        asyncio.run(search_engines([], "q"))


def test_what_two_rankings_share_comes_first() -> None:
    # b: 1/62 + 1/61 = .0325; a: 1/61; c: 1/62.
    fused = fuse([[passage("a", "x"), passage("b", "x")], [passage("b", "y"), passage("c", "y")]], limit=3)
    assert [p.span.text for p in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused[0].origin == "x+y"


def test_tied_passages_stay_in_the_order_of_the_rankings() -> None:
    fused = fuse([[passage("a")], [passage("b")]], limit=2)
    assert [p.span.text for p in fused] == ["a", "b"]
