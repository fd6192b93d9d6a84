"""A local index: documents of one's own, searched by words and, if it has vectors, by meaning.

An open index is a snapshot: what is added or removed later shows when it is opened again. Any number of processes may
have it open while one writes. Left out: searching within fields, filters, and spelling correction.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vouching.errors import ConfigError, InputError, SearchError, VouchError
from vouching.search.arrays import map_arrays
from vouching.search.base import fuse
from vouching.search.bm25 import Bm25, Place
from vouching.search.dense import Dense
from vouching.search.manifest import Manifest, SegmentNote, read_manifest
from vouching.search.segment import Segment
from vouching.search.terms import query_terms, scripts
from vouching.search.vectors import SentenceEncoder, open_encoder
from vouching.text.words import find_words
from vouching.types import EngineKind, Passage

DEPTH = 50
"""Passages of each ranking that are fused."""
QUICK = 50_000
"""Passages that are searched by words in a few milliseconds, which need no thread of its own."""
MIN_SHARE = 0.01
"""A script is one of the index's own if it has this share of the terms of its commonest script."""
DAMAGE = (OSError, ValueError, LookupError, TypeError)
"""What reading a damaged file can raise: numbers in it that are places elsewhere, bytes that are no text."""
_ATTEMPTS = 5


class Index:
    """An open index; a search engine, see ``search/base.py``.

    Args:
        folder: where it lies.
        manifest: what it consists of.
        segments: its segments, open.
        encoder: makes vectors of queries; None to search by words alone.
    """

    kind: EngineKind = "local"

    def __init__(
        self, folder: Path, manifest: Manifest, segments: Sequence[Segment], encoder: SentenceEncoder | None
    ) -> None:
        self.name = f"index:{folder.resolve().name}"
        """What a passage's ``origin`` says."""
        self.manifest = manifest
        """What it consists of."""
        self._segments = tuple(segments)
        self._encoder = encoder
        self._words = Bm25(self._segments)
        self._dense = Dense(self._segments) if encoder is not None else None

    def __len__(self) -> int:
        """How many passages it has."""
        return sum(int(segment.left.sum()) for segment in self._segments)

    def by_words(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages that share words with a query, best first, with their BM25 scores."""
        return self._passages(self._words.search(query_terms(query), limit))

    def by_meaning(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages whose vectors are nearest to a query's, best first, with their dot products.

        Raises:
            ConfigError: the index has no vectors.
        """
        if self._dense is None or self._encoder is None:
            raise ConfigError(f"{self.name} has no vectors: build it with --dense, or search it by words")
        return self._passages(self._dense.search(self._encoder.vectors([query])[0], limit))

    def find(self, query: str, limit: int = 5) -> list[Passage]:
        """At most ``limit`` passages, best first: by words, or if the index has vectors, by words and meaning fused.

        A query whose words and scripts are all foreign to the index finds nothing, see :meth:`foreign`.

        Args:
            query: words, or a whole question or claim.
            limit: how many passages, at least 1.

        Raises:
            InputError: ``limit`` is less than 1.
            SearchError: a file of the index cannot be read, or is damaged.
        """
        if limit < 1:
            raise InputError(f"got most={limit}, wanted at least 1 passage")
        try:
            return self._found(query, limit)
        except VouchError:
            raise
        except DAMAGE as error:
            raise SearchError(f"{self.name} cannot be read ({error}): open it again, or build it again") from error

    def _found(self, query: str, limit: int) -> list[Passage]:
        if self._dense is None:
            return self.by_words(query, limit)
        depth = max(DEPTH, limit)
        found = self.by_words(query, depth)
        # Vectors are always near to something, whatever the language.
        if not found and self.foreign(query):
            return []
        return fuse([found, self.by_meaning(query, depth)], limit)

    def foreign(self, query: str) -> str | None:
        """Why nothing can be found: none of the query's words occurs in the index. None if one does.

        Says so if the query is written in another script than the index.
        """
        words = query_terms(query)
        if not words:
            return "the query has no word"
        if not len(self):
            return "the index is empty"
        if any(segment.terms.place(word) is not None for segment in self._segments for word in words):
            return None
        own: Counter[str] = Counter()
        for note in self.manifest.segments:
            own.update(note.scripts)
        written = [script for script, count in own.most_common() if count >= MIN_SHARE * max(own.values())]
        asked = [script for script, _ in scripts(words).most_common()]
        if asked and not set(asked) & set(written):
            return f"the query is written in {' and '.join(asked)} letters, the index in {' and '.join(written)} ones"
        told = [word.lower for word in find_words(query) if word.stem in words]
        return f"none of the query's words occurs in the index: {', '.join([*dict.fromkeys(told)][:5])}"

    async def search(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages, best first; see :meth:`find`, whose errors it has."""
        if self._dense is None and len(self) <= QUICK:
            return self.find(query, limit)
        return await asyncio.to_thread(self.find, query, limit)

    async def aclose(self) -> None:
        """Nothing to do: files are let go of with the index itself."""

    def _passages(self, found: Sequence[tuple[Place, float]]) -> list[Passage]:
        return [self._segments[segment].passage(number, score, self.name) for (segment, number), score in found]


def open_index(path: str | Path, encoder: SentenceEncoder | None = None) -> Index:
    """Open an index.

    Args:
        path: its folder.
        encoder: makes vectors of queries; None to open the one that the index was built with, if any.

    Raises:
        InputError: there is no index, or it is damaged.
        ConfigError: it has another format, or was built with another encoder.
        MissingExtraError: its vectors need a package that is not installed.

    >>> import tempfile
    >>> from vouching.search.index_writer import create_index
    >>> from vouching.types import Source
    >>> folder = Path(tempfile.mkdtemp()) / "towns"
    >>> with create_index(folder) as writer:
    ...     _ = writer.add(Source("Ada built the mill. It stands in Oslo.", id="mill.txt"))
    >>> [passage] = open_index(folder).find("Who built mills?")
    >>> passage.span.source_id, passage.span.start, passage.origin
    ('mill.txt', 0, 'index:towns')
    """
    folder = Path(path)
    manifest, segments = open_segments(folder)
    return Index(folder, manifest, segments, query_encoder(folder, manifest, encoder))


def index_facts(path: str | Path) -> dict[str, Any]:
    """What an index holds and how it was made, for people and for JSON.

    Args:
        path: its folder.

    Raises:
        InputError: there is no index, or it is damaged.
        ConfigError: it has another format.

    >>> import tempfile
    >>> from vouching.search.index_writer import create_index
    >>> from vouching.types import Source
    >>> folder = Path(tempfile.mkdtemp()) / "towns"
    >>> with create_index(folder) as writer:
    ...     _ = writer.add(Source("Ada built the mill.", id="mill.txt"))
    >>> facts = index_facts(folder)
    >>> facts["documents"], facts["passages"], facts["encoder"], facts["format"]
    (1, 1, None, 1)
    """
    folder = Path(path)
    manifest, segments = open_segments(folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {
        "documents": sum(len(np.unique(segment.places[segment.left, 0])) for segment in segments),
        "passages": sum(int(segment.left.sum()) for segment in segments),
        "words_per_passage": manifest.max_words,
        "encoder": manifest.encoder,
        "segments": len(segments),
        "megabytes": round(size / 1e6, 3),
        "format": manifest.format,
        "written_by": manifest.written_by,
    }


def query_encoder(folder: Path, manifest: Manifest, encoder: SentenceEncoder | None) -> SentenceEncoder | None:
    """The encoder whose vectors are in an index: the one that is given, or the one that its manifest names.

    Raises:
        ConfigError: it is another one, or the index has no vectors.
        MissingExtraError: it needs a package that is not installed.
    """
    if manifest.encoder is None:
        if encoder is not None:
            raise ConfigError(f"the index in {folder} has no vectors, got the encoder {encoder.name}: build it with it")
        return None
    encoder = encoder or open_encoder(manifest.encoder)
    if encoder.digest != manifest.digest:
        raise ConfigError(
            f"the vectors in {folder} were made by {manifest.encoder} ({manifest.digest}), got {encoder.name} "
            f"({encoder.digest}): name that encoder, or build the index again"
        )
    return encoder


def open_segments(folder: Path) -> tuple[Manifest, list[Segment]]:
    """What an index consists of, its segments open.

    Raises:
        InputError: there is no index, or it is damaged.
        ConfigError: it has another format.
    """
    for attempt in range(_ATTEMPTS):
        manifest = read_manifest(folder)
        try:
            return manifest, [_segment(folder, note) for note in manifest.segments]
        except FileNotFoundError as error:
            # A writer may have merged segments after the manifest was read.
            if attempt == _ATTEMPTS - 1:
                raise InputError(f"the index in {folder} lacks {error.filename}: build it again") from None
        except DAMAGE as error:
            raise InputError(f"the index in {folder} cannot be read ({error}): build it again") from None
    raise AssertionError("the last attempt returns or raises")


def _segment(folder: Path, note: SegmentNote) -> Segment:
    removed = None if note.removed is None else map_arrays(folder / note.removed)["removed"]
    segment = Segment(folder / note.name, removed)
    if len(segment) != note.passages:
        raise ValueError(f"{note.name} has {len(segment)} passages, wanted {note.passages}")
    return segment
