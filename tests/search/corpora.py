"""Small corpora to search, and an encoder whose vectors are easy to foresee."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from vouching.search.index import Index, open_index
from vouching.search.index_writer import create_index
from vouching.search.terms import terms
from vouching.search.vectors import Role, SentenceEncoder, Vectors
from vouching.types import Passage, Source

TOWNS = (
    Source("Ada built the mill in 1873. It stands in Oslo.", "mill.txt", "The mill"),
    Source("Bergen is a rainy town on the coast.", "bergen.txt", "Bergen"),
    Source("Oslo is the capital. It has two mills and a fortress.", "oslo.txt", "Oslo"),
)


class LetterEncoder:
    """A vector has one entry for each word that may occur; texts that share words are near."""

    name = "letters"
    digest = "0123456789ab"

    def vectors(self, texts: Sequence[str], role: Role = "passage") -> Vectors:
        """The vectors of texts, (N, 64)."""
        found = np.full((len(texts), 64), 1e-3, np.float32)
        for row, text in zip(found, texts, strict=True):
            for term in terms(text):
                row[zlib.crc32(term.encode()) % 64] += 1
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def built(folder: Path, sources: Iterable[Source] = TOWNS, encoder: SentenceEncoder | None = None) -> Index:
    """An index of sources, open."""
    with create_index(folder, encoder=encoder) as writer:
        for source in sources:
            writer.add(source)
    return open_index(folder, encoder)


def ids(passages: Iterable[Passage]) -> list[str | None]:
    """Which documents passages come from."""
    return [passage.span.source_id for passage in passages]


def the_state(folder: Path) -> Path:
    """The folder with the files of an index."""
    [state] = folder.glob("state-*")
    return state


def damage(folder: Path, part: str, at: int) -> None:
    """Overwrite one byte of a file of an index."""
    [path] = the_state(folder).glob(part)
    content = bytearray(path.read_bytes())
    content[at] = 0xFF
    replace(path, content)


def replace(path: Path, content: bytes) -> None:
    """Write a new file in the place of one that an index may still map: what is mapped stays as it was."""
    path.unlink()
    path.write_bytes(content)
