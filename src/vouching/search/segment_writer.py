"""Documents become a segment: cut into passages, their terms counted, all of it written to a file.

Left out: streaming. A segment is built in memory; whoever adds documents begins another one when this is full.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np

from vouching.errors import InputError
from vouching.search.arrays import Array, packed, write_arrays
from vouching.search.passages import cut_passages, pages_of
from vouching.search.segment import file_of, name_hash
from vouching.search.terms import scripts
from vouching.search.vectors import SentenceEncoder, Vectors
from vouching.text.words import lower_words, stem
from vouching.types import Source

TITLE_WEIGHT = 2
"""How often a word of the title counts in each passage; chosen on training questions, see docs/search.md."""
MAX_PASSAGES = 100_000
"""Passages after which a segment is full."""
MAX_CHARACTERS = 100_000_000
"""Characters after which it is full."""
ENCODED_AT_ONCE = 256
"""Passages that wait for each other to be encoded."""
Cut: TypeAlias = tuple[int, int]


class SegmentBuilder:
    """Collects documents for a segment.

    Args:
        max_words: words of a passage.
        encoder: makes a vector of each passage; None for no vectors.
    """

    def __init__(self, max_words: int, encoder: SentenceEncoder | None = None) -> None:
        self._max_words = max_words
        self._encoder = encoder
        self._documents: list[Source] = []
        self._places: list[tuple[int, ...]] = []
        self._known: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._terms = array("i")
        self._lengths = array("i")
        self._waiting: list[str] = []
        self._vectors: list[Vectors] = []
        self._characters = 0

    def __len__(self) -> int:
        """How many passages it has."""
        return len(self._places)

    @property
    def full(self) -> bool:
        """Whether it is time to write it and begin another."""
        return len(self) >= MAX_PASSAGES or self._characters >= MAX_CHARACTERS

    def add(self, source: Source, cuts: Sequence[Cut] | None = None, vectors: Vectors | None = None) -> int:
        """Add a document.

        Args:
            source: the document; one without words adds nothing.
            cuts: its passages; None to cut it.
            vectors: (n, W) vectors of these passages; None to make them.

        Returns:
            How many passages it has.

        Raises:
            InputError: it has characters that no file can hold (lone surrogates).
        """
        places = cut_passages(source.text, self._max_words) if cuts is None else cuts
        if not places:
            return 0
        try:
            ends = _byte_offsets(source.text, places)
            packed([source.id, source.title, source.url])
        except UnicodeEncodeError as error:
            raise InputError(f"document {source.id!r} has a lone surrogate, which is no character ({error})") from None
        paged = file_of(source.id) == source.id and source.url.lower().endswith(".pdf")
        title = self._numbered(source.title) * TITLE_WEIGHT
        pages = pages_of(source.text, [start for start, _ in places]) if paged else [0] * len(places)
        for (start, end), page in zip(places, pages, strict=True):
            self._places.append((len(self._documents), start, end, ends[start], ends[end], page))
            numbers = self._numbered(source.text[start:end])
            self._terms.extend(title + numbers)
            self._lengths.append(len(title) + len(numbers))
        self._documents.append(source)
        self._characters += len(source.text)
        self._encode(source, places, vectors)
        return len(places)

    def write(self, path: Path) -> dict[str, int]:
        """Write the segment into a new file. Returns its terms per script. Raises OSError."""
        words = sorted(self._numbers)
        write_arrays(path, self._arrays(words))
        return dict(scripts(words))

    def _numbered(self, text: str) -> list[int]:
        """Numbers of the terms of a text; a word is taken apart once in a segment."""
        words = lower_words(text)
        for word in {*words}.difference(self._known):
            self._known[word] = self._numbers.setdefault(stem(word), len(self._numbers))
        return [self._known[word] for word in words]

    def _encode(self, source: Source, places: Sequence[Cut], vectors: Vectors | None) -> None:
        """Take a document's vectors, or let its passages wait until there are enough to encode at once."""
        if self._encoder is None:
            return
        if vectors is None:
            lead = f"{source.title}. " if source.title else ""
            self._waiting += [lead + source.text[start:end] for start, end in places]
        if self._waiting and (vectors is not None or len(self._waiting) >= ENCODED_AT_ONCE):
            self._vectors.append(self._encoder.vectors(self._waiting))
            self._waiting = []
        if vectors is not None:
            self._vectors.append(vectors)

    def _arrays(self, words: Sequence[str]) -> dict[str, Array]:
        """The segment's arrays by their names, see ``segment.py``."""
        records = (json.dumps([s.id, s.title, s.url], ensure_ascii=False) for s in self._documents)
        names = [[name_hash(s.id), name_hash(file_of(s.id))] for s in self._documents]
        arrays: dict[str, Array] = {}
        for name, texts in (("text", (s.text for s in self._documents)), ("record", records), ("term", words)):
            arrays[f"{name}s"], arrays[f"{name}_ends"] = packed(texts)
        arrays |= {
            "names": np.array(names, np.uint64),
            "passages": np.array(self._places, np.int64),
            "lengths": np.array(self._lengths, np.int32),
            **self._postings(words),
        }
        if self._encoder is not None:
            if self._waiting:
                self._vectors.append(self._encoder.vectors(self._waiting))
            arrays["vectors"] = np.concatenate(self._vectors)
        return arrays

    def _postings(self, words: Sequence[str]) -> dict[str, Array]:
        """Passages and counts of each term, terms in the order of ``words``."""
        ranks = np.empty(len(words), np.int64)
        ranks[[self._numbers[word] for word in words]] = np.arange(len(words))
        passages = np.repeat(np.arange(len(self), dtype=np.int64), self._lengths)
        pairs = ranks[np.array(self._terms, np.int64)] << 32 | passages
        pairs.sort()
        firsts = np.flatnonzero(np.diff(pairs, prepend=-1))
        pairs, counts = pairs[firsts], np.diff(firsts, append=len(pairs))
        starts = np.searchsorted(pairs >> 32, np.arange(len(words) + 1))
        posted = (pairs & 0xFFFFFFFF).astype(np.int32)
        limit = np.iinfo(np.uint16).max
        return {"starts": starts, "posted": posted, "counts": counts.clip(max=limit).astype(np.uint16)}


def _byte_offsets(text: str, places: Sequence[Cut]) -> dict[int, int]:
    """Where the characters at which passages begin and end lie in the text's UTF-8."""
    wanted = sorted({0, *(offset for place in places for offset in place), len(text)})
    ends = {0: 0}
    for before, offset in pairwise(wanted):
        ends[offset] = ends[before] + len(text[before:offset].encode())
    return ends
