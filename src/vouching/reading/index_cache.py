"""Indexes of recent calls, so that sources are read once for further claims."""

from __future__ import annotations

from vouching.reading.evidence import SourceIndex, index_sources
from vouching.reading.growing import GrowingCache
from vouching.types import Source


class IndexCache(GrowingCache[Source, SourceIndex]):
    """A cache of the indexes of recent calls; thread-safe. See :class:`GrowingCache`."""

    def __init__(self, limit: int = 8, max_characters: int = 20_000_000) -> None:
        super().__init__(
            lambda before, sources: index_sources(sources, before),
            lambda source: len(source.text),
            limit,
            max_characters,
        )
