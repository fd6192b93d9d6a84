"""The whole way at a tiny size: rows, imperfect level, arms, oracle, table; and a finished arm is not run again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the extra train is not installed")

from benchmarks.world_answers import ANSWERS, LINES, QUESTIONS, config_of
from benchmarks.world_documents import DOCUMENTS
from benchmarks.world_facts import FACTS
from benchmarks.world_forms import ALONE, FORMS
from benchmarks.world_instructions import INSTRUCTIONS
from benchmarks.world_probes import PROBES
from benchmarks.world_runs import INITIAL, RECIPES, World, run_arm, start
from benchmarks.worlds import analyse, verify
from recipes.rank.settings import RankConfig
from recipes.worlds.claims import CLAIMS
from vouching.errors import ConfigError
from vouching.train.trainers import run_settings

WORLDS: dict[str, World] = {
    "facts": FACTS,
    "instructions": INSTRUCTIONS,
    "documents": DOCUMENTS,
    "forms": FORMS,
    "answers": ANSWERS,
    "probes": PROBES,
}
ROLLOUTS = {"facts": 64, "instructions": 32, "documents": 32}
"""Rollouts per step in each world."""


@pytest.mark.parametrize(
    ("name", "arm"),
    [
        ("facts", "binary"),
        ("instructions", "outside"),
        ("documents", "full"),
        ("answers", "diva"),
        ("answers", "agentic"),
    ],
)
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
    if name == "answers":
        measured = {measure for found in record["outcomes"].values() for measure in found}
        assert {claim.measure for claim in CLAIMS["answers"] if arm in {claim.first, claim.second}} <= measured
    first, *_ = (results / f"{arm}-0.metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["step"] == 1
    # the arm has one seed, initial two: too few in common for an effect
    said = analyse(world.name, results)  # pyright: ignore[reportArgumentType]
    assert f"| {arm} - " in said
    assert "**" not in said
    with_start = [one for one in CLAIMS[world.name] if {one.first, one.second} == {arm, INITIAL}]  # pyright: ignore[reportArgumentType]
    assert said.count("fewer than two seeds in common") == len(with_start)
    with pytest.raises(ConfigError, match="has 1 steps and 8 prompts, not 2 and 8"):
        run_arm(world, arm, 0, tmp_path, results, steps=2, held_out=8)
    with pytest.raises(ConfigError, match="has a start of 32 rows, not 33"):
        start(world, tmp_path, 33)
    assert re.fullmatch(r"[0-9a-f]{12}(-dirty)?", record["revision"])
    before = (results / f"{arm}-0.json").stat().st_mtime_ns
    run_arm(world, arm, 0, tmp_path, results, steps=1, held_out=8)
    assert (results / f"{arm}-0.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(("name", "arm"), [(name, arm) for name in ROLLOUTS for arm in WORLDS[name].arms])
def test_every_arm_has_settings_that_can_be_read_and_the_same_rollouts_per_step(name: str, arm: str) -> None:
    world = WORLDS[name]
    config = run_settings(world.method, RECIPES / f"{name}.toml", world.arms[arm])
    assert config.batch_prompts * config.sampling.group_size == ROLLOUTS[name]


@pytest.mark.parametrize("arm", FORMS.arms)
def test_every_arm_of_forms_has_four_forms_per_step_and_half_as_many_drafts_in_a_game_as_alone(arm: str) -> None:
    config = run_settings(FORMS.method, RECIPES / "forms.toml", FORMS.arms[arm])
    assert config.batch_prompts == {"samples-2": 2, "samples-8": 8}.get(arm, 4)
    assert config.sampling.group_size == (8 if {*ALONE} <= {*FORMS.arms[arm]} else 4)
    assert config.kl == (0 if arm == "dapo" else 0.04)


@pytest.mark.parametrize("arm", ANSWERS.arms)
def test_every_arm_that_ranks_goes_once_through_its_questions_in_150_steps(arm: str) -> None:
    config = config_of(arm, Path("rows.jsonl"), ANSWERS.arms[arm])
    batch = config.batch_pairs if isinstance(config, RankConfig) else config.batch_prompts
    assert 150 * batch == QUESTIONS * LINES.get(arm, 1)


@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_compares_arms_that_the_experiment_has(name: str) -> None:
    arms = {INITIAL, *WORLDS[name].arms}
    for claim in CLAIMS[name]:  # pyright: ignore[reportArgumentType]
        assert {claim.first, claim.second} <= arms | {"gspo"}  # which is GRPO here, see world_forms.ARMS


def test_a_start_that_is_judged_again_agrees_with_its_result_and_with_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start(FACTS, tmp_path / "facts", 32, epochs=1.0)
    kept = tmp_path / "kept"
    run_arm(FACTS, INITIAL, 0, tmp_path / "facts", kept, steps=1, held_out=8)
    assert verify(FACTS, INITIAL, 0, tmp_path / "facts", kept)
    assert "initial, seed 0: 8 of 8 prompts have the outcomes of initial-0.json" in capsys.readouterr().out
    record = json.loads((kept / "initial-0.json").read_text(encoding="utf-8"))
    record["outcomes"]["held-out-2-0"]["oracle/label"] += 1
    (kept / "initial-0.json").write_text(json.dumps(record), encoding="utf-8")
    assert not verify(FACTS, INITIAL, 0, tmp_path / "facts", kept)
    with pytest.raises(ConfigError, match=r"initial-1\.json does not exist"):
        verify(FACTS, INITIAL, 1, tmp_path / "facts", kept)


def test_an_arm_without_a_start_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no start: first run python benchmarks/worlds.py start --world facts"):
        run_arm(FACTS, "binary", 0, tmp_path / "facts", tmp_path / "results", steps=1, held_out=8)
