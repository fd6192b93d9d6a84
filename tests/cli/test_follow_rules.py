"""``vouch follow --method rules``: one answer, files of rows, and what cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app

COMMA = "punctuation:no_comma"
WORDS = "length_constraints:number_words"
NAMED: dict[str, Any] = {
    "prompt": "Five words, no comma.",
    "instruction_id_list": [COMMA, WORDS],
    "kwargs": [{}, {"num_words": 5, "relation": "at least", "keyword": None}],
    "response": "Sure, here:\nThe sea is wide and blue.",
}


def check(*arguments: str | Path, stdin: str | None = None) -> Result:
    env = {"COLUMNS": "100", "VOUCH_MODEL": "http://localhost:9/v1#none"}  # no model is asked
    return CliRunner(env=env).invoke(app, ["follow", "--method", "rules", *map(str, arguments)], input=stdin)


def checked(tmp_path: Path, *rows: dict[str, Any] | str, options: tuple[str, ...] = ()) -> tuple[Result, list[Any]]:
    """What becomes of rows: how the command ends, and its lines."""
    source, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    result = check("--input", source, "--output", output, *options)
    lines = output.read_text("utf-8").splitlines() if output.exists() else []
    return result, [json.loads(line) for line in lines]


def test_an_answer_is_checked_against_what_the_question_asks_of_its_form() -> None:
    result = check("Wide, blue.", "--instruction", "Describe it. Use no commas.")
    assert result.exit_code == 0, result.stderr
    assert "1 item: 0 passed, 1 failed" in result.stdout
    assert "Wide✗1 , blue." in result.stdout
    assert "Only the rules found in the instruction were checked" in result.stdout


@pytest.mark.parametrize(("answer", "status"), [("Wide, blue.", 1), ("Wide.", 0)])
def test_fail_ends_with_1_if_a_rule_is_broken(answer: str, status: int) -> None:
    assert check(answer, "--instruction", "Use no commas.", "--fail").exit_code == status


def test_fail_does_not_let_a_question_without_a_rule_pass() -> None:
    result = check("Wide.", "--instruction", "Describe the sea.", "--fail")
    assert result.exit_code == 3
    assert "no rule was found in the instruction" in result.stdout
    assert "no rule was found: the instruction contains nothing that can be checked" in result.stderr


def test_the_record_and_the_report_have_the_rule(tmp_path: Path) -> None:
    asked = ("Wide, blue.", "--instruction", "Use no commas.")
    [finding] = json.loads(check(*asked, "--json").stdout)["findings"]
    assert (finding["rule"], finding["passed"], finding["span"]["start"]) == (COMMA, False, 4)
    assert check(*asked, "--report", tmp_path / "r.html").exit_code == 0
    assert f"Rule {COMMA}: failed. It has 1 comma." in (tmp_path / "r.html").read_text("utf-8")
    assert check(*asked, "--report", tmp_path / "r.md").exit_code == 0
    assert "Is the response free of commas?" in (tmp_path / "r.md").read_text("utf-8")


def test_a_row_comes_back_with_its_strict_and_loose_outcomes(tmp_path: Path) -> None:
    result, [line] = checked(tmp_path, {"id": 7, **NAMED})
    assert result.exit_code == 0, result.stderr
    assert line == {"id": 7, **NAMED, "strict": [False, True], "loose": [True, True]}
    assert "prompts followed: 0.000 strict, 1.000 loose; rules followed: 0.500 strict" in result.stderr


def test_a_row_without_rules_gets_those_found_in_its_prompt_and_says_so(tmp_path: Path) -> None:
    result, lines = checked(
        tmp_path,
        {"prompt": "Write at least 3 words.", "response": "Two words"},
        {"prompt": "Write.", "response": "Two"},
    )
    assert result.exit_code == 0
    assert (lines[0]["id"], lines[0]["detected"]) == ("row-1", True)
    assert lines[0]["instruction_id_list"] == [WORDS]
    assert lines[0]["kwargs"] == [{"num_words": 3, "relation": "at least"}]
    assert (lines[0]["strict"], lines[1]["strict"]) == ([False], [])
    assert "1 without a rule" in result.stderr


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            {**NAMED, "kwargs": [{}, {"num_words": "5", "relation": "at least"}]},
            f"line 2: {WORDS}: \"num_words\" must be a whole number of at least 0, got '5'",
        ),
        ({**NAMED, "kwargs": [{}]}, 'line 2: "kwargs" has 1 entries, expected 2'),
        (
            {**NAMED, "instruction_id_list": ["language:response_language"], "kwargs": [{"language": ["en"]}]},
            '"language" must be a language code such as',
        ),
        ({**NAMED, "instruction_id_list": ["punctuation:comma", WORDS]}, "did you mean 'punctuation:no_comma'?"),
        ({**NAMED, "response": None}, 'no value for "response"'),
        ({"response": "x"}, 'no value for "instruction_id_list", "prompt"'),
        ("{", "line 2: invalid JSON"),
    ],
)
def test_a_row_that_does_not_fit_is_named_and_the_others_go_on(
    tmp_path: Path, row: dict[str, Any] | str, problem: str
) -> None:
    result, lines = checked(tmp_path, NAMED, row, NAMED)
    assert result.exit_code == 3
    assert [line["strict"] for line in lines] == [[False, True], None, [False, True]]
    assert problem in lines[1]["problem"]
    assert problem in result.stderr
    assert "1 of the rows cannot be used" in result.stderr


def test_a_run_that_stopped_at_a_broken_row_resumes_when_it_is_repaired(tmp_path: Path) -> None:
    stopped, first = checked(tmp_path, NAMED, "{", options=("--stop-on-error",))
    assert (stopped.exit_code, len(first)) == (3, 1)
    result, lines = checked(tmp_path, NAMED, {**NAMED, "response": "One, two."}, options=("--resume",))
    assert result.exit_code == 0, result.stderr
    assert [line["strict"] for line in lines] == [[False, True], [False, False]]


def test_the_report_on_rows_shows_items_with_their_instruction_and_the_words_that_decide(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result, _ = checked(tmp_path, NAMED, {"prompt": "Write.", "response": "x"}, "{", options=("--report", page))
    assert result.exit_code == 3  # the third row
    shown = page.read_text(encoding="utf-8")
    # Two items of the first row, one is broken; the second row has no rule; the third could not be read.
    assert "2 items in 2 responses; 1 unusable row" in shown
    assert "Passed: 1 of 2" in shown
    assert "Passing every item does not make an answer good." in shown
    assert f'Asked: <q dir="auto">{NAMED["prompt"]}</q>' in shown
    assert "Rule punctuation:no_comma: failed." in shown
    assert "line 3: invalid JSON" in shown


def test_several_processes_give_the_same_lines(tmp_path: Path) -> None:
    rows = [{**NAMED, "response": f"{'word ' * n}, x"} for n in range(8)]
    _, one = checked(tmp_path, *rows)
    (tmp_path / "out.jsonl").unlink()
    _, two = checked(tmp_path, *rows, options=("--jobs", "2"))
    assert one == two
    assert [line["strict"][1] for line in one] == [n + 1 >= 5 for n in range(8)]  # and the "x"


def test_fail_tells_broken_rules_of_rows_from_rows_without_one(tmp_path: Path) -> None:
    assert checked(tmp_path, NAMED, options=("--fail",))[0].exit_code == 1
    (tmp_path / "out.jsonl").unlink()
    assert checked(tmp_path, {"prompt": "Write.", "response": "x"}, options=("--fail",))[0].exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("x",), "the answer has no instruction: pass --instruction TEXT"),
        (
            ("A.", "--instruction", "Use no commas.", "--response", "x.txt"),
            "ANSWER and --response cannot be used together",
        ),
        (("y", "--instruction", "x", "--source-text", "z"), "--source-text cannot be used with --method rules"),
        (("y", "--instruction", "x", "--votes", "3"), "--votes cannot be used with --method rules"),
        (("y", "--instruction", "x", "--model", "openai/x"), "--model cannot be used with --method rules"),
    ],
)
def test_options_without_use_are_refused(arguments: tuple[str, ...], problem: str) -> None:
    result = check(*arguments)
    assert result.exit_code == 2
    assert problem in result.stderr


def test_a_row_may_call_its_prompt_instruction(tmp_path: Path) -> None:
    result, [line] = checked(tmp_path, {"id": "a", "instruction": "Use no commas.", "response": "So be it."})
    assert (result.exit_code, line["instruction_id_list"], line["strict"]) == (0, ["punctuation:no_comma"], [True])


def test_a_report_speaks_of_the_instruction(tmp_path: Path) -> None:
    page = tmp_path / "r.md"
    assert check("So, be it.", "--instruction", "Use no commas.", "--report", page).exit_code == 0
    assert "**Instruction:** Use no commas." in page.read_text(encoding="utf-8")
