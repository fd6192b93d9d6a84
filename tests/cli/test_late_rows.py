"""Commands over rows go on if a model never answers one row in time; a resumed run asks for that row only."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.chat_server import chat_server
from tests.methods.scripts import RIGHT, SOURCE, reply
from vouching.cli.app import app
from vouching.cli.streams import Exit

NAMES = ("Ann", "Bob", "Cy", "Dora")
LATE = "Bob"
ROWS = {
    "claims": [
        {
            "id": name,
            "claim": f"{name} says the bridge opened to traffic in 1973.",
            "source": SOURCE,
            "label": "Attributable" if name in ("Ann", "Bob") else "Not Attributable",
        }
        for name in NAMES
    ],
    "instructions": [{"id": name, "instruction": f"Write about {name}."} for name in NAMES],
    "questions": [
        {"id": name, "question": f"When did {name} cross the bridge?", "answers": ["In 1973.", "In 1937."]}
        for name in NAMES
    ],
}
REPLIES = {
    "claims": reply(RIGHT),
    "instructions": "1. Is it about {name}?",
    "questions": json.dumps({"explanation": "It was 1973.", "places": {"answer 1": 1, "answer 2": 2}}),
}
COMMANDS = {
    "check": ("claims", ["check"], "out.jsonl"),
    "bench": ("claims", ["bench", "run", "--out", "run"], "run/rows/rows.jsonl"),
    "raw": ("claims", ["bench", "run", "--out", "run", "--method", "structured", "--raw"], "run/rows/rows.jsonl"),
    "annotate": ("claims", ["data", "annotate"], "out.journal.jsonl"),
    "checklist": ("instructions", ["data", "checklist"], "out.journal.jsonl"),
    "gold": ("instructions", ["data", "gold", "--evaluation", "unseen.jsonl"], "out.journal.jsonl"),
    "rank": ("questions", ["rank", "--mode", "generative"], "out.jsonl"),
}
"""The kind of rows, the command, and where the lines are."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_row_that_is_never_answered_in_time_stops_nothing_and_is_asked_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOUCH_TIMEOUT", "1.5")
    monkeypatch.setenv("VOUCH_CACHE", "")
    monkeypatch.chdir(tmp_path)
    kind, command, lines = COMMANDS[name]
    rows = ROWS[kind]
    if name == "gold":
        rows = [{**row, "checklist": ["Is the person named?"]} for row in rows]
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    Path("unseen.jsonl").write_text('{"prompt": "Count to three."}\n', encoding="utf-8")
    free, asked = threading.Event(), list[str]()

    def answer(prompt: str) -> str:
        asked.append(prompt)
        if LATE in prompt:
            free.wait(20)
        return REPLIES[kind].replace("{name}", next(name for name in NAMES if name in prompt))

    with chat_server(answer) as model:
        scored = "--score-model" if name == "rank" else "--model"
        words = [*command, "--input", "rows.jsonl", scored, model]
        words += [] if "bench" in command else ["--output", "out.jsonl"]
        first = CliRunner().invoke(app, words)
        found = [json.loads(line) for line in Path(lines).read_text("utf-8").splitlines()]
        free.set()
        asked.clear()
        second = CliRunner().invoke(app, [*words, "--resume"])
    assert first.exit_code == Exit.INCOMPLETE, first.output
    assert any("did not answer within 1.5" in json.dumps(line) for line in found), first.output
    assert len(found) == len(NAMES), first.output
    assert second.exit_code == Exit.OK, second.output
    assert asked
    assert all(LATE in prompt for prompt in asked)
