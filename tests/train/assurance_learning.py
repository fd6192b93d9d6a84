"""Two policies of a small task, and whether they learn: a note says what is right, and both begin unsure of it.

A model is warmed up by imitation: of sound replies first, then of replies of which a third are mistaken, with choices
by a coin all along. Then DPA-GRPO with two adapters has to find out who is right. The oracle is the note: whether what
is submitted is what it says, and whether the verifier challenged what it does not say. Prompts are a few words:
whether a value fits a note is a parity, which 107,000 weights do not learn from sentences in thousands of examples.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.train.assurance_runs import CHOICES, ask, draft_text, said, task_row
from tests.train.engine_runs import config, tokenizer_of, trainer_of
from tests.train.learning import EDGE, Learnt
from tests.train.tiny_qwen import imitate, write_tiny_qwen
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.assurance.model import Role
from vouching.methods.assurance.task import read_row
from vouching.methods.training import LoraSettings
from vouching.train.checkpoint import train_from
from vouching.train.engine import on_step
from vouching.types import Proposal

ROWS = [task_row(number % 4) | {"id": f"t{number}"} for number in range(16)]
"""Of two places, so that two layers learn it in seconds."""
SOUND, SHAKEN = 230, 80
"""Steps of imitating sound replies, and replies of which a third are mistaken."""


@dataclass(frozen=True, slots=True)
class LearntBoth:
    """What became of both policies."""

    submitted: Learnt
    """Share of the units whose submitted value is right."""
    challenge: Learnt
    """Share of the units where the verifier challenged what was wrong, or was silent about what was right."""


def example(draw: random.Random, right: float) -> tuple[str, str]:
    """A prompt and what is imitated, right in a share of the cases."""
    row = draw.choice(ROWS)
    task, gold = read_row(row)
    state, value = UnitState(task, task.units[0], {}), str(gold["u0"])
    x, z = (Proposal("u0", draw.choice(CHOICES)) for _ in range(2))
    role: Role = draw.choices(["draft", "review", "revise", "approve"], [2, 6, 1, 1])[0]  # pyright: ignore[reportAssignmentType]
    [asked] = ask(role, state, None if role == "draft" else x, None, z if role == "approve" else None)
    sound = draw.random() < right
    if role in ("draft", "revise"):
        return asked.content, draft_text(value if sound else CHOICES[1 - CHOICES.index(value)])
    if role == "review":
        return asked.content, said("NS" if (x.value == value) == sound else "SAC")
    return asked.content, said(draw.choice(["KEEP", "REVISE"]))


def warmed_up(folder: Path, seed: int) -> Path:
    """A model that plays every role, badly."""
    import torch
    from transformers import AutoModelForCausalLM

    write_tiny_qwen(folder, ["".join(example(random.Random(number), 0.5)) for number in range(400)])
    tokenizer, model = tokenizer_of(folder), AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(seed)
    draw, optimizer = random.Random(seed), torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(SOUND + SHAKEN):
        if step == SOUND:
            optimizer.param_groups[0]["lr"] = 1e-3
        chosen = [example(draw, 1.0 if step < SOUND else 0.65) for _ in range(32)]
        imitate(model, tokenizer, optimizer, [(f"{asked}<end>", f"{reply}<end>") for asked, reply in chosen])
    model.save_pretrained(folder)
    return folder


def trainer_by(folder: Path, seed: int, steps: int, **changed: Any) -> Any:
    """Two warmed-up policies before their first step."""
    model = warmed_up(folder / "model", seed)
    settings = config(
        model,
        **{
            "seed": seed,
            "batch_prompts": 16,
            "micro_batch": 64,
            "max_steps": steps,
            "loss": "token_sum",
            "kl": 0.2,
            "spread": "population",
            "learning_rate": 1e-3,
            "lora": LoraSettings(rank=16, alpha=16.0),
            "epochs": 100.0,
            "sampling": {"group_size": 4, "completion_tokens": 12},
            **changed,
        },
    )
    return trainer_of(settings, folder / "run", AssuranceGame(4, 2, ask=ask, force=said), ROWS)


def learn(folder: Path, seed: int, steps: int = 60, **changed: Any) -> tuple[LearntBoth, list[dict[str, Any]]]:
    """Train both policies; how it went, and the whole log."""
    trainer = trainer_by(folder, seed, steps, **changed)
    records: list[dict[str, Any]] = []
    on_step(trainer, lambda record, texts: records.append(record))
    train_from(trainer)
    submitted, challenge = ([record[f"oracle/{name}"] for record in records] for name in ("submitted", "challenge"))
    return LearntBoth(*(Learnt(tuple(one[:EDGE]), tuple(one[-EDGE:])) for one in (submitted, challenge))), records
