"""MATH-500 and AIME in their published layouts, and what counts as the right answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

pytest.importorskip("math_verify", reason="needs the extra bench")

from recipes.bench.problems import AnswerChecker, MathProblem, boxed, compared_as_written
from recipes.bench.run import app
from recipes.bench.sets import SOLVED, TASKS
from tests.bench.samples import write_rows
from vouching.bench.run import validate
from vouching.errors import InputError

MATH_500 = {
    "problem": "Convert the point $(0,3)$ to polar coordinates.",
    "solution": "We get $\\boxed{\\left(3,\\frac{\\pi}{2}\\right)}$.",
    "answer": "\\left( 3, \\frac{\\pi}{2} \\right)",
    "subject": "Precalculus",
    "level": 2,
    "unique_id": "test/precalculus/807.json",
}
AIME_2024 = {"id": 60, "problem": "How many?", "solution": "204", "answer": "204", "url": "...", "year": "2024"}
BOXED_ONLY = {"id": 61, "problem": "How many?", "solution": "It is $\\boxed{025}$.", "url": "..."}
BY_QUESTION = {"question": "How many?", "answer": "70"}
UPPER = {"ID": "2024-II-4", "Problem": "How many?", "Solution": "...", "Answer": 33}


@pytest.fixture(scope="module")
def checker() -> Iterator[AnswerChecker]:
    with AnswerChecker() as made:
        yield made


def bench(*arguments: str | Path, data: Path | None = None) -> Result:
    environment = {"COLUMNS": "100", "VOUCH_DATA": str(data or "")}
    return CliRunner(env=environment).invoke(app, [*map(str, arguments)])


def problems(folder: Path, name: str) -> list[MathProblem]:
    return [row for row in SOLVED[name].rows(folder, "test") if isinstance(row, MathProblem)]


def written(folder: Path, name: str, file: str, rows: list[dict[str, Any]]) -> None:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize(
    ("gold", "given"),
    [
        (r"\left( 3, \frac{\pi}{2} \right)", r"(3, \frac{\pi}2)"),
        (r"\text{Evelyn}", "Evelyn"),
        (r"\text{(C)}", "C"),
        ("p - q", "-q+p"),
        (r"90^\circ", "90"),
        (r"11\sqrt2", r"11\sqrt{2}"),
        ("2516_8", "2516_{8}"),
        ("1,-2", "-2, 1"),
        (r"\frac{9}{7}", "9/7"),
        (r"\frac{3}{2}", "1.5"),
        (r"[-2,7]", r"x \in [-2,7]"),
        (r"10,\!080", "10080"),
        ("6 - 5i", "6-5i"),
        (r"\$18.90", "18.90"),
        ("y = 2x + 3", "y=2x+3"),
        ("25", "025"),
    ],
)
def test_answers_that_are_the_same(checker: AnswerChecker, gold: str, given: str) -> None:
    assert checker.check(f"So the answer is $\\boxed{{{given}}}$.", gold) == "right"


@pytest.mark.parametrize(
    ("gold", "given"),
    [
        ("3", "4"),
        ("25", "250"),
        ("x=5", "x=-5"),
        ("(1,2)", "(2,1)"),
        ("[1,2]", "(1,2)"),
        (r"\text{Evelyn}", "Carla"),
        ("2516_8", "2517_8"),
        ("2516_8", "2516_9"),
        ("1,-2", "1,2"),
        ("3R^2", "3R^3"),
        ("34", "3 4"),
    ],
)
def test_answers_that_differ(checker: AnswerChecker, gold: str, given: str) -> None:
    assert checker.check(f"So the answer is $\\boxed{{{given}}}$.", gold) == "wrong"


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (r"First \boxed{3}. No: \boxed{4}.", "right"),
        (r"First \boxed{4}. No: \boxed{3}.", "wrong"),
        ("The final answer is $4$.", "right"),
        ("**Answer:** 4", "right"),
        ("**Answer: 4**", "right"),
        ("So the answer is **4**.", "right"),
        ("The final answer is **5**.", "wrong"),
        ("The final answer is 2**2.", "right"),
        ("We have 4 of them, and so", "no answer"),
        (r"It is \boxed{", "no answer"),
        ("", "no answer"),
    ],
)
def test_an_answer_must_be_marked_as_one(checker: AnswerChecker, response: str, outcome: str) -> None:
    assert checker.check(response, "4") == outcome


def test_an_answer_that_would_take_for_ever_is_given_up_and_the_next_one_is_compared() -> None:
    with AnswerChecker(patience=2.0) as hasty:
        assert hasty.check(r"\boxed{\frac{9^{9^{9^{9}}}}{3} + x}", r"\frac{1}{3}") == "undecided"
        assert hasty.check(r"\boxed{\frac{2}{6}}", r"\frac{1}{3}") == "right"


def test_the_last_closed_box_counts() -> None:
    assert boxed(r"\boxed{\{1, 2\}}") == r"\{1, 2\}"
    assert boxed(r"\fbox{a_{1}} and \boxed{b") == "a_{1}"
    assert boxed("none") is None


def test_whole_numbers_of_any_length_are_compared_by_their_digits() -> None:
    assert compared_as_written("+0" + "7" * 10_000, "7" * 10_000) is True
    assert compared_as_written("-0", "0") is True
    assert compared_as_written("-7", "7") is False
    assert compared_as_written(r"\frac12", "0.5") is None


def test_every_published_layout_is_read(tmp_path: Path) -> None:
    written(tmp_path, "math_500", "test.jsonl", [MATH_500])
    written(tmp_path, "aime_2024", "train.jsonl", [AIME_2024, BOXED_ONLY, UPPER])
    written(tmp_path, "aime_2025", "aime2025-I.jsonl", [BY_QUESTION])
    written(tmp_path, "aime_2025", "aime2025-II.jsonl", [BY_QUESTION])
    [problem] = problems(tmp_path, "math_500")
    assert (problem.id, problem.part) == ("test/precalculus/807.json", "Precalculus 2")
    assert [(one.id, one.answer) for one in problems(tmp_path, "aime_2024")] == [
        ("60", "204"),
        ("61", "025"),
        ("2024-II-4", "33"),
    ]
    # Two files without ids: the name of the file tells their first problems apart.
    names = [one.id for one in problems(tmp_path, "aime_2025")]
    assert sorted(names) == ["aime2025-I-row-1", "aime2025-II-row-1"]


def test_a_set_that_is_not_here_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"huggingface\.co/datasets/HuggingFaceH4/MATH-500"):
        problems(tmp_path, "math_500")


def test_a_set_validates_itself(tmp_path: Path) -> None:
    rows = [{"id": n, "problem": "How many?", "answer": str(n)} for n in range(30)]
    written(tmp_path, "aime_2024", "a.jsonl", rows)
    assert [*validate(SOLVED["aime_2024"], tmp_path, "test", TASKS["aime_2024"])] == []
    rows[1:4] = [
        {"id": 0, "problem": "How many?", "answer": "1000"},
        {"id": 2, "problem": "How many?", "answer": "2", "solution": "It is \\boxed{3}."},
        {"id": 3, "problem": "How many?"},
    ]
    written(tmp_path, "aime_2024", "a.jsonl", rows)
    assert [str(fault) for fault in validate(SOLVED["aime_2024"], tmp_path, "test", TASKS["aime_2024"])] == [
        'a.jsonl, line 4: the row must have an "answer" or a boxed "solution"; its keys are id, problem',
        "row 0: 2 rows have this id, expected one",
        "the whole set: 29 usable problems, expected 30",
        "problem 0: the answer must be a whole number from 0 to 999, got '1000'",
        "problem 2: the reference solution is not accepted as correct",
    ]


def scored(folder: Path, name: str, said: dict[str, list[str]]) -> dict[str, Any]:
    """The figures of a run on twelve problems, each with its number as the answer."""
    written(folder, "aime_2024", "a.jsonl", [{"id": n, "problem": "How many?", "answer": str(n)} for n in range(12)])
    rows = [{"id": one, "response": text} for one, texts in said.items() for text in texts]
    responses = write_rows(folder / f"{name}.jsonl", rows)
    result = bench("score", "aime_2024", "--responses", responses, "--out", folder / name, data=folder)
    assert result.exit_code == 0, result.stderr
    assert "all problems" in result.stdout
    return json.loads((folder / name / "results.json").read_text(encoding="utf-8"))["sets"]["aime_2024"]


def test_several_responses_to_a_problem_count_as_their_share_and_two_runs_are_compared(tmp_path: Path) -> None:
    before = scored(tmp_path, "before", {str(n): ["It is 1.", "\\boxed{1}"] for n in range(12)})
    after = scored(tmp_path, "after", {str(n): [f"\\boxed{{{n}}}"] for n in range(12)})
    # Of 24 responses only the boxed one to problem 1 is right; the 12 others mark no answer.
    assert before["accuracy"]["estimate"] == pytest.approx(1 / 24, abs=1e-4)
    assert (before["problems"], before["unanswered"], before["undecided"]) == (12, 12, 0)
    assert after["accuracy"]["estimate"] == 1.0
    told = json.loads(bench("compare", tmp_path / "before", tmp_path / "after", "--json").stdout)
    found = told["sets"]["aime_2024"]["all rows"]["accuracy"]
    assert found["difference"]["estimate"] == pytest.approx(23 / 24, abs=1e-4)
    assert found["difference"]["verdict"] == "better"
    assert "aime_2024, all rows" in bench("compare", tmp_path / "before", tmp_path / "after").stdout


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no response to '1'"),
        ([{"id": "1", "response": "a"}, {"id": "x", "response": "a"}], "aime_2024 has no problem with the id 'x'"),
        ([{"id": "1"}], 'the row has no "response"; its keys are id'),
    ],
)
def test_responses_must_fit_the_problems(rows: list[dict[str, str]], said: str, tmp_path: Path) -> None:
    written(tmp_path, "aime_2024", "a.jsonl", [{"id": "1", "problem": "How many?", "answer": "1"}])
    responses = write_rows(tmp_path / "said.jsonl", rows)
    result = bench("score", "aime_2024", "--responses", responses, "--out", tmp_path / "out", data=tmp_path)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
