"""A task small enough for 107,000 weights to respond, to judge what it responded, and to get better at it.

An instruction is a sentence; the right response is "false" where it has the word "not", and "true" elsewhere; the one
item of the checklist asks whether the response is right. A model is warmed up by imitation: its responses are right two
times of three, and it is taught to judge until 19 judgments of 20 are right. The oracle is the rule, which no reward
of Soft-SVeRL reads. Soft-RLVR has the rule with noise as its judge: wrong one time of six.

A policy that judges itself finds whatever its judge has never seen, and a model of this size knows nothing beyond its
training: of "te" or "truno" it may say yes, and replay reinforces that. So judgments and gold are about such
odd responses too. Settings were chosen on seeds 10 to 12.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.train.engine_runs import PLACES, config, tokenizer_of, trainer_of
from tests.train.learning import EDGE, Learnt
from tests.train.tiny_qwen import imitate, write_tiny_qwen
from vouching.methods.base import Game
from vouching.methods.checklist.game import ChecklistGame, Labelled, Replay
from vouching.methods.checklist.reward import ChecklistRules
from vouching.methods.checklist.self_game import SelfVerification, SelfVerifyGame
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.train.checkpoint import train_from
from vouching.train.engine import on_step

Judge: TypeAlias = Literal["self", "outside"]
ITEM = "Is it right?"
RESPONSES = ("true", "false")
SETTLING = 150
"""Steps of the warm-up at a lower rate, at its end."""


def sentences() -> list[str]:
    return [f"The {place} is {word} old." for place in PLACES for word in ("not", "very")]


def rule(sentence: str) -> str:
    """The right response."""
    return RESPONSES["not" in sentence.split()]


def odd(dice: random.Random) -> str:
    """What is no response: one to three pieces of words that the model knows."""
    words = [dice.choice((*RESPONSES, "yes", "no", "old")) for _ in range(dice.randint(1, 3))]
    return "".join(word[(at := dice.randrange(len(word))) : dice.randint(at + 1, len(word))] for word in words)


def rows() -> list[dict[str, Any]]:
    return [
        {
            "id": str(number),
            "prompt": sentence,
            "checklist": [ITEM],
            "kwargs": [{"keywords": [rule(sentence)]}],
            "instruction_id_list": ["keywords:existence"],
        }
        for number, sentence in enumerate(sentences())
    ]


def gold(seed: int) -> list[Labelled]:
    """Each sentence with both responses, and with two odd ones."""
    dice = random.Random(seed)
    return [
        Labelled(sentence, response, ITEM, response == rule(sentence))
        for sentence in sentences()
        for response in (*RESPONSES, *(odd(dice) for _ in range(2)))
    ]


def ask(x: str, y: str, c: str) -> list[Message]:
    """A question short enough for the model."""
    return [Message("user", x), Message("user", " ".join(y.split()[:8]) or "nothing"), Message("user", c)]


def warmed_up(folder: Path, seed: int, limit: int = 600) -> Path:
    """A model that responds badly and judges well: taught until it is ready, and a little longer at a lower rate.

    Whether a response is right is the parity of two words, before which so small a model stands still for long; that
    most of the sentences it judges have the word "not" breaks the symmetry.
    """
    import torch
    from transformers import AutoModelForCausalLM

    write_tiny_qwen(folder, [f"{sentence} {' '.join(RESPONSES)} {ITEM} yes no" for sentence in sentences()])
    tokenizer, model = tokenizer_of(folder), AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(seed)
    dice, optimizer = random.Random(seed), torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.99))
    step, last = 0, limit
    while step < last:
        step += 1
        often = 0.85 if step <= 100 else 0.65
        chosen = [_judgment(often, dice) if number % 3 else _response(dice) for number in range(32)]
        imitate(model, tokenizer, optimizer, [(asked, f"{said}<end>") for asked, said in chosen])
        if last == limit and step % 25 == 0 and ready(model, tokenizer):
            last = step + SETTLING
            optimizer.param_groups[0]["lr"] = 1e-3
    model.save_pretrained(folder)
    return folder


def ready(model: Any, tokenizer: Any) -> bool:
    """Whether 19 judgments of 20 are right, of responses and of odd ones, and 6 responses of 10."""
    import torch

    def chance(prompts: Sequence[str], replies: Sequence[str]) -> float:
        asked = tokenizer([*prompts], return_tensors="pt", padding=True)
        with torch.no_grad():
            logits = model(**asked).logits
        said = logits[range(len(prompts)), asked["attention_mask"].sum(1) - 1].softmax(-1)
        return float(said[range(len(prompts)), [tokenizer(one)["input_ids"][0] for one in replies]].mean())

    dice, judged = random.Random(0), list[float]()
    for responses in (RESPONSES, [odd(dice) for _ in range(8)]):
        pairs = [(sentence, response) for sentence in sentences() for response in responses]
        right = ["yes" if rule(x) == y else "no" for x, y in pairs]
        judged.append(chance([f"{x}<end>{y}<end>{ITEM}<end>" for x, y in pairs], right))
    responded = chance([f"{x}<end>" for x in sentences()], [rule(x) for x in sentences()])
    return min(judged) > 0.95 and responded > 0.6


def _response(dice: random.Random) -> tuple[str, str]:
    """A prompt and a response, right two times of three."""
    sentence = dice.choice(sentences())
    return f"{sentence}<end>", RESPONSES[(rule(sentence) == "false") == (dice.random() < 2 / 3)]


def _judgment(often: float, dice: random.Random) -> tuple[str, str]:
    """A prompt and the right judgment: so often of a sentence with "not", four times of ten of an odd response."""
    denied = dice.random() < often
    sentence = dice.choice([one for one in sentences() if ("not" in one.split()) == denied])
    response = odd(dice) if dice.random() < 0.4 else dice.choice(RESPONSES)
    return f"{sentence}<end>{response}<end>{ITEM}<end>", "yes" if response == rule(sentence) else "no"


def noisy_judge(seed: int) -> ChecklistVerifier:
    """The rule, wrong one time of six."""
    dice = random.Random(seed)

    def answer(messages: Sequence[Message], _: Any) -> str:
        asked = messages[-1].content.splitlines()
        sentence = next(line for line in asked if line in sentences())
        right = rule(sentence) in next(line for line in asked[asked.index(sentence) + 1 :] if "<<<" not in line).split()
        return "yes" if right == (dice.random() < 5 / 6) else "no"

    return ChecklistVerifier(ScriptedModel(answer), ChecklistConfig(votes=3))


def trainer_by(folder: Path, seed: int, judge: Judge, steps: int = 60) -> Any:
    """A warmed-up policy before its first step, and who judges it."""
    model = warmed_up(folder / "model", seed)
    game: Game = ChecklistGame(noisy_judge(seed), 4, ChecklistRules())
    if judge == "self":
        rules = ChecklistRules(tau=0.6)  # two of three: a right response seldom fails for its judge
        replay = Replay(gold(seed), 256, seed=seed)
        game = SelfVerifyGame(4, SelfVerification(votes=3, rules=rules), replay, ask)
    settings = config(
        model,
        seed=seed,
        batch_prompts=8,
        micro_batch=256,
        max_steps=steps,
        loss="grpo",
        clip=(0.1, 0.2),
        kl=0.0,
        learning_rate=7e-4,
        schedule="linear",
        epochs=100.0,
        sampling={"group_size": 4, "completion_tokens": 6},
    )
    return trainer_of(settings, folder / "run", game, rows())


def learn(folder: Path, seed: int, judge: Judge) -> tuple[Learnt, list[dict[str, float]]]:
    """Train, and tell how the share of right responses went; the whole log."""
    trainer = trainer_by(folder, seed, judge)
    records: list[dict[str, float]] = []
    on_step(trainer, lambda record, texts: records.append(record))
    train_from(trainer)
    right = [record["oracle/rules"] for record in records]
    return Learnt(tuple(right[:EDGE]), tuple(right[-EDGE:])), records
