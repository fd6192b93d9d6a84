"""Runs of the checklist game that tests call, also as one of two processes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from tests.train.engine_runs import PLACES, PLAIN, config, tokenizer_of, trainer_of, weights_of
from vouching.methods.base import ScriptedSampler
from vouching.methods.checklist.game import Labelled, Replay
from vouching.methods.checklist.self_game import SelfVerification, SelfVerifyGame
from vouching.models.base import Message
from vouching.train.checkpoint import train_from
from vouching.train.engine import end_training, on_step

ITEMS = ("Is it old?", "Is it a place?", "Is it short?")
GOLD = [Labelled("Name one.", place, ITEMS[number % 3], number % 2 == 0) for number, place in enumerate(PLACES)]


def rows(count: int = 8) -> list[dict[str, Any]]:
    """Instructions with checklists of one, two or three items."""
    return [
        {"id": f"r{i}", "prompt": f"Name a {PLACES[i % 8]}.", "checklist": [*ITEMS[: 1 + i % 3]]} for i in range(count)
    ]


def texts() -> list[str]:
    """What the tokenizer is trained on."""
    return [f"{row['prompt']} yes no unclear {' '.join(ITEMS)}" for row in rows(48)]


def ask(x: str, y: str, c: str) -> list[Message]:
    """A question short enough for a context of 128 tokens."""
    return [Message("user", f"{x} {y[:40]} {c}")]


def game(votes: int = 3, **settings: Any) -> SelfVerifyGame:
    """Soft-SVeRL with all its parts, two samples of each prompt."""
    setting = SelfVerification(**{"votes": votes, "lambda_v": 0.7, "lambda_p": 0.3} | settings)
    return SelfVerifyGame(2, setting, Replay(GOLD, 64, 0.4, seed=5), ask)


def scripted(model: Path) -> ScriptedSampler:
    """Responses and answers that depend on the prompt alone, wherever it is asked; answers of several kinds."""
    tokenizer = tokenizer_of(model)

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        dice = zlib.crc32(f"{prompt[-1].content} {number}".encode())
        if role == "generator":
            return " ".join(PLACES[(dice >> 4 * place) % 8] for place in range(1 + dice % 3))
        return ("yes", "no", "yes", "unclear, no")[dice % 4]

    return ScriptedSampler(line, lambda text: tokenizer(text)["input_ids"], (tokenizer.eos_token_id,))


def settings(model: Path, **changed: Any) -> Any:
    """Four instructions a step, in pieces of 5 rows, of which some are of two roles."""
    sampling = {"group_size": 2, "prompt_tokens": 90, **changed.pop("sampling", {})}
    return config(model, **{"batch_prompts": 4, "micro_batch": 5, "sampling": sampling, **changed})


def together(model: Path, out: Path) -> None:
    """Train by a script, alone or together with another process, and save weights, figures and state."""
    out.mkdir(exist_ok=True)
    for loss in ("grpo", "dapo"):
        which = game()
        chosen = settings(model, loss=loss, max_steps=2)
        trainer = trainer_of(chosen, out / loss, which, rows(), scripted(model), **PLAIN)
        records: list[dict[str, float]] = []
        on_step(trainer, lambda record, texts, records=records: records.append(record))
        train_from(trainer)
        if trainer.accelerator.is_main_process:
            torch.save(weights_of(trainer), out / f"{loss}.pt")
            state = which.state_dict()
            (out / f"{loss}.json").write_text(json.dumps({"records": records, "state": state}), encoding="utf-8")
    if trainer.accelerator.num_processes > 1:
        end_training(trainer)
