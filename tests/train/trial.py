"""What the tiny.toml of recipes/checklist, assurance, blinded and rank read: rows, and a model that plays the games.

python -m tests.train.trial runs/tiny

The model has 107,000 weights and half a minute of imitation in every role, a third of it wrong. In four steps it learns
nothing; it shows what a run does, tells and leaves behind.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.train.assurance_runs import CHOICES, draft_text, task_row
from tests.train.blinded_learning import LAST, question_rows
from tests.train.blinded_learning import example as blinded_example
from tests.train.checklist_rows import CHECKLISTS, GOLD_ROWS
from tests.train.engine_runs import tokenizer_of
from tests.train.pair_rows import rows as pair_rows
from tests.train.tiny_qwen import imitate, write_tiny_qwen
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.model import unit_messages
from vouching.methods.assurance.reply import choice_text
from vouching.methods.assurance.task import read_row
from vouching.methods.checklist.prompt import item_messages
from vouching.types import Proposal, SafetyCase

CONTEXT = 2048
TASKS = [task_row(number) for number in range(8)]
QUESTIONS = question_rows(16, 0)


def examples(draw: random.Random) -> list[tuple[str, str]]:
    """What every role is asked once, and what it is to say; two times of three what is right."""
    return [*_checklist(draw), *_assurance(draw), *_blinded(draw)]


def write_trial(folder: Path, steps: int = 120) -> None:
    """The model in ``folder/player``, and a file of rows for each game."""
    _player(folder / "player", steps)
    written: dict[str, Sequence[dict[str, Any]]] = {
        "checklists": CHECKLISTS,
        "gold": GOLD_ROWS,
        "tasks": TASKS,
        "questions": QUESTIONS,
        "pairs": pair_rows(40, 1),
    }
    for name, rows in written.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _checklist(draw: random.Random) -> list[tuple[str, str]]:
    gold, right = draw.choice(GOLD_ROWS), draw.random() < 2 / 3
    responds = next(row["y"] for row in GOLD_ROWS if row["x"] == gold["x"] and row["l"] == right)
    judged = item_messages(gold["x"], gold["y"], gold["c"])[-1].content
    return [(gold["x"], responds), (judged, "yes" if gold["l"] == (draw.random() < 2 / 3) else "no")]


def _assurance(draw: random.Random) -> list[tuple[str, str]]:
    task, gold = read_row(draw.choice(TASKS))
    state, case = UnitState(task, task.units[0], {}), SafetyCase("u0", "The value is not right.", "")
    right, right_now = str(gold["u0"]), draw.random() < 2 / 3
    x, z = (Proposal("u0", draw.choice(CHOICES)) for _ in range(2))
    drafted = draft_text(right if right_now else CHOICES[1 - CHOICES.index(right)])
    verdict = "correct" if (x.value == right) == right_now else "wrong"
    said = {
        "draft": drafted,
        "review": json.dumps({"verdict": verdict}),
        "revise": drafted,
        "approve": choice_text(draw.choice(["KEEP", "REVISE"])),
    }
    asked = (
        unit_messages("draft", state),
        unit_messages("review", state, x),
        unit_messages("revise", state, x, case),
        unit_messages("approve", state, x, case, z),
    )
    return [(prompt[-1].content, reply) for prompt, reply in zip(asked, said.values(), strict=True)]


def _blinded(draw: random.Random) -> list[tuple[str, str]]:
    row, roles = draw.choice(QUESTIONS), ("solver", "proposer", "checker")
    return [blinded_example(row, role, role != "solver" or draw.random() < 2 / 3) for role in roles]


def _player(folder: Path, steps: int) -> None:
    """A model that has seen what every role says."""
    import torch
    from transformers import AutoModelForCausalLM

    draw = random.Random(0)
    write_tiny_qwen(
        folder, [text for _ in range(64) for asked, said in examples(draw) for text in (asked, said, said)], CONTEXT
    )
    tokenizer, model = tokenizer_of(folder), AutoModelForCausalLM.from_pretrained(folder)
    tokenizer.chat_template = LAST
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        chosen = examples(draw)
        imitate(model, tokenizer, optimizer, [(f"{asked}<end>", f"{said}<end>") for asked, said in chosen])
    model.save_pretrained(folder)


if __name__ == "__main__":
    write_trial(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/tiny"))
