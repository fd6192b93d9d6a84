"""The engine beside TRL's own trainer: the same completions, the same losses and weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.train.engine_runs import (
    config,
    greatest_difference,
    rows,
    stop_often,
    texts,
    tokenizer_of,
    trainer_of,
    weights_of,
)
from tests.train.tiny_qwen import write_tiny_qwen

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return stop_often(write_tiny_qwen(tmp_path_factory.mktemp("qwen"), texts()))


def stock_trainer(settings: Any, out: Path) -> Any:
    """TRL's own trainer with the same settings, rows and reward."""
    import trl
    from datasets import Dataset

    from vouching.train.engine import training_arguments

    def vowels(completions: Sequence[Any], **_: Any) -> list[float]:
        replies = [one[0]["content"] for one in completions]
        return [sum(letter in "aeiou" for letter in reply) / max(1, len(reply)) for reply in replies]

    arguments = training_arguments(settings, out)
    arguments.scale_rewards = "none" if settings.spread == "none" else "group"
    return trl.GRPOTrainer(
        model=settings.model, args=arguments, processing_class=tokenizer_of(Path(settings.model)),
        reward_funcs=[vowels], train_dataset=Dataset.from_list([{"prompt": row["prompt"]} for row in rows()]),
    )  # fmt: skip


def trained(trainer: Any) -> tuple[list[float], dict[str, Any]]:
    trainer.train()
    return [line["loss"] for line in trainer.state.log_history if "loss" in line], weights_of(trainer)


@pytest.mark.parametrize(
    "changed",
    [
        {"loss": "grpo"},
        {"loss": "dapo", "clip": (0.2, 0.28)},
        {"loss": "gspo"},
        {"loss": "dr_grpo", "spread": "none"},
        {"loss": "bnpo"},
        {"loss": "grpo", "kl": 0.1, "updates": 2, "most_steps": 4},
    ],
    ids=lambda changed: "-".join(str(value) for value in changed.values()),
)
def test_a_game_of_one_role_is_trls_own_trainer(model: Path, tmp_path: Path, changed: dict[str, Any]) -> None:
    settings = config(model, **changed)
    start = weights_of(trainer_of(settings, tmp_path / "none"))
    losses, weights = trained(trainer_of(settings, tmp_path / "ours"))
    expected_losses, expected = trained(stock_trainer(settings, tmp_path / "stock"))
    assert losses == pytest.approx(expected_losses, abs=1e-6)
    assert greatest_difference(weights, expected) < 1e-6
    assert greatest_difference(start, expected) > 1e-5  # something was learnt
