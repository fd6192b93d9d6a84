"""Returns as tasks with mistakes, and the script that writes them."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from recipes.taxes.engine import compute_lines
from recipes.taxes.facts import facts_of
from recipes.taxes.fields import OutOfScopeError
from recipes.taxes.make import differences, main
from recipes.taxes.mistakes import MISTAKES, make_mistake, roots_of
from recipes.taxes.returns import make_return, write_return
from recipes.taxes.tasks import proposal_of, task_of
from vouching.cli.app import app
from vouching.methods.assurance.model import AssuranceVerifier
from vouching.methods.assurance.task import as_proposal, as_task
from vouching.methods.assurance.verify import challenge
from vouching.types import UnitResult


def vouch(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def challenged(record: dict[str, Any], lines: Any) -> list[str]:
    """The lines that the rules challenge."""
    task = as_task(task_of("t", record))
    found = asyncio.run(challenge(task, as_proposal(proposal_of("t", lines), task), AssuranceVerifier()))
    assert all(isinstance(unit, UnitResult) for unit in found.units), "a rule has no value"
    return [unit.unit_id for unit in found.units if isinstance(unit, UnitResult) and unit.challenged]


def test_the_rules_challenge_no_line_of_a_right_return() -> None:
    for _, record, lines in (make_return(7, index) for index in range(100)):
        assert challenged(record, lines) == []


def test_the_rules_challenge_every_named_mistake_where_it_was_made_and_nowhere_else() -> None:
    done = dict.fromkeys(MISTAKES, 0)
    for index in range(90):
        _, record, _ = make_return(8, index)
        found = make_mistake(record, MISTAKES[index % 6], random.Random(index))
        if found is not None:
            done[found.mistake] += 1
            assert challenged(record, found.lines) == [*found.roots]
    assert min(done.values()) >= 5, done


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_makes_its_lines_wrong_and_equal_seeds_make_it_again(mistake: Any) -> None:
    made = 0
    for index in range(24):
        _, record, lines = make_return(9, index)
        found = make_mistake(record, mistake, random.Random(index))
        assert found == make_mistake(record, mistake, random.Random(index))
        if found is None:
            continue
        made += 1
        assert found.roots == roots_of(facts_of(record), found.lines)
        assert found.wrong[0] in found.roots, "the first wrong line cannot follow from a wrong one"
        assert {line for line in lines if lines[line] != found.lines[line]} == {*found.wrong}
    assert made


def test_a_task_of_a_return_outside_the_rules_is_refused() -> None:
    _, record, _ = make_return(0, 0)
    record["input"]["return_data"]["irs1040_schedulec"] = [{"gross_receipts_cash": {"value": 100}}]
    with pytest.raises(OutOfScopeError, match="Schedule C"):
        task_of("t", record)


def test_amounts_as_texts_and_dates_with_slashes_are_the_same_to_engine_and_rules() -> None:
    _, record, lines = make_return(0, 0)
    data = record["input"]["return_data"]
    data["irs1040"]["tp_date_of_birth"]["value"] = data["irs1040"]["tp_date_of_birth"]["value"].replace("-", "/")
    for form in data["w2"]:
        form["wages"]["value"] = f"${form['wages']['value']:,.2f}"
    assert compute_lines(facts_of(record)) == lines
    assert challenged(record, lines) == []


def test_make_writes_cases_tasks_and_proposals_that_challenge_reads(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path / "made"), "--count", "6", "--mistakes", "all"]) == 0
    made = [json.loads(line) for line in (tmp_path / "made/mistakes.jsonl").read_text("utf-8").splitlines()]
    assert len(made) == 6
    for row in made:
        found = vouch(
            "challenge",
            "--json",
            "--task",
            tmp_path / f"made/tasks/{row['id']}.json",
            "--proposal",
            tmp_path / f"made/proposals/{row['id']}.json",
        )
        units = json.loads(found.stdout)["units"]
        assert [unit["unit_id"] for unit in units if unit["challenged"]] == row["roots"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--mistakes", "typo"], "unknown mistake 'typo'"),
        (["--out", "."], "not an empty folder"),
        (["--count", "0"], "--count must be at least 1, got 0"),
        (["--check", "."], "to make returns, or"),
    ],
)
def test_make_refuses_what_it_cannot_do(
    tmp_path: Path, arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path / "made"), *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_what_is_written_is_read_back_and_computes_to_the_same_lines(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path / "made"), "--count", "8", "--seed", "2"]) == 0
    assert differences(tmp_path / "made/ty24/test_data") == []


def test_a_case_with_other_lines_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, record, lines = make_return(0, 0)
    write_return(tmp_path / name, record, {**lines, "1a": lines["1a"] + 1})
    assert main(["--check", str(tmp_path)]) == 1
    assert f"{name}: line 1a is" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["engine", "facts", "mistakes", "returns", "tasks", "values"])
def test_the_examples_of_the_recipe_hold(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"recipes.taxes.{name}"))
    assert (found.failed, found.attempted > 0) == (0, True)
