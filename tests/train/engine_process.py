"""Runs of the engine that tests call, also in processes of their own: to be killed, or to be one of two."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.train.engine_runs import PLAIN, config, rows, scripted, trainer_of, vowels, weights_of
from vouching.methods.base import Row
from vouching.methods.structured.game import StructuredGame
from vouching.train.checkpoint import train_from
from vouching.train.engine import end_training, on_step
from vouching.types import Claim, Reward, Unverified


async def failing(reply: str, row: Row) -> Reward | Unverified:
    """A judge that has no answer to some replies, so that groups and processes are of unequal size."""
    if reply.count("no") == 2 and row["id"] in ("r1", "r4", "r7"):
        return Unverified(Claim(reply), "undecided", "The judge had no answer.")
    return await vowels(reply, row)


def one_of_two(model: Path, out: Path, losses: Sequence[str]) -> None:
    """Train by a script with every loss, alone or together with another process; save the weights of each."""
    import torch

    out.mkdir(exist_ok=True)
    for loss in losses:
        settings = config(model, loss=loss, batch_prompts=4, micro_batch=4, max_steps=2)
        trainer = trainer_of(settings, out / loss, StructuredGame(4, failing), rows(), scripted(model), **PLAIN)
        records: list[dict[str, float]] = []
        on_step(trainer, lambda record, texts, records=records: records.append(record))
        train_from(trainer)
        if trainer.accelerator.is_main_process:
            torch.save(weights_of(trainer), out / f"{loss}.pt")
            (out / f"{loss}.json").write_text(json.dumps(records), encoding="utf-8")
    if trainer.accelerator.num_processes > 1:
        end_training(trainer)


def to_be_killed(model: Path, out: Path, kill_after: int = 0, checkpoint: Path | None = None) -> None:
    """Train by sampling, playing flat groups again, over two epochs; die after a step if asked to."""
    import torch

    settings = config(
        model,
        max_steps=10,
        updates=2,
        kl=0.01,
        sampling={"resample": 1, "group_size": 2},
        batch_prompts=2,
        micro_batch=2,
        learning_rate=1e-3,
        watch={"checkpoint_every": 2},
    )

    async def odd(reply: str, row: Row) -> Reward:
        return Reward(float(len(reply) % 2))  # every second group is flat

    trainer = trainer_of(settings, out, StructuredGame(2, odd), rows(6))

    def tell(record: dict[str, float], texts: list[Any]) -> None:
        with (out / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps({name: record.get(name) for name in ("step", "loss", "groups/resampled")}) + "\n")
        if record["step"] == kill_after:
            os.kill(os.getpid(), signal.SIGKILL)

    on_step(trainer, tell)
    train_from(trainer, checkpoint)
    torch.save(weights_of(trainer), out / "weights.pt")
