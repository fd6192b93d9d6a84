"""TaxCalcBench's folder read, answers scored, returns as tasks with mistakes, and the commands for all of that."""

from __future__ import annotations

import asyncio
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.bench.rows import Fault
from vouching.bench.taxes.engine import compute, compute_lines
from vouching.bench.taxes.facts import OutOfScopeError, facts_of
from vouching.bench.taxes.lines import LINES, format_return
from vouching.bench.taxes.mistakes import MISTAKES, make_mistake, roots_of
from vouching.bench.taxes.read import TaxCase, cases, read_input, read_output, split_cases
from vouching.bench.taxes.score import Attempt, pass_power, score_answer, score_attempts
from vouching.bench.taxes.synthetic import make_return, write_return
from vouching.bench.taxes.task import proposal_of, task_of
from vouching.cli.app import app
from vouching.errors import InputError
from vouching.methods.assurance.model import AssuranceVerifier
from vouching.methods.assurance.task import as_proposal, as_task
from vouching.methods.assurance.verify import challenge
from vouching.types import UnitResult

XML = (
    b'<?xml version="1.0"?><Return xmlns="http://www.irs.gov/efile"><ReturnData><IRS1040>'
    b"<WagesAmt>50000</WagesAmt><Other><TaxAmt>7</TaxAmt></Other><OwedAmt>1,234</OwedAmt>"
    b"</IRS1040><IRS1040Schedule8812><CTCODCAmt>9</CTCODCAmt></IRS1040Schedule8812></ReturnData></Return>"
)


def vouch(*arguments: object, data: Path | None = None) -> Result:
    env = {} if data is None else {"VOUCH_DATA": str(data)}
    return CliRunner().invoke(app, [str(one) for one in arguments], env=env)


def write_returns(folder: Path, count: int, seed: int = 0) -> list[str]:
    made = [make_return(seed, index) for index in range(count)]
    for name, record, lines in made:
        write_return(folder / name, record, lines)
    return [name for name, _, _ in made]


def test_the_nineteen_elements_are_read_from_their_own_place_only() -> None:
    lines = read_output(XML)
    assert {line: amount for line, amount in lines.items() if amount} == {"1a": 50_000, "37": 1_234}
    assert len(lines) == 19


BOMB = b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><Return>&b;&b;&b;</Return>'
OUTSIDE = b'<!DOCTYPE r [<!ENTITY x SYSTEM "secret.txt">]><Return><ReturnData>&x;</ReturnData></Return>'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (BOMB, "document type"), (OUTSIDE, "document type"),
        (b"<Return>" + b"<a>" * 200 + b"</a>" * 200 + b"</Return>", "100 deep"),
        (b" " * 5_000_001, "at most 5,000,000"), (b"{}", "no XML"), (b"", "no XML"), (b"<Return/>", "IRS1040"),
        (XML.replace(b"50000", b"lots"), "WagesAmt is 'lots'"),
        (XML.replace(b"<Other>", b"<WagesAmt>3</WagesAmt><Other>"), "occurs twice"),
    ],
)  # fmt: skip
def test_xml_that_is_dangerous_or_wrong_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_output(content)


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000, b"\xff\xfe"])
def test_json_that_is_wrong_is_refused(content: bytes) -> None:
    with pytest.raises(InputError):
        read_input(content)


def test_cases_are_read_from_a_set_its_year_or_its_data_folder_and_faults_are_named(tmp_path: Path) -> None:
    names = write_returns(tmp_path / "ty24" / "test_data", 3)
    (tmp_path / "ty24" / "test_data" / names[1] / "output.xml").write_bytes(BOMB)
    for folder in (tmp_path, tmp_path / "ty24", tmp_path / "ty24" / "test_data"):
        found = [*cases(folder)]
        assert [isinstance(one, TaxCase) for one in found] == [True, False, True]
        assert isinstance(found[1], Fault)
        assert found[1].place == names[1]
    with pytest.raises(InputError, match="vouch data taxes"):
        [*cases(tmp_path / "nowhere")]


def test_what_is_written_is_read_back_and_computes_to_the_same_lines(tmp_path: Path) -> None:
    write_returns(tmp_path, 8, seed=2)
    for one in cases(tmp_path):
        assert isinstance(one, TaxCase)
        assert compute(one.record) == one.expected


def test_the_split_has_ten_of_fifty_one_cases_whatever_their_order() -> None:
    names = [f"case-{number}" for number in range(51)]
    train, test = split_cases(names)
    assert (len(train), len(test), {*train} | {*test}) == (41, 10, {*names})
    assert split_cases(names[::-1]) == (train, test)


def attempt(wrong: int) -> Attempt:
    """An attempt with as many wrong lines, all answered."""
    right = tuple(place >= wrong for place in range(19))
    return Attempt(right, right, (True,) * 19)


def test_scores_of_two_returns_attempted_twice() -> None:
    scores = score_attempts({"a": [attempt(0), attempt(0)], "b": [attempt(0), attempt(19)]})["strict"]
    # pass@1 is (1 + 1/2) / 2; lines are (1 + 1 + 1 + 0) / 4; only a is right both times.
    assert scores == {"returns": 0.75, "lines": 0.75, "pass_power": 0.5}


@pytest.mark.parametrize("gap", [-6, -5, 0, 5, 6])
def test_lenient_is_within_five_dollars_and_strict_is_equal(gap: int) -> None:
    expected = {line.id: Decimal(100) for line in LINES}
    found = score_answer(expected, {**expected, "16": Decimal(100 + gap)})
    assert (all(found.strict), all(found.lenient)) == (gap == 0, abs(gap) <= 5)


def test_a_line_that_is_not_answered_is_wrong_also_where_zero_is_expected() -> None:
    expected = {line.id: Decimal(0) for line in LINES}
    found = score_answer(expected, {line: amount for line, amount in expected.items() if line != "29"})
    assert (sum(found.strict), sum(found.answered)) == (18, 18)


def test_pass_power_falls_with_k_and_refuses_more_draws_than_attempts() -> None:
    assert [pass_power(3, 4, k) for k in (1, 2, 3, 4)] == [0.75, 0.5, 0.25, 0.0]
    with pytest.raises(InputError, match="k = 5"):
        pass_power(4, 4, 5)
    with pytest.raises(InputError, match="same number"):
        score_attempts({"a": [attempt(0)], "b": []})


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


def test_data_taxes_writes_cases_tasks_and_proposals_that_challenge_reads(tmp_path: Path) -> None:
    result = vouch("data", "taxes", "--out", tmp_path / "made", "--count", 6, "--mistakes", "all")
    assert result.exit_code == 0, result.output
    made = [json.loads(line) for line in (tmp_path / "made/mistakes.jsonl").read_text("utf-8").splitlines()]
    assert len(made) == 6
    for row in made:
        found = vouch(
            "challenge", "--json", "--task", tmp_path / f"made/tasks/{row['id']}.json",
            "--proposal", tmp_path / f"made/proposals/{row['id']}.json",
        )  # fmt: skip
        units = json.loads(found.stdout)["units"]
        assert [unit["unit_id"] for unit in units if unit["challenged"]] == row["roots"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--mistakes", "typo"], "no mistake 'typo'"),
        (["--out", "."], "not an empty folder"),
        (["--count", "0"], "equal to 1"),
    ],
)
def test_data_taxes_refuses_what_it_cannot_do(tmp_path: Path, arguments: list[str], problem: str) -> None:
    result = vouch("data", "taxes", "--out", tmp_path / "made", *arguments)
    assert result.exit_code == 2
    assert problem in result.output


def test_bench_scores_the_answers_of_a_file_in_all_cases_and_each_part(tmp_path: Path) -> None:
    names = write_returns(tmp_path / "data" / "taxcalcbench" / "ty24" / "test_data", 10, seed=4)
    rows: list[dict[str, str]] = []
    for index, name in enumerate(names):
        lines = make_return(4, index)[2]
        good, close = format_return(lines), format_return({**lines, "1a": lines["1a"] + 5})
        rows += [{"id": name, "response": good}, {"id": name, "response": close if index < 3 else good}]
    (tmp_path / "said.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    arguments = ("run", "taxcalcbench", "--responses", tmp_path / "said.jsonl", "--out", tmp_path / "run")
    result = vouch("bench", *arguments, data=tmp_path / "data")
    assert result.exit_code == 0, result.output
    scores = json.loads((tmp_path / "run/results.json").read_text("utf-8"))["scores"]
    # Of 20 answers 3 miss one of 19 lines, by five dollars.
    assert scores["all"]["strict"] == pytest.approx({"returns": 17 / 20, "lines": 1 - 3 / 380, "pass_power": 0.7})
    assert scores["all"]["lenient"] == {"returns": 1, "lines": 1, "pass_power": 1}
    assert (scores["train"]["cases"], scores["test"]["cases"]) == (8, 2)
    assert vouch("bench", "validate", "taxcalcbench", data=tmp_path / "data").exit_code == 0


def test_bench_validate_names_a_line_that_computes_otherwise(tmp_path: Path) -> None:
    folder = tmp_path / "taxcalcbench"
    [name] = write_returns(folder, 1)
    place = folder / name / "output.xml"
    place.write_text(place.read_text("utf-8").replace("<WagesAmt>", "<WagesAmt>1"), "utf-8")
    result = vouch("bench", "validate", "taxcalcbench", data=tmp_path)
    assert result.exit_code == 3
    assert "line 1a is" in result.output


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "no row"), ([{"id": "x", "response": "y"}], "none of the 2 cases"), ([{"response": "y"}], 'wanted "id"'),
        ([{"id": "0000-worker", "response": ""}] * 2 + [{"id": "0001-family", "response": ""}], "answered least"),
    ],
)  # fmt: skip
def test_answers_that_do_not_fit_are_refused(tmp_path: Path, rows: list[dict[str, str]], problem: str) -> None:
    write_returns(tmp_path / "taxcalcbench", 2)
    (tmp_path / "said.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    arguments = ("run", "taxcalcbench", "--responses", tmp_path / "said.jsonl", "--out", tmp_path / "run")
    result = vouch("bench", *arguments, data=tmp_path)
    assert result.exit_code == 2
    assert problem in " ".join(result.output.split())
