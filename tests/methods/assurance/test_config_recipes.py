"""The recipes hold the paper's numbers (DPA-GRPO, App. E); settings that are wrong are named. Read without torch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from vouching.errors import ConfigError, InputError
from vouching.methods.assurance.config import AssuranceRunConfig
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.assurance.reward import AssuranceCosts
from vouching.methods.assurance.task import read_work, units_of
from vouching.settings import read_settings

RECIPES = Path(__file__).parents[3] / "recipes/assurance"
MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""App. E: "the attention and MLP linear projections"."""


@pytest.mark.parametrize(
    ("name", "model"),
    [("dpa-4b", "Qwen/Qwen3-4B"), ("dpa-8b", "Qwen/Qwen3-8B"), ("baseline-4b", "Qwen/Qwen3-4B")],
)
def test_recipes_hold_the_values_of_the_papers_appendix(name: str, model: str) -> None:
    config = read_settings(AssuranceRunConfig, RECIPES / f"{name}.toml")
    assert config.model == model
    # "LoRA rank r = 8, scaling parameter alpha = 32, and dropout 0.05", on all linear projections.
    assert (config.lora.rank, config.lora.alpha, config.lora.dropout, config.lora.modules) == (8, 32, 0.05, MODULES)
    # "AdamW with learning rate 1e-5 and weight decay 0.01"; "beta = 0.04, applied uniformly".
    assert (config.learning_rate, config.weight_decay, config.kl) == (1e-5, 0.01, 0.04)
    # "temperature 0.2 and top-p = 0.9 for initial proposal and verifier-action sampling".
    assert (config.sampling.temperature, config.sampling.top_p) == (0.2, 0.9)
    # "up to 30 steps and evaluate every 5 steps"; "mixed-precision training with bf16".
    assert (config.max_steps, config.watch.evaluate_every, config.precision) == (30, 5, "bfloat16")
    game = config.game
    assert game.alone == (name == "baseline-4b")
    # "temperature 0.7 using best-of-K revision generation with K = 5 candidates, ... scored by oracle correctness".
    assert (game.candidates, game.revision_temperature, game.oracle) == (5, 0.7, True)
    # Section 2.2: no costs. Section 2.3: the population's deviation, which makes a pair +-1.
    assert (game.intervention_cost, game.revision_cost) == (0.0, 0.0)
    if not game.alone:
        # Section 2.3: -A(a) log pi(a | I), where log pi of an action is the sum over its tokens; one update by a batch.
        assert (config.spread, config.loss, config.updates) == ("population", "token_sum", 1)


def test_the_baselines_are_one_recipe_with_another_loss() -> None:
    for overrides, loss in (
        (["loss=dapo", "clip=[0.2, 0.28]", "sampling.resample=4"], "dapo"),
        (["loss=gspo"], "gspo"),
    ):
        assert read_settings(AssuranceRunConfig, RECIPES / "baseline-4b.toml", overrides).loss == loss


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ("game.candidate=3", "did you mean 'game.candidates'?"),
        ("game.candidates=0", "game.candidates must be above 0"),
        ("game.intervention_cost=1", "game.intervention_cost must be at least 0 and below 1, got 1.0"),
        ("game.margin=-1", "game.margin must be at least 0, got -1"),
        ("watch.keep=0", "watch.keep must be above 0"),
        ("kl_estimator=k2", "kl_estimator must be 'k1', 'k1-loss' or 'k3', got 'k2'"),
    ],
)
def test_a_setting_that_is_wrong_is_named(setting: str, wrong: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_settings(AssuranceRunConfig, RECIPES / "tiny.toml", [setting])
    assert wrong in str(raised.value)


def test_every_setting_reaches_the_game() -> None:
    given = [
        "game.candidates=3",
        "game.intervention_cost=0.1",
        "game.revision_cost=0.2",
        "game.proposals=false",
        "game.margin=3",
    ]
    learnt = read_settings(AssuranceRunConfig, RECIPES / "dpa-4b.toml", given).played(turns=19)
    assert (learnt.samples, learnt.candidates, learnt.revision_temperature, learnt.turns) == (4, 3, 0.7, 19)
    assert (learnt.costs, learnt.proposals, learnt.alone) == (AssuranceCosts(0.1, 0.2), False, False)
    assert (learnt.oracle, learnt.margin) == (True, 3.0)


def test_gold_selects_nothing_in_an_evaluation(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "task": ' + TASK + ', "gold": {"x": 3}}\n', encoding="utf-8")
    plan = AssuranceRunConfig(rows=(str(tmp_path / "rows.jsonl"),), model="policy").plan()
    assert isinstance(plan.game, AssuranceGame)
    assert plan.game.oracle
    assert plan.scored_by == replace(plan.game, oracle=False)


TASK = '{"task": "t", "data": {}, "units": [{"id": "x", "type": "number"}]}'


def test_rows_are_read_from_files_and_from_folders_of_right_proposals(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "task": ' + TASK + ', "gold": {"x": 3}}\n', encoding="utf-8")
    for name, text in (("tasks", TASK), ("proposals", '{"task": "t", "values": {"x": 4}}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "b.json").write_text(text, encoding="utf-8")
    rows = read_work([str(tmp_path / "rows.jsonl"), str(tmp_path)])
    assert [(row["id"], row["gold"]) for row in rows] == [("a", {"x": 3}), ("b", {"x": 4})]
    assert units_of(rows) == 1
    (tmp_path / "mistakes.jsonl").write_text('{"id": "b"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="contain mistakes"):
        read_work([str(tmp_path)])


def test_a_folder_without_tasks_is_distinguished_from_a_missing_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not contain tasks/ and proposals/"):
        read_work([str(tmp_path)])
    with pytest.raises(InputError, match=r"does not exist: create it with  python recipes/taxes"):
        read_work([str(tmp_path / "returns")])


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ("", "no rows"),
        ('{"id": "a", "task": ' + TASK + "}\n", "line 1: row 'a' has no object \"gold\""),
        (('{"id": "a", "task": ' + TASK + ', "gold": {"x": 3}}\n') * 2, "two rows have the id 'a'"),
    ],
)
def test_rows_that_cannot_be_played_are_refused(tmp_path: Path, lines: str, wrong: str) -> None:
    (tmp_path / "rows.jsonl").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_work([str(tmp_path / "rows.jsonl")])
    assert wrong in str(raised.value)
