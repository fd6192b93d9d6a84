"""Rows that need weights or a language model, on real models of some thousand weights: end to end, and honest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")

from tests.bench.ranking_samples import write_fgveribench
from tests.cli.test_bench import bench
from tests.methods.discriminative.tiny_scorers import write_tiny_scorer
from tests.models.tiny_llama import write_tiny_llama
from vouching.methods.discriminative.model import ScorerNote
from vouching.search.index_writer import create_index
from vouching.types import Source


@pytest.fixture
def index(tmp_path: Path) -> Path:
    with create_index(tmp_path / "bridges") as writer:
        writer.add(Source("Bridge 0 of nq opened in 1900.", "nq", "Bridge 0 of nq"))
    return tmp_path / "bridges"


def run(tmp_path: Path, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """How a run on one question of six ended, and its figures."""
    data, out = write_fgveribench(tmp_path / "data", rows=1), tmp_path / "out"
    result = bench("run", "fgveribench", *arguments, "--limit", "1", "--out", out, data=data)
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return result.exit_code, results["sets"]["fgveribench"]


def test_a_scorer_as_training_leaves_it_ranks_what_it_was_trained_to_read(index: Path, tmp_path: Path) -> None:
    scorer = write_tiny_scorer(tmp_path / "scorer")
    ScorerNote("facts", 128).write(scorer)
    code, found = run(tmp_path, "--score-model", f"discriminative:{scorer}", "--index", index)
    assert code == 0
    assert (found["rows"], found["failed"]) == (1, 0)
    assert found["by_relevance"] is None


def test_a_model_that_babbles_fails_every_ranking_both_ways_of_counting(tmp_path: Path) -> None:
    llama = write_tiny_llama(tmp_path / "llama", context=4096)
    code, found = run(tmp_path, "--score-model", f"local:{llama}", "--mode", "generative")
    assert code == 3
    assert found["failed"] == 1
    assert (found["metrics"]["tau"]["estimate"], found["dropped"]["rows"]) == (-1.0, 0)
    assert found["binary"]["accuracy"]["estimate"] == 0.0


def test_relevance_by_a_model_that_babbles_is_not_known(index: Path, tmp_path: Path) -> None:
    llama = write_tiny_llama(tmp_path / "llama", context=4096)
    code, found = run(tmp_path, "--model", "embedded:rules", "--index", index, "--relevance-model", f"local:{llama}")
    assert code == 0
    # Its replies are no verdicts, so no row has a number of supported answers.
    assert found["by_relevance"] is None
