"""A part of an index: documents, their passages and the postings of their terms, written once and then only read.

    texts.npy, text_ends.npy      the documents' texts
    records.npy, record_ends.npy  id, title and address of each, as JSON
    names.npy                     (D, 2) hashes of each one's id, and of the file that it is a row of
    passages.npy                  (P, 6) document, first and after last character in it, the same in bytes, page or 0
    lengths.npy                   (P,) terms of each passage
    terms.npy, term_ends.npy      all terms, sorted
    starts.npy                    (T + 1,) where the postings of each term begin and the last end
    posted.npy, counts.npy        the passages that have it, and how often
    vectors.npy                   (P, W) sentence vectors, where the index has them
    graph.usearch                 a graph over these, where the index is large

Left out: positions of terms, so that there is no search for phrases.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vouching.search.arrays import Strings, map_array
from vouching.types import Passage, Source, Span


@dataclass(frozen=True, slots=True)
class Postings:
    """Where a term stands in one segment."""

    passages: NDArray[np.int32]
    """Numbers of the passages that have it, increasing; without those that were removed."""
    counts: NDArray[np.uint16]
    """How often each has it."""


class Segment:
    """An open segment. Arrays stay in their files; nothing is ever written.

    Args:
        folder: its folder.
        removed: (P,) which passages were removed since; None if none was.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: a file is cut off or is none of this format.
    """

    def __init__(self, folder: Path, removed: NDArray[np.bool_] | None = None) -> None:
        self.folder = folder
        self.removed = removed
        self.names: NDArray[np.uint64] = map_array(folder / "names.npy")
        self.lengths: NDArray[np.int32] = map_array(folder / "lengths.npy")
        self.terms = Strings(map_array(folder / "terms.npy"), map_array(folder / "term_ends.npy"))
        self.places: NDArray[np.int64] = map_array(folder / "passages.npy")
        self._texts = Strings(map_array(folder / "texts.npy"), map_array(folder / "text_ends.npy"))
        self._records = Strings(map_array(folder / "records.npy"), map_array(folder / "record_ends.npy"))
        self._starts: NDArray[np.int64] = map_array(folder / "starts.npy")
        self._posted: NDArray[np.int32] = map_array(folder / "posted.npy")
        self._counts: NDArray[np.uint16] = map_array(folder / "counts.npy")
        vectors = folder / "vectors.npy"
        self.vectors: NDArray[np.float32] | None = map_array(vectors) if vectors.exists() else None
        sizes = {len(self.lengths), len(self.places), len(removed) if removed is not None else len(self.lengths)}
        if len(sizes) > 1 or not len(self.names) == len(self._records) == len(self._texts):
            raise ValueError("its files do not fit each other")

    def __len__(self) -> int:
        """How many passages it has, with those that were removed."""
        return len(self.lengths)

    @property
    def left(self) -> NDArray[np.bool_]:
        """(P,) which passages are left."""
        return np.ones(len(self), np.bool_) if self.removed is None else ~self.removed

    def postings(self, term: str) -> Postings | None:
        """Where a term stands; None if nowhere."""
        number = self.terms.place(term)
        if number is None:
            return None
        these = slice(self._starts[number], self._starts[number + 1])
        found = Postings(self._posted[these], self._counts[these])
        if self.removed is None:
            return found
        kept = ~self.removed[found.passages]
        return Postings(found.passages[kept], found.counts[kept]) if kept.any() else None

    def passage(self, number: int, score: float, origin: str) -> Passage:
        """A passage as a search returns it."""
        document, start, end, first, after, page = self.places[number].tolist()
        name, title, url = self._record(document)
        text = self._texts.raw(document)[first:after].decode()
        return Passage(Span(text, start, end, name), score, title, f"{url}#page={page}" if page else url, origin)

    def document(self, number: int) -> tuple[Source, slice]:
        """A document with its whole text, and which passages are its own."""
        name, title, url = self._record(number)
        first, after = np.searchsorted(self.places[:, 0], [number, number + 1]).tolist()
        return Source(self._texts[number], name, title, url), slice(first, after)

    def _record(self, document: int) -> list[str]:
        return json.loads(self._records.raw(document))


def name_hash(name: str) -> int:
    """A 64-bit hash of a name, the same in every process.

    >>> name_hash("mill.txt") == name_hash("mill.txt") != name_hash("oslo.txt")
    True
    """
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())


def file_of(name: str) -> str:
    """The file that a document is a row of, by its id; the id itself for any other document.

    >>> file_of("rows.jsonl#17"), file_of("mill.txt")
    ('rows.jsonl', 'mill.txt')
    """
    return name.rpartition("#")[0] or name
