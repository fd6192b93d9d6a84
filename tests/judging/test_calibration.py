"""A calibration on disk: found by the model's name, applied, and refused where it does not fit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.methods.scripts import CLAIM, RIGHT, SOURCE, reply, warned
from vouching.checker import Checker
from vouching.errors import ConfigError, InputError
from vouching.judging.calibration import (
    Calibration,
    LabelledScore,
    LabelledVerdict,
    by_token,
    calibrate,
    calibrate_scores,
    find_calibration,
    load_calibration,
)
from vouching.methods.structured.prompt import structured_prompt
from vouching.methods.structured.verify import StructuredVerifier
from vouching.metrics.calibrators import Calibrator, CalibratorKind
from vouching.models import ScriptedModel
from vouching.types import Claim, Provenance, Source, Verdict

HASH = structured_prompt().digest
HALVED = Calibration("scripted", HASH, 1, Calibrator("temperature", (2.0,)), {"rows": 40.0})


def judged(calibration: Calibration) -> Verdict:
    """A verdict of a model that says Attributable with .9."""
    verifier = StructuredVerifier(ScriptedModel([reply(RIGHT, confidence=0.9)]), calibration=calibration)
    [found] = asyncio.run(verifier.verify([Claim(CLAIM)], [Source(SOURCE)]))
    assert isinstance(found, Verdict)
    return found


def test_a_calibration_that_fits_changes_the_score_and_is_named() -> None:
    found = judged(HALVED)
    # Odds of .9 are 9; to the power 1/2 they are 3, so .75.
    assert (found.score, found.stated_confidence) == (pytest.approx(0.75), 0.9)
    assert found.provenance.calibrator == HALVED.name
    assert warned(found, "uncalibrated") == []


@pytest.mark.parametrize("other", [{"model": "another"}, {"prompt_hash": "0" * 64}, {"votes": 3}])
def test_a_calibration_for_something_else_is_not_applied_and_the_verdict_says_why(other: dict[str, object]) -> None:
    found = judged(replace(HALVED, **other))  # type: ignore[arg-type]
    assert (found.score, found.provenance.calibrator) == (0.9, None)
    assert "was fitted with" in warned(found, "uncalibrated")[0]


def test_a_calibration_may_overrule_the_label_and_says_so() -> None:
    doubtful = replace(HALVED, calibrator=Calibrator("isotonic", (0.0, 1.0), (0.1, 0.45)))
    found = judged(doubtful)
    assert (found.label, found.error_type, found.relation) == ("Not Attributable", None, "not_found")
    assert any("own label is Attributable" in message for message in warned(found, "inconsistency"))


def test_a_file_is_read_back_as_it_was_saved(tmp_path: Path) -> None:
    HALVED.save(tmp_path / "a.json")
    assert load_calibration(tmp_path / "a.json") == HALVED


def test_the_variable_names_a_file_or_a_folder_and_the_model_picks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    HALVED.save(tmp_path / "a.json")
    replace(HALVED, model="another").save(tmp_path / "b.json")
    assert find_calibration("scripted") is None
    for place in (tmp_path, tmp_path / "a.json"):
        monkeypatch.setenv("VOUCH_CALIBRATION", str(place))
        assert find_calibration("scripted") == HALVED
        assert find_calibration("a third") is None
    found = Checker(ScriptedModel([reply(RIGHT, confidence=0.9)])).check(CLAIM, SOURCE)
    assert isinstance(found, Verdict)
    assert found.score == pytest.approx(0.75)


def test_what_is_no_calibration_is_a_wrong_setting(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"format": 1, "model": "x"}')
    with pytest.raises(ConfigError, match="is not a calibration"):
        find_calibration("x", str(tmp_path))
    with pytest.raises(ConfigError, match="No such file"):
        find_calibration("x", str(tmp_path / "nowhere.json"))
    (tmp_path / "bad.json").unlink()
    HALVED.save(tmp_path / "a.json")
    HALVED.save(tmp_path / "b.json")
    with pytest.raises(ConfigError, match="are calibrations of the same model, scripted"):
        find_calibration("scripted", str(tmp_path))


def labelled(count: int = 40, **provenance: object) -> list[LabelledVerdict]:
    """Verdicts of .9 and .1, of which three quarters are right, each about a document of its own."""
    made: list[LabelledVerdict] = []
    for number in range(count):
        attributable, right = number % 2 == 0, number % 8 < 6
        score = 0.9 if attributable else 0.1
        origin = Provenance(**{"model": "m", "version": "1", "prompt_hash": "h", **provenance})  # type: ignore[arg-type]
        label = "Attributable" if attributable else "Not Attributable"
        verdict = Verdict(Claim("x"), label, score, 0.9, 0.5, "supported", provenance=origin)
        gold = "Attributable" if attributable == right else "Not Attributable"
        made.append(LabelledVerdict(gold, verdict, str(number)))  # type: ignore[arg-type]
    return made


def test_a_calibration_is_fitted_on_labelled_verdicts_and_measured_on_held_out_ones() -> None:
    made = calibrate(labelled(400))
    # .9 is right in 3 of 4 cases: odds 3 instead of 9, so T = 2; before, ECE is .9 - .75 = .15 on either side.
    assert made.calibrator.at[0] == pytest.approx(2.0, abs=1e-6)
    assert (made.model, made.prompt_hash, made.votes) == ("m", "h", 1)
    assert made.measured["ece"] == pytest.approx(0.15)
    assert made.measured["ece_held_out"] < 0.1
    assert made.measured["brier_held_out"] < made.measured["brier"]


def test_a_model_that_gives_all_claims_one_label_gets_a_calibration_that_moves_the_threshold() -> None:
    # .3 for supported claims and .1 for others, and no label is Attributable: a temperature keeps both below one half.
    rows = [
        replace(
            row,
            verdict=replace(row.verdict, label="Not Attributable", score=0.3 if row.gold == "Attributable" else 0.1),
        )
        for row in labelled()
    ]
    found = calibrate(rows).calibrator
    assert found(0.3) > 0.5 > found(0.1)
    kept = calibrate(rows, "temperature").calibrator
    assert kept(0.3) < 0.5


def test_verdicts_of_which_only_some_are_scored_by_tokens_are_fitted_by_the_score_that_most_have() -> None:
    tokens, stated = labelled(40, prompt_hash=by_token("h")), labelled(40)
    for more, fewer, prompt in ((tokens, stated[:2], by_token("h")), (stated, tokens[:2], "h")):
        made = calibrate([*fewer, *more])
        assert (made.prompt_hash, made.measured["rows"], made.calibrator) == (prompt, 40, calibrate(more).calibrator)
    with pytest.raises(InputError, match="verdicts of one model with one prompt"):
        calibrate([*labelled(2, prompt_hash="another"), *tokens])


def test_a_calibration_of_the_other_kind_of_score_says_which_it_is_for() -> None:
    assert "for what it states" in (HALVED.why_not("scripted", by_token(HASH), 1) or "")
    assert "were not reported here" in (replace(HALVED, prompt_hash=by_token(HASH)).why_not("scripted", HASH, 1) or "")


def test_one_document_is_never_on_both_sides_of_the_measurement() -> None:
    one = [replace(row, group="the same") for row in labelled()]
    assert "ece_held_out" not in calibrate(one).measured


@pytest.mark.parametrize("kind", ["temperature", "platt", "isotonic"])
@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        ((0.51, 0.51), r"all 0\.51"),
        ((0.8, 0.2), r"not higher for supported claims \(AUROC 0\.000\)"),
        ((0.5, 0.5, 0.7, 0.7), r"AUROC 0\.500"),
    ],
)
def test_scores_that_rank_no_better_than_chance_are_refused(
    scores: tuple[float, ...], fault: str, kind: CalibratorKind
) -> None:
    labels = ("Not Attributable", "Attributable")
    rows = [LabelledScore(labels[n % 2], scores[n % len(scores)], str(n)) for n in range(40)]
    with pytest.raises(InputError, match=f"the 40 scores of m are {fault}" if "all" in fault else fault):
        calibrate_scores("m", "h", rows, kind)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "got no verdicts"),
        (labelled(20) + labelled(20, prompt_hash="other"), "one model with one prompt"),
        (labelled(20) + labelled(20, votes=3), "one model with one prompt"),
        (labelled(calibrator="temperature:1"), "already calibrated.*: unset VOUCH_CALIBRATION and check again"),
        (labelled(calibrator="logistic:1", prompt_hash=None), "already calibrated.*: use verdicts of a language model"),
        (labelled(10), "at least 20"),
    ],
)
def test_verdicts_that_cannot_be_calibrated_together_are_refused(rows: list[LabelledVerdict], words: str) -> None:
    with pytest.raises(InputError, match=words):
        calibrate(rows)
