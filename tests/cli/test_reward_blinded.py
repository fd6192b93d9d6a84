"""``vouch reward blinded``: answers of blind checkers in, rewards out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.types import Claim, Report, Unverified
from vouching.types.findings import PairResult
from vouching.types.serial import to_json

RESPONSE = "It has two towers."
BOTH = "It has two towers and opened in 1937."
RIGHT = {"question": "How many towers?", "answer": "two", "checked": ["2", "2", None]}
WRONG = {"question": "When did it open?", "answer": "1937", "checked": ["1973"]}
ROWS: list[Any] = [
    {"id": "a", "group": "g", "pairs": [RIGHT, WRONG], "response": BOTH},
    {"id": "b", "group": "g", "pairs": [RIGHT], "response": RESPONSE},
]


def rewarded(tmp_path: Path, rows: list[Any], *options: str) -> tuple[Result, list[dict[str, Any]]]:
    given, output = tmp_path / "audits.jsonl", tmp_path / "rewards.jsonl"
    given.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    result = CliRunner().invoke(app, ["reward", "blinded", "--input", str(given), "--output", str(output), *options])
    lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
    return result, [json.loads(line) for line in lines]


def test_each_row_gives_a_line_with_total_and_parts(tmp_path: Path) -> None:
    result, (first, second) = rewarded(tmp_path, ROWS)
    assert (result.exit_code, result.stderr) == (Exit.OK, "vouch: 2 rows, 1 without faults\n")
    assert first == {
        "id": "a",
        "group": "g",
        "total": -1.0,
        "parts": {
            "questions": 2,
            "matches": 1,
            "different": 1,
            "unanswered": 0,
            "contradictory": 0,
            "leaks": 0,
            "missing": 0,
            "coverage": 1.0,
        },
    }
    assert second["total"] == 0.0


@pytest.mark.parametrize(
    ("options", "totals"),
    [
        (("--scale", "0/1"), [0.0, 1.0]),
        (("--scale", "error-rate"), [-0.5, 0.0]),
        (("--scale", "released-error-rate"), [-0.1, 0.0]),
        (("--match", "released"), [-1.0, -1.0]),  # "two" is no number to the released code
        (("--min-questions", "0"), [-1.0, 0.0]),
    ],
)
def test_scale_comparison_and_guard_are_options(tmp_path: Path, options: tuple[str, ...], totals: list[float]) -> None:
    _, lines = rewarded(tmp_path, ROWS, *options)
    assert [line["total"] for line in lines] == totals


def test_a_row_that_cannot_be_counted_has_no_reward_and_is_named(tmp_path: Path) -> None:
    broken: list[Any] = [
        {"pairs": [RIGHT]},
        {"pairs": [RIGHT], "response": 2},
        {"pairs": {}, "response": RESPONSE},
        {"pairs": [7], "response": RESPONSE},
        {"pairs": [{"question": "How many?"}], "response": RESPONSE},
        {"pairs": [{**RIGHT, "checked": "2"}], "response": RESPONSE},
        {"pairs": [{**RIGHT, "checked": [2]}], "response": RESPONSE},
        {"pairs": [{**RIGHT, "checked": []}], "response": RESPONSE},
        {"response": RESPONSE},
        7,
    ]
    result, lines = rewarded(tmp_path, [*broken, ROWS[1]])
    assert result.exit_code == Exit.INCOMPLETE
    assert [line["total"] for line in lines] == [None] * len(broken) + [0.0]
    assert 'line 1: "response" must be the audited text, got null' in result.stderr
    assert "\"checked\" of question 1 must be a list of strings and nulls, got '2'" in result.stderr
    assert "10 of the rows cannot be used" in result.stderr


def test_a_report_of_a_blinded_audit_is_a_row_too(tmp_path: Path) -> None:
    same = PairResult("How many towers?", "2", "same", ("2",))
    whole = Report("It has 2 towers.", (), (same,), id="a")
    failed = Report("It has 2 towers.", (), (same, Unverified(Claim("When?"), "backend", "gone")), id="b")
    result, lines = rewarded(tmp_path, [json.loads(to_json(report)) for report in (whole, failed)])
    assert [(line["id"], line["total"]) for line in lines] == [("a", 0.0), ("b", None)]
    assert "a failed judgement gives no reward" in result.stderr


def test_a_row_that_could_not_be_audited_keeps_its_id_and_its_reason(tmp_path: Path) -> None:
    unused = Unverified(Claim("", id="r7"), "input", "line 8: the response is empty")
    result, [line] = rewarded(tmp_path, [json.loads(to_json(unused))])
    assert (line["id"], line["total"]) == ("r7", None)
    assert "the audit of the row failed: line 8: the response is empty" in result.stderr


def test_an_unknown_scale_is_a_usage_error(tmp_path: Path) -> None:
    result, _ = rewarded(tmp_path, ROWS, "--scale", "1/0")
    assert result.exit_code != Exit.OK
