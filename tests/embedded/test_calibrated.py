"""The embedded verifier on one's own labels: threshold and temperature, and the rest of the record as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from vouching.checker import Checker
from vouching.cli.app import app
from vouching.embedded.calibrated import CalibratedVerifier, open_calibrated
from vouching.embedded.verify import EmbeddedVerifier, open_embedded
from vouching.judging.calibration import VARIABLE, Calibration, best_threshold, confident_from, load_calibration
from vouching.metrics.calibrators import Calibrator
from vouching.types import Verdict

RIGHT, WRONG, SOURCE = "The bridge opened in 1973.", "The bridge opened in 1937.", "The bridge opened in 1973."
CLAIMS = [RIGHT, WRONG, "The bridge is nice.", "It opened.", "Ulm is a city."]


def calibrated(temperature: float, threshold: float | None, folder: Path) -> Path:
    curve = Calibrator("temperature", (temperature,))
    Calibration("embedded:rules", "embedded", 1, curve, {"rows": 40.0}, threshold).save(folder / "rules.json")
    return folder


def verdict_of(claim: str, threshold: float = 0.5) -> Verdict:
    verdict = Checker("embedded:rules", threshold).check(claim, SOURCE)
    assert isinstance(verdict, Verdict)
    return verdict


def test_scores_are_calibrated_and_reasons_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {claim: verdict_of(claim) for claim in CLAIMS}
    monkeypatch.setenv(VARIABLE, str(calibrated(2.0, None, tmp_path)))
    for claim, old in before.items():
        new = verdict_of(claim)
        # odds^(1/2), with scores clipped to [.01, .99]
        odds = min(max(old.score, 0.01), 0.99)
        assert new.score == pytest.approx(1 / (1 + ((1 - odds) / odds) ** 0.5))
        assert (new.label, new.evidence_alignment, new.reasoning_chain, new.revised_claim) == (
            old.label,
            old.evidence_alignment,
            old.reasoning_chain,
            old.revised_claim,
        )
        assert new.provenance.calibrator == f"{old.provenance.calibrator}, {Calibrator('temperature', (2.0,)).name}"


def test_the_threshold_of_the_calibration_replaces_the_default_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(calibrated(1.0, 0.3, tmp_path)))
    assert verdict_of(RIGHT).threshold == 0.3
    assert verdict_of(RIGHT, 0.6).threshold == 0.6


@settings(max_examples=40, deadline=None)
@given(st.floats(0.05, 20.0), st.floats(0.0, 1.0))
def test_label_score_and_threshold_agree_for_any_temperature_and_threshold(
    temperature: float, threshold: float
) -> None:
    curve = Calibration("embedded:rules", "embedded", 1, Calibrator("temperature", (temperature,)))
    verifier = CalibratedVerifier(EmbeddedVerifier(), curve, threshold)
    checker = Checker("embedded:rules")
    checker.verifier = verifier
    for verdict in checker.check(CLAIMS, SOURCE):
        assert isinstance(verdict, Verdict)  # a label that does not follow from score and threshold raises ValueError
        assert verdict.threshold == threshold


def test_a_calibration_for_other_weights_is_not_used_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Calibration("embedded:rules", "other", 1, Calibrator("temperature", (2.0,))).save(tmp_path / "rules.json")
    plain = verdict_of(RIGHT).score
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    verdict = verdict_of(RIGHT)
    assert verdict.score == plain
    assert "uncalibrated" in [warning.kind for warning in verdict.warnings]


def test_without_a_calibration_the_verifier_is_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert type(open_calibrated("embedded:rules")) is type(open_embedded("embedded:rules"))


def test_own_labels_give_a_threshold_and_a_temperature_that_checks_then_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    rows, output = tmp_path / "rows.jsonl", tmp_path / "rules.json"
    texts = [
        json.dumps({"claim": claim, "source": f"{SOURCE} Page {n}.", "label": label})
        for n in range(15)
        for claim, label in ((RIGHT, "Attributable"), (WRONG, "Not Attributable"))
    ]
    rows.write_text("\n".join(texts), encoding="utf-8")
    command = ["calibrate", "--input", str(rows), "--model", "embedded:rules", "--output", str(output)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    made = load_calibration(output)
    assert (made.model, made.prompt_hash, made.calibrator.kind) == ("embedded:rules", "embedded", "temperature")
    assert made.threshold == 0.5  # all rows are right from there on, and it is the nearest to one half
    assert "a cascade asks the next model below a confidence of" in result.stderr
    monkeypatch.setenv(VARIABLE, str(output))
    assert made.name in (verdict_of(RIGHT).provenance.calibrator or "")


def test_the_limit_of_a_cascade_is_the_lowest_confidence_with_few_errors() -> None:
    # From .7 on 1 of 30 labels is wrong; from .6 on 6 of 40.
    truth = [True] * 29 + [False] + [True] * 5 + [False] * 5
    assert confident_from(truth, [0.7] * 30 + [0.6] * 10) == 0.7
    assert confident_from([True] * 19, [0.9] * 19) == 1.0  # fewer than 20 rows


def test_the_threshold_has_the_best_balanced_accuracy() -> None:
    # Between .2 and .35 all are right; the middle is .275. At .5 both right rows are missed.
    assert best_threshold([True, True, False, False, False], [0.4, 0.35, 0.2, 0.1, 0.1]) == pytest.approx(0.275)
