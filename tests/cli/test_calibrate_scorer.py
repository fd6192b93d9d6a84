"""``vouch calibrate`` for scorers: their numbers are kept, the curve fits them, and a check then has verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.methods.discriminative.scorers import BRIDGE, TableScorer, first_sentence
from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.judging.calibration import VARIABLE, calibrate_scores, load_calibration
from vouching.methods.calibrate import SEEN_SCORE, labelled_scores, score_work
from vouching.methods.discriminative.scorer import ClaimScorer
from vouching.rows.journal import open_journal
from vouching.rows.read import open_rows
from vouching.rows.run import BatchSummary, run_batch

RIGHT, WRONG = "The bridge opened in 1973.", "The bridge opened in 1937."


def rows_of(count: int, **more: str) -> list[dict[str, Any]]:
    """Right and wrong claims in turn, each about a document of its own."""
    return [
        {
            "id": str(n),
            "claim": WRONG if n % 2 else RIGHT,
            "source": f"{BRIDGE} Page {n}.",
            "label": "Not Attributable" if n % 2 else "Attributable",
            **more,
        }
        for n in range(count)
    ]


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def scored(rows: Path, scorer: TableScorer, resume: bool = False) -> tuple[Path, BatchSummary]:
    output = rows.with_name("c.scores.jsonl")
    work = score_work(ClaimScorer(scorer, compress=first_sentence))
    with open_rows(str(rows)) as reader, open_journal(str(output), {}, resume) as journal:
        return output, run_batch(reader, journal, work, lambda line: SEEN_SCORE("rows", line))


def test_numbers_labels_and_questions_are_kept_line_by_line(tmp_path: Path) -> None:
    rows = [*rows_of(3), {"id": "x", "claim": "Ulm.", "source": "a"}, {"id": "y", "source": "a"}]
    output, summary = scored(written(tmp_path / "rows.jsonl", rows), TableScorer({RIGHT: 2.5, WRONG: -1.0}))
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [line["score"] for line in lines] == [2.5, -1.0, 2.5, None, None]
    assert [line.get("unverified") for line in lines][3:] == ["not in the table", None]
    assert (summary.rows, summary.problems) == (5, 1)
    found, asked, missing = labelled_scores(str(output))
    assert ([(one.gold, one.score) for one in found], asked, missing) == (
        [("Attributable", 2.5), ("Not Attributable", -1.0), ("Attributable", 2.5)],
        {False},
        2,
    )


def test_a_question_is_shown_to_the_scorer(tmp_path: Path) -> None:
    scorer = TableScorer({RIGHT: 2.5, WRONG: -1.0})
    output, _ = scored(written(tmp_path / "rows.jsonl", rows_of(2, question="When did it open?")), scorer)
    assert scorer.read[0].question == "When did it open?"
    assert labelled_scores(str(output))[1] == {True}


def test_the_curve_fits_the_numbers(tmp_path: Path) -> None:
    output, _ = scored(written(tmp_path / "rows.jsonl", rows_of(40)), TableScorer({RIGHT: 2.5, WRONG: -1.0}))
    made = calibrate_scores("table", "abc", labelled_scores(str(output))[0])
    # 20 right at 2.5, 20 wrong at -1: (20 + 1) / (20 + 2)
    assert made.calibrator(2.5) == pytest.approx(21 / 22)
    assert made.measured["brier_held_out"] < 0.01
    assert "brier" not in made.measured


def test_a_scorer_of_probabilities_has_its_errors_before_and_after(tmp_path: Path) -> None:
    rows = [{**row, "label": 1 - n % 2} for n, row in enumerate(rows_of(40))]
    output, _ = scored(written(tmp_path / "rows.jsonl", rows), TableScorer({RIGHT: 0.7, WRONG: 0.4}))
    made = calibrate_scores("table", "abc", labelled_scores(str(output))[0])
    # Right at .7 and wrong at .4, 20 each: the error is .3 of the one and .4 of the other.
    assert made.measured["ece"] == pytest.approx(0.35)
    assert made.measured["ece_held_out"] < 0.1


def test_a_share_of_facts_is_not_calibrated(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", rows_of(2))
    arguments = [
        "calibrate",
        "--input",
        str(rows),
        "--model",
        "factscore:embedded",
        "--output",
        str(tmp_path / "c.json"),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == Exit.USAGE
    assert "scores whole answers, not claims" in result.stderr


def test_a_scorer_from_a_folder_is_calibrated_and_then_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the extra train (torch) is not installed")
    pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")
    from tests.methods.discriminative.tiny_scorers import write_tiny_scorer

    model = f"discriminative:{write_tiny_scorer(tmp_path / 'model')}"
    rows, made = written(tmp_path / "rows.jsonl", rows_of(30)), tmp_path / "c.json"
    check = ["check", RIGHT, "--source-text", BRIDGE, "--model", model, "--json"]
    refused = CliRunner().invoke(app, check)
    assert (refused.exit_code, "vouch calibrate" in refused.stderr) == (Exit.USAGE, True)
    result = CliRunner().invoke(app, ["calibrate", "--input", str(rows), "--model", model, "--output", str(made)])
    assert result.exit_code == Exit.OK, result.stderr
    assert "held-out rows" in result.stderr
    assert load_calibration(made).calibrator.kind == "platt"
    again = CliRunner().invoke(app, ["calibrate", "--input", str(rows), "--model", model, "--output", str(made)])
    assert again.exit_code == Exit.OK  # what was scored is not scored again
    monkeypatch.setenv(VARIABLE, str(made))
    checked = CliRunner().invoke(app, check)
    assert checked.exit_code == Exit.OK, checked.stderr
    verdict = json.loads(checked.stdout)
    assert verdict["provenance"]["model"] == model
    assert verdict["provenance"]["calibrator"] == load_calibration(made).name
    mixed = written(tmp_path / "mixed.jsonl", [*rows_of(10), *rows_of(10, question="When?")])
    result = CliRunner().invoke(
        app, ["calibrate", "--input", str(mixed), "--model", model, "--output", str(tmp_path / "m.json")]
    )
    assert (result.exit_code, "calibrate each kind separately" in result.stderr) == (Exit.USAGE, True)


def test_rows_of_another_tool_are_fitted_on_their_own_labels(tmp_path: Path) -> None:
    # As LLM-AggreFact has them: doc, claim, and label 1 or 0.
    foreign = [
        {"doc": row["source"], "claim": row["claim"], "label": int(row["label"] == "Attributable")}
        for row in rows_of(24)
    ]
    made = tmp_path / "c.json"
    result = CliRunner().invoke(
        app,
        [
            "calibrate",
            "--input",
            str(written(tmp_path / "rows.jsonl", foreign)),
            "--model",
            "embedded:rules",
            "--output",
            str(made),
        ],
    )
    assert result.exit_code == Exit.OK, result.stderr
    assert "fitted on 24 rows" in result.stderr
