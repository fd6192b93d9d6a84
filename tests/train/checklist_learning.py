"""A task small enough for 107,000 weights to respond, to judge what it responded, and to get better at it.

An instruction is a sentence; the right response is "false" where it has the word "not", and "true" elsewhere; the one
item of the checklist asks whether the response is right. A model is warmed up by imitation: its responses are right two
times of three, its judgments five times of six. The oracle is the rule, which no reward of Soft-SVeRL reads. Soft-RLVR
has the rule with noise as its judge: wrong one time of six.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.train.engine_runs import PLACES, config, tokenizer_of, trainer_of
from tests.train.learning import EDGE, Learnt
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.games.base import Game
from vouching.games.checklist import ChecklistGame
from vouching.games.checklist_replay import Labelled, Replay
from vouching.games.checklist_self import SelfVerification, SelfVerifyGame
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.rewards.checklist import ChecklistRules
from vouching.train.engine import tell_steps, train_from
from vouching.verifiers.checklist import ChecklistConfig, ChecklistVerifier

Judge: TypeAlias = Literal["self", "outside"]
ITEM = "Is it right?"
RESPONSES = ("true", "false")


def sentences() -> list[str]:
    return [f"The {place} is {word} old." for place in PLACES for word in ("not", "very")]


def rule(sentence: str) -> str:
    """The right response."""
    return RESPONSES["not" in sentence.split()]


def rows() -> list[dict[str, Any]]:
    return [
        {"id": str(number), "prompt": sentence, "checklist": [ITEM], "kwargs": [{"keywords": [rule(sentence)]}],
         "instruction_id_list": ["keywords:existence"]}
        for number, sentence in enumerate(sentences())
    ]  # fmt: skip


def ask(x: str, y: str, c: str) -> list[Message]:
    """A question short enough for the model."""
    return [Message("user", x), Message("user", " ".join(y.split()[:8]) or "nothing"), Message("user", c)]


def warmed_up(folder: Path, seed: int, steps: int = 400) -> Path:
    """A model that responds and judges, neither of them well."""
    import torch
    from transformers import AutoModelForCausalLM

    write_tiny_qwen(folder, [f"{sentence} {' '.join(RESPONSES)} {ITEM} yes no" for sentence in sentences()])
    tokenizer, model = tokenizer_of(folder), AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(seed)
    dice, optimizer = random.Random(seed), torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        chosen = [_lesson(dice.choice(sentences()), number % 2 == 0, dice) for number in range(32)]
        batch = tokenizer([f"{asked}{said}<end>" for asked, said in chosen], return_tensors="pt", padding=True)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        for row, (asked, _) in enumerate(chosen):
            labels[row, : len(tokenizer(asked)["input_ids"])] = -100
        model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return folder


def _lesson(sentence: str, judges: bool, dice: random.Random) -> tuple[str, str]:
    """A prompt and a response, or a prompt and a judgment."""
    if not judges:
        right = dice.random() < 2 / 3
        return f"{sentence}<end>", RESPONSES[(rule(sentence) == "false") == right]
    response = dice.choice(RESPONSES)
    right = dice.random() < 5 / 6
    return f"{sentence}<end>{response}<end>{ITEM}<end>", "yes" if (response == rule(sentence)) == right else "no"


def noisy_judge(seed: int) -> ChecklistVerifier:
    """The rule, wrong one time of six."""
    dice = random.Random(seed)

    def answer(messages: Sequence[Message], _: Any) -> str:
        asked = messages[-1].content.splitlines()
        sentence = next(line for line in asked if line in sentences())
        right = rule(sentence) in next(line for line in asked[asked.index(sentence) + 1 :] if "<<<" not in line).split()
        return "yes" if right == (dice.random() < 5 / 6) else "no"

    return ChecklistVerifier(ScriptedModel(answer), ChecklistConfig(votes=3))


def learn(folder: Path, seed: int, judge: Judge, steps: int = 60) -> Learnt:
    """Train and tell how the share of right responses went."""
    model = warmed_up(folder / "model", seed)
    gold = [
        Labelled(sentence, response, ITEM, response == rule(sentence))
        for sentence in sentences() for response in RESPONSES
    ]  # fmt: skip
    game: Game = ChecklistGame(noisy_judge(seed), 8, ChecklistRules())
    if judge == "self":
        rules = ChecklistRules(tau=0.6)  # two of three: a right response seldom fails for its judge
        game = SelfVerifyGame(8, SelfVerification(votes=3, rules=rules), Replay(gold, 256, seed=seed), ask)
    settings = config(
        model, seed=seed, batch_prompts=8, micro_batch=256, most_steps=steps, loss="grpo", clip=(0.1, 0.2), kl=0.0,
        learning_rate=1e-3, epochs=100.0, sampling={"group_size": 8, "completion_tokens": 6},
    )  # fmt: skip
    trainer = trainer_of(settings, folder / "run", game, rows())
    told: list[float] = []
    tell_steps(trainer, lambda record, texts: told.append(record["oracle/rules"]))
    train_from(trainer)
    return Learnt(tuple(told[:EDGE]), tuple(told[-EDGE:]))
