"""``recipes/theory/rewards.py``: figures on the lines that ``vouch reward`` writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recipes.theory.rewards import main
from tests.cli.test_reward import ROWS, vouch, written
from tests.methods.structured.replies import supported
from vouching.cli.streams import Exit


@dataclass(frozen=True)
class Diagnosed:
    """What the script ended with and printed."""

    status: int
    out: str
    err: str


def diagnosed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Diagnosed:
    """Run the script in this process."""
    capsys.readouterr()
    status = main([*map(str, arguments)])
    return Diagnosed(status, *capsys.readouterr())


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return written(tmp_path / "rows.jsonl", ROWS)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "rewards.jsonl"


def test_rewards_are_diagnosed_from_the_lines(
    capsys: pytest.CaptureFixture[str], rows: Path, output: Path, tmp_path: Path
) -> None:
    vouch("reward", "structured", "--input", rows, "--output", output)
    page = tmp_path / "page.html"
    told = diagnosed(capsys, output, "--report", page)
    assert (told.status, told.err) == (Exit.OK, "")
    assert "Within groups" in told.out
    assert "Proposition 2" in told.out
    assert page.read_text(encoding="utf-8").count("<svg") == 3
    record = json.loads(diagnosed(capsys, output, "--json").out)
    # Totals 1.12, .62 and 0: mean .58, squares .2916 + .0016 + .3364 = .6296, over 2
    assert record["spread"]["variance"] == pytest.approx(0.3148)
    assert record["gap"]["replies"] == [0, 3]
    # No Attributable claim: its mean is undefined, which JSON writes as null.
    assert record["gap"]["mean"][0] is None


def test_rows_that_cannot_be_diagnosed_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    good = [{"id": str(n), "group": "g", "total": n} for n in range(2)]
    bad: list[Any] = [
        {"total": None, "group": "g"},
        {"total": 1},
        {"total": 1, "group": 1, "gold": "yes"},
        {"total": 1, "group": 1, "parts": {"a": "b"}},
    ]
    result = diagnosed(capsys, written(tmp_path / "r.jsonl", [*good, *bad]))
    assert result.status == Exit.INCOMPLETE
    assert 'r.jsonl, line 3: "total" must be a number, got null' in result.err
    assert "4 rows cannot be used and are excluded" in result.err
    other = diagnosed(capsys, written(tmp_path / "r.jsonl", [*good, {"id": "a", "claim": "b"}]))
    assert 'line 3: the row has no "total" or "totals"; its keys are id, claim; use the output of vouch' in other.err
    nothing = diagnosed(capsys, written(tmp_path / "r.jsonl", bad))
    assert nothing.status == Exit.USAGE
    assert "no replies with a reward" in nothing.err


def test_the_diagnosis_is_put_on_one_scale_before_it_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # R_d .3 and 1 on gold Attributable; by range .3 becomes 0, which takes .15 * .3 from the mean of two.
    replies = [supported(), supported(error_type="fabrication")]
    rows = [{"id": f"{n}", "group": "g", "response": one, "gold": "Attributable"} for n, one in enumerate(replies)]
    output = str(tmp_path / "rewards.jsonl")
    vouch("reward", "structured", "--input", written(tmp_path / "r.jsonl", rows), "--output", output)
    plain, equal = (json.loads(diagnosed(capsys, output, "--json", *more).out) for more in ([], ["--equal", "range"]))
    assert plain["gap"]["mean"][0] - equal["gap"]["mean"][0] == pytest.approx(0.0225)
    known = [{"id": "a", "group": "g", "total": 1.0, "parts": {"diagnosis": 1.0, "format": 1.0}}]
    refused = diagnosed(capsys, written(tmp_path / "u.jsonl", known), "--equal", "range")
    assert (refused.status, "without a gold label" in refused.err) == (Exit.USAGE, True)


def test_the_answers_of_a_ranking_are_one_group_of_a_diagnosis(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, output: Path
) -> None:
    answers = ("--answer", "In 1937.", "--answer", "In 1973.", "--source-text", "It opened in 1973.", "--json")
    ranked = vouch("rank", "--question", "When?", *answers)
    rankings = written(tmp_path / "rankings.jsonl", [{"id": "q", **json.loads(ranked.stdout)}])
    assert vouch("reward", "discriminative", "--input", rankings, "--output", output).exit_code == Exit.OK
    found = json.loads(diagnosed(capsys, output, "--json").out)
    assert (found["replies"], found["spread"]["groups"]) == (2, 1)


def test_rewards_that_cannot_be_diagnosed_name_the_methods_whose_can(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    units = written(
        tmp_path / "units.jsonl", [{"id": "u", "case": "1", "rewards": {}, "advantages": {}, "total": None}]
    )
    assert '"total" must be a number, got null' in diagnosed(capsys, units).err
    units = written(tmp_path / "units.jsonl", [{"id": "u", "case": "1", "rewards": {}, "advantages": {}}])
    assert "method structured, checklist, blinded or discriminative" in diagnosed(capsys, units).err
