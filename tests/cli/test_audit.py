"""``vouch audit``: offline, by a model behind a real socket, for one answer and for rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from vouching.cli.app import app
from vouching.cli.streams import Exit

SOURCE = "The bridge opened in 1973. It has three towers."
RIGHT, WRONG = "It opened in 1973.", "It opened in 1937 with 3 towers."


def answer(asked: str) -> str:
    if "end of answer" in asked:
        return "- Question: When did the bridge open? [Answer: 1937]\n- Question: How many towers has it? [Answer: 3]"
    return '1. Evidence: "opened in 1973" [Answer: 1973]\n2. Evidence: "three towers" [Answer: three]'


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with chat_server(answer) as name:
        yield name


def check(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


def audit(response: str, *arguments: str | Path) -> Result:
    return check(response, "--source-text", SOURCE, *arguments)


def test_an_answer_is_audited_offline_with_both_values_and_their_place() -> None:
    result = audit(WRONG)
    assert (result.exit_code, result.stderr) == (Exit.OK, "")
    assert "2 questions: 1 different, 1 same; 100 % of the numbers were asked about" in result.stdout
    assert '"1973"' in result.stdout
    assert "source-1:21-25" in result.stdout


def test_fail_tells_a_wrong_answer_from_a_right_one_and_from_one_without_numbers() -> None:
    assert audit(RIGHT, "--fail").exit_code == Exit.OK
    assert audit(WRONG, "--fail").exit_code == Exit.FINDINGS
    nothing = audit("It opened.", "--fail")
    assert nothing.exit_code == Exit.INCOMPLETE
    assert "no number was found" in nothing.stderr


def test_the_json_has_a_pair_for_each_number() -> None:
    report = json.loads(audit(WRONG, "--json").stdout)
    assert [(one["kind"], one["outcome"]) for one in report["findings"]] == [("pair", "different"), ("pair", "same")]


def test_the_html_report_and_markdown_show_both_values(tmp_path: Path) -> None:
    page, markdown = tmp_path / "report.html", tmp_path / "report.md"
    for path in (page, markdown):
        assert audit(WRONG, "--report", path).exit_code == Exit.OK
    assert '| ✗ | 1937 | "1973" | source-1:21-25 |' in markdown.read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    assert "It opened in ____ with 3 towers." in text
    assert "The documents give a different answer" in text
    assert "source-1:21-25" in text


def test_a_language_model_asks_and_answers(model: str) -> None:
    result = audit(WRONG, "--model", model, "--votes", "3", "--json")
    assert result.exit_code == Exit.OK
    first, second = json.loads(result.stdout)["findings"]
    assert (first["outcome"], first["found"], first["votes"]) == ("different", ["1973"], ["1973"] * 3)
    assert second["outcome"] == "same"


def test_rows_are_audited_one_by_one(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    given = [
        {"id": "a", "response": WRONG, "source": SOURCE},
        {"id": "b", "response": RIGHT},
        {"id": "c", "claim": RIGHT, "source": SOURCE},
    ]
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in given), encoding="utf-8")
    result = check("--input", rows, "--output", out)
    assert result.exit_code == Exit.INCOMPLETE
    assert "3 rows, 3 questions: 2 same, 1 different; 1 of the rows cannot be used" in result.stderr
    kinds = [json.loads(line)["kind"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert kinds == ["report", "unverified", "report"]
    assert check("--input", rows, "--output", tmp_path / "again.jsonl", "--fail").exit_code == Exit.FINDINGS


def test_a_run_stops_before_a_broken_row_if_asked_and_resumes_with_it(tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    lines = [json.dumps({"id": name, "response": WRONG, "source": SOURCE}) for name in "abc"]
    rows.write_text("\n".join([lines[0], "{", lines[2]]), encoding="utf-8")
    arguments = ("--input", rows, "--output", out, "--stop-on-error", "--resume")
    stopped = check(*arguments)
    assert (stopped.exit_code, len(out.read_text(encoding="utf-8").splitlines())) == (Exit.INCOMPLETE, 1)
    assert "stopped: rows.jsonl, line 2: invalid JSON" in stopped.stderr
    rows.write_text("\n".join(lines), encoding="utf-8")
    assert check(*arguments).exit_code == Exit.OK
    assert [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()] == ["a", "b", "c"]


def test_the_rows_have_an_html_report_too(tmp_path: Path) -> None:
    rows, page = tmp_path / "rows.jsonl", tmp_path / "page.html"
    given = [{"id": "first", "response": WRONG, "source": SOURCE}, {"id": "second", "response": RIGHT}]
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in given), encoding="utf-8")
    result = check("--input", rows, "--output", tmp_path / "out.jsonl", "--report", page)
    assert result.exit_code == Exit.INCOMPLETE  # the second row has no source
    shown = page.read_text(encoding="utf-8")
    assert all(text in shown for text in ("first", "second", "1937", "1973"))


def test_dates_with_a_day_are_asked_about_unless_only_numbers_are_wanted() -> None:
    response = ("It opened on 3 May 1937 with 2 towers in 1938.", "--source-text", "Opened 1937.")
    answers = [
        [one["answer"] for one in json.loads(check(*response, *scope, "--json").stdout)["findings"]]
        for scope in ((), ("--scope", "facts"), ("--scope", "numbers"))
    ]
    assert answers == [["3 May 1937", "2", "1938"]] * 2 + [["2", "1938"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--votes", "3"), "so --votes cannot be used: pass a language model with --model, or omit --votes"),
        (("--seed", "3"), "so --seed cannot be used"),
    ],
)
def test_what_it_has_no_use_for_is_refused(arguments: tuple[str, ...], message: str) -> None:
    result = audit(RIGHT, *arguments)
    assert result.exit_code == Exit.USAGE
    assert message in result.stderr


def test_its_options_belong_to_it() -> None:
    result = CliRunner().invoke(app, ["check", RIGHT, "--source-text", SOURCE, "--match", "released"])
    assert result.exit_code == Exit.USAGE
    assert (
        CliRunner().invoke(app, ["audit", RIGHT, "--source-text", SOURCE, "--match", "released"]).exit_code == Exit.OK
    )


def test_without_documents_there_is_nothing_to_audit_against() -> None:
    result = check(RIGHT)
    assert result.exit_code == Exit.USAGE
    assert "no source was given" in result.stderr


def test_a_claim_of_a_row_is_audited_as_an_answer(tmp_path: Path) -> None:
    rows, output = tmp_path / "rows.jsonl", tmp_path / "audits.jsonl"
    source = "The bridge opened in 1973."
    made = [{"claim": "It opened in 1937.", "source": source}, {"claim": 7, "source": source}, {"source": source}]
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in made), encoding="utf-8")
    result = check("--input", rows, "--output", output)
    assert result.exit_code == Exit.INCOMPLETE
    first, _, _ = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    assert first["findings"][0]["outcome"] == "different"
    assert "the claim must be a string, got 7" in result.stderr
    assert 'the row has no "response" or "claim"' in result.stderr
