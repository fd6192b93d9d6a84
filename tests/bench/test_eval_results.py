"""A figure of a run as the file that the Hugging Face hub reads, by its own client."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.source_tree import ROOT

SCRIPT = ROOT / "examples" / "eval_results.py"
HUB = ("--dataset", "OWNER/NAME", "--task", "claims")


def called(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 24 claims."""
    place = tmp_path_factory.mktemp("runs") / "rules"
    rows = ("--input", "examples/claims.jsonl", "--model", "embedded:rules", "--out", place)
    done = called("-m", "vouching", "bench", "run", *rows)
    assert done.returncode == 0, done.stderr
    return place


def test_the_client_of_the_hub_reads_the_figure_of_a_run(run: Path) -> None:
    hub: Any = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")
    done = called(SCRIPT, run, "claims", "balanced_accuracy", *HUB, "--source", "https://example.org/runs")
    [read] = hub.parse_eval_result_entries(yaml.safe_load(done.stdout))
    figures = json.loads((run / "results.json").read_text(encoding="utf-8"))
    figure = figures["sets"]["claims"]["metrics"]["balanced_accuracy"]
    assert (read.dataset_id, read.task_id, read.value) == ("OWNER/NAME", "claims", figure["estimate"])
    assert (read.date, read.source_url) == (figures["date"], "https://example.org/runs")
    assert read.notes.startswith(f"balanced_accuracy, 24 rows, 95% interval {figure['low']} to {figure['high']}")
    assert hub.eval_result_entries_to_yaml([read]) == yaml.safe_load(done.stdout)


@pytest.mark.parametrize(
    ("name", "metric", "says"),
    [
        ("wice", "accuracy", "the run has no set 'wice': it has claims"),
        ("claims", "bleu", "the run has no 'bleu' of claims: it has auroc, accuracy"),
    ],
)
def test_a_figure_that_the_run_does_not_have_is_named(run: Path, name: str, metric: str, says: str) -> None:
    done = called(SCRIPT, run, name, metric, *HUB)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(says)


def test_a_sample_is_no_result(run: Path, tmp_path: Path) -> None:
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    results["settings"]["limit"] = 10
    (tmp_path / "results.json").write_text(json.dumps(results), encoding="utf-8")
    done = called(SCRIPT, tmp_path, "claims", "accuracy", *HUB)
    assert done.returncode == 1
    assert "--limit" in done.stderr
