"""Does a search in several steps find more than a single query, at the same number of passages?

    VOUCH_DATA=... python benchmarks/search_steps.py [--split held-out|train] [--output docs/results/search_steps.json]

Recall@5 of the paragraphs that support the answer of a multi-hop question; only the question is given, not the answer.
The corpus is every paragraph of every file, searched by words. Each arm ends with five passages:

    single     the question as it stands, the engine's first five
    1 query    the same query's first ten, valued as the steps value them: what reordering alone brings
    N queries  the search in steps, with so many queries at most

The numbers of ``search/steps.py`` and ``leads.py`` were chosen with ``--split train``. Intervals are BCa bootstraps by
group: questions that share a supporting paragraph stay together. Time is the processor's. Not supported: vectors, web
engines, and questions with their answers.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import vouching
from recipes.bench.multihop import FILES, corpus, multihop_rows, recall
from vouching import metrics
from vouching.bench.catalog import data_folder
from vouching.bench.multihop import MultihopRow
from vouching.search.base import Finder, SearchEngine, search_engines
from vouching.search.index import Index, open_index
from vouching.search.index_writer import create_index
from vouching.search.steps import QUERIES, StepSearch
from vouching.types import SearchTurn, Source, Trajectory

LIMIT = 5
TRIED = (1, 3, 5, 8)


class Single:
    """One query and the first passages of one engine, in its own order.

    Args:
        engine: which one.
    """

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine

    async def find(self, question: str | None, claim: str) -> Trajectory:
        """See ``Finder``."""
        query = f"{question} {claim}" if question else claim
        result = await search_engines([self._engine], query, LIMIT)
        return Trajectory(query, (), (SearchTurn("", "all", query, result),), "exhausted", "single")

    async def aclose(self) -> None:
        """Close the engine."""
        await self._engine.aclose()


def read_rows(folder: Path, split: str) -> dict[str, list[MultihopRow]]:
    """The questions of each file of a split, by the name of their set and part."""
    return {
        f"{name} {part}": [row for row in multihop_rows(folder, name, part) if isinstance(row, MultihopRow)]
        for name, part in FILES
        if split == "all" or (part == "train") == (split == "train")
    }


def build_index(folder: Path, place: Path, more: Sequence[Source] = ()) -> tuple[Index, float]:
    """An index of every paragraph, and of more texts, and the seconds that building it took."""
    start = time.process_time()
    with create_index(place) as writer:
        for source in corpus(row for rows in read_rows(folder, "all").values() for row in rows):
            writer.add(source)
        for source in more:
            writer.add(source)
    return open_index(place), time.process_time() - start


async def search_all(finder: Finder, rows: Sequence[MultihopRow]) -> dict[str, Any]:
    """What one arm finds: recall of each question, and what it cost."""
    start = time.process_time()
    found = [await finder.find(None, row.question) for row in rows]
    seconds = time.process_time() - start
    return {
        "recall": [
            recall(row, [str(passage.span.source_id) for passage in trajectory.passages])
            for row, trajectory in zip(rows, found, strict=True)
        ],
        "queries": sum(len(trajectory.turns) for trajectory in found) / len(rows),
        "milliseconds": 1000 * seconds / len(rows),
    }


def rounded(interval: metrics.Interval) -> dict[str, Any]:
    """An interval for the record."""
    ends = [None if end is None else round(end, 4) for end in (interval.low, interval.high)]
    return {"estimate": round(interval.estimate, 4), "interval": ends}


def compared(rows: Sequence[MultihopRow], arms: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The arms on the same questions: recall, all found, cost, and how much more than the single query."""
    groups = metrics.document_numbers([row.supporting for row in rows])
    record: dict[str, Any] = {"questions": len(rows), "groups": int(groups.max()) + 1, "arms": {}}
    for name, arm in arms.items():
        mean = partial(metrics.mean, arm["recall"])
        record["arms"][name] = {
            "recall_at_5": rounded(metrics.bca(mean, groups)),
            "all_found": round(sum(value == 1 for value in arm["recall"]) / len(rows), 4),
            "queries": round(arm["queries"], 2),
            "milliseconds": round(arm["milliseconds"], 1),
        }
        if name != "single":
            single = partial(metrics.mean, arms["single"]["recall"])
            record["arms"][name]["more_than_single"] = rounded(metrics.paired_bca(mean, single, groups))
    return record


def about(script: str) -> dict[str, str]:
    """When and where figures were measured, and with what."""
    return {
        "command": f"python benchmarks/{script}",
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def joined(parts: Sequence[dict[str, Any]], sizes: Sequence[int]) -> dict[str, Any]:
    """One arm over several sets."""
    return {
        "recall": [value for part in parts for value in part["recall"]],
        **{
            key: sum(p[key] * n for p, n in zip(parts, sizes, strict=True)) / sum(sizes)
            for key in ("queries", "milliseconds")
        },
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("held-out", "train"), default="held-out")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    sets = read_rows(data_folder(), options.split)
    with tempfile.TemporaryDirectory() as place:
        index, seconds = build_index(data_folder(), Path(place) / "multihop")
        arms: dict[str, Finder] = {"single": Single(index)}
        arms |= {f"{n} {'query' if n == 1 else 'queries'}": StepSearch([index], queries=n, limit=LIMIT) for n in TRIED}
        found = {
            name: {arm: asyncio.run(search_all(finder, rows)) for arm, finder in arms.items()}
            for name, rows in sets.items()
        }
    sizes = [len(rows) for rows in sets.values()]
    together = {arm: joined([found[name][arm] for name in sets], sizes) for arm in arms}
    record = {
        **about(f"search_steps.py --split {options.split}"),
        "passages": len(index),
        "build_seconds": round(seconds, 1),
        "passages_kept": LIMIT,
        "default_queries": QUERIES,
        "sets": {name: compared(rows, found[name]) for name, rows in sets.items()},
        "together": compared([row for rows in sets.values() for row in rows], together),
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    if options.output:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
