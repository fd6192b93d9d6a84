"""A run of two policies that a test calls alone, and as one of two processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch

from tests.train.assurance_runs import game, talk, task_row, two_policies
from tests.train.engine_runs import PLAIN, trainer_of, weights_of
from vouching.train.checkpoint import train_from
from vouching.train.engine import end_training, on_step

ROWS = [task_row(number, 1 + number % 2) for number in range(8)]


def train_pairs(model: Path, out: Path, losses: Sequence[str]) -> None:
    """Train by a script with every loss, alone or together with another process; save weights and log of each."""
    out.mkdir(exist_ok=True)
    for loss in losses:
        settings = two_policies(model, loss=loss, batch_prompts=4, micro_batch=3)
        trainer = trainer_of(settings, out / loss, game(), ROWS, talk(model), **PLAIN | {"learning_rate": 0.1})
        records: list[dict[str, float]] = []
        on_step(trainer, lambda record, texts, records=records: records.append(record))
        train_from(trainer)
        if trainer.accelerator.is_main_process:
            torch.save(weights_of(trainer), out / f"{loss}.pt")
            (out / f"{loss}.json").write_text(json.dumps(records), encoding="utf-8")
    if trainer.accelerator.num_processes > 1:
        end_training(trainer)
