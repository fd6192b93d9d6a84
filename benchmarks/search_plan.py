"""What an index of many passages will need, from the figures measured with a million (docs/results/search.json).

    python benchmarks/search_plan.py [--passages 21000000] [--shards 4] [--dimensions 768] [--encoded 1000]

Build time, disk and query time by words grow in proportion to the passages of a shard; segments are merged, so this is
an upper bound for the query. Shards are built and searched side by side: the longest decides. Vectors take four bytes a
dimension. ``--encoded`` is how many passages a second your encoder reads; measure it with a few thousand of your own.
Assumptions: passages of about 60 words, as measured; a core for each shard. Not measured: more than a million.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parents[1] / "docs/results/search.json"


def plan(
    measured: Mapping[str, Any], passages: int, shards: int, dimensions: int, encoded: float
) -> Iterator[tuple[str, str]]:
    """Each need with its figure.

    >>> million = {"build": {"passages": 1_000_000, "seconds": 100.0, "megabytes": 400.0, "peak_megabytes": 500},
    ...     "query": {"ms_median": 8.0, "ms_p95": 12.0}}
    >>> dict(plan(million, 4_000_000, 2, 10, 1000.0))["build, each shard"]  # 2 of 4 million: twice 100 s
    '3.3 minutes'
    """
    build, query = measured["build"], measured["query"]
    share = passages / shards / build["passages"]
    yield "passages in a shard", f"{passages / shards:,.0f}"
    yield "build, each shard", f"{share * build['seconds'] / 60:.1f} minutes"
    yield "memory while building, each shard", f"{build['peak_megabytes']:,} MB, bounded by the writer's buffer"
    yield "disk, all shards", f"{share * shards * build['megabytes'] / 1000:.1f} GB"
    yield (
        "query by words, shards side by side",
        (f"median {share * query['ms_median']:.0f} ms, 95th percentile {share * query['ms_p95']:.0f} ms"),
    )
    yield "vectors, all shards", f"{4 * dimensions * passages / 1e9:.1f} GB"
    yield "encoding, each shard", f"{passages / shards / encoded / 3600:.1f} hours at {encoded:,.0f} passages a second"


def main() -> None:
    """Print the plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=21_000_000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--dimensions", type=int, default=768, help="of the encoder; E5-base has 768")
    parser.add_argument("--encoded", type=float, default=1000.0, help="passages a second")
    options = parser.parse_args()
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))["million"]
    print(f"From {measured['build']['passages']:,} passages, {measured['date']}, {measured['machine']}:")
    for need, figure in plan(measured, options.passages, options.shards, options.dimensions, options.encoded):
        print(f"  {need:38}{figure}")


if __name__ == "__main__":
    main()
