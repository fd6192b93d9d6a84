"""The recipes hold the paper's numbers, each compared with the table that prints it; read without torch."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from vouching.errors import ConfigError
from vouching.methods.structured.config import StructuredRunConfig
from vouching.methods.structured.reward_settings import RewardSettings
from vouching.methods.training import Plan
from vouching.settings import read_settings
from vouching.train.sft import SftConfig

RECIPES = Path(__file__).parents[3] / "recipes/structured"
MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
TABLE_8 = {
    "epochs": 3,
    "batch_prompts": 16,
    "micro_batch": 4,
    "schedule": "cosine",
    "warmup": 0.05,
    "weight_decay": 0.01,
    "max_tokens": 1280,
    "precision": "bfloat16",
    "gradient_checkpointing": True,
}
"""What all columns of Table 8 share; "Eff. batch" is 16."""


@pytest.mark.parametrize(
    ("name", "model", "learning_rate", "rank", "watts"),
    [
        # Table 8, column "3B (full)"; Table 7: 2 x Ada; App. N: 300 W.
        ("3b-sft", "Qwen/Qwen2.5-3B-Instruct", 2e-5, 0, 300),
        # Table 8, column "7B (LoRA)": rank 64 / 128, rate 2e-5 / 5e-5; Table 7: 1 x A100; App. N: 400 W.
        ("7b-lora-64", "Qwen/Qwen2.5-7B-Instruct", 2e-5, 64, 400),
        ("7b-lora-128", "Qwen/Qwen2.5-7B-Instruct", 5e-5, 128, 400),
        ("two-stage", "Qwen/Qwen2.5-7B-Instruct", 5e-5, 128, 400),
    ],
)
def test_supervised_recipes_hold_the_values_of_table_8(
    name: str, model: str, learning_rate: float, rank: int, watts: float
) -> None:
    config = read_settings(SftConfig, RECIPES / f"{name}.toml")
    assert {key: getattr(config, key) for key in TABLE_8} == TABLE_8
    assert (config.model, config.learning_rate, config.lora.rank) == (model, learning_rate, rank)
    assert config.power.watts == watts
    if rank:  # Table 8, "LoRA-specific"
        assert (config.lora.alpha, config.lora.dropout, config.lora.modules) == (128, 0.05, MODULES)
    assert bool(config.binary) == (name == "two-stage")


def test_the_grpo_recipe_holds_the_values_of_table_9() -> None:
    config = read_settings(StructuredRunConfig, RECIPES / "3b-grpo.toml")
    drawn = config.sampling
    # Group size, temperature, top-p, max prompt length, max response length.
    assert (drawn.group_size, drawn.temperature, drawn.top_p) == (8, 1.2, 0.95)
    assert (drawn.prompt_tokens, drawn.completion_tokens) == (768, 512)
    # Train batch size, learning rate, KL coefficient, epochs.
    assert (config.batch_prompts, config.learning_rate, config.kl, config.epochs) == (64, 2e-6, 0.001, 5)
    assert (config.reward, config.loss, config.lora.rank) == (RewardSettings(), "grpo", 0)
    # 4,500 prompts (Table 11) in batches of 64, five times: 351.6, the paper's "~350 steps".
    assert 5 * 4500 / config.batch_prompts == pytest.approx(350, abs=2)


def test_the_defaults_of_the_settings_are_those_of_the_paper() -> None:
    plain = StructuredRunConfig(rows=("rows.jsonl",), model="model")
    recipe = read_settings(StructuredRunConfig, RECIPES / "3b-grpo.toml", ["sampling.engine=hf"])
    for name in ("loss", "kl", "learning_rate", "epochs", "batch_prompts", "sampling", "reward"):
        assert getattr(plain, name) == getattr(recipe, name)


def test_every_recipe_can_be_read() -> None:
    names = {path.stem for path in RECIPES.glob("*.toml")}
    assert names == {
        "3b-sft",
        "3b-grpo",
        "7b-lora-64",
        "7b-lora-128",
        "two-stage",
        "tiny",
        "tiny-sft",
        "smollm2-sft",
        "smollm2-grpo",
    }
    for one in ("tiny", "smollm2-grpo"):
        read_settings(StructuredRunConfig, RECIPES / f"{one}.toml")
    for one in ("tiny-sft", "smollm2-sft"):
        read_settings(SftConfig, RECIPES / f"{one}.toml")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("learing_rate=1e-6", "unknown setting 'learing_rate'; did you mean 'learning_rate'?"),
        ("sampling.group_sise=4", "unknown setting 'sampling.group_sise'; did you mean 'sampling.group_size'?"),
        ("sampling.group_size=1", "group_size must be at least 2, got 1"),
        ("watch.on_alarm=shout", "watch.on_alarm must be 'warn' or 'stop', got 'shout'"),
        ("power.pue=0.5", "power.pue must be at least 1, got 0.5"),
        ("sampling.engine=vllm-server", "server must be set"),
        ("lora=4", "lora must be a table, got 4"),
    ],
)
def test_a_setting_that_is_wrong_is_named_with_what_was_meant(setting: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_settings(StructuredRunConfig, RECIPES / "3b-grpo.toml", [setting])
    assert message in str(raised.value)


def test_the_reward_is_a_table_of_the_settings(tmp_path: Path) -> None:
    rows = tmp_path / "prompts.jsonl"
    rows.write_text('{"id": "a", "prompt": [{"role": "user", "content": "Is it so?"}], "gold": "Attributable"}\n')

    def plan(*settings: str) -> Plan:
        return read_settings(
            StructuredRunConfig, RECIPES / "3b-grpo.toml", [f"rows={json.dumps([str(rows)])}", *settings]
        ).plan()

    plain, by_range, by_mean, binary = (
        plan(*one) for one in ((), ["reward.normalise=range"], ["reward.normalise=mean"], ["reward.variant=binary"])
    )
    assert [one.game.scale and one.game.scale.by for one in (plain, by_range, by_mean)] == [None, "range", "mean"]
    assert [one.game.top for one in (plain, by_range, by_mean, binary)] == [1.15, 1.15, None, 1.0]
    # 50/50 without calibration and with a chain that counts double: .5 / 7 * 4 + .4 + .5
    other = plan("reward.split=50/50", "reward.calibration=off", "reward.weights={chain=0.4}").game
    assert other.top == pytest.approx(4 * 0.5 / 7 + 0.4 + 0.5)
    reply = json.dumps({"label": "yes", "confidence": 1})
    scored = asyncio.run(other.score(reply, {"gold": "Attributable"}))
    assert scored.total == pytest.approx(0.5 / 7 * 0.5 + 0.25 + 0.25)  # half of the format, label, no error


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["reward.variant=binary", "reward.normalise=range"], "normalise cannot be used with the variant binary"),
        (["reward.variant=binary-format", "reward.calibration=off"], "calibration cannot be used with the variant"),
        (["reward.variant=binary-format", "reward.weights={chain=1}"], "can only be format and label"),
        (["reward.weights={chian=1}"], "weights has no 'chian'; expected one of format, alignment, chain, label"),
        (["reward.weights={chain=-1}"], "the weight 'chain' must be a finite number of at least 0"),
        (["reward.split=60/50"], "the split must be two percentages of process and outcome"),
        (["reward.diagnosis_floor=2"], "diagnosis_floor must be at most 1"),
    ],
)
def test_settings_of_the_reward_that_exclude_each_other_are_refused(settings: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_settings(StructuredRunConfig, RECIPES / "3b-grpo.toml", settings)
    assert message in str(raised.value)
