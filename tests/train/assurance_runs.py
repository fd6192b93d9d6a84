"""What the tests of two policies share: small tasks, a tiny model that knows their words, a script for all roles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.train.engine_runs import config, stop_often, tokenizer_of
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.assurance.model import Role, unit_messages
from vouching.methods.assurance.reply import challenge_text, choice_text
from vouching.methods.assurance.reward import Challenge, Choice
from vouching.methods.assurance.task import read_row
from vouching.methods.base import ScriptedSampler
from vouching.methods.training import GrpoConfig, LoraSettings
from vouching.models.base import Message
from vouching.types import Proposal, SafetyCase, TaskUnit

PLACES = ("bridge", "tower", "river", "city", "mill", "road", "harbour", "castle")
CHOICES = ("old", "new")
CONTEXT = 1024


def task_row(number: int, units: int = 1) -> dict[str, Any]:
    """A note, and what it says: "old" if it says very, "new" if it says not."""
    gold = CHOICES[number % 2]
    note = f"The {PLACES[number // 2 % 8]} is {('very', 'not')[number % 2]} old."
    made = [
        {"id": f"u{at}", "type": "choice", "choices": [*CHOICES], "depends_on": [f"u{at - 1}"] if at else []}
        for at in range(units)
    ]
    return {
        "id": f"t{number}",
        "task": {"task": "age", "data": {"note": note}, "units": made},
        "gold": {f"u{at}": gold for at in range(units)},
    }


def ask(
    role: Role, state: UnitState, proposal: Proposal | None, case: SafetyCase | None, revision: Proposal | None
) -> Sequence[Message]:
    """A prompt of a few words: who is asked, the note's two that matter, and the values there are."""
    _, place, _, word, _ = state.task.data["note"].split()
    values = [str(one.value) for one in (proposal, revision) if one is not None]
    return (Message("user", " ".join([role, place, word, *values])),)


def said(action: Challenge | Choice, unit: TaskUnit | None = None) -> str:
    """The shortest reply that is read as an action."""
    return {"SAC": '{"verdict": "wrong"}', "NS": '{"verdict": "correct"}'}.get(action, action)


def draft_text(value: str) -> str:
    return json.dumps({"amount": value})


def prompts_of(row: dict[str, Any]) -> list[tuple[Message, Message]]:
    """What is asked of a row with one unit, whatever was said before."""
    task, _ = read_row(row)
    state, case = UnitState(task, task.units[0], {}), SafetyCase("u0", "The value is not right.", "")
    found = [unit_messages("draft", state)]
    for value in CHOICES:
        found.append(unit_messages("review", state, Proposal("u0", value)))
        found.append(unit_messages("revise", state, Proposal("u0", value), case))
        found += [unit_messages("approve", state, Proposal("u0", value), case, Proposal("u0", z)) for z in CHOICES]
    return found


def write_model(folder: Path, rows: Sequence[dict[str, Any]], often: bool = True) -> Path:
    """A tiny model whose tokens are made for these tasks."""
    task, _ = read_row(rows[0])
    said = [draft_text(value) for value in CHOICES] + [choice_text("KEEP"), choice_text("REVISE")]
    said += [challenge_text("SAC", task.units[0]), challenge_text("NS", task.units[0])]
    asked = [message.content for row in rows for prompt in prompts_of(row) for message in prompt]
    model = write_tiny_qwen(folder, [*asked, *said * 8], CONTEXT)
    return stop_often(model) if often else model


def two_policies(model: Path, **changed: Any) -> GrpoConfig:
    """Two tasks a step, two drafts of each unit, one adapter for either policy."""
    drawn = {"group_size": 2, "prompt_tokens": 900, "completion_tokens": 24, **changed.pop("sampling", {})}
    lora = LoraSettings(rank=4, alpha=8.0, dropout=0.0)
    return config(model, **{"lora": lora, "kl": 0.1, "sampling": drawn, "max_steps": 2, **changed})


def talk(model: Path) -> ScriptedSampler:
    """Every role by a script: proposals are right or wrong by task, all kinds of answers occur."""
    tokenizer = tokenizer_of(model)

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        text = prompt[-1].content
        even = text.count("e") % 2
        if role in ("generator", "reviser"):
            return draft_text(CHOICES[(even + number) % 2]) if number < 3 else "Old, I think."
        if role == "verifier":
            return ('{"verdict": "wrong"}', '{"verdict": "correct"}')[text.count("o") % 2]
        return choice_text(("KEEP", "REVISE")[even])

    return ScriptedSampler(line, lambda text: tokenizer(text)["input_ids"], (tokenizer.eos_token_id,))


def game(**changed: Any) -> AssuranceGame:
    """With prompts of a few words, which are read in little time."""
    return AssuranceGame(**{"samples": 2, "candidates": 2, "turns": 2, "ask": ask, "force": said, **changed})
