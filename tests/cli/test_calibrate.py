"""``vouch calibrate`` over finished verdicts, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from tests.methods.scripts import RIGHT, SOURCE, reply
from vouching.cli.app import app
from vouching.cli.check import LOOK
from vouching.cli.judge import Judging
from vouching.cli.streams import Exit
from vouching.judging.calibration import by_token, load_calibration
from vouching.models import ScriptedModel
from vouching.rows import RowJob, run_rows


def calibrated(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["calibrate", *map(str, arguments)])


def said(prompt: str) -> str:
    """Not Attributable for every tenth page, Attributable for the others, always with .9."""
    label = "Not Attributable" if re.search(r"page \d?0\.", prompt) else "Attributable"
    return reply(RIGHT, label=label, confidence=0.9)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """40 claims about 40 documents; three quarters of the labels agree with what is said of them.

    Wrong are pages 10 and 30, and 4, 8, 12, 16, 24, 28, 32 and 36.
    """
    path = tmp_path / "rows.jsonl"
    made: list[dict[str, Any]] = [
        {
            "id": str(n),
            "claim": f"The bridge opened, says page {n}.",
            "source": f"{SOURCE} This is page {n}.",
            "label": "Attributable" if n % 4 else "Not Attributable",
        }
        for n in range(40)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in made), encoding="utf-8")
    return path


@pytest.fixture
def verdicts(rows: Path) -> Path:
    """Verdicts of a scripted model on them, by the batch of vouch check."""
    path = rows.with_name("verdicts.jsonl")
    judging = Judging(ScriptedModel(lambda messages, sampling: said(messages[-1].content)))
    checker = judging.checker()
    note = judging.note("check", checker)
    summary = run_rows(RowJob(str(rows), str(path), judging.waiting(checker), LOOK, note))
    assert (summary.rows, summary.problems, summary.counts["Attributable"]) == (40, 0, 36)
    return path


def test_verdicts_scored_in_another_way_than_most_are_left_out_and_counted(rows: Path, verdicts: Path) -> None:
    lines = verdicts.read_text(encoding="utf-8").splitlines()
    prompt = json.loads(lines[0])["provenance"]["prompt_hash"]
    lines[1:] = [line.replace(prompt, by_token(prompt)) for line in lines[1:]]
    verdicts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = calibrated("--input", rows, "--verdicts", verdicts, "--output", rows.with_name("c.json"))
    assert result.exit_code == Exit.OK, result.stderr
    assert "omitted 1 verdict: only some are scored by the tokens of their labels" in result.stderr
    assert "fitted on 39 rows" in result.stderr


def test_a_calibration_is_fitted_on_finished_verdicts_and_its_gain_is_told(rows: Path, verdicts: Path) -> None:
    output = rows.parent / "calibrations/c.json"  # its folder is made
    result = calibrated("--input", rows, "--verdicts", verdicts, "--output", output)
    assert result.exit_code == Exit.OK, result.stderr
    made = load_calibration(output)
    # 30 of 40 are right at a stated .9: odds 3 instead of 9.
    assert (made.model, made.calibrator.at[0]) == ("scripted", pytest.approx(2.0, abs=1e-6))
    told = result.stderr.splitlines()
    assert told[0] == f"vouch: {output}: {made.name} for scripted, fitted on 40 rows"
    assert told[1].startswith("vouch: ECE: 0.150 before, 0.")


def test_rows_and_verdicts_that_do_not_belong_together_are_refused(rows: Path, verdicts: Path) -> None:
    lines = verdicts.read_text().splitlines()
    verdicts.write_text("\n".join([*lines[1:], lines[0]]) + "\n")
    result = calibrated("--input", rows, "--verdicts", verdicts, "--output", rows.with_name("c.json"))
    assert result.exit_code == Exit.USAGE
    assert "line 1 is the verdict of '1', but" in result.stderr


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
    assert "skipped 3 rows without a label or a verdict" in result.stderr
    assert "fitted on 37 rows" in result.stderr


def test_what_it_needs_is_said(rows: Path) -> None:
    assert "missing --model or --verdicts" in calibrated("--input", rows, "--output", "c.json").stderr
    assert "must end in .json" in calibrated("--input", rows, "--output", "c.txt", "--model", "x").stderr


def test_a_folder_of_what_it_made_is_found_by_the_variable(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = rows.parent / "calibrations"
    folder.mkdir()
    with chat_server(said) as name:
        result = calibrated("--input", rows, "--model", name, "--output", folder / "tiny.json")
        assert result.exit_code == Exit.OK, result.stderr
        # Beside the calibration lie the verdicts and the note of their run.
        assert len([*folder.iterdir()]) == 3
        monkeypatch.setenv("VOUCH_CALIBRATION", str(folder))
        asked = ["check", "The bridge opened.", "--source-text", SOURCE, "--model", name, "--json"]
        checked = CliRunner().invoke(app, asked)
    assert checked.exit_code == Exit.OK, checked.stderr
    assert json.loads(checked.stdout)["provenance"]["calibrator"].startswith("temperature:")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row: {**row, "label": None}, "has 0 labelled rows, 0 of them Attributable; expected at least 20"),
        (
            lambda row: {**row, "label": "Attributable"},
            "of them Attributable; expected at least 20 rows that include both labels",
        ),
        (
            lambda row: {**row, "label": "yes"},
            "line 1: \"label\" must be Attributable (or 1) or Not Attributable (or 0), got 'yes'",
        ),
    ],
)
def test_nobody_is_asked_about_rows_whose_labels_cannot_be_used(
    rows: Path, change: Callable[[dict[str, Any]], dict[str, Any]], words: str
) -> None:
    given = [change(json.loads(line)) for line in rows.read_text().splitlines()]
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in given))
    asked: list[str] = []
    with chat_server(lambda prompt: asked.append(prompt) or "") as name:
        result = calibrated("--input", rows, "--model", name, "--output", rows.with_name("c.json"))
    assert (result.exit_code, asked) == (Exit.USAGE, [])
    assert words in result.stderr


def test_a_model_out_of_reach_is_told_with_a_way_that_there_is(rows: Path) -> None:
    with chat_server(lambda prompt: 503) as name:
        result = calibrated("--input", rows, "--model", name, "--output", rows.with_name("c.json"))
    assert result.exit_code == Exit.INCOMPLETE
    assert "fix this and start again: finished verdicts are kept" in result.stderr
    assert "--resume" not in result.stderr


def test_a_model_without_a_single_verdict_is_told_as_that(rows: Path) -> None:
    with chat_server(lambda prompt: "I think so.") as name:
        result = calibrated("--input", rows, "--model", name, "--output", rows.with_name("c.json"))
    assert result.exit_code == Exit.USAGE
    assert "c.verdicts.jsonl contains no verdict on a labelled row" in result.stderr


def test_a_calibration_that_gains_nothing_is_told(rows: Path) -> None:
    # 36 of 40 are judged as they are labelled, with a confidence of .9: nothing is to be gained.
    given = [json.loads(line) for line in rows.read_text().splitlines()]
    for number, row in enumerate(given):
        row["label"] = "Not Attributable" if number % 10 in (0, 5) else "Attributable"
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in given))
    with chat_server(said) as name:
        result = calibrated("--input", rows, "--model", name, "--output", rows.with_name("c.json"))
    assert "no gain on held-out rows" in result.stderr


def test_equal_scores_are_refused_with_the_reason(rows: Path) -> None:
    output = rows.with_name("c.json")
    with chat_server(lambda prompt: reply(RIGHT, confidence=0.9)) as name:
        result = calibrated("--input", rows, "--model", name, "--output", output)
    assert (result.exit_code, output.exists()) == (Exit.USAGE, False)
    assert "40 rows: 40 attributable; all verdicts are equal: try rows with known labels" in result.stderr
    assert f"the 40 scores of {name} are all 0.9: no calibration can be fitted" in result.stderr


def test_a_cascade_is_not_calibrated_as_a_whole(rows: Path) -> None:
    model = "embedded:rules,embedded"
    result = calibrated("--input", rows, "--model", model, "--output", rows.with_name("c.json"))
    assert result.exit_code == Exit.USAGE
    assert "calibrate each of its models separately" in result.stderr
