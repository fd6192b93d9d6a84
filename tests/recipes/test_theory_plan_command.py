"""``python recipes/theory/plan.py``: the plan on the terminal, as JSON, as a page, and rows that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recipes.theory.quality import VerifierQuality
from tests.recipes.judged_completions import planned, simulated
from vouching.cli.streams import Exit

FAIR_ITEMS = VerifierQuality(p=0.6, q=0.6, p_item=0.95, q_item=0.9)


def written(tmp_path: Path, *more: dict[str, Any]) -> Path:
    path = tmp_path / "judged.jsonl"
    rows = [
        {"id": one.id, "group": one.group, "holistic": one.holistic, "labels": one.labels, "votes": one.votes}
        for one in simulated(FAIR_ITEMS, 100, votes=3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in (*rows, *more)), encoding="utf-8")
    return path


def test_the_plan_is_printed_and_written_as_a_page(tmp_path: Path) -> None:
    report = tmp_path / "plan.html"
    result = planned("--labels", written(tmp_path), "--report", report)
    assert result.exit_code == Exit.OK
    assert " checklist\n better than guessing (whole, items)" in result.stdout
    assert "100 completions to 50 prompts" in report.read_text(encoding="utf-8")


def test_json_has_every_figure_and_null_for_what_has_no_end(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    # A checklist that is always passed, and a judge of the whole that is always right: no number of items helps.
    rows = [{"holistic": n % 2, "labels": [n % 2, 0 if n % 2 == 0 else 1], "votes": [1, 1]} for n in range(20)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    plan = json.loads(planned("--labels", path, "--json").stdout)
    assert plan["choice"] == "holistic"
    assert plan["items_needed"] is None
    assert plan["quality"] == {"p": 1.0, "q": 1.0, "p_item": 1.0, "q_item": 0.0}
    assert plan["condition_share"] == 0.5


def test_the_threshold_counts(tmp_path: Path) -> None:
    path = written(tmp_path)
    lenient, strict = (
        json.loads(planned("--labels", path, "--tau", tau, "--json").stdout)["quality"] for tau in ("0.3", "1")
    )
    assert lenient["p_item"] > strict["p_item"]
    assert lenient["q_item"] < strict["q_item"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"labels": [1], "votes": [[1]]}, 'the row has no value for "holistic"; its keys are labels, votes'),
        (
            {"holistic": 1, "labels": [1], "votes": [["yes"]]},
            "item 0: each vote must be 1 (yes), 0 (no) or null (unclear), got 'yes'",
        ),
        ({"holistic": 1, "labels": [1, 1], "votes": [1, None]}, "item 1 has no votes because its judge failed"),
        (
            {"holistic": 1, "labels": [None], "votes": [[1]]},
            "the label of an item must be true, false, 1 or 0, got null",
        ),
        ({"holistic": 1, "labels": 1, "votes": [[1]]}, "must be a list with one entry for each item, got 1"),
        ({"holistic": 1, "labels": [1], "votes": [[1], [1]]}, "got 1 labels and votes on 2 items"),
        ({"holistic": [], "labels": [1], "votes": [[1]]}, "omit responses that could not be verified"),
        (
            {"holistic": 1, "labels": [1], "votes": [[1]], "gold": "yes"},
            "the gold label must be true, false, 1 or 0, got 'yes'",
        ),
    ],
)
def test_a_row_that_is_none_is_named_and_left_out(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    result = planned("--labels", written(tmp_path, row))
    assert result.exit_code == Exit.INCOMPLETE
    assert said in result.stderr
    assert "judged.jsonl, line 101:" in result.stderr
    assert "1 row cannot be used" in result.stderr


def test_what_cannot_be_planned_with_is_said(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"holistic": 1, "labels": [1], "votes": [1]}\n', encoding="utf-8")
    refused = planned("--labels", path)
    assert refused.exit_code == Exit.USAGE
    assert "q cannot be estimated: there is no failure" in refused.stderr
    assert "threshold" in planned("--labels", path, "--tau", "2").stderr
    assert "does not exist; create it" in planned("--labels", path, "--report", tmp_path / "no" / "plan.html").stderr
    assert "--items and --whole require each other" in planned("--labels", path, "--items", path).stderr
