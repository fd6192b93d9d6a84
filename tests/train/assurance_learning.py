"""Two policies of a small task, and whether they learn: a note says what is right, drafts and reviews begin as noise.

A model is warmed up by imitating short replies: drafts and revisions of which a third are wrong, reviews of which a
third are mistaken, and choices by a coin. Then DPA-GRPO with two adapters has to find out who is right. The oracle is
the note itself: whether what is submitted in the end is what the note says. Prompts are a line long, since the model
reads with two layers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.train.assurance_runs import CHOICES, draft_text, task_row
from tests.train.engine_runs import config, tokenizer_of, trainer_of
from tests.train.learning import EDGE, Learnt
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.games.assurance import AssuranceGame, read_row
from vouching.games.assurance_unit import challenge_text, choice_text
from vouching.models.base import Message
from vouching.train.engine import tell_steps, train_from
from vouching.train.run_config import LoraSettings
from vouching.types import Proposal, SafetyCase
from vouching.verifiers.assurance_evidence import UnitState
from vouching.verifiers.assurance_prompt import Role

ROWS = [task_row(number % 4) | {"id": f"t{number}"} for number in range(16)]
"""Of two places, so that two layers learn it in seconds."""


def ask(
    role: Role, state: UnitState, proposal: Proposal | None, case: SafetyCase | None, revision: Proposal | None
) -> Sequence[Message]:
    """A prompt of one line: who is asked, the note, and the values there are."""
    values = " ".join(str(one.value) for one in (proposal, revision) if one is not None)
    return (Message("user", f"{role}: {state.task.data['note']} {values}".strip()),)


def lesson(draw: random.Random) -> tuple[str, str]:
    """A prompt and what is imitated."""
    row = draw.choice(ROWS)
    task, gold = read_row(row)
    state, right = UnitState(task, task.units[0], {}), str(gold["u0"])
    x, z = (Proposal("u0", draw.choice(CHOICES)) for _ in range(2))
    role: Role = draw.choice(["draft", "review", "revise", "approve"])  # pyright: ignore[reportAssignmentType]
    [asked] = ask(role, state, None if role == "draft" else x, None, z if role == "approve" else None)
    sound = draw.random() < 2 / 3
    if role in ("draft", "revise"):
        return asked.content, draft_text(right if sound else CHOICES[1 - CHOICES.index(right)])
    if role == "review":
        return asked.content, challenge_text("NS" if (x.value == right) == sound else "SAC", task.units[0])
    return asked.content, choice_text(draw.choice(["KEEP", "REVISE"]))


def warmed_up(folder: Path, seed: int, steps: int = 200) -> Path:
    """A model that plays every role, badly."""
    import torch
    from transformers import AutoModelForCausalLM

    write_tiny_qwen(folder, ["".join(lesson(random.Random(number))) for number in range(400)])
    tokenizer, model = tokenizer_of(folder), AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(seed)
    draw, optimizer = random.Random(seed), torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        chosen = [lesson(draw) for _ in range(16)]
        batch = tokenizer([f"{asked}<end>{said}<end>" for asked, said in chosen], return_tensors="pt", padding=True)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        for row, (asked, _) in enumerate(chosen):
            labels[row, : len(tokenizer(f"{asked}<end>")["input_ids"])] = -100
        model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return folder


def learn(folder: Path, seed: int, steps: int = 50) -> tuple[Learnt, list[dict[str, Any]]]:
    """Train both policies; how what is submitted went, and the whole log."""
    model = warmed_up(folder / "model", seed)
    settings = config(
        model, seed=seed, batch_prompts=8, micro_batch=64, most_steps=steps, loss="grpo", kl=0.04,
        spread="population", learning_rate=3e-3, lora=LoraSettings(rank=16, alpha=16.0), epochs=100.0,
        sampling={"group_size": 4, "completion_tokens": 56},
    )  # fmt: skip
    trainer = trainer_of(settings, folder / "run", AssuranceGame(4, 3, ask=ask), ROWS)
    told: list[dict[str, Any]] = []
    tell_steps(trainer, lambda record, texts: told.append(record))
    train_from(trainer)
    submitted = [record["oracle/submitted"] for record in told]
    return Learnt(tuple(submitted[:EDGE]), tuple(submitted[-EDGE:])), told
