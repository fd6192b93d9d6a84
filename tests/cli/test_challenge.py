"""``vouch challenge``: verifying, filling, going on after an interruption, reports and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from tests.house.source_tree import ROOT
from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.types.serial import json_schema

TASK = ROOT / "examples" / "expenses.yaml"
PROPOSAL = ROOT / "examples" / "expenses_proposal.yaml"
# Hotel: 3 nights at 190. Meals: 48.20 - 11.00 + 75 + 61.90 = 174.10. Total: 437.10 + 570 + 174.10 + 41.54 = 1,222.74.
GOLD: dict[str, Any] = {
    "in_time": True,
    "in_trip": True,
    "receipts": True,
    "economy": True,
    "travel": 437.1,
    "hotel": 570,
    "meals": 174.1,
    "car": 41.54,
    "total": 1222.74,
    "paid": 222.74,
}
SMALL = {
    "task": "s",
    "data": {"apples": 3},
    "rules": [{"id": "R1", "text": "Count.", "value": "data.apples"}, {"id": "R2", "text": "Fair."}],
    "units": [
        {"id": "n", "type": "integer", "rules": ["R1"]},
        {"id": "f", "type": "boolean", "rules": ["R2"], "depends_on": ["n"]},
    ],
}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["challenge", *map(str, arguments)])


def written(path: Path, record: Any) -> Path:
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def checking(*arguments: str | Path) -> Result:
    return run("--task", TASK, "--proposal", PROPOSAL, *arguments)


def answered(asked: str) -> str:
    """An assistant that counts 5, gives in to a case, and finds everything fair."""
    question = asked.splitlines()[-1]
    if question == "Fill in the entry.":
        return '{"amount": true}' if '"line": "f"' in asked else '{"amount": 5}'
    if question == "Give your value for the entry now.":
        return '{"amount": 3}'
    return '{"decision": "REVISE"}' if question == "KEEP or REVISE?" else '{"verdict": "correct"}'


def test_two_mistakes_are_challenged_with_the_value_and_the_rule() -> None:
    result = checking()
    assert result.exit_code == Exit.OK
    assert "✗ hotel     615  challenged, should be 570" in result.stdout
    assert "✗ meals     185.10  challenged, should be 174.10" in result.stdout
    assert "expenses: 10 units: 8 accepted, 2 challenged" in result.stdout
    assert "✓ total     1278.74  rests on hotel, meals" in result.stdout
    assert result.stdout.count("✓") == 8
    assert result.stdout.count("table.night") == 1  # the rule stands in the argument, not in the evidence again
    assert checking("--fail").exit_code == Exit.FINDINGS


def test_the_record_follows_its_schema_and_gold_counts_cases(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.json", {"values": GOLD})
    result = checking("--json", "--gold", gold)
    record = json.loads(result.stdout)
    jsonschema.validate(record, json_schema("assurance"))
    # Right and accepted: all but hotel, meals, which are challenged, and total and paid, which follow from them.
    assert record["cases"] == {"1": 6, "4": 2, "5 or 6": 2}
    assert [unit["quality"] for unit in record["units"] if unit["challenged"]] == [1.0, 1.0]
    assert record["submitted"]["travel"] == 437.1


def test_right_values_pass_under_fail(tmp_path: Path) -> None:
    good = written(tmp_path / "good.json", {"values": GOLD})
    result = run("--task", TASK, "--proposal", good, "--fail")
    assert (result.exit_code, "10 accepted" in result.stdout) == (Exit.OK, True)


def test_a_unit_with_a_rule_in_words_is_unverified_without_a_model(tmp_path: Path) -> None:
    task = written(tmp_path / "task.json", SMALL)
    proposal = written(tmp_path / "p.json", {"values": {"n": 3, "f": True}})
    result = run("--task", task, "--proposal", proposal, "--fail")
    assert result.exit_code == Exit.INCOMPLETE
    assert "? f  unverified (undecided): the unit has no executable rule" in result.stdout
    with chat_server(lambda _: '{"verdict": "correct"}') as model:
        assert run("--task", task, "--proposal", proposal, "--model", model).exit_code == Exit.OK
    with chat_server(lambda _: "Looks fine.") as model:
        result = run("--task", task, "--proposal", proposal, "--model", model)
    assert result.exit_code == Exit.INCOMPLETE
    assert "unverified (unparsable)" in result.stdout


def test_a_fill_is_challenged_revised_submitted_and_kept_step_by_step(tmp_path: Path) -> None:
    task, output = written(tmp_path / "task.json", SMALL), tmp_path / "steps.jsonl"
    gold = written(tmp_path / "gold.json", {"values": {"n": 3, "f": True}})
    with chat_server(answered) as model:
        filling = ["--task", task, "--fill", "--model", model, "--output", output, "--gold", gold, "--json"]
        result = run(*filling)
        assert result.exit_code == Exit.OK, result.stderr
        record = json.loads(result.stdout)
        assert record["submitted"] == {"n": 3, "f": True}
        assert record["cases"] == {"1": 1, "5a": 1}
        # Calls: two drafts, five revisions, one choice, one review of f; each counts 9 and 5 tokens.
        assert record["usage"]["completion_tokens"] == 9 * 5
        assert len(output.read_text(encoding="utf-8").splitlines()) == 3
        assert "already exists" in run(*filling).stderr
        # Finished: resuming asks nobody, and gives the same.
        again = json.loads(run(*filling, "--resume").stdout)
        assert again["usage"]["calls"] == 0
        assert (again["units"], again["cases"]) == (record["units"], record["cases"])


def test_a_run_that_was_cut_short_goes_on_where_it_stopped(tmp_path: Path) -> None:
    task, output = written(tmp_path / "task.json", SMALL), tmp_path / "steps.jsonl"
    with chat_server(answered) as model:
        filling = ["--task", task, "--fill", "--model", model, "--output", output]
        assert run(*filling).exit_code == Exit.OK
        whole = output.read_bytes()
        # Cut at every sixty-first byte, in the middle of a line or not, and at the end of a line.
        for end in [*range(0, len(whole), 61), whole.index(b"\n") + 1]:
            output.write_bytes(whole[:end])
            assert run(*filling, "--resume").exit_code == Exit.OK
            assert output.read_bytes() == whole


def test_a_number_that_no_float_is_stays_what_it_was(tmp_path: Path) -> None:
    # The float nearest to 99,999,999,999,999.99 has 98 cents: read back as that, it would be challenged by the rule.
    rules = [
        {"id": "R1", "text": "Paid.", "value": "data.euros + data.cents / 100"},
        {"id": "R2", "text": "The same.", "value": "unit.paid"},
    ]
    units = [
        {"id": "paid", "type": "amount", "rules": ["R1"]},
        {"id": "due", "type": "amount", "rules": ["R2"], "depends_on": ["paid"]},
    ]
    data = {"euros": 99_999_999_999_999, "cents": 99}
    task = written(tmp_path / "task.json", {"task": "s", "data": data, "rules": rules, "units": units})
    output = tmp_path / "steps.jsonl"
    with chat_server(lambda asked: '{"amount": "$99,999,999,999,999.99"}') as model:
        filling = ["--task", task, "--fill", "--model", model, "--output", output]
        assert run(*filling).exit_code == Exit.OK
        whole = output.read_bytes()
        output.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
        assert run(*filling, "--resume").exit_code == Exit.OK
    assert output.read_bytes() == whole
    assert b'"submitted": "99999999999999.99"' in whole


def test_an_output_of_other_work_is_not_gone_on_with(tmp_path: Path) -> None:
    task, output = written(tmp_path / "task.json", SMALL), tmp_path / "steps.jsonl"
    with chat_server(answered) as model:
        filling = ["--task", task, "--fill", "--model", model, "--output", output, "--resume"]
        assert run(*filling).exit_code == Exit.OK
        before = output.read_bytes()
        assert "with other settings" in run(*filling, "--seed", "1").stderr
        written(task, SMALL | {"data": {"apples": 4}})
        result = run(*filling)
    assert (result.exit_code, "was written for another task" in result.stderr) == (Exit.USAGE, True)
    assert output.read_bytes() == before


def test_a_model_that_fails_half_way_leaves_the_finished_steps(tmp_path: Path) -> None:
    task, output = written(tmp_path / "task.json", SMALL), tmp_path / "steps.jsonl"
    with chat_server(lambda asked: 429 if '"line": "f"' in asked else answered(asked)) as model:
        result = run("--task", task, "--fill", "--model", model, "--output", output)
    assert result.exit_code == Exit.INCOMPLETE
    assert len(output.read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "pass either --proposal PATH to verify values, or --fill"),
        (["--proposal", PROPOSAL, "--fill", "--model", "m"], "pass either --proposal PATH"),
        (["--fill"], "--fill requires --model"),
        (["--proposal", PROPOSAL, "--output", "x.jsonl"], "--output requires --fill"),
        (["--proposal", PROPOSAL, "--resume"], "--resume requires --output"),
        (["--proposal", "none.yaml"], "none.yaml cannot be read"),
        (["--proposal", TASK], "expected an object with"),
        (["--proposal", PROPOSAL, "--report", "/no/such/page.html"], "does not exist; create it or choose another"),
        (["--fill", "--model", "http://localhost:1/v1#m", "--candidates", "0"], "candidates must be at least 1"),
        (["--fill", "--model", "http://localhost:1/v1#m", "--output", "x.txt"], "ends in .jsonl"),
        (["--fill", "--model", "qwen"], "unknown model 'qwen'"),
    ],
)
def test_a_command_line_that_cannot_be_used_says_why(arguments: list[str | Path], message: str) -> None:
    result = run("--task", TASK, *arguments)
    assert result.exit_code == Exit.USAGE
    assert message in result.stderr


def test_the_page_shows_every_unit_the_case_as_a_tree_and_no_markup_of_others(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e"
    rules = [{"id": "R1", "text": hostile, "value": "data.apples"}, {"id": "R2", "text": "Fair."}]
    task = written(tmp_path / "task.json", SMALL | {"description": hostile, "rules": rules})
    proposal = written(tmp_path / "p.json", {"values": {"n": 4, "f": True}})
    page = tmp_path / "page.html"
    assert run("--task", task, "--proposal", proposal, "--report", page).exit_code == Exit.INCOMPLETE
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "\u202e" not in text
    for words in (
        "n is 4, but rule R1 gives 3.",
        "✓ data.apples = 3",
        "&#34;kind&#34;: &#34;claim&#34;",
        "This unit could not be judged (undecided)",
        "An unchallenged unit is not proven correct",
    ):
        assert words in text
