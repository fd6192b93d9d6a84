"""``vouch follow --method checklist`` and ``holistic``, with a judge behind a real socket."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from vouching.cli.app import app
from vouching.cli.streams import Exit

ASKED = "Write three bullet points about Paris. Use no commas."
RESPONSE = "- The Seine\n- The Louvre"
COMMAS = {"rule": "punctuation:no_comma"}
REASON = "Reason: There are two.\nQuote: - The Louvre\nAnswer: no"


def answer(asked: str) -> str:
    if "Write the checklist." in asked:
        return "1. Are there three bullet points about Paris?\n2. Are there no commas?"
    if "three bullet points about Paris?" in asked:
        return REASON
    return "no" if "fulfil everything" in asked else "yes"


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with chat_server(answer) as name:
        yield name


def vouch(*arguments: str | Path) -> Result:
    """Run the command line; standard input has the answer."""
    return CliRunner().invoke(app, [*map(str, arguments)], input=RESPONSE)


def check(model: str, *arguments: str | Path, method: str = "checklist") -> Result:
    return vouch("follow", "--method", method, "--model", model, *arguments)


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_a_checklist_is_made_from_the_question_and_the_answer_judged_by_it(model: str) -> None:
    result = check(model, "--response", "-", "--instruction", ASKED)
    assert (result.exit_code, result.stderr) == (Exit.OK, "")
    assert "2 items: 1 passed, 1 failed" in result.stdout
    assert "Are there three bullet points about Paris?" in result.stdout
    assert check(model, "--response", "-", "--instruction", ASKED, "--fail").exit_code == Exit.FINDINGS


def test_a_checklist_comes_from_a_file_and_says_why_on_request(model: str, tmp_path: Path) -> None:
    items = ["Are there three bullet points about Paris?", {"rule": "punctuation:no_comma"}]
    for name, text in (("c.json", json.dumps(items)), ("c.jsonl", "\n".join(map(json.dumps, items)))):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        arguments = ("--response", "-", "--instruction", ASKED, "--checklist", path, "--reasons", "--json")
        found = json.loads(check(model, *arguments).stdout)["findings"]
        assert [(one["passed"], one["rule"]) for one in found] == [(False, None), (True, "punctuation:no_comma")]
        assert (found[0]["reason"], found[0]["span"]["start"]) == ("There are two.", 12)


@pytest.mark.parametrize(("aggregate", "passes"), [("threshold", True), ("median", True), ("majority", False)])
def test_a_tie_of_votes_is_settled_by_the_aggregator(aggregate: str, passes: bool) -> None:
    # One yes of two: a share of 1/2 reaches the threshold of .5, as does the median of 1/2; it is no majority.
    said = itertools.cycle(["yes", "no"])
    with chat_server(lambda asked: next(said)) as torn:
        arguments = ("--response", "-", "--instruction", ASKED, "--votes", "2", "--json")
        result = check(torn, *arguments, "--aggregate", aggregate, method="holistic")
    [found] = json.loads(result.stdout)["findings"]
    assert (found["score"], found["passed"]) == (0.5, passes)


def test_the_whole_is_judged_at_once(model: str) -> None:
    result = check(model, "--response", "-", "--instruction", ASKED, "--json", "--votes", "3", method="holistic")
    [found] = json.loads(result.stdout)["findings"]
    assert (found["votes"], found["passed"]) == ([False] * 3, False)


def test_rows_give_reports_that_become_rewards(model: str, tmp_path: Path) -> None:
    turns = [{"role": "user", "content": ASKED}]
    rows = written(
        tmp_path / "rows.jsonl",
        [
            {"id": "a", "prompt": ASKED, "response": RESPONSE},
            {"id": "b", "messages": turns, "response": RESPONSE, "checklist": ["Are there no commas?"]},
            {"id": "c", "instruction": ASKED, "response": " "},
            {"id": "d", "response": RESPONSE},
            {"id": "e", "instruction": ASKED, "response": RESPONSE, "checklist": []},
            {"id": "f", "instruction": ASKED, "response": RESPONSE, "checklist": [{"rule": "punctuation:none"}]},
            {"id": "h", "instruction": ASKED, "response": RESPONSE, "checklist": [{**COMMAS, "arguments": ["all"]}]},
            {"id": "g", "messages": [{"role": "assistant", "content": "Hi."}], "response": RESPONSE},
        ],
    )
    output, rewards, page = tmp_path / "reports.jsonl", tmp_path / "rewards.jsonl", tmp_path / "report.html"
    result = check(model, "--input", rows, "--output", output, "--report", page)
    assert result.exit_code == Exit.INCOMPLETE
    assert "8 rows, 1 with all items passed; 3 items: 2 passed, 1 failed; 6 of the rows" in result.stderr
    for complaint in (
        "the response is empty",
        'has no value for "instruction"',
        "has no items",
        "unknown rule",
        "must be an object of names and values",
        "user's turn",
    ):
        assert complaint in result.stderr
    # Two items of the first row, one of the second; six rows that could not be used.
    assert "3 items in 2 responses; 6 unusable rows" in page.read_text(encoding="utf-8")
    vouch("reward", "checklist", "--input", output, "--output", rewards, "--beta", "1")
    totals = [json.loads(line)["total"] for line in rewards.read_text().splitlines()]
    assert totals == [0.5, 1.0, *[None] * 6]


def test_a_run_that_was_cut_short_is_finished_with_the_same_settings(model: str, tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [{"id": str(n), "prompt": ASKED, "response": RESPONSE} for n in range(4)])
    output = tmp_path / "reports.jsonl"
    arguments = ("--input", rows, "--output", output)
    check(model, *arguments)
    whole = output.read_bytes()
    output.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    note = output.with_name("reports.jsonl.run.json")
    note.write_text(json.dumps({**json.loads(note.read_text()), "rows": 0, "digest": ""}))
    assert check(model, *arguments, "--resume", "--reasons").exit_code == Exit.USAGE
    with rows.open("a", encoding="utf-8") as file:
        file.write("no JSON\n")
    stopped = check(model, *arguments, "--resume", "--stop-on-error")
    assert (stopped.exit_code, "; fix this and finish with --resume" in stopped.stderr) == (Exit.INCOMPLETE, True)
    rows.write_text("".join(rows.read_text(encoding="utf-8").splitlines(keepends=True)[:4]), encoding="utf-8")
    assert check(model, *arguments, "--resume").exit_code == Exit.OK
    assert len(output.read_bytes().splitlines()) == 4


def test_a_judge_out_of_reach_is_no_verdict(tmp_path: Path) -> None:
    with chat_server(lambda asked: 503) as model:
        result = check(model, "--response", "-", "--instruction", ASKED)
    assert (result.exit_code, result.stdout) == (Exit.INCOMPLETE, "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("follow", "x", "--method", "checklist", "--model", "http://h/v1#m"), "pass --instruction TEXT"),
        (
            ("follow", "x", "--instruction", "y", "--method", "checklist", "--jobs", "2"),
            "--jobs applies only to a file of rows",
        ),
        (("follow", "x", "--instruction", "y", "--method", "checklist"), "items are judged by a language model"),
        (("follow", "x", "--instruction", "y", "--reasons"), "--reasons cannot be used with --method"),
        (("follow", "x", "--instruction", "y", "--method", "rules", "--reasons"), "--reasons cannot be used"),
        (("follow", "x", "--instruction", "y", "--aggregate", "shaped"), "--aggregate cannot be used with --method"),
        (
            ("follow", "x", "--instruction", "y", "--method", "holistic", "--checklist", "c.txt"),
            "--checklist cannot be used with --method holistic",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: tuple[str, ...], complaint: str) -> None:
    result = vouch(*arguments)
    assert result.exit_code == Exit.USAGE
    assert complaint in result.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no items"),
        ("[7]", "item 1 must be a question, got 7"),
        ("{", "neither"),
        (
            '[{"rule": "punctuation:no_comma", "kwargs": {}}]',
            'item 1 has the unknown key "kwargs"; expected "text", "rule"',
        ),
    ],
)
def test_a_file_that_is_no_checklist_is_refused(tmp_path: Path, model: str, text: str, complaint: str) -> None:
    path = tmp_path / "c.txt"
    path.write_text(text)
    result = check(model, "--response", "-", "--instruction", ASKED, "--checklist", path)
    assert result.exit_code == Exit.USAGE
    assert complaint in result.stderr
