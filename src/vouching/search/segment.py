"""A part of an index: documents, their passages and the postings of their terms, written once and then only read.

    texts, text_ends      the documents' texts
    records, record_ends  id, title and address of each, as JSON
    names                 (D, 2) hashes of each one's id, and of the file that it is a row of
    passages              (P, 6) document, first and after last character in it, the same in bytes, page or 0
    lengths               (P,) terms of each passage
    terms, term_ends      all terms, sorted
    starts                (T + 1,) where the postings of each term begin and the last end
    posted, counts        the passages that have it, and how often
    vectors               (P, W) sentence vectors, where the index has them

Left out: positions of terms, so that there is no search for phrases.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vouching.rows.read import FORMATS
from vouching.search.arrays import Strings, map_arrays
from vouching.types import Passage, Source, Span

_ROW = re.compile(rf"(.*?(?:{'|'.join(map(re.escape, FORMATS))}))#", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Postings:
    """Where a term stands in one segment."""

    passages: NDArray[np.int32]
    """Numbers of the passages that have it, increasing; without those that were removed."""
    counts: NDArray[np.uint16]
    """How often each has it."""


class Segment:
    """An open segment. Arrays stay in their file; nothing is ever written.

    Args:
        path: its file.
        removed: (P,) which passages were removed since; None if none was.

    Raises:
        OSError: the file is missing or cannot be read.
        ValueError: it is cut off, or none of this format.
        KeyError: it lacks an array.
    """

    def __init__(self, path: Path, removed: NDArray[np.bool_] | None = None) -> None:
        self.path = path
        self.removed = removed
        arrays = map_arrays(path)
        self.names: NDArray[np.uint64] = arrays["names"]
        self.places: NDArray[np.int64] = arrays["passages"]
        self.lengths: NDArray[np.int32] = arrays["lengths"]
        self.vectors: NDArray[np.float32] | None = arrays.get("vectors")
        self.terms = Strings(arrays["terms"], arrays["term_ends"])
        self._texts = Strings(arrays["texts"], arrays["text_ends"])
        self._records = Strings(arrays["records"], arrays["record_ends"])
        self._starts: NDArray[np.int64] = arrays["starts"]
        self._posted: NDArray[np.int32] = arrays["posted"]
        self._counts: NDArray[np.uint16] = arrays["counts"]
        if removed is not None and len(removed) != len(self):
            raise ValueError(f"{len(removed)} marks of removal do not fit {path.name} with {len(self)} passages")

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
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def file_of(name: str) -> str:
    """The file that a document is a row of, by its id; the id itself for any other document.

    >>> file_of("rows.jsonl#17"), file_of("rows.jsonl#C#"), file_of("mill#2.txt")
    ('rows.jsonl', 'rows.jsonl', 'mill#2.txt')
    """
    found = _ROW.match(name)
    return found[1] if found else name
