"""``vouch calibrate`` over finished verdicts, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.verifiers.scripts import RIGHT, SOURCE, reply
from vouching.batch.journal import open_journal
from vouching.batch.rows import open_rows
from vouching.batch.run import run_batch
from vouching.cli import app
from vouching.commands.check_rows import CheckWork, look
from vouching.commands.streams import Exit
from vouching.models import ScriptedModel
from vouching.verifiers.calibration import load_calibration


def calibrated(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["calibrate", *map(str, arguments)])


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """40 claims about 40 documents; three quarters of the labels agree with a model that always says Attributable."""
    path = tmp_path / "rows.jsonl"
    made: list[dict[str, Any]] = [
        {"id": str(n), "claim": f"The bridge opened, says page {n}.", "source": f"{SOURCE} This is page {n}.",
         "label": "Attributable" if n % 4 else "Not Attributable"}
        for n in range(40)
    ]  # fmt: skip
    path.write_text("".join(f"{json.dumps(row)}\n" for row in made), encoding="utf-8")
    return path


@pytest.fixture
def verdicts(rows: Path) -> Path:
    """Verdicts of a scripted model on them, by the batch of vouch check."""
    path = rows.with_name("verdicts.jsonl")
    work = CheckWork(ScriptedModel(lambda messages, sampling: reply(RIGHT, confidence=0.9)), 0.5)
    checker = work.checker()
    with open_rows(str(rows)) as reader, open_journal(str(path), work.settings(checker)) as journal:
        summary = run_batch(reader, journal, work.waiting(checker), lambda line: look("rows", line))
    assert (summary.rows, summary.problems, summary.counts["Attributable"]) == (40, 0, 40)
    return path


def test_a_calibration_is_fitted_on_finished_verdicts_and_its_gain_is_told(rows: Path, verdicts: Path) -> None:
    output = rows.with_name("c.json")
    result = calibrated("--input", rows, "--verdicts", verdicts, "--output", output)
    assert result.exit_code == Exit.OK, result.stderr
    made = load_calibration(output)
    # 30 of 40 are Attributable at a stated .9: odds 3 instead of 9.
    assert (made.model, made.calibrator.at[0]) == ("scripted", pytest.approx(2.0, abs=1e-6))
    told = result.stderr.splitlines()
    assert told[0] == f"vouch: {output}: {made.name} for scripted, from 40 rows"
    assert told[1].startswith("vouch: ECE: 0.150 before, 0.")


def test_rows_and_verdicts_that_do_not_belong_together_are_refused(rows: Path, verdicts: Path) -> None:
    lines = verdicts.read_text().splitlines()
    verdicts.write_text("\n".join([*lines[1:], lines[0]]) + "\n")
    result = calibrated("--input", rows, "--verdicts", verdicts, "--output", rows.with_name("c.json"))
    assert result.exit_code == Exit.USAGE
    assert "line 1 is about '1', the row there is '0'" in result.stderr


@pytest.mark.parametrize("short", ["rows", "verdicts"])
def test_rows_and_verdicts_of_different_number_are_refused(rows: Path, verdicts: Path, short: str) -> None:
    path = rows if short == "rows" else verdicts
    path.write_text("\n".join(path.read_text().splitlines()[:30]) + "\n")
    result = calibrated("--input", rows, "--verdicts", verdicts, "--output", rows.with_name("c.json"))
    assert result.exit_code == Exit.USAGE
    assert f"{short}.jsonl has fewer lines than" in result.stderr


def test_rows_without_a_label_are_left_out_and_counted(rows: Path, verdicts: Path) -> None:
    given = [json.loads(line) for line in rows.read_text().splitlines()]
    for row in given[:3]:
        del row["label"]
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in given))
    result = calibrated("--input", rows, "--verdicts", verdicts, "--output", rows.with_name("c.json"))
    assert "3 rows without a label or a verdict are left out" in result.stderr
    assert "from 37 rows" in result.stderr


def test_what_it_needs_is_said(rows: Path) -> None:
    assert "got neither --model nor --verdicts" in calibrated("--input", rows, "--output", "c.json").stderr
    assert "ends in .json" in calibrated("--input", rows, "--output", "c.txt", "--model", "x").stderr
