"""A local index: your own documents, searched by words and, if it has vectors, by meaning.

An open index is a snapshot: changes are visible once it is opened again. Any number of processes may have it open while
one writes. Not supported: searching within fields, filters, and spelling correction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError, InputError, SearchError
from vouching.search.base import fuse, index_folder
from vouching.search.store import Manifest, Store, read_manifest, reading, state_path
from vouching.search.terms import query_terms, scripts
from vouching.search.vectors import Dense, SentenceEncoder, open_encoder
from vouching.text.words import find_words
from vouching.types import EngineKind, Passage
from vouching.types.visible import shorten

DEPTH = 50
"""Passages of each ranking that are fused."""
QUICK = 50_000
"""Passages up to which a search by words takes a few milliseconds and needs no thread."""
MIN_SHARE = 0.01
"""Minimal share of a script in an index, relative to the number of passages of the most common script."""
_ATTEMPTS = 5
_MAX_WORD = 40
"""Characters of a word that are shown in a message."""


class Index:
    """An open index; a search engine, see ``search/base.py``. Without ``dense``, it is searched by words alone."""

    kind: EngineKind = "local"

    def __init__(
        self, folder: Path, manifest: Manifest, store: Store, dense: Dense | None, encoder: SentenceEncoder | None
    ) -> None:
        self.name = f"index:{folder.resolve().name}"
        """The ``origin`` of its passages."""
        self.manifest = manifest
        self._folder = folder
        self._store, self._dense, self._encoder = store, dense, encoder

    def __len__(self) -> int:
        """How many passages it has."""
        return len(self._store)

    def by_words(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages that share words with a query, best first, with their BM25 scores.

        Raises InputError if a file of the index is damaged.
        """
        with reading(self._folder):
            return self._by_words(query, limit)

    def by_meaning(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages whose vectors are nearest to a query's, best first, with their dot products.

        Raises ConfigError if the index has no vectors, and InputError if a file of the index is damaged.
        """
        with reading(self._folder):
            return self._by_meaning(query, limit)

    def _by_words(self, query: str, limit: int) -> list[Passage]:
        hits = self._store.ranked(query_terms(query), limit)
        return [self._store.passage(place, score, self.name) for _, score, place in hits]

    def _by_meaning(self, query: str, limit: int) -> list[Passage]:
        if self._dense is None or self._encoder is None:
            raise ConfigError(f"{self.name} has no vectors: build the index with --dense, or search by words")
        found = self._dense.search(self._encoder.vectors([query], "query")[0], limit)
        places = self._store.numbered([number for number, _ in found])
        return [self._store.passage(places[number], score, self.name) for number, score in found]

    def find(self, query: str, limit: int = 5) -> list[Passage]:
        """At most ``limit`` passages, best first: by words, or if the index has vectors, by words and meaning fused.

        Nothing is found if no word of the query occurs in the index, see :meth:`foreign`. Raises InputError if
        ``limit`` is less than 1, or a file of the index is damaged or cannot be read.
        """
        with reading(self._folder):
            return self._found(query, limit)

    def _found(self, query: str, limit: int) -> list[Passage]:
        if limit < 1:
            raise InputError(f"limit must be at least 1, got {limit}")
        if self._dense is None:
            return self._by_words(query, limit)
        depth = max(DEPTH, limit)
        found = self._by_words(query, depth)
        # A vector always has neighbours, whatever the language of the query.
        if not found:
            return []
        return fuse([found, self._by_meaning(query, depth)], limit)

    def foreign(self, query: str) -> str | None:
        """The reason why nothing can be found: none of the query's words occurs in the index. None if one does.

        It mentions the script if that of the query differs from that of the index. Raises InputError if a file of the
        index is damaged.
        """
        words = query_terms(query)
        if not words:
            return "the query has no words"
        if not len(self):
            return "the index is empty"
        with reading(self._folder):
            if self._store.ranked(words, 1):
                return None
        own = self._store.scripts
        written = sorted((s for s in own if own[s] >= MIN_SHARE * max(own.values())), key=lambda script: -own[script])
        asked = [script for script, _ in scripts(words).most_common()]
        if asked and not set(asked) & set(written):
            return f"the query uses {' and '.join(asked)} letters, but the index uses {' and '.join(written)} ones"
        shown = [shorten(word.lower, _MAX_WORD) for word in find_words(query) if word.stem in words]
        return f"none of the query's words occurs in the index: {', '.join([*dict.fromkeys(shown)][:5])}"

    async def search(self, query: str, limit: int) -> list[Passage]:
        """As :meth:`find`, without blocking the event loop for long. Raises SearchError if a file is damaged."""
        with reading(self.name, _search_error):
            if self._dense is None and len(self) <= QUICK:
                return self._found(query, limit)
            return await asyncio.to_thread(self._found, query, limit)

    async def aclose(self) -> None:
        """Nothing to do: files are closed with the index object."""


def _search_error(name: str | Path, error: BaseException) -> SearchError:
    return SearchError(f"{name} cannot be read ({error}): open the index again, or rebuild it")


def open_index(path: str | Path, encoder: SentenceEncoder | None = None) -> Index:
    """Open an index.

    Args:
        path: its folder.
        encoder: computes the vectors of queries; None to open the one of the index, if any.

    Raises:
        InputError: there is no index, or it is damaged.
        ConfigError: it has another format, or was built with another encoder.
        MissingExtraError: its vectors need a package that is not installed.
    """
    folder = index_folder(path)
    manifest, store, dense = open_state(folder)
    encoder = query_encoder(folder, manifest, encoder)
    return Index(folder, manifest, store, dense, encoder)


def index_facts(path: str | Path) -> dict[str, Any]:
    """Size and settings of an index. Raises InputError and ConfigError as :func:`open_index`."""
    folder = index_folder(path)
    manifest, store, _ = open_state(folder)
    with reading(folder):
        documents = store.documents
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {
        "documents": documents,
        "passages": len(store),
        "removed_passages": store.removed,
        "words_per_passage": manifest.max_words,
        "encoder": manifest.encoder,
        "segments": store.segments,
        "megabytes": round(size / 1e6, 3),
        "format": manifest.format,
        "written_by": manifest.written_by,
    }


def index_documents(path: str | Path, limit: int | None = None) -> Mapping[str, int]:
    """The ids of all documents, or of the first ``limit``, with their numbers of passages.

    Raises InputError and ConfigError as :func:`open_index`.
    """
    folder = index_folder(path)
    _, store, _ = open_state(folder)
    with reading(folder):
        return store.counted(store.names(limit))


def query_encoder(folder: Path, manifest: Manifest, encoder: SentenceEncoder | None) -> SentenceEncoder | None:
    """The encoder of an index: the given one, or the one that its manifest names.

    Raises ConfigError if it is another one, or the index has no vectors.
    """
    if manifest.encoder is None:
        if encoder is not None:
            raise ConfigError(
                f"the index in {folder} has no vectors, so the encoder {encoder.name} cannot be used: build the index "
                "with this encoder"
            )
        return None
    encoder = encoder or open_encoder(manifest.encoder)
    if encoder.digest != manifest.digest:
        raise ConfigError(
            f"the vectors in {folder} were computed by {manifest.encoder} ({manifest.digest}), got {encoder.name} "
            f"({encoder.digest}): choose the encoder {manifest.encoder}, or build the index again"
        )
    return encoder


def open_state(folder: Path) -> tuple[Manifest, Store, Dense | None]:
    """The manifest, passages and vectors of an index. Raises InputError and ConfigError as :func:`open_index`."""
    for attempt in range(_ATTEMPTS):
        manifest = read_manifest(folder)
        state = state_path(folder, manifest.state)
        try:
            with reading(folder):
                return manifest, Store(state), Dense(state) if manifest.encoder else None
        except InputError:
            # A writer may have replaced the state after the manifest was read.
            if read_manifest(folder).state == manifest.state or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")
