"""``vouch data checklist``: accepted, rejected, bound to rules, resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vouching.cli.data import ended
from vouching.cli.streams import Exit, show_rows
from vouching.errors import InputError, ModelUnavailableError
from vouching.methods.checklist.lint import encoder_similarity
from vouching.methods.checklist.make import ChecklistMaker
from vouching.methods.checklist.make import make_checklists as made_checklists
from vouching.models import ScriptedModel
from vouching.rows import MadeFiles

ROWS: list[Any] = [
    {
        "id": "a",
        "prompt": "Write about Paris. Use no commas.",
        "group": "g",
        "instruction_id_list": ["punctuation:no_comma"],
        "kwargs": [{}],
    },
    {"id": "b", "messages": [{"role": "user", "content": "Write about Rome."}]},
    {"id": "c", "instruction": "Write about Oslo."},
    {"id": "d", "instruction": " "},
    {"id": "e", "instruction": "Write about Bern."},
]
SCRIPT = {
    "Paris": "1. Is it about Paris?\n2. Is it free of commas?",
    "Rome": "1. **Is it about Rome?**",
    "Oslo": "1. Is it about Oslo?\n2. Is it engaging?",
    "'engaging'|'creative'": "1. Is it about Oslo?\n2. Is it creative?",
    "Bern|numbered list": "I cannot.",
}


def make_checklists(
    files: MadeFiles, model: ScriptedModel, critic: ScriptedModel | None = None, rules: bool = False
) -> Exit:
    """As the command does it."""
    maker = ChecklistMaker(model, 0, 2048, critic, encoder_similarity())
    return ended(made_checklists(files, maker, rules, show_rows))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def options(tmp_path: Path) -> MadeFiles:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return MadeFiles(str(path), tmp_path / "checklists.jsonl")


def test_lists_without_faults_are_kept_and_the_others_go_apart_with_theirs(
    options: MadeFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_checklists(options, ScriptedModel(SCRIPT)) == Exit.INCOMPLETE  # row d has no instruction
    first, second = lines(options.output)
    assert first == {
        "id": "a",
        "group": "g",
        "instruction_id_list": ["punctuation:no_comma"],
        "kwargs": [{}],
        "instruction": ROWS[0]["prompt"],
        "attempts": 1,
        "checklist": [{"text": "Is it about Paris?"}, {"text": "Is it free of commas?"}],
    }
    assert (second["id"], second["instruction"]) == ("b", "[user]\nWrite about Rome.")
    faulty, broken, none = lines(options.rejected)
    assert (faulty["id"], faulty["attempts"], len(faulty["checklist"])) == ("c", 3, 2)
    assert [fault["kind"] for fault in faulty["faults"]] == ["spurious"]
    assert "the instruction must not be blank" in broken["problem"]
    assert (none["id"], none["checklist"], none["faults"][0]["kind"]) == ("e", [], "form")
    told = capsys.readouterr().err
    assert "2 of 4 checklists have no fault; the others" in told
    assert "checklists have 1.5 items on average: 1 with 1, 1 with 2" in told  # of those without a fault
    assert "checklists with faults: form 1, spurious 1" in told


def test_items_are_bound_to_the_rules_that_the_instruction_asks_for(options: MadeFiles) -> None:
    make_checklists(options, ScriptedModel(SCRIPT), rules=True)
    bound = lines(options.output)[0]["checklist"][1]
    assert bound == {"text": "Is it free of commas?", "rule": "punctuation:no_comma", "arguments": {}}


def test_a_critic_is_heard(options: MadeFiles) -> None:
    critic = ScriptedModel({"Rome": "1 | spurious | which Rome?", ".": "none"})
    make_checklists(options, ScriptedModel({"which Rome": "1. Is it about Rome?", **SCRIPT}), critic)
    assert [row["id"] for row in lines(options.output)] == ["a"]


def test_a_run_that_was_cut_short_goes_on(options: MadeFiles) -> None:
    busy = {"Oslo": ModelUnavailableError("busy"), **{key: SCRIPT[key] for key in ("Paris", "Rome")}}
    assert make_checklists(options, ScriptedModel(busy)) == Exit.INCOMPLETE
    assert len(lines(options.output)) == 2
    with pytest.raises(InputError, match="resume"):
        make_checklists(options, ScriptedModel(SCRIPT))
    again = ScriptedModel(SCRIPT)
    make_checklists(replace(options, resume=True), again)
    assert (len(lines(options.output)), len(lines(options.rejected))) == (2, 3)
    assert not any("Paris" in asked.last for asked in again.asked)
    with pytest.raises(InputError):
        make_checklists(replace(options, resume=True), again, rules=True)


def test_files_of_something_else_are_not_overwritten(options: MadeFiles) -> None:
    options.output.write_text("mine\n")
    with pytest.raises(InputError, match="but no journal"):
        make_checklists(options, ScriptedModel(SCRIPT))
    with pytest.raises(InputError, match="two of these paths are the same file"):
        make_checklists(replace(options, output=Path(options.input)), ScriptedModel(SCRIPT))
