"""A task small enough for 107,000 weights: a record whose label a rule decides, and whether a policy learns the rule.

A model is warmed up by imitating short records of which a third have the wrong label; then GRPO on SEVA's process
reward has to find out that every claim with "not" is Not Attributable, and no other. The oracle is that rule, computed
from the claim alone; it shares no code with the reward. ``python -m tests.train.learning runs/tiny`` writes the model
and such rows, for a trial of ``vouch train`` by hand.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.train.engine_runs import config, tokenizer_of, trainer_of
from tests.train.tiny_qwen import imitate, write_tiny_qwen
from vouching.methods.base import Row
from vouching.methods.structured.game import StructuredGame, score_by
from vouching.methods.training import LoraSettings
from vouching.train.checkpoint import train_from
from vouching.train.engine import on_step

PLACES = ("bridge", "tower", "river", "city", "mill", "road", "harbour", "castle")
REPLIES = {True: '{"label": "no"}', False: '{"label": "yes"}'}
EDGE = 20
"""Steps at either end that are compared."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """What became of the oracle metric."""

    first: tuple[float, ...]
    """In the first steps."""
    last: tuple[float, ...]
    """In the last steps."""

    @property
    def gain(self) -> float:
        """Mean of the last less mean of the first."""
        return float(np.mean(self.last) - np.mean(self.first))

    @property
    def lower(self) -> float:
        """Lower 95 % bound of the gain: 1.96 standard errors of the difference of two means of steps, below it."""
        variance = sum(np.var(some, ddof=1) / len(some) for some in (self.first, self.last))
        return self.gain - 1.96 * float(np.sqrt(variance))


def claims(count: int, seed: int) -> list[dict[str, Any]]:
    """Rows whose label depends on one word."""
    draw = random.Random(seed)
    made: list[dict[str, Any]] = []
    for number in range(count):
        denied = draw.random() < 0.5
        claim = f"The {draw.choice(PLACES)} is {'not' if denied else 'very'} old."
        gold = "Not Attributable" if denied else "Attributable"
        made.append({"id": str(number), "claim": claim, "gold": gold, "prompt": [{"role": "user", "content": claim}]})
    return made


def oracle(reply: str, row: Row) -> dict[str, float]:
    """1 where the reply is the record that the rule asks for."""
    return {"oracle/rule": float(reply.strip() == REPLIES["not" in row["claim"].split()])}


def warmed_up(folder: Path, rows: Sequence[Row], seed: int, steps: int = 200) -> Path:
    """A model that writes the right record to two claims of three, about."""
    import torch
    from transformers import AutoModelForCausalLM

    write_tiny_qwen(folder, [row["claim"] + said for row in rows for said in REPLIES.values()])
    tokenizer, model = tokenizer_of(folder), AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(seed)
    draw, optimizer = random.Random(seed), torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        chosen = [
            (claim, REPLIES[("not" in claim.split()) == (draw.random() < 2 / 3)])
            for claim in (draw.choice(rows)["claim"] for _ in range(16))
        ]
        imitate(model, tokenizer, optimizer, [(f"{claim}<end>", f"{said}<end>") for claim, said in chosen])
    model.save_pretrained(folder)
    return folder


def trainer_by(folder: Path, seed: int, adapters: bool, steps: int) -> Any:
    """A warmed-up policy before its first step."""
    rows = claims(256, seed)
    model = warmed_up(folder / "model", rows, seed)
    settings = config(
        model,
        seed=seed,
        batch_prompts=8,
        micro_batch=64,
        max_steps=steps,
        loss="grpo",
        kl=0.001,
        learning_rate=2e-3 if adapters else 1e-3,
        lora=LoraSettings(rank=16, alpha=16.0) if adapters else LoraSettings(),
        sampling={"group_size": 8, "completion_tokens": 16},
        epochs=10.0,
    )
    return trainer_of(settings, folder / "run", StructuredGame(8, score_by(), oracle), rows)


def learn(folder: Path, seed: int, adapters: bool, steps: int = 60) -> Learnt:
    """Train on the rule and tell how the oracle metric went; adapters are slower and take more steps."""
    trainer, records = trainer_by(folder, seed, adapters, steps=100 if adapters else steps), list[float]()
    on_step(trainer, lambda record, texts: records.append(record["oracle/rule"]))
    train_from(trainer)
    return Learnt(tuple(records[:EDGE]), tuple(records[-EDGE:]))


def write_trial(folder: Path) -> None:
    """What recipes/structured/tiny-sft.toml and tiny.toml read: chats of which a third are wrong, prompts, a model."""
    rows, draw = claims(256, 0), random.Random(0)
    chats = [
        {"messages": [*row["prompt"], {"role": "assistant", "content": said}]}
        for row in rows
        for said in [REPLIES[(row["gold"] == "Not Attributable") == (draw.random() < 2 / 3)]]
    ]
    write_tiny_qwen(folder / "qwen", [row["claim"] + said for row in rows for said in REPLIES.values()])
    for name, lines in (("sft", chats), ("prompts", rows[:192]), ("dev", rows[192:])):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_trial(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/tiny"))
