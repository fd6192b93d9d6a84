"""The whole way at a tiny size: rows, imperfect level, arms, oracle, table; and a finished arm is not run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")

from benchmarks.world_documents import DOCUMENTS
from benchmarks.world_facts import FACTS
from benchmarks.world_forms import FORMS
from benchmarks.world_instructions import INSTRUCTIONS
from benchmarks.world_runs import INITIAL, RECIPES, World, run_arm, start
from benchmarks.worlds import analyse
from vouching.methods.assurance.config import AssuranceRunConfig
from vouching.methods.blinded.config import BlindedRunConfig
from vouching.methods.checklist.config import ChecklistRunConfig
from vouching.methods.structured.config import StructuredRunConfig
from vouching.settings import read_settings
from vouching.worlds.claims import CLAIMS

WORLDS: dict[str, World] = {"facts": FACTS, "instructions": INSTRUCTIONS, "documents": DOCUMENTS,
                            "forms": FORMS}  # fmt: skip
CONFIGS = {
    "structured": (StructuredRunConfig, 64),
    "checklist": (ChecklistRunConfig, 32),
    "blinded": (BlindedRunConfig, 32),
    "assurance": (AssuranceRunConfig, 0),
}
"""Settings of each method, and rollouts per step in its world; 0 where arms differ in it, with 4 prompts each."""


@pytest.mark.parametrize(
    ("name", "arm", "step"), [("facts", "binary", 1), ("instructions", "outside", 1), ("documents", "full", 1)]
)
def test_an_arm_is_trained_judged_on_held_out_prompts_and_compared(
    name: str, arm: str, step: int, tmp_path: Path
) -> None:
    world = WORLDS[name]
    start(world, tmp_path, 32, epochs=1.0)
    results = tmp_path / "results"
    for seed in (0, 1):
        for one in (INITIAL, arm)[: 2 - seed]:
            run_arm(world, one, seed, tmp_path, results, steps=step, held_out=8)
    record = json.loads((results / f"{arm}-0.json").read_text(encoding="utf-8"))
    assert (record["arm"], record["seed"], record["steps"]) == (arm, 0, 1)
    assert len(record["outcomes"]) == 8
    assert all(prompt.startswith("held-out-") for prompt in record["outcomes"])
    [logged] = (results / f"{arm}-0.metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(logged)["step"] == 1
    # the arm has one seed, initial two: too few in common for an effect
    assert f"| {arm} - initial, " in analyse(world.name, results)  # pyright: ignore[reportArgumentType]
    assert "holds |" not in analyse(world.name, results)  # pyright: ignore[reportArgumentType]
    before = (results / f"{arm}-0.json").stat().st_mtime_ns
    run_arm(world, arm, 0, tmp_path, results, steps=step, held_out=8)
    assert (results / f"{arm}-0.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(("name", "arm"), [(name, arm) for name, world in WORLDS.items() for arm in world.arms])
def test_every_arm_has_settings_that_can_be_read_and_the_same_rollouts_per_step(name: str, arm: str) -> None:
    world = WORLDS[name]
    kind, rollouts = CONFIGS[world.method]
    config = read_settings(kind, RECIPES / f"{name}.toml", world.arms[arm])
    assert config.batch_prompts * config.sampling.group_size == (rollouts or 4 * config.sampling.group_size)


@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_compares_arms_that_the_experiment_has(name: str) -> None:
    arms = {INITIAL, *WORLDS[name].arms}
    for claim in CLAIMS[name]:  # pyright: ignore[reportArgumentType]
        assert {claim.first, claim.second} <= arms
