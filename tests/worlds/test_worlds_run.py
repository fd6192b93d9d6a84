"""The whole way at a tiny size: rows, imperfect level, arms, oracle, table; and a finished arm is not run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")

from benchmarks.world_answers import ANSWERS, command_of
from benchmarks.world_documents import DOCUMENTS
from benchmarks.world_facts import FACTS
from benchmarks.world_forms import FORMS
from benchmarks.world_instructions import INSTRUCTIONS
from benchmarks.world_probes import PROBES
from benchmarks.world_runs import INITIAL, RECIPES, World, run_arm, start
from benchmarks.worlds import analyse
from vouching.train.trainers import run_settings
from vouching.worlds.claims import CLAIMS

WORLDS: dict[str, World] = {"facts": FACTS, "instructions": INSTRUCTIONS, "documents": DOCUMENTS,
                            "forms": FORMS, "answers": ANSWERS, "probes": PROBES}  # fmt: skip
ROLLOUTS = {"facts": 64, "instructions": 32, "documents": 32, "forms": 0}
"""Rollouts per step in each world; 0 where arms differ in it, with 4 prompts each."""


@pytest.mark.parametrize(
    ("name", "arm"),
    [("facts", "binary"), ("instructions", "outside"), ("documents", "full"), ("answers", "diva"),
     ("answers", "agentic")],
)  # fmt: skip
def test_an_arm_is_trained_judged_on_held_out_prompts_and_compared(name: str, arm: str, tmp_path: Path) -> None:
    world = WORLDS[name]
    start(world, tmp_path, 32, epochs=1.0)
    results = tmp_path / "results"
    for seed in (0, 1):
        for one in (INITIAL, arm)[: 2 - seed]:
            run_arm(world, one, seed, tmp_path, results, steps=1, held_out=8)
    record = json.loads((results / f"{arm}-0.json").read_text(encoding="utf-8"))
    assert (record["arm"], record["seed"], record["steps"]) == (arm, 0, 1)
    assert len(record["outcomes"]) == 8
    assert all(prompt.startswith("held-out-") for prompt in record["outcomes"])
    first, *_ = (results / f"{arm}-0.metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["step"] == 1
    # the arm has one seed, initial two: too few in common for an effect
    assert f"| {arm} - " in analyse(world.name, results)  # pyright: ignore[reportArgumentType]
    assert "**" not in analyse(world.name, results)  # pyright: ignore[reportArgumentType]
    before = (results / f"{arm}-0.json").stat().st_mtime_ns
    run_arm(world, arm, 0, tmp_path, results, steps=1, held_out=8)
    assert (results / f"{arm}-0.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(("name", "arm"), [(name, arm) for name in ROLLOUTS for arm in WORLDS[name].arms])
def test_every_arm_has_settings_that_can_be_read_and_the_same_rollouts_per_step(name: str, arm: str) -> None:
    world = WORLDS[name]
    config = run_settings(world.method, RECIPES / f"{name}.toml", world.arms[arm])
    assert config.batch_prompts * config.sampling.group_size == (ROLLOUTS[name] or 4 * config.sampling.group_size)


@pytest.mark.parametrize("arm", ANSWERS.arms)
def test_every_arm_that_ranks_sees_the_answers_to_eight_questions_per_step(arm: str) -> None:
    method, recipe, data = command_of(arm, Path("folder"))
    config = run_settings(method, recipe, [*data, *ANSWERS.arms[arm]])
    # Three pairs per question, one chat, or a chat for each of the three answers.
    assert config.batch_pairs == 24 if method == "rank" else config.batch_prompts == (24 if arm == "points" else 8)


@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_compares_arms_that_the_experiment_has(name: str) -> None:
    arms = {INITIAL, *WORLDS[name].arms}
    for claim in CLAIMS[name]:  # pyright: ignore[reportArgumentType]
        assert {claim.first, claim.second} <= arms
