"""Passages by the nearness of their vectors to a query's: all of them compared, or a graph walked where there are many.

Up to 200,000 passages every dot product is computed. Above, each segment has a graph of its own (HNSW, Malkov &
Yashunin 2020, by usearch, in half precision), and what it finds is near, but not surely the nearest. Left out:
quantisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching.errors import needed
from vouching.search.bm25 import Place, best
from vouching.search.segment import Segment

EXACT_MOST = 200_000
"""Passages of an index up to which every vector is compared."""


class Dense:
    """Segments that can be searched by vectors.

    Args:
        segments: the segments of an index, each with vectors.

    Raises:
        MissingExtraError: a segment has a graph, and usearch is not installed.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._graphs = [_open(graph_path(segment)) for segment in segments]

    def search(self, vector: NDArray[np.float32], limit: int) -> list[tuple[Place, float]]:
        """The passages with the largest dot products above 0, best first, at most ``limit``.

        Args:
            vector: (W,) of unit length.
            limit: how many.
        """
        each = zip(self._segments, self._graphs, strict=True)
        return best([_scores(segment, graph, vector, limit) for segment, graph in each], limit)


def write_graph(segment: Segment) -> None:
    """Write the graph of a segment's vectors beside them.

    Raises:
        MissingExtraError: usearch is not installed.
        OSError: it cannot be written.
    """
    vectors = np.asarray(segment.vectors)
    graph = _import().Index(ndim=vectors.shape[1], metric="ip", dtype="f16")
    graph.add(np.arange(len(vectors)), vectors)
    path = graph_path(segment)
    fresh = path.with_name(f"{path.name}.new")
    graph.save(fresh)
    fresh.replace(path)


def graph_path(segment: Segment) -> Path:
    """The file of a segment's graph, whether it is there or not."""
    return segment.path.with_name(segment.path.name.replace("segment", "graph"))


def _scores(segment: Segment, graph: Any, vector: NDArray[np.float32], limit: int) -> NDArray[np.float32]:
    """The dot products of a segment's passages; 0 for removed ones, and for those that the graph did not come by."""
    if graph is None:
        assert segment.vectors is not None
        return np.where(segment.left, segment.vectors @ vector, np.float32(0))
    scores = np.zeros(len(segment), np.float32)
    count, left = min(limit, len(segment)), segment.left
    while True:
        found = graph.search(vector, count)
        keys = np.asarray(found.keys, np.int64)
        kept = left[keys]
        # usearch tells distances, which for the inner product are 1 less it.
        scores[keys[kept]] = (1 - np.asarray(found.distances, np.float32))[kept]
        if kept.sum() >= min(limit, left.sum()) or count == len(segment):
            return scores
        count = min(2 * count, len(segment))


def _open(path: Path) -> Any:
    return _import().Index.restore(path, view=True) if path.exists() else None


def _import() -> Any:
    # With usearch 2.26 loaded first, onnxruntime 1.31 crashes when it is loaded.
    with suppress(ImportError):
        import_module("onnxruntime")
    return needed("usearch.index", "search", f"vectors of more than {EXACT_MOST:,} passages")
