"""Judged completions from three files, down to Table 2 by ``recipes/theory/plan.py``, and files that do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from recipes.theory.judged import join_judged
from recipes.theory.rates import JudgedCompletion
from tests.cli.chat_server import chat_server
from tests.recipes.judged_completions import Ended, planned
from vouching.cli.app import app
from vouching.cli.streams import Exit

NAMES = ["punctuation:no_comma", "startend:quotation"]
COMMAS, QUOTES = "Is the response free of commas?", "Is the whole response in double quotation marks?"
RESPONSES = ['"Yes."', '"Well, yes."', "Yes."]
ROWS: list[dict[str, Any]] = [
    {
        "prompt": f"Say yes in quotes and without commas, {n}.",
        "instruction_id_list": NAMES,
        "kwargs": [{}, {}],
        "response": RESPONSES[n % 3],
    }
    for n in range(12)
]
REPORT = {"id": "a", "kind": "report", "findings": [{"kind": "item", "question": COMMAS, "votes": [True, None]}]}
WHOLE = {"id": "a", "kind": "report", "findings": [{"kind": "item", "question": "All?", "votes": [False, False]}]}
LABELS = {"id": "a", "labels": [1], "prompt": "Use no commas."}


def vouch(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def joined(folder: Path, items: list[Any], whole: list[Any], labels: list[Any]) -> Ended:
    files = [written(folder / f"{name}.jsonl", rows) for name, rows in zip("iwl", (items, whole, labels), strict=True)]
    return planned("--items", files[0], "--whole", files[1], "--labels", files[2], "--json")


def test_responses_become_table_2_of_a_judge_by_four_commands(tmp_path: Path) -> None:
    def lenient(asked: str) -> str:
        """Says no to commas that are there, and to every whole; overlooks missing quotation marks."""
        commas = COMMAS in asked and '"Well, yes."' in asked
        return "no" if commas or "fulfil everything" in asked else "yes"

    rows, ruled, items, whole = (tmp_path / f"{name}.jsonl" for name in ("rows", "ruled", "i", "w"))
    written(rows, ROWS)
    vouch("follow", "--method", "rules", "--input", rows, "--output", ruled)
    with chat_server(lenient) as model:
        for method, output in (("checklist", items), ("holistic", whole)):
            arguments = ("--method", method, "--input", ruled, "--output", output, "--model", model, "--votes", "2")
            assert vouch("follow", *arguments).exit_code == Exit.OK
    files = ("--items", items, "--whole", whole, "--labels", ruled)
    result = planned(*files, "--json")
    assert (result.exit_code, result.stderr) == (Exit.OK, "vouch: 12 responses judged both ways\n")
    completions, problems = join_judged(str(items), str(whole), str(ruled))
    assert (len(completions), problems) == (12, [])
    assert completions[1] == JudgedCompletion(
        "row-2", ROWS[1]["prompt"], False, (False, False), (False, True), ((False, False), (True, True))
    )
    plan = json.loads(result.stdout)
    # 4 successes, none found; 8 failures, all found. Of 16 items that hold all are found, of 4 + 4 others the commas.
    assert plan["quality"] == {"p": 0.0, "q": 1.0, "p_item": 1.0, "q_item": 0.5}
    assert plan["lengths"] == {"2": 12}


def test_what_a_rule_decided_counts_as_often_as_the_other_items_were_voted_on(tmp_path: Path) -> None:
    ruled = {"kind": "item", "question": QUOTES, "votes": [True], "rule": NAMES[1]}
    both = {**REPORT, "findings": [*REPORT["findings"], ruled]}
    rows = ([both], [WHOLE], [{**LABELS, "labels": [1, 1], "gold": False}])
    paths = [str(written(tmp_path / f"{name}.jsonl", given)) for name, given in zip("iwl", rows, strict=True)]
    [found], _ = join_judged(*paths)
    assert (found.votes, found.gold) == (((True, None), (True, True)), False)


@pytest.mark.parametrize(
    ("items", "whole", "labels", "problem"),
    [
        (REPORT, WHOLE, {**LABELS, "id": "b"}, "a: the row is missing from l.jsonl"),
        (REPORT, WHOLE, {**LABELS, "labels": [1, 0]}, "votes on 1 items but 2 labels"),
        (REPORT, WHOLE, {**LABELS, "labels": None}, 'the row has no labels; expected "labels", or "strict"'),
        (REPORT, WHOLE, {**LABELS, "labels": [None]}, "must be a list with 1 or 0 for each item"),
        (REPORT, WHOLE, {**LABELS, "labels": []}, "must be a list with 1 or 0 for each item"),
        (REPORT, WHOLE, {"id": "a", "strict": None, "problem": "line 1: no JSON"}, "has no labels: line 1: no JSON"),
        (REPORT, WHOLE, {**LABELS, "checklist": ["Is it short?"]}, "'Is it short?' in the labels"),
        (REPORT, {**WHOLE, "findings": WHOLE["findings"] * 2}, LABELS, "2 findings, expected exactly one"),
        (
            {**REPORT, "findings": [{"kind": "unverified", "message": "it refused"}]},
            WHOLE,
            LABELS,
            "the judge failed when judging item by item: it refused",
        ),
        (
            {"kind": "unverified", "claim": {"id": "a"}, "message": "line 1: the response is empty"},
            WHOLE,
            LABELS,
            "not judged item by item: line 1: the response is empty",
        ),
        ({"id": "a", "response": "x"}, WHOLE, LABELS, "the line is not a report of vouch follow"),
    ],
)
def test_a_response_that_does_not_fit_is_left_out_and_named(
    tmp_path: Path, items: dict[str, Any], whole: dict[str, Any], labels: dict[str, Any], problem: str
) -> None:
    result = joined(tmp_path, [items], [whole], [labels])
    assert result.exit_code == Exit.USAGE, result.output  # there is nothing else to plan with
    assert problem in result.stderr
    assert "0 responses judged both ways; " in result.stderr


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    twice = joined(tmp_path, [REPORT, REPORT], [WHOLE], [LABELS])
    assert (twice.exit_code, "line 2: an earlier row has the id 'a'" in twice.stderr) == (Exit.USAGE, True)
    result = planned("--items", "-", "--whole", "-", "--labels", "x.jsonl")
    assert (result.exit_code, "more than once" in result.stderr) == (Exit.USAGE, True)
