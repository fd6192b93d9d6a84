"""Recall and cost of a search for a claim that continues until the rules decide the claim.

    VOUCH_DATA=... python benchmarks/search_claims.py [--output docs/results/search_claims.json]

The share of the supporting texts of a claim that are among five passages. Claims that need several texts are multi-hop
questions with their right answer, or with the right answer of another question; claims that need one are those of FEVER
and Fool Me Twice. The corpus is every paragraph and every source, searched by words. The arms:

    single   the claim itself, the engine's first five
    steps    five queries, always
    decided  until the rules find the claim supported or contradicted, as ``vouch check --index`` does

Intervals are BCa bootstraps by group: claims that share a text stay together. Time is CPU time. Not
supported: web engines; whether verdicts are right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from search_steps import LIMIT, Single, about, build_index, read_rows, rounded

from vouching import metrics
from vouching.bench.catalog import data_folder
from vouching.embedded.verify import open_embedded
from vouching.rows.read import open_rows
from vouching.search.base import Finder
from vouching.search.steps import StepSearch
from vouching.types import Source

SINGLE_HOP = {"FEVER": "nli/fever_nli_dev", "Fool Me Twice": "test/fool_me_twice"}
ROWS = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """A claim to search for."""

    question: str | None
    claim: str
    texts: frozenset[str]
    """Ids of what it rests on."""


def single_hop(folder: Path, name: str) -> tuple[list[Asked], list[Source]]:
    """Claims of a set, and all its sources."""
    sources: dict[str, Source] = {}
    asked: list[Asked] = []
    with open_rows(str(folder / "attribution" / f"{name}.jsonl.gz")) as reader:
        for row in reader:
            fields = row.fields or {}
            source = sources.setdefault(fields["source"], Source(fields["source"], f"{name}/{len(sources)}"))
            asked.append(Asked(None, fields["claim"], frozenset([source.id])))
    return random.Random(0).sample(asked, min(ROWS, len(asked))), [*sources.values()]


def multi_hop(folder: Path) -> dict[str, list[Asked]]:
    """The questions that nothing was chosen on, with right answers and with those of the next question."""
    rows = [row for part in read_rows(folder, "held-out").values() for row in part]
    others = [row.answer for row in (*rows[1:], rows[0])]
    return {
        "multi-hop, right": [Asked(row.question, row.answer, row.supporting) for row in rows],
        "multi-hop, wrong": [Asked(row.question, o, row.supporting) for row, o in zip(rows, others, strict=True)],
    }


async def search_all(finder: Finder, claims: Sequence[Asked]) -> dict[str, Any]:
    """What one arm finds: the share of each claim's texts, and what it cost."""
    start = time.process_time()
    found = [await finder.find(one.question, one.claim) for one in claims]
    seconds = time.process_time() - start
    ids = [{passage.span.source_id for passage in way.passages} for way in found]
    return {
        "recall": [len(one.texts & seen) / len(one.texts) for one, seen in zip(claims, ids, strict=True)],
        "queries": round(sum(len(way.turns) for way in found) / len(claims), 2),
        "milliseconds": round(1000 * seconds / len(claims), 1),
    }


def compared(claims: Sequence[Asked], arms: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The arms on the same claims, and how much more than the single query."""
    groups = metrics.document_numbers([one.texts for one in claims])
    single = partial(metrics.mean, arms["single"]["recall"])
    record: dict[str, Any] = {"claims": len(claims), "arms": {}}
    for name, arm in arms.items():
        mean = partial(metrics.mean, arm.pop("recall"))
        record["arms"][name] = {"recall_at_5": rounded(metrics.bca(mean, groups)), **arm}
        if name != "single":
            record["arms"][name]["more_than_single"] = rounded(metrics.paired_bca(mean, single, groups))
    return record


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    sets, sources = multi_hop(data_folder()), list[Source]()
    for name, file in SINGLE_HOP.items():
        sets[name], more = single_hop(data_folder(), file)
        sources += more
    verify = open_embedded("embedded:rules").verify
    with tempfile.TemporaryDirectory() as place:
        index, _ = build_index(data_folder(), Path(place) / "corpus", sources)
        arms: dict[str, Finder] = {
            "single": Single(index),
            "steps": StepSearch([index], limit=LIMIT),
            "decided": StepSearch([index], verify, limit=LIMIT),
        }
        found = {
            name: compared(claims, {arm: asyncio.run(search_all(finder, claims)) for arm, finder in arms.items()})
            for name, claims in sets.items()
        }
    record = {
        **about("search_claims.py"),
        "passages": len(index),
        "passages_kept": LIMIT,
        "sets": found,
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    if options.output:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
