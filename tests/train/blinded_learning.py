"""A task of MARCH's game that is small enough for 107,000 weights, and whether a solver learns it from its checkers.

Documents say in which of two years a bridge opened. A model is warmed up by imitation in all three roles: its proposer
and checker do well, its solver gets one year of three wrong. Then PPO on the zero-tolerance reward, which nobody but
the policy itself judges. The oracle is the year of the row; it shares no code with the reward.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.train.blinded_runs import PLACES, ppo
from tests.train.engine_runs import tokenizer_of, trainer_of
from tests.train.learning import EDGE, Learnt
from tests.train.tiny_qwen import imitate, write_tiny_qwen
from vouching.judging.windows import ScreenedSources
from vouching.methods.base import Row
from vouching.methods.blinded.game import BlindedGame
from vouching.methods.blinded.prompt import check_messages, propose_messages
from vouching.methods.blinded.reward import BlindedRules
from vouching.methods.training import CriticSettings
from vouching.models.base import Message
from vouching.train.checkpoint import train_from
from vouching.train.engine import on_step
from vouching.types import Question, Source

YEARS = (1937, 1973)
LAST = "{{ messages[-1]['content'] + '<end>' }}"
"""A chat template without the system's message, which is the same all the time and most of a prompt."""


def question_rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Questions whose documents tell the year."""
    draw, made = random.Random(seed), list[dict[str, Any]]()
    for number in range(count):
        place, year = draw.choice(PLACES), draw.choice(YEARS)
        made.append(
            {
                "id": str(number),
                "question": f"When did the {place} bridge open?",
                "year": year,
                "sources": [f"The {place} bridge opened in {year}."],
            }
        )
    return made


async def oracle(response: str, row: Row) -> Mapping[str, float]:
    """1 where the response ends with the year of the row, and nothing after it."""
    return {"oracle/year": float(response.strip().endswith(f" in {row['year']}."))}


def example(row: Row, role: str, right: bool) -> tuple[str, str]:
    """What a role is asked about a row, and what it is to say."""
    place, year = row["question"].split()[3], row["year"] if right else YEARS[row["year"] == YEARS[0]]
    response, question = f"The {place} bridge opened in {year}.", row["question"]
    prompt: Sequence[Message]
    if role == "solver":
        return BlindedGame().opening(row)[-1].content, f"Response: {response}"
    if role == "proposer":
        return propose_messages(response)[-1].content, f"- Question: {question} [Answer: {year}]"
    [window] = ScreenedSources([Source(row["sources"][0], "source-1")]).windows(10_000)
    prompt = check_messages([Question(question)], window)
    return prompt[-1].content, f"1. Evidence: [Answer: {row['year']}]"


def warmed_up(folder: Path, rows: Sequence[Row], seed: int, steps: int = 160) -> Path:
    """A model that plays all roles, and gives the right year two times of three, about."""
    import torch
    from transformers import AutoModelForCausalLM

    roles = ("solver", "proposer", "checker")
    seen = [example(row, role, right) for row in rows for role in roles for right in (True, False)]
    write_tiny_qwen(folder, [text for asked, said in seen for text in (asked, said, said)], 512)
    tokenizer, model = tokenizer_of(folder), AutoModelForCausalLM.from_pretrained(folder)
    tokenizer.chat_template = LAST
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    draw, optimizer = random.Random(seed), torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        chosen = [
            example(draw.choice(rows), role, role != "solver" or draw.random() < 2 / 3)
            for role in roles
            for _ in range(8)
        ]
        imitate(model, tokenizer, optimizer, [(f"{asked}<end>", f"{said}<end>") for asked, said in chosen])
    model.save_pretrained(folder)
    return folder


def trainer_by(folder: Path, seed: int, steps: int, prompts: int = 12) -> Any:
    """A warmed-up policy before its first step."""
    rows = question_rows(128, seed)
    model = warmed_up(folder / "model", rows, seed)
    settings = ppo(
        model,
        seed=seed,
        batch_prompts=prompts,
        micro_batch=64,
        max_steps=steps,
        kl=0.01,
        learning_rate=4e-4,
        sampling={"group_size": 2, "completion_tokens": 24, "prompt_tokens": 400},
        epochs=20.0,
        critic=CriticSettings(learning_rate=1e-3, warmup_steps=5),
    )
    return trainer_of(settings, folder / "run", BlindedGame(2, 2, BlindedRules(min_numbers=1), watch=oracle), rows)


def learn(folder: Path, seed: int, prompts: int = 12, steps: int = 40) -> Learnt:
    """Train by the game and tell how the oracle metric went."""
    trainer = trainer_by(folder, seed, steps, prompts)
    records: list[dict[str, float]] = []
    on_step(trainer, lambda record, texts: records.append(record))
    train_from(trainer)
    years = [record["oracle/year"] for record in records]
    edge = min(EDGE, steps // 2)
    return Learnt(tuple(years[:edge]), tuple(years[-edge:]))
