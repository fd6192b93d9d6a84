"""The whole way at a tiny size: rows, imperfect level, arms, oracle, table; and a finished arm is not run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")

from benchmarks.worlds import ARMS, INITIAL, RECIPES, analyse, run_arm, start
from vouching.methods.structured.config import StructuredRunConfig
from vouching.settings import read_settings


def test_an_arm_is_trained_judged_on_held_out_places_and_compared(tmp_path: Path) -> None:
    start(tmp_path, 32, epochs=1.0)
    results = tmp_path / "results"
    for seed in (0, 1):
        for arm in (INITIAL, "binary")[: 2 - seed]:
            run_arm(arm, seed, tmp_path, results, steps=1, held_out=8)
    record = json.loads((results / "binary-0.json").read_text(encoding="utf-8"))
    assert (record["arm"], record["seed"], record["steps"]) == ("binary", 0, 1)
    assert len(record["outcomes"]) == 8
    assert all(name.startswith("held-out-") for name in record["outcomes"])
    [step] = (results / "binary-0.metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(step)["step"] == 1
    # binary has one seed, initial two: too few in common for an effect
    assert "| binary - initial, right |  |  | not run |" in analyse(results)
    before = (results / "binary-0.json").stat().st_mtime_ns
    run_arm("binary", 0, tmp_path, results, steps=1, held_out=8)
    assert (results / "binary-0.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_has_settings_that_can_be_read_and_the_same_rollouts_per_step(arm: str) -> None:
    config = read_settings(StructuredRunConfig, RECIPES / "facts.toml", ARMS[arm])
    assert config.batch_prompts * config.sampling.group_size == 64
