"""``vouch answer`` with a language model behind a real socket."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from vouching.cli.app import app
from vouching.cli.streams import Exit

SOURCE = "The Sarn bridge opened in 1973. It is 64 metres long."
RIGHT = "Response: The Sarn bridge opened in 1973.\nAnswer: 1973"
WRONG = "Response: The Sarn bridge opened in 1937.\nAnswer: 1937"
ASKED = ("--question", "When did the Sarn bridge open?", "--source-text", SOURCE)
RULES = ("--method", "embedded", "--judge", "embedded:rules")


def answer(*arguments: str | Path, said: str | list[str] = RIGHT) -> Result:
    replies = iter(said) if isinstance(said, list) else None
    with chat_server(lambda asked: next(replies) if replies else str(said)) as model:
        return CliRunner().invoke(app, ["answer", *map(str, arguments), "--model", model])


def test_an_answer_is_printed_with_its_audit() -> None:
    result = answer(*ASKED, *RULES)
    assert result.exit_code == Exit.OK, result.stderr
    assert result.stdout.startswith("The Sarn bridge opened in 1973.\n")
    assert "✓" in result.stdout


@pytest.mark.parametrize(("options", "code"), [((), Exit.OK), (("--fail",), Exit.FINDINGS)])
def test_a_wrong_answer_is_repaired_and_fails_only_if_asked(options: tuple[str, ...], code: Exit) -> None:
    result = answer(*ASKED, *RULES, "--repair", "mark", *options, said=WRONG)
    assert result.exit_code == code, result.stderr
    assert result.stdout.startswith("The Sarn bridge opened in 1973.\n")


def test_the_blinded_audit_is_the_default_and_needs_no_second_model() -> None:
    result = answer(*ASKED, "--json", said=WRONG)
    record = json.loads(result.stdout)
    [pair] = record["report"]["findings"]
    assert (pair["kind"], pair["answer"], pair["outcome"], pair["found"]) == ("pair", "1937", "different", ["1973"])
    assert record["faithful"] is False


def test_an_answer_without_a_number_is_not_known_to_be_right_by_the_blinded_audit() -> None:
    result = answer(*ASKED, said="Response: It opened long ago.\nAnswer: long ago")
    assert result.exit_code == Exit.INCOMPLETE
    assert "nothing to judge in the answer: try --method embedded, which judges claim by claim" in result.stderr


def test_of_eight_drafts_the_majority_is_told() -> None:
    result = answer(*ASKED, *RULES, "--generations", "8", said=[WRONG] * 3 + [RIGHT] * 5)
    assert result.exit_code == Exit.OK, result.stderr
    assert "1973: 5 of 8 drafts; faithful by majority vote: yes" in result.stdout


def test_json_has_every_draft_and_the_report() -> None:
    result = answer(*ASKED, *RULES, "--generations", "2", "--json", said=[RIGHT, WRONG])
    record = json.loads(result.stdout)
    assert (record["answer"], record["votes"], record["faithful"]) == ("1973", 1, False)
    assert sorted(draft["passed"] for draft in record["drafts"]) == [False, True]
    assert record["report"]["kind"] == "report"


def test_no_answer_in_the_sources_is_said_in_words(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = answer(*ASKED, *RULES, "--report", page, said="Answer: not in the sources")
    assert (result.exit_code, result.stdout) == (Exit.OK, "The sources do not contain the answer.\n")
    assert not page.exists()


def test_a_report_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert answer(*ASKED, *RULES, "--report", page).exit_code == Exit.OK
    assert "Sarn bridge" in page.read_text(encoding="utf-8")
    markdown = tmp_path / "page.md"
    assert answer(*ASKED, *RULES, "--report", markdown).exit_code == Exit.OK
    assert markdown.read_text(encoding="utf-8").startswith("#")


def test_examples_come_from_a_file(tmp_path: Path) -> None:
    shots = tmp_path / "shots.jsonl"
    shots.write_text('{"question": "Who?", "source": "Ada built it.", "answer": "Ada"}\n', encoding="utf-8")
    assert answer(*ASKED, *RULES, "--prompt", "few-shot", "--shots", shots).exit_code == Exit.OK
    shots.write_text('{"question": "Who?"}\n', encoding="utf-8")
    result = answer(*ASKED, *RULES, "--prompt", "few-shot", "--shots", shots)
    assert result.exit_code == Exit.USAGE
    assert 'example 1: the row has no "answer"; its keys are' in result.stderr


@pytest.mark.parametrize("name", [None, "embedded"])
def test_without_a_language_model_the_error_names_the_variable(
    name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOUCH_MODEL", raising=False)
    result = CliRunner().invoke(app, ["answer", *ASKED, *(("--model", name) if name else ())])
    assert result.exit_code == Exit.USAGE
    assert "set VOUCH_MODEL or pass --model NAME" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--question", "When?"), "no source was given"),
        ((*ASKED, "--prompt", "few-shot", "--shots", "none.jsonl"), "none.jsonl"),
        ((*ASKED, "--shots", "none.jsonl"), "--shots requires --prompt few-shot"),
        ((*ASKED, "--report", "page.pdf"), "expected a name that ends in .html, or .md for Markdown"),
        (("--question", "When?", "--source", "-", "--source", "-"), "standard input can be read only once"),
        (
            (*ASKED, "--method", "structured"),
            "--judge embedded is not a language model, so --method cannot be used: pass",
        ),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(arguments: tuple[str, ...], message: str) -> None:
    result = answer(*arguments)
    assert result.exit_code == Exit.USAGE
    assert message in result.stderr


def test_a_server_that_is_down_leaves_the_question_open() -> None:
    with chat_server(lambda asked: 503) as model:
        result = CliRunner().invoke(app, ["answer", *ASKED, *RULES, "--model", model])
    assert result.exit_code == Exit.INCOMPLETE
