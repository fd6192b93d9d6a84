"""``vouch reward structured``: rows in, rewards out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.methods.structured.replies import CLAIM, SOURCE, reply, supported
from vouching.cli.app import app
from vouching.cli.streams import Exit

NA = "Not Attributable"
ROWS: list[Any] = [
    {"id": "a", "group": "g1", "response": reply(), "gold": NA, "claim": CLAIM, "source": SOURCE},
    {"id": "b", "group": "g1", "response": supported(), "gold": NA, "claim": CLAIM, "sources": ["It rained.", SOURCE]},
    {"id": "c", "group": "g1", "response": "no JSON", "gold": NA, "claim": CLAIM, "source": SOURCE},
]


def vouch(*arguments: str | Path, stdin: str = "") -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [*map(str, arguments)], input=stdin)


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return written(tmp_path / "rows.jsonl", ROWS)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "rewards.jsonl"


def test_each_row_gives_a_line_with_total_and_parts(rows: Path, output: Path) -> None:
    result = vouch("reward", "structured", "--input", rows, "--output", output)
    assert (result.exit_code, result.stdout) == (Exit.OK, "")
    assert result.stderr == "vouch: 3 rows, 1 with an unreadable reply\n"
    first, second, third = lines(output)
    assert first == {
        "id": "a",
        "group": "g1",
        "gold": NA,
        "predicted": NA,
        "total": 1.12,
        "parts": {
            "format": 1.0,
            "alignment": 1.0,
            "chain": 1.0,
            "label": 1.0,
            "diagnosis": 1.0,
            "calibration": pytest.approx(0.12),
        },
    }
    # .70 - .10 * .8, and nothing
    assert [(row["predicted"], row["total"]) for row in (second, third)] == [("Attributable", 0.62), (None, 0.0)]


@pytest.mark.parametrize(
    ("options", "totals"),
    [
        (("--variant", "grounded"), [1.12, 0.62, 0.0]),
        (("--variant", "binary"), [1.0, 0.0, 0.0]),
        (("--calibration", "off"), [1.0, 0.7, 0.0]),
        (("--split", "0/100"), [1.12, -0.08, 0.0]),  # R_l = R_d = 1 and R_cal; R_l = R_d = 0 and R_cal
    ],
)
def test_variant_split_and_calibration_are_options(
    rows: Path, output: Path, options: tuple[str, ...], totals: list[float]
) -> None:
    assert vouch("reward", "structured", "--input", rows, "--output", output, *options).exit_code == Exit.OK
    assert [row["total"] for row in lines(output)] == totals


def test_a_broken_row_has_no_reward_and_is_named(tmp_path: Path, output: Path) -> None:
    broken = [{"id": "x", "response": "{}"}, {"id": "y", "response": "{}", "gold": "yes"}, {"id": "z", "gold": NA}, 7]
    result = vouch(
        "reward", "structured", "--input", written(tmp_path / "in.jsonl", [*broken, ROWS[0]]), "--output", output
    )
    assert result.exit_code == Exit.INCOMPLETE
    assert [row["total"] for row in lines(output)] == [None, None, None, None, 1.12]
    assert "in.jsonl, line 2: the gold label must be Attributable or Not Attributable, got 'yes'" in result.stderr
    assert "vouch: 5 rows; 4 of the rows cannot be used (see the output)" in result.stderr


def test_the_grounded_rules_need_claim_and_source_of_each_row(tmp_path: Path, output: Path) -> None:
    bare = [{"response": reply(), "gold": NA}, {"response": reply(), "gold": NA, "claim": CLAIM}]
    arguments = ("--input", written(tmp_path / "in.jsonl", bare), "--output", output, "--variant", "grounded")
    result = vouch("reward", "structured", *arguments)
    assert result.exit_code == Exit.INCOMPLETE
    assert 'has no "claim"' in result.stderr
    assert 'the row has no "sources"' in result.stderr


def test_a_run_that_was_cut_short_is_finished(rows: Path, output: Path) -> None:
    arguments = ("reward", "structured", "--input", rows, "--output", output)
    vouch(*arguments)
    whole = output.read_bytes()
    output.write_bytes(whole[:-20])
    note = output.with_name("rewards.jsonl.run.json")
    note.write_text(json.dumps({**json.loads(note.read_text()), "rows": 0, "digest": ""}))
    assert vouch(*arguments).exit_code == Exit.USAGE
    assert vouch(*arguments, "--resume", "--variant", "released").exit_code == Exit.USAGE
    assert vouch(*arguments, "--resume").exit_code == Exit.OK
    assert output.read_bytes() == whole
    assert "is already complete" in vouch(*arguments, "--resume").stderr


def test_what_cannot_be_used_is_a_usage_error(rows: Path, output: Path) -> None:
    result = vouch(
        "reward", "structured", "--input", rows, "--output", output, "--variant", "binary", "--split", "50/50"
    )
    assert (result.exit_code, output.exists()) == (Exit.USAGE, False)
    assert "split cannot be used with the variant binary" in result.stderr
    assert vouch("reward", "structured", "--input", "nowhere.jsonl", "--output", output).exit_code == Exit.USAGE


def test_a_row_that_is_no_ranking_is_told_what_writes_one(rows: Path, output: Path) -> None:
    result = vouch("reward", "discriminative", "--input", rows, "--output", output)
    assert result.exit_code == Exit.INCOMPLETE
    assert "the row is not a ranking (a line of vouch rank --output)" in result.stderr


def test_a_method_that_there_is_not_is_refused_with_the_nearest(rows: Path, output: Path) -> None:
    result = vouch("reward", "structure", "--input", rows, "--output", output)
    assert result.exit_code == Exit.USAGE
    assert result.stderr.endswith("checklist, blinded, assurance; did you mean 'structured'?\n")
