"""``vouch reward assurance``: what happened at units in, paired rewards out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit


def rewarded(tmp_path: Path, rows: list[Any], *options: str) -> tuple[Result, list[dict[str, Any]]]:
    given, output = tmp_path / "units.jsonl", tmp_path / "rewards.jsonl"
    given.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    result = CliRunner().invoke(app, ["reward", "assurance", "--input", str(given), "--output", str(output), *options])
    lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
    return result, [json.loads(line) for line in lines]


def row(id: str, s_x: int, y: str, a: str | None = None, s_z: int | None = None) -> dict[str, Any]:
    return {"id": id, "S_x": s_x, "y": y, "a": a, "S_z": s_z}


RIGHT, WRONG = {"SAC": 0.0, "NS": 1.0}, {"SAC": 1.0, "NS": 0.0}  # R_V of a right and of a wrong proposal


@pytest.mark.parametrize(
    ("unit", "verifier", "generator", "advantage"),
    [
        (row("1", 1, "NS"), RIGHT, None, None),
        (row("2", 1, "SAC", "REVISE", 0), RIGHT, {"KEEP": 1.0, "REVISE": 0.0}, {"KEEP": 1.0, "REVISE": -1.0}),
        (row("3", 1, "SAC", "KEEP", 1), RIGHT, {"KEEP": 1.0, "REVISE": 1.0}, {"KEEP": 0.0, "REVISE": 0.0}),
        (row("4", 0, "NS"), WRONG, None, None),
        (row("5a", 0, "SAC", "REVISE", 1), WRONG, {"KEEP": 0.0, "REVISE": 1.0}, {"KEEP": -1.0, "REVISE": 1.0}),
        (row("5b", 0, "SAC", "REVISE", 0), WRONG, {"KEEP": 0.0, "REVISE": 0.0}, {"KEEP": 0.0, "REVISE": 0.0}),
        (row("6a", 0, "SAC", "KEEP", 0), WRONG, {"KEEP": 0.0, "REVISE": 0.0}, {"KEEP": 0.0, "REVISE": 0.0}),
        (row("6b", 0, "SAC", "KEEP", 1), WRONG, {"KEEP": 0.0, "REVISE": 1.0}, {"KEEP": -1.0, "REVISE": 1.0}),
    ],
)
def test_each_of_the_eight_cases_gets_the_rewards_and_advantages_of_its_pairs(
    tmp_path: Path,
    unit: dict[str, Any],
    verifier: dict[str, float],
    generator: dict[str, float] | None,
    advantage: dict[str, float] | None,
) -> None:
    result, [line] = rewarded(tmp_path, [unit])
    assert result.exit_code == Exit.OK
    assert line == {
        "id": unit["id"],
        "case": unit["id"],
        "rewards": {"verifier": verifier, "generator": generator},
        # rewards 0 and 1: mean 1/2, population deviation 1/2
        "advantages": {"verifier": {name: 2 * one - 1 for name, one in verifier.items()}, "generator": advantage},
    }


def test_costs_come_off_the_action_that_has_them_and_decide_between_equals(tmp_path: Path) -> None:
    options = ("--intervention-cost", "0.1", "--revision-cost", "0.2")
    _, [line] = rewarded(tmp_path, [row("a", 0, "SAC", "REVISE", 0)], *options)
    assert line["rewards"] == {"verifier": {"SAC": 0.9, "NS": 0.0}, "generator": {"KEEP": 0.0, "REVISE": -0.2}}
    # whatever the gap, the better of two is 1 population deviation above the mean
    assert line["advantages"]["generator"] == pytest.approx({"KEEP": 1.0, "REVISE": -1.0})


def test_a_revision_that_nobody_judged_has_no_reward_and_its_pair_no_advantage(tmp_path: Path) -> None:
    result, [line] = rewarded(tmp_path, [row("a", 1, "SAC", "KEEP")])
    assert result.exit_code == Exit.OK
    assert line["rewards"]["generator"] == {"KEEP": 1.0, "REVISE": None}
    assert line["advantages"]["generator"] is None


def test_rows_that_cannot_be_used_say_why_and_the_others_are_done(tmp_path: Path) -> None:
    rows = [
        {"id": "unread", "S_x": 0, "y": None},
        row("twice", 1, "NS", "REVISE"),
        {"id": "bare", "y": "NS", "S_x": None},
        {"id": "half", "y": "NS", "S_x": 0.5},
        row("fine", 1, "NS"),
    ]
    result, lines = rewarded(tmp_path, rows)
    assert result.exit_code == Exit.INCOMPLETE
    problems = [line.get("problem") for line in lines]
    assert [line["case"] for line in lines] == [None, None, None, None, "1"]
    reasons = ("an unreadable reply is neither", "nothing to revise", 'has no "S_x"', "1 (right) or 0 (wrong), got 0.5")
    assert all(words in str(problem) for problem, words in zip(problems, reasons, strict=False))
    assert "right proposals accepted: 1, wrong proposals repaired: 0; 4 of the rows cannot be used" in result.stderr


def test_a_cost_that_silences_everybody_is_a_usage_error(tmp_path: Path) -> None:
    result, _ = rewarded(tmp_path, [row("a", 1, "NS")], "--intervention-cost", "1")
    assert result.exit_code == Exit.USAGE
    assert "intervention_cost must be at least 0 and below 1, got 1.0" in result.stderr
