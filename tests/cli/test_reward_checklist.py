"""``vouch reward checklist``: votes in, rewards out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.types import Claim, ItemResult, Report, Unverified
from vouching.types.serial import to_json

ROWS: list[Any] = [
    {"id": "a", "group": "g", "votes": [[1, 1, 1, 1], [1, 1, 1, None], [0, 1, 0, 0]], "holistic": [1, 1, 1, 0]},
    {"id": "b", "group": "g", "votes": [[True], [1]]},
]


def rewarded(tmp_path: Path, rows: list[Any], *options: str) -> tuple[Result, list[dict[str, Any]]]:
    given, output = tmp_path / "votes.jsonl", tmp_path / "rewards.jsonl"
    given.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    result = CliRunner().invoke(app, ["reward", "checklist", "--input", str(given), "--output", str(output), *options])
    lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
    return result, [json.loads(line) for line in lines]


def test_each_row_gives_a_line_with_total_and_parts(tmp_path: Path) -> None:
    result, (first, second) = rewarded(tmp_path, ROWS)
    assert (result.exit_code, result.stderr) == (Exit.OK, "vouch: 2 rows, 1 with all items passed\n")
    # p = 1, .75, .25; two of three reach .75; R = .5 * 2/3; S: all three have a yes, and not all passed.
    assert first == {
        "id": "a",
        "group": "g",
        "total": pytest.approx(1 / 3),
        "parts": {
            "p": [1.0, 0.75, 0.25],
            "s": pytest.approx(2 / 3),
            "strict": 0.0,
            "generator": pytest.approx(1 / 3),
            "S": [0, 1, 2],
            "replay": [1, 1, 0],
            "holistic": 1.0,
        },
    }
    assert second["total"] == 1.0
    assert second["parts"]["S"] == []


def test_a_row_that_was_not_judged_keeps_its_id_and_the_reason(tmp_path: Path) -> None:
    record = Unverified(Claim("", id="x7"), "input", "line 4: the response is empty")
    _, [line] = rewarded(tmp_path, [json.loads(to_json(record))])
    assert (line["id"], line["total"]) == ("x7", None)
    assert line["problem"] == "line 1: the row was not judged: line 4: the response is empty"


@pytest.mark.parametrize(
    ("options", "total"),
    [
        (("--beta", "1"), 2 / 3),
        (("--beta", "0"), 0.0),
        (("--tau", "1", "--beta", "1"), 1 / 3),
        (("--aggregate", "shaped", "--beta", "1"), 2 / 3),  # (1 + .75 + .25) / 3
        (("--tau", "0.25"), 1.0),
    ],
)
def test_threshold_aggregator_and_beta_are_options(tmp_path: Path, options: tuple[str, ...], total: float) -> None:
    _, lines = rewarded(tmp_path, ROWS, *options)
    assert lines[0]["total"] == pytest.approx(total)


def test_a_row_without_usable_votes_has_no_reward_and_is_named(tmp_path: Path) -> None:
    broken: list[Any] = [
        {"id": "failed", "votes": [[1], None]},
        {"id": "none", "votes": []},
        {"votes": [[2]]},
        {"votes": [["yes"]]},
        {"votes": [[1], [1, 1], [1, 1, 1]]},
        {"response": "x"},
        {"votes": [7]},
        7,
    ]
    result, lines = rewarded(tmp_path, [*broken, ROWS[1]])
    assert result.exit_code == Exit.INCOMPLETE
    assert [line["total"] for line in lines] == [None] * 8 + [1.0]
    assert lines[0]["parts"] == {}
    assert "item 1 has no votes because its judge failed" in result.stderr
    assert "votes.jsonl, line 3: item 0: each vote must be 1 (yes), 0 (no) or null (unclear), got 2" in result.stderr
    assert "8 of the rows cannot be used" in result.stderr


def test_a_report_of_vouch_check_is_a_row_too(tmp_path: Path) -> None:
    passed = ItemResult("Is it short?", (True, True, None, True), 0.75, True)
    whole = Report("Hi.", (), (passed, passed), id="a")
    broken = Report("Hi.", (), (passed, Unverified(Claim("Is it red?"), "backend", "gone")), id="b")
    _, lines = rewarded(tmp_path, [json.loads(to_json(report)) for report in (whole, broken)])
    assert [(line["id"], line["total"]) for line in lines] == [("a", 1.0), ("b", None)]


def test_rewards_of_reports_are_in_groups_of_one_instruction(tmp_path: Path) -> None:
    def report(name: str, *passed: bool) -> Any:
        items = tuple(ItemResult(f"Item {n}?", (one,), float(one), one) for n, one in enumerate(passed))
        return json.loads(to_json(Report("Hi.", (), items, question="Be short.", id=name)))

    _, lines = rewarded(tmp_path, [report("a", True, True), report("b", True, False)])
    assert [line["group"] for line in lines] == ["Be short."] * 2


def test_a_setting_out_of_range_is_a_usage_error_before_any_file_is_made(tmp_path: Path) -> None:
    for options in (("--tau", "0"), ("--beta", "2"), ("--aggregate", "mean")):
        result, lines = rewarded(tmp_path, ROWS, *options)
        assert (result.exit_code, lines) == (Exit.USAGE, [])


def test_a_run_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    rewarded(tmp_path, ROWS)
    output = tmp_path / "rewards.jsonl"
    whole = output.read_bytes()
    note = output.with_name("rewards.jsonl.run.json")
    note.write_text(json.dumps({**json.loads(note.read_text()), "rows": 0, "digest": ""}))
    output.write_bytes(b"".join(whole.splitlines(keepends=True)[:1]))
    assert rewarded(tmp_path, ROWS, "--resume", "--tau", "0.5")[0].exit_code == Exit.USAGE
    output.write_bytes(whole[:-20])
    assert rewarded(tmp_path, ROWS, "--resume")[0].exit_code == Exit.OK
    assert output.read_bytes() == whole
