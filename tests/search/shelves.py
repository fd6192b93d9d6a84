"""Engines for tests of searches: shelves that answer by words of the query, and one that is down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vouching.errors import SearchError
from vouching.types import EngineKind, Passage, Span


@dataclass
class Library:
    """Returns the texts whose key is in the query, in its own order; remembers what it was asked."""

    texts: Mapping[str, tuple[str, str]]
    """Title and text by a word of the query; "" is in every query."""
    kind: EngineKind = "local"
    name: str = "index:library"
    asked: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    closed: bool = False

    async def search(self, query: str, limit: int) -> list[Passage]:
        self.asked.append((query, limit))
        found = [both for key, both in self.texts.items() if key.lower() in query.lower()]
        return [passage(title, text, self.name) for title, text in found][:limit]

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class Down:
    """Answers nothing."""

    kind: EngineKind = "web"
    name: str = "web:down"

    async def search(self, query: str, limit: int) -> list[Passage]:
        raise SearchError(f"{self.name} answered 503")

    async def aclose(self) -> None:
        pass


def passage(title: str, text: str, origin: str = "") -> Passage:
    """A whole text as a passage of the document with its title."""
    return Passage(Span(text, 0, len(text), title or text), 1.0, title, origin=origin)
