"""Indexes of recent calls, so that sources are read once for further claims."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from vouching.reading.evidence import SourceIndex, index_sources
from vouching.types import Source


class IndexCache:
    """A cache of the indexes of recent calls; thread-safe."""

    def __init__(self, limit: int = 8, max_characters: int = 20_000_000) -> None:
        self.limit = limit
        self.max_characters = max_characters
        self._kept: OrderedDict[tuple[Source, ...], SourceIndex] = OrderedDict()
        self._lock = Lock()

    def index(self, sources: tuple[Source, ...]) -> SourceIndex:
        """The index of ``sources``. The newest is kept whatever its size."""
        with self._lock:
            found = self._kept.pop(sources, None)
        found = found or index_sources(sources)
        with self._lock:
            self._kept[sources] = found
            while len(self._kept) > 1 and (len(self._kept) > self.limit or self._characters() > self.max_characters):
                self._kept.popitem(last=False)
        return found

    def _characters(self) -> int:
        return sum(len(source.text) for sources in self._kept for source in sources)
