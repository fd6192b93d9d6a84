"""The checklist recipes hold the paper's numbers; the tiny one runs, from the command line to a model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.train.checklist_rows import CHECKLISTS, GOLD_ROWS
from vouching.errors import ConfigError, InputError
from vouching.methods.base import ScriptedSampler
from vouching.methods.checklist.config import ChecklistRunConfig, ChecklistSettings, read_gold, read_tasks
from vouching.methods.checklist.game import task_of
from vouching.methods.checklist.reward import generator_reward, soft_score
from vouching.settings import read_settings
from vouching.train.run_folder import open_run

RECIPES = Path(__file__).parents[3] / "recipes/checklist"
APPENDIX_A1 = {"batch_prompts": 256, "learning_rate": 5e-6, "clip": (0.1, 0.2), "kl": 0.0, "loss": "grpo"}
"""App. A.1: batch size, learning rate, eps_low and eps_high, no KL regularization, GRPO."""


@pytest.mark.parametrize(
    ("name", "steps", "votes", "beta", "judged"),
    [
        ("soft-rlvr", 500, 1, 1.0, True),  # App. A.1 "500 steps"; section 5 "a single pass (J = 1)"; Eq. 5, the mean
        ("soft-sverl-j3", 100, 3, 0.5, False),  # section 6.2 "100 training steps"; Fig. 4 J = 3; beta is not published
        ("soft-sverl-j8", 100, 8, 0.5, False),  # Fig. 4 J = 8
    ],
)
def test_recipes_hold_the_values_of_appendix_a1_and_section_6(
    name: str, steps: int, votes: int, beta: float, judged: bool
) -> None:
    config = read_settings(ChecklistRunConfig, RECIPES / f"{name}.toml")
    assert {key: getattr(config, key) for key in APPENDIX_A1} == APPENDIX_A1
    drawn, own = config.sampling, config.checklist
    assert (drawn.group_size, drawn.prompt_tokens + drawn.completion_tokens) == (8, 16384)
    assert (config.max_steps, own.votes, own.beta, bool(own.judge)) == (steps, votes, beta, judged)
    assert (own.tau, own.tau_minus, own.aggregate) == (0.75, 0.375, "threshold")  # section 6.2
    if judged:
        assert own.judge.endswith("gpt-oss-20b")
        assert own.judge_tokens == 32768  # App. A.1 "up to 32k tokens"
    else:
        assert own.lambda_p == 0.1
        assert own.replay > 0
        assert own.gold


def test_the_recipe_of_soft_rlvr_pays_the_mean_of_the_items() -> None:
    rules = read_settings(ChecklistRunConfig, RECIPES / "soft-rlvr.toml").checklist.rules
    # Section 2: "a response satisfying two of the three requirements receives reward 2/3".
    assert generator_reward(soft_score([1.0, 1.0, 0.0]), rules.beta) == pytest.approx(2 / 3)


def test_the_defaults_of_the_game_are_the_recipe_s() -> None:
    recipe = read_settings(ChecklistRunConfig, RECIPES / "soft-sverl-j3.toml").checklist
    assert recipe == ChecklistSettings(gold=recipe.gold)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["checklist.gold=[]"], "gold is empty, so the policy would learn to judge from its own answers alone"),
        (["checklist.tau=0"], "tau"),
        (["checklist.votes=0"], "votes must be above 0, got 0"),
        (["checklist.gold_share=2"], "gold_share must be in .0, 1., got 2"),
        (
            ["checklist.holistic=true"],
            "holistic requires a judge, because a policy that judges itself judges single items",
        ),
        (["checklist.judge=http://localhost:1/v1#judge"], "gold cannot be used with the judge"),
        (["checklist.anchor=rules"], 'anchor="rules" has no gold and no judge, and needs replay above 0'),
        (["checklist.lamda_v=1"], "did you mean 'checklist.lambda_v'"),
        (["votes=8"], "unknown setting 'votes'; did you mean 'checklist.votes'"),  # of a table, without its name
        (["game.votes=8"], "unknown setting 'game'; did you mean 'checklist.votes'"),  # of a table of another game
        (["critic=1"], "unknown setting 'critic'; expected one of rows"),
        (["lora=4"], r"lora must be a table, got 4: set its entries with lora\.KEY=VALUE"),
    ],
)
def test_settings_that_contradict_each_other_are_told(settings: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_settings(ChecklistRunConfig, RECIPES / "soft-sverl-j3.toml", settings)


def test_a_run_is_not_gone_on_with_by_another_setting_of_a_table_and_it_is_named(tmp_path: Path) -> None:
    counts, digests = {"rows": 6, "dev": 0}, {"rows": "r", "dev": "d"}
    recipe = RECIPES / "soft-sverl-j3.toml"
    open_run(tmp_path / "run", read_settings(ChecklistRunConfig, recipe), counts, digests, False)
    open_run(
        tmp_path / "run", read_settings(ChecklistRunConfig, recipe, ["device=cpu"]), counts, digests, True
    )  # where, not what
    other = read_settings(ChecklistRunConfig, recipe, ["checklist.votes=8", "kl=0.1"])
    with pytest.raises(InputError, match=r"with different settings \(checklist.votes, kl\): use the same"):
        open_run(tmp_path / "run", other, counts, digests, True)


def test_a_file_that_says_nothing_of_the_game_does_not_train_a_judge_that_nothing_holds(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('rows = ["rows.jsonl"]\nmodel = "policy"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="gold is empty, so the policy would learn to judge"):
        read_settings(ChecklistRunConfig, path)
    assert (
        read_settings(ChecklistRunConfig, path, ["checklist.lambda_v=0"]).checklist.lambda_v == 0.0
    )  # asked for, it is played


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"x": "a", "y": "b", "c": "d", "l": None}, 'line 1: "l" must be 1 or 0, got null'),
        ({"x": "a", "y": "b", "l": 1}, 'line 1: the row has no "c"; expected "x", "y", "c" and "l"'),
        (
            {"prompt": "a", "checklist": ["b"]},
            'the row has no "x", "y", "c", "l"; expected "x", "y", "c" and "l", as  vouch data gold  writes them',
        ),
    ],
)
def test_gold_that_cannot_be_used_is_told_with_its_place(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    path = written(tmp_path / "gold.jsonl", [line])
    with pytest.raises(InputError, match=message):
        read_gold([path])


RULED: dict[str, Any] = {
    "id": "r",
    "prompt": "Write about Rome. Use no commas, and no capital letters.",
    "checklist": ["Is it about Rome?"],
    "instruction_id_list": ["punctuation:no_comma", "change_case:english_lowercase"],
    "kwargs": [{}, {}],
}


def test_exact_rewards_come_from_the_rules_without_a_judge(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [RULED])
    given = [f'rows=["{rows}"]', 'checklist.judge=""', "checklist.items=rules", "sampling.group_size=2"]
    plan = read_settings(ChecklistRunConfig, RECIPES / "soft-rlvr.toml", given).plan()
    answers = ScriptedSampler(lambda prompt, role, number: ("rome is old.", "Rome is old.")[number])
    [group] = asyncio.run(plan.game.play(answers, plan.rows)).groups
    # Both rules hold for the first answer, one of two for the second, which has a capital letter.
    assert [one.reward.total for one in group.rollouts if one.reward] == [1.0, 0.5]
    with pytest.raises(ConfigError, match=r'checklist\.items="rules" needs no judge and no gold'):
        read_settings(ChecklistRunConfig, RECIPES / "soft-rlvr.toml", ["checklist.items=rules"])


def test_a_row_without_rules_has_no_exact_reward(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [{"prompt": "Write.", "checklist": ["Is it short?"]}])
    with pytest.raises(InputError, match='"instruction_id_list" must be a list, got null'):
        read_tasks([rows], "rules")


def test_metadata_items_are_the_rules_in_words_for_the_judge(tmp_path: Path) -> None:
    [row] = read_tasks([written(tmp_path / "rows.jsonl", [RULED])], "metadata")
    assert [item.rule for item in task_of(row).items] == [None, None]
    assert task_of(row).items[0].text == "Is the response free of commas?"


def test_training_rows_that_overlap_with_evaluation_prompts_are_refused(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [RULED])
    other = written(tmp_path / "ifeval.jsonl", [{"prompt": RULED["prompt"]}])
    with pytest.raises(InputError, match="row 'r' overlaps with the evaluation prompt 'Write about Rome"):
        read_tasks([rows], evaluation=[other])


def test_files_without_a_row_are_an_error(tmp_path: Path) -> None:
    empty = written(tmp_path / "empty.jsonl", [])
    with pytest.raises(InputError, match=r"no rows in .*: expected rows with x, y, c and l"):
        read_gold([empty])
    with pytest.raises(InputError, match=r"no rows in .*: expected rows with prompt and checklist"):
        read_tasks([empty])


def test_the_tiny_recipe_runs_and_goes_on(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
    pytest.importorskip("trl", reason="the extra train (trl) is not installed")
    from tests.train.engine_runs import stop_often
    from tests.train.tiny_qwen import write_tiny_qwen
    from vouching.train.fit import train_game
    from vouching.train.run_folder import read_records

    torch.set_num_threads(1)
    said = [row["prompt"] for row in CHECKLISTS] + [row["c"] + " yes no" for row in GOLD_ROWS]
    model = stop_often(write_tiny_qwen(tmp_path / "qwen", said, context=1024))
    rows = written(tmp_path / "rows.jsonl", CHECKLISTS)
    gold = written(tmp_path / "gold.jsonl", GOLD_ROWS)
    given = [f'rows=["{rows}"]', f'dev=["{rows}"]', f"model={model}", f'checklist.gold=["{gold}"]', "device=cpu"]
    lines: list[str] = []
    config = read_settings(ChecklistRunConfig, RECIPES / "tiny.toml", [*given, "sampling.completion_tokens=6"])
    came_out = train_game(config, tmp_path / "run", report=lines.append)
    assert (came_out / "model.safetensors").exists()
    records = read_records(tmp_path / "run")
    assert [record["step"] for record in records] == [1, 2, 3, 4]
    names = {
        "reward/generator/s",
        "reward/verifier/total",
        "oracle/rules",
        "gap/rules",
        "replay/size",
        "yes/rule_negative",
    }
    assert names <= records[-1].keys()
    assert "dev/oracle/rules" in records[-1]  # what the best step is chosen by
    state = json.loads((tmp_path / "run/checkpoints/checkpoint-4/engine.json").read_text())
    assert state["game"]["played"] == 4  # that dev was scored twice is forgotten


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)
