"""``vouch check --trace``: each answer of a conversation against what was known when it was given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.ledger import open_ledger

TRACES = Path(__file__).parents[1] / "data" / "traces"
RESULT = {"role": "tool", "tool_call_id": "c", "name": "search", "content": "The bridge opened in 1973."}
WRONG = {"role": "assistant", "content": "The bridge opened in 1937."}


def vouch(*arguments: str | Path, stdin: str = "", model: str = "embedded:rules") -> Result:
    """Run ``vouch check`` in this process."""
    environment = {"COLUMNS": "100", "VOUCH_MODEL": model}
    return CliRunner(env=environment).invoke(app, ["check", *map(str, arguments)], input=stdin)


def lines(*messages: object) -> str:
    return "".join(f"{json.dumps(message)}\n" for message in messages)


def test_each_answer_has_its_question_its_verdicts_and_the_names_of_the_results() -> None:
    result = vouch("--trace", TRACES / "openai_chat.json", model="embedded")
    first, second = result.stdout.split("Turn 2: ")
    assert first.startswith("Turn 1: How warm is it in Lyon?\n")
    assert second.startswith("When does the museum open?\n")
    assert first.endswith("\n  Supported by call_1 (get_weather): 1\n\n")
    assert second.endswith("\n  Supported by call_3 (get_hours): 1\n  Supported by system: 2\n")


def test_a_wrong_answer_fails_its_report_is_json_and_is_kept(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    polite = {"role": "assistant", "content": "Thank you!"}
    stdin = lines(RESULT, WRONG, {"role": "user", "content": "Thanks."}, polite)
    result = vouch("--trace", "-", "--json", "--fail", "--repair", "mark", "--ledger", ledger, stdin=stdin)
    assert result.exit_code == 1
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["id"], first["totals"]["not_attributable"], second["id"]) == ("turn-1", 1, "turn-2")
    assert first["sources"][0]["id"] == "c (search)"
    assert first["revised_response"] == "The bridge opened in 1973."
    with open_ledger(str(ledger)) as opened:
        assert len([*opened.rows()]) == 2
    assert vouch("--trace", "-", "--fail", stdin=lines(RESULT, {**WRONG, "content": RESULT["content"]})).exit_code == 0
    assert vouch("--trace", "-", "--fail", stdin=lines(polite)).exit_code == 3  # nothing to check
    assert vouch("--trace", "-", stdin=lines(WRONG)).exit_code == 3  # nothing was known


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--trace", "-", "It opened."), "omit CLAIM"),
        (("--trace", "-", "--source-text", "x"), "omit --source-text"),
        (("--trace", "-", "--report", "out.html"), "omit --report"),
        (("--trace", "-", "--input", "rows.jsonl", "--output", "out.jsonl"), "--trace"),
        (("--trace", "missing.json"), "missing.json"),
        (("--trace", "-"), "a conversation must be messages as JSON"),
    ],
)
def test_what_does_not_go_with_a_trace_is_refused(arguments: tuple[str, ...], message: str) -> None:
    result = vouch(*arguments, stdin="It opened.")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
