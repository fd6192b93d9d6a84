"""Pieces of a step hold rows of similar length and no columns of padding; the gradient stays what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.train.engine_runs import PLAIN, config, rows, stop_often, texts, tokenizer_of, trainer_of
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.methods.training import LoraSettings
from vouching.types import Group, Reward, Rollout

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from vouching.train.engine_batch import computed_share, pieces_of, trimmed  # noqa: E402  (needs torch)
from vouching.train.engine_table import Round  # noqa: E402

PROMPT, SHORT, LONG, ROWS = 4, 2, 100, 16
"""Fifteen two-token replies and one of a hundred tokens."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return stop_often(write_tiny_qwen(tmp_path_factory.mktemp("qwen"), texts()))


def played(model: Path, policies: int = 1) -> Round:
    """One long reply in the middle of short ones, prompts of unequal length, advantages of both signs."""
    tokenizer = tokenizer_of(model)
    words = tokenizer(" ".join(texts()))["input_ids"]
    rollouts = []
    for row in range(ROWS):
        prompt = words[row : row + PROMPT + row % 3]
        said = words[50 + row : 50 + row + (LONG if row == 7 else SHORT)]
        policy = ("default", "second")[row % policies]
        advantage = (-1.0) ** row * (1 + row / 8)
        rollouts.append(
            Rollout(
                policy,
                (*prompt,),
                (*said,),
                (1,) * len(said),
                None,
                "stop",
                group=policy,
                policy=policy,
                reward=Reward(0.0),
                advantage=advantage,
            )
        )
    names = sorted({one.policy for one in rollouts})
    groups = [Group(name, name, "group", tuple(one for one in rollouts if one.policy == name)) for name in names]
    return Round((), tuple(groups), {})


def gradient(trainer: Any, batch: dict[str, Any]) -> dict[str, Any]:
    trainer.current_gradient_accumulation_steps = 1
    trainer.model.zero_grad()
    trainer.accelerator.backward(trainer.compute_loss(trainer.model, batch))
    return {name: one.grad.clone() for name, one in trainer.model.named_parameters() if one.grad is not None}


@pytest.mark.parametrize(
    "changed",
    [
        {"loss": "dapo"},
        {"loss": "grpo", "kl": 0.1},
        {"loss": "gspo"},
        {"loss": "token_sum"},
        {"loss": "dapo", "kl": 0.1, "kl_estimator": "k1"},
        {"loss": "dapo", "kl": 0.1, "lora": LoraSettings(rank=4, dropout=0.0)},
    ],
    ids=str,
)
def test_the_gradient_of_trimmed_pieces_is_that_of_one_piece_at_full_width(
    model: Path, tmp_path: Path, changed: dict[str, Any]
) -> None:
    from vouching.train.engine_trl import _batch

    found = []
    for size in (ROWS, 3):  # all rows at once is TRL's own loss at the width of the longest
        settings = config(model, micro_batch=size, sampling={"prompt_tokens": 20, "completion_tokens": 108}, **changed)
        trainer = trainer_of(settings, tmp_path / str(size), data=rows(), **PLAIN)
        for name, weight in trainer.model.named_parameters():
            if "lora_B" in name:  # new adapters start at 0, where that of A is 0
                torch.nn.init.constant_(weight, 0.02)
        found.append(gradient(trainer, _batch(trainer, played(model))))
    assert found[0].keys() == found[1].keys()
    assert max(float(value.abs().max()) for value in found[0].values()) > 1e-3
    for name, value in found[0].items():
        assert torch.allclose(value, found[1][name], atol=1e-6, rtol=1e-4), name


def test_a_short_reply_is_not_computed_at_the_width_of_the_longest(model: Path, tmp_path: Path) -> None:
    from vouching.train.engine_trl import _batch

    settings = config(model, micro_batch=2, sampling={"prompt_tokens": 20, "completion_tokens": 108})
    trainer = trainer_of(settings, tmp_path, data=rows(), **PLAIN)
    batch = _batch(trainer, played(model))
    # Before: 16 rows of 6 + 100 = 1,696 positions. After, by length (row 7 has 5 + 100, rows 0 to 15 without it 4, 5
    # or 6 + 2): of the short ones six have 4, four 5, five 6, so that pieces of two have 6, 6, 6, 7, 7, 8, 8 positions
    # a row (96 in all), and the last one, a short row of 6 beside the long one, 6 + 100.
    assert computed_share(batch, 2) == pytest.approx((2 * (6 + 6 + 6 + 7 + 7 + 8 + 8) + 2 * 106) / 1696)
    assert trainer._metrics["train"]["positions/computed"] == [pytest.approx(308 / 1696)]  # 5.5 times fewer
    for places in pieces_of(batch, 2):
        piece = trimmed(batch, places)
        assert piece["prompt_mask"][:, 0].any()
        assert piece["completion_mask"][:, -1].any()
        assert piece["prompt_mask"].sum() == batch["prompt_mask"][places].sum()
        assert piece["completion_mask"].sum() == batch["completion_mask"][places].sum()


def test_a_piece_of_padding_alone_keeps_a_column() -> None:
    mask = torch.tensor([[1, 0, 0], [0, 0, 0]])
    batch = {
        "prompt_ids": torch.ones(2, 2),
        "prompt_mask": torch.tensor([[0, 1], [0, 1]]),
        "completion_ids": mask,
        "completion_mask": mask,
        "policy": torch.zeros(2),
        "row_scale": torch.tensor(1.0),
    }
    piece = trimmed(batch, [1])
    assert (piece["prompt_ids"].shape, piece["completion_ids"].shape) == ((1, 1), (1, 1))
