"""``vouch data perturb``: rows in, lines out, and what it says about rows and files that it cannot use."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit

SOURCE = "The bridge opened in 1973. Ann Lee paid $5 million for it."
ROWS: list[Any] = [
    {"id": "a", "claim": "The bridge opened in 1973.", "source": SOURCE, "label": "Attributable", "group": "d1"},
    {"id": "b", "claim": "The bridge opened in 1937.", "source": SOURCE, "label": "Not Attributable"},
    {"id": "c", "claim": "Ann Lee paid $5 million.", "sources": ["Nothing.", {"text": SOURCE}]},
]


def perturbed(*arguments: str | Path, stdin: str = "") -> Result:
    """Run ``vouch data perturb`` in this process."""
    return CliRunner().invoke(app, ["data", "perturb", *map(str, arguments)], input=stdin)


def written(path: Path, rows: list[Any] = ROWS) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return written(tmp_path / "rows.jsonl")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "probes.jsonl"


def test_lines_are_rows_that_say_what_was_changed(rows: Path, output: Path) -> None:
    result = perturbed("--input", rows, "--output", output)
    assert (result.exit_code, result.stdout) == (Exit.OK, "")
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert {line["group"] for line in lines} == {"d1", "c"}
    for line in lines:
        assert line["label"] == ("Attributable" if line["error_type"] is None else "Not Attributable")
        for span in line["spans"]:
            assert line["claim"][span["start"] : span["end"]] == span["text"]
    assert {line["source"] for line in lines if line["group"] == "c"} == {f"Nothing.\n\n{SOURCE}"}


def test_rows_and_drafts_are_counted_on_standard_error(rows: Path, output: Path) -> None:
    told = perturbed("--input", rows, "--output", output, "--strategies", "date_shift, unit_change").stderr
    # The claim with a date gives one draft, the one with a sum two: another currency and another scale.
    assert told.splitlines() == [
        "vouch: treated 1 row without a label as Attributable: check that this is right",
        "vouch: skipped 1 row labelled Not Attributable",
        "strategy                error type                 kept  dropped  dropped by",
        "unit_change             numerical_exaggeration        2      0 %",
        "date_shift              temporal_shift                1      0 %",
        "vouch: 3 perturbations of 3 rows",
    ]


def test_one_row_is_not_counted_as_many(tmp_path: Path, output: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(f"{json.dumps(ROWS[0])}\n", encoding="utf-8")
    told = perturbed("--input", path, "--output", output, "--limit", "1").stderr
    assert told.splitlines()[-1] == "vouch: 1 perturbation of 1 row"


def test_equal_runs_write_equal_lines(rows: Path, tmp_path: Path) -> None:
    texts: list[str] = []
    for name in ("one.jsonl", "two.jsonl"):
        assert perturbed("--input", rows, "--output", tmp_path / name, "--seed", "3").exit_code == 0
        texts.append((tmp_path / name).read_text(encoding="utf-8"))
    assert texts[0] == texts[1] != ""


def test_gzipped_rows_and_limits(tmp_path: Path, output: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in ROWS).encode()))
    assert perturbed("--input", path, "--output", output, "--per-row", "2", "--limit", "3").exit_code == 0
    groups = [json.loads(line)["group"] for line in output.read_text(encoding="utf-8").splitlines()]
    assert groups == ["d1", "d1", "c"]


def test_broken_rows_are_named_and_the_run_ends_with_3(tmp_path: Path, output: Path) -> None:
    path = written(tmp_path / "rows.jsonl", [*ROWS[:1], {"id": "x"}, {"claim": "a", "source": "a", "label": "yes"}])
    with path.open("a", encoding="utf-8") as file:
        file.write('{"claim": \n{"claim": "It rained."}\n')
    result = perturbed("--input", path, "--output", output)
    assert result.exit_code == Exit.INCOMPLETE
    named = [line for line in result.stderr.splitlines() if "rows.jsonl, line" in line]
    assert named == [
        'vouch: rows.jsonl, line 2: the row has no "claim"; its keys are id',
        "vouch: rows.jsonl, line 3: \"label\" must be Attributable (or 1) or Not Attributable (or 0), got 'yes'",
        "vouch: rows.jsonl, line 4: invalid JSON: Expecting value at character 10",
        'vouch: rows.jsonl, line 5: the row has no "sources"; its keys are claim; pass "source" or "sources", a string '
        "or a list of strings",
    ]
    assert "vouch: 4 rows could not be used" in result.stderr
    assert output.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--input", "ROWS", "--output", "OUT", "--strategies", "x"],
            "unknown strategy 'x'; expected one of number_change",
        ),
        (["--input", "none.jsonl", "--output", "OUT"], "none.jsonl does not exist"),
        (["--input", "ROWS", "--output", "ROWS"], "already exists and is not empty: choose another output"),
        (["--input", "ROWS", "--output", "no/such/folder.jsonl"], "cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_2(rows: Path, output: Path, arguments: list[str], message: str) -> None:
    names = {"ROWS": str(rows), "OUT": str(output)}
    result = perturbed(*(names.get(argument, argument) for argument in arguments))
    assert result.exit_code == Exit.USAGE
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not output.exists()


def test_data_alone_shows_what_there_is() -> None:
    result = CliRunner().invoke(app, ["data"])
    assert result.exit_code == 0
    assert "perturb" in result.stdout


def test_help_names_no_resume_where_there_is_none() -> None:
    assert "--resume" not in CliRunner().invoke(app, ["data", "convert", "--help"]).stdout
    assert "--resume" in CliRunner().invoke(app, ["data", "annotate", "--help"]).stdout
