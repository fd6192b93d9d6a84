"""Nearest passages by the dot products of vectors: all are compared, or a graph is searched.

Up to 200,000 passages, every dot product is computed. Above, a graph (HNSW, Malkov & Yashunin 2020, by usearch, in half
precision) finds near passages, though not always the nearest. Not supported: quantisation.

    vectors.f32      (N, W) numbers, a row per passage, in the order of their numbers
    rows.npy         (N,) passage number of each row, -1 if it was removed
    graph.usearch    the graph, if there is one
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching.errors import needed
from vouching.search.vectors import SentenceEncoder

MAX_EXACT = 200_000
"""Passages up to which every vector is compared."""
_BATCH = 256
DENSE_FILES = _VECTORS, _ROWS, _GRAPH = "vectors.f32", "rows.npy", "graph.usearch"


class Dense:
    """The vectors of one state of an index.

    Raises:
        OSError: a file is missing.
        ValueError: a file is damaged.
        MissingExtraError: there is a graph, and usearch is not installed.
    """

    def __init__(self, state: Path) -> None:
        self._rows: NDArray[np.int64] = np.load(state / _ROWS)
        self._live = self._rows >= 0
        # As a plain array, which is faster than a memmap.
        self._vectors = np.asarray(_mapped(state, len(self._rows)))
        self._graph = _restored(state)

    def search(self, vector: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
        """Numbers of the passages with the largest positive dot products with a unit vector, best first."""
        if not len(self._rows):
            return []
        scores = self._near(vector, limit) if self._graph is not None else self._vectors @ vector
        scores = np.where(self._live, scores, np.float32(0))
        order = np.argsort(-scores, kind="stable")[:limit]
        found = zip(self._rows[order].tolist(), scores[order].tolist(), strict=True)
        return [(number, score) for number, score in found if score > 0]

    def _near(self, vector: NDArray[np.float32], limit: int) -> NDArray[np.float32]:
        """The dot products of at least ``limit`` live rows near a vector; 0 for the others."""
        scores = np.zeros(len(self._rows), np.float32)
        count, live = min(limit, len(scores)), int(self._live.sum())
        while True:
            found = self._graph.search(vector, count)
            keys = np.asarray(found.keys, np.int64)
            # For the inner product, usearch returns 1 minus it as the distance.
            scores[keys] = 1 - np.asarray(found.distances, np.float32)
            if self._live[keys].sum() >= min(limit, live) or count == len(scores):
                return scores
            count = min(2 * count, len(scores))


class DenseWriter:
    """Appends vectors of passages to those of the previous state.

    Args:
        state: folder of the new state.
        encoder: computes the vectors.
        before: folder of the previous state; None if there is none.
    """

    def __init__(self, state: Path, encoder: SentenceEncoder, before: Path | None) -> None:
        self._state, self._encoder = state, encoder
        self._rows: list[int] = []
        self._waiting: list[str] = []
        if before is not None:
            self._rows = np.load(before / _ROWS).tolist()
            shutil.copyfile(before / _VECTORS, state / _VECTORS)
            if (before / _GRAPH).exists():
                shutil.copyfile(before / _GRAPH, state / _GRAPH)

    def add(self, number: int, text: str) -> None:
        """Add a passage."""
        self._rows.append(number)
        self._waiting.append(text)
        if len(self._waiting) >= _BATCH:
            self._encode()

    def finish(self, live: NDArray[np.int64]) -> None:
        """Write everything; ``live`` are the numbers of the passages that were not removed. Raises OSError."""
        self._encode()
        rows = np.array(self._rows, np.int64)
        write_rows(self._state, np.where(np.isin(rows, live), rows, -1))

    def _encode(self) -> None:
        with (self._state / _VECTORS).open("ab") as file:
            if self._waiting:
                file.write(self._encoder.vectors(self._waiting).astype(np.float32).tobytes())
            file.flush()
            os.fsync(file.fileno())
        self._waiting = []


def copy_live(before: Path, state: Path) -> None:
    """Write the vectors of passages that were not removed to another state. Raises OSError."""
    rows: NDArray[np.int64] = np.load(before / _ROWS)
    vectors = _mapped(before, len(rows))
    with (state / _VECTORS).open("xb") as file:
        for at in range(0, len(rows), 4096):
            these = slice(at, at + 4096)
            file.write(vectors[these][rows[these] >= 0].tobytes())
        file.flush()
        os.fsync(file.fileno())
    write_rows(state, rows[rows >= 0])


def write_rows(state: Path, rows: NDArray[np.int64]) -> None:
    """Write the numbers of the rows, and the graph if there are many. Raises OSError."""
    with (state / _ROWS).open("wb") as file:
        np.save(file, rows)
        file.flush()
        os.fsync(file.fileno())
    if (rows >= 0).sum() > MAX_EXACT:
        write_graph(state)
    else:
        (state / _GRAPH).unlink(missing_ok=True)


def write_graph(state: Path) -> None:
    """Write the graph of the vectors, or add the missing rows to it. Needs usearch. Raises OSError."""
    vectors = _mapped(state, len(np.load(state / _ROWS)))
    graph = _restored(state, view=False)
    if graph is None:
        graph = _usearch().Index(ndim=vectors.shape[1], metric="ip", dtype="f16")
    graph.add(np.arange(len(graph), len(vectors)), vectors[len(graph) :])
    fresh = state / f"{_GRAPH}.new"
    graph.save(fresh)
    fresh.replace(state / _GRAPH)


def _mapped(state: Path, rows: int) -> NDArray[np.float32]:
    path = state / _VECTORS
    if not rows and not path.stat().st_size:
        return np.zeros((0, 1), np.float32)
    return np.memmap(path, np.float32, "r").reshape(rows, -1)


def _restored(state: Path, view: bool = True) -> Any:
    path = state / _GRAPH
    return _usearch().Index.restore(path, view=view) if path.exists() else None


def _usearch() -> Any:
    # onnxruntime 1.31 crashes if it is loaded after usearch 2.26.
    with suppress(ImportError):
        import_module("onnxruntime")
    return needed("usearch.index", "search", f"vectors of more than {MAX_EXACT:,} passages")
