"""The recipes hold the paper's numbers, each compared with the table that prints it; read without torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from vouching.errors import ConfigError
from vouching.methods.structured.config import StructuredRunConfig
from vouching.settings import read_settings
from vouching.train.sft import SftConfig

RECIPES = Path(__file__).parents[3] / "recipes/structured"
MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
TABLE_8 = {
    "epochs": 3, "batch_rows": 4, "schedule": "cosine", "warmup": 0.05, "weight_decay": 0.01, "max_tokens": 1280,
    "precision": "bfloat16", "gradient_checkpointing": True,
}  # fmt: skip
"""What all columns of Table 8 share."""
EFFECTIVE_BATCH = 16
"""Table 8, "Eff. batch"."""


@pytest.mark.parametrize(
    ("name", "model", "learning_rate", "rank", "gpus", "watts"),
    [
        # Table 8, column "3B (full)"; Table 7: 2 x Ada; App. N: 300 W.
        ("3b-sft", "Qwen/Qwen2.5-3B-Instruct", 2e-5, 0, 2, 300),
        # Table 8, column "7B (LoRA)": rank 64 / 128, rate 2e-5 / 5e-5; Table 7: 1 x A100; App. N: 400 W.
        ("7b-lora-64", "Qwen/Qwen2.5-7B-Instruct", 2e-5, 64, 1, 400),
        ("7b-lora-128", "Qwen/Qwen2.5-7B-Instruct", 5e-5, 128, 1, 400),
        ("two-stage", "Qwen/Qwen2.5-7B-Instruct", 5e-5, 128, 1, 400),
    ],
)
def test_supervised_recipes_hold_the_values_of_table_8(
    name: str, model: str, learning_rate: float, rank: int, gpus: int, watts: float
) -> None:
    config = read_settings(SftConfig, RECIPES / f"{name}.toml")
    assert {key: getattr(config, key) for key in TABLE_8} == TABLE_8
    assert (config.model, config.learning_rate, config.lora.rank) == (model, learning_rate, rank)
    assert config.batch_rows * config.accumulate * gpus == EFFECTIVE_BATCH
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
    assert (config.reward, config.variant, config.loss, config.lora.rank) == ("process", "paper", "grpo", 0)
    # 4,500 prompts (Table 11) in batches of 64, five times: 351.6, the paper's "~350 steps".
    assert 5 * 4500 / config.batch_prompts == pytest.approx(350, abs=2)


def test_the_defaults_of_the_settings_are_those_of_the_paper() -> None:
    plain = StructuredRunConfig(rows=("rows.jsonl",), model="model")
    recipe = read_settings(StructuredRunConfig, RECIPES / "3b-grpo.toml", ["sampling.engine=hf"])
    for name in ("loss", "kl", "learning_rate", "epochs", "batch_prompts", "sampling", "reward", "variant"):
        assert getattr(plain, name) == getattr(recipe, name)


def test_every_recipe_can_be_read() -> None:
    names = {path.stem for path in RECIPES.glob("*.toml")}
    assert names == {"3b-sft", "3b-grpo", "7b-lora-64", "7b-lora-128", "two-stage", "tiny", "tiny-sft"}
    read_settings(StructuredRunConfig, RECIPES / "tiny.toml")
    read_settings(SftConfig, RECIPES / "tiny-sft.toml")


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


def test_the_scale_of_the_diagnosis_is_a_setting_of_the_process_reward(tmp_path: Path) -> None:
    rows = tmp_path / "prompts.jsonl"
    rows.write_text('{"id": "a", "prompt": [{"role": "user", "content": "Is it so?"}], "gold": "Attributable"}\n')
    given = {"rows": (str(rows),), "model": "runs/sft/model"}
    assert StructuredRunConfig(**given).plan().game.normalise == "none"
    by_range, by_mean = (StructuredRunConfig(**given, normalise=by).plan().game for by in ("range", "mean"))
    assert (by_range.normalise, by_range.top, by_mean.normalise, by_mean.top) == ("range", 1.15, "mean", None)
    with pytest.raises(ConfigError, match="binary reward, which has no diagnosis"):
        StructuredRunConfig(**given, reward="binary", normalise="range")
