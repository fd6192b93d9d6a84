"""TaxCalcBench's folder read, answers read and scored, and the command for that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from recipes.bench.run import app
from recipes.bench.sets import SOLVED
from recipes.bench.tax_answers import Attempt, pass_power, score_answer, score_attempts
from recipes.taxes.returns import make_return, write_return
from recipes.taxes.taxcalcbench import LINES, TaxCase, parse_return, read_input, read_output, split_cases
from vouching.bench.rows import Fault
from vouching.errors import InputError

XML = (
    b'<?xml version="1.0"?><Return xmlns="http://www.irs.gov/efile"><ReturnData><IRS1040>'
    b"<WagesAmt>50000</WagesAmt><Other><TaxAmt>7</TaxAmt></Other><OwedAmt>1,234</OwedAmt>"
    b"</IRS1040><IRS1040Schedule8812><CTCODCAmt>9</CTCODCAmt></IRS1040Schedule8812></ReturnData></Return>"
)


def bench(*arguments: object, data: Path | None = None) -> Result:
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
        (BOMB, "document type"),
        (OUTSIDE, "document type"),
        (b"<Return>" + b"<a>" * 200 + b"</a>" * 200 + b"</Return>", "100 levels deep"),
        (b" " * 5_000_001, "at most 5,000,000 bytes"),
        (b"{}", "invalid XML"),
        (b"", "invalid XML"),
        (b"<Return/>", "IRS1040"),
        (XML.replace(b"50000", b"lots"), "WagesAmt must be an amount, got 'lots'"),
        (XML.replace(b"<Other>", b"<WagesAmt>3</WagesAmt><Other>"), "must occur once"),
    ],
)
def test_xml_that_is_dangerous_or_wrong_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_output(content)


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000, b"\xff\xfe"])
def test_json_that_is_wrong_is_refused(content: bytes) -> None:
    with pytest.raises(InputError):
        read_input(content)


def read(folder: Path) -> list[TaxCase | Fault]:
    return [*SOLVED["taxcalcbench"].rows(folder, "test")]


def test_cases_are_read_from_a_set_its_year_or_its_data_folder_and_faults_are_named(tmp_path: Path) -> None:
    for number, place in enumerate((".", "ty24", "ty24/test_data")):
        folder = tmp_path / str(number) / "taxcalcbench" / place
        names = write_returns(folder, 3)
        (folder / names[1] / "output.xml").write_bytes(BOMB)
        found = read(tmp_path / str(number))
        assert [isinstance(one, TaxCase) for one in found] == [True, False, True]
        assert isinstance(found[1], Fault)
        assert found[1].place == names[1]
    with pytest.raises(InputError, match=r"recipes/taxes/make\.py"):
        read(tmp_path / "nowhere")


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
    with pytest.raises(InputError, match="k must be between 1 and the number of attempts, 4, got 5"):
        pass_power(4, 4, 5)
    with pytest.raises(InputError, match="same number"):
        score_attempts({"a": [attempt(0)], "b": []})


def test_bench_scores_the_answers_of_a_file_in_all_cases_and_each_part(tmp_path: Path) -> None:
    names = write_returns(tmp_path / "data" / "taxcalcbench" / "ty24" / "test_data", 10, seed=4)
    rows: list[dict[str, str]] = []
    for index, name in enumerate(names):
        lines = make_return(4, index)[2]
        good, close = format_return(lines), format_return({**lines, "1a": lines["1a"] + 5})
        rows += [{"id": name, "response": good}, {"id": name, "response": close if index < 3 else good}]
    (tmp_path / "said.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    arguments = ("score", "taxcalcbench", "--responses", tmp_path / "said.jsonl", "--out", tmp_path / "run")
    result = bench(*arguments, data=tmp_path / "data")
    assert result.exit_code == 0, result.output
    scores = json.loads((tmp_path / "run/results.json").read_text("utf-8"))["sets"]["taxcalcbench"]["scores"]
    # Of 20 answers 3 miss one of 19 lines, by five dollars.
    assert scores["all"]["strict"] == pytest.approx({"returns": 17 / 20, "lines": 1 - 3 / 380, "pass_power": 0.7})
    assert scores["all"]["lenient"] == {"returns": 1, "lines": 1, "pass_power": 1}
    assert (scores["train"]["cases"], scores["test"]["cases"]) == (8, 2)
    assert bench("validate", "taxcalcbench", data=tmp_path / "data").exit_code == 0


def test_bench_validate_names_a_case_that_cannot_be_used(tmp_path: Path) -> None:
    folder = tmp_path / "taxcalcbench"
    [name] = write_returns(folder, 1)
    (folder / name / "output.xml").write_bytes(BOMB)
    result = bench("validate", "taxcalcbench", data=tmp_path)
    assert result.exit_code == 3
    assert "document type" in result.output


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "there are no rows"),
        ([{"id": "x", "response": "y"}], "unknown case 'x'"),
        ([{"response": "y"}], 'the row has no "id"; its keys are response'),
        ([{"id": "0000-worker", "response": ""}] * 2 + [{"id": "0001-family", "response": ""}], "has the fewest"),
    ],
)
def test_answers_that_do_not_fit_are_refused(tmp_path: Path, rows: list[dict[str, str]], problem: str) -> None:
    write_returns(tmp_path / "taxcalcbench", 2)
    (tmp_path / "said.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    arguments = ("score", "taxcalcbench", "--responses", tmp_path / "said.jsonl", "--out", tmp_path / "run")
    result = bench(*arguments, data=tmp_path)
    assert result.exit_code == 2
    assert problem in " ".join(result.output.split())


def format_return(amounts: Mapping[str, int | Decimal], explanations: Mapping[str, str] | None = None) -> str:
    """An answer with all nineteen lines; those without an amount are 0."""
    said = explanations or {}
    return "\n".join(
        f"Line {line.id}: {line.description} | {said.get(line.id, '').replace('|', '/')}"
        f"{' ' if said.get(line.id) else ''}| {amounts.get(line.id, 0)}"
        for line in LINES
    )


amounts = st.decimals(-(10**7), 10**7, places=2)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([line.id for line in LINES]), amounts, min_size=1))
def test_a_written_return_is_read_as_it_was_written(lines: dict[str, Decimal]) -> None:
    read = parse_return(format_return(lines, {"9": "1a | 2b"}))
    assert {line: read[line] for line in lines} == lines
    assert len(read) == len(LINES)


def test_lines_9_19_and_29_are_told_apart() -> None:
    text = "Line 9: Income | all | 1\n**Line 19:** CTC | credit | 2\nLine 29: AOC | none | $3.00\nline 9a: x | y | 4"
    assert parse_return(text) == {"9": 1, "19": 2, "29": 3}
