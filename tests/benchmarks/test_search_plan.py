"""The plan of a large index follows from the measured one."""

from __future__ import annotations

import json

from benchmarks.search_plan import MEASURED, plan
from tests.house.source_tree import ROOT


def test_the_page_on_search_names_what_the_plan_computes_for_21_million_passages() -> None:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))["million"]
    found = dict(plan(measured, 21_000_000, 4, 768, 1000.0))
    # 5.25 times 92 s; 21 times 433.739 MB; 5.25 times 8.14 ms; 21 million times 768 floats of 4 bytes.
    assert found["build, each shard"] == "8.1 minutes"
    assert found["disk, all shards"] == "9.1 GB"
    assert found["query by words, shards side by side"].startswith("median 43 ms")
    assert found["vectors, all shards"] == "64.5 GB"
    page = " ".join((ROOT / "docs/search.md").read_text(encoding="utf-8").split())
    assert "8 minutes to build each shard, 9.1 GB of disk and 43 ms for the median query" in page
    assert "take 64.5 GB" in page
