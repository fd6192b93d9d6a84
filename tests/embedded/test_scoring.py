from __future__ import annotations

import hashlib
import json
import math
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.embedded.scoring import ScoreModel, Term, load_score_model, score_model_of
from vouching.errors import WeightsError
from vouching.reading.evidence import shipped_table

MODEL = ScoreModel(
    0.0, (Term("coverage", 2.0, 0.5, 0.25),), 1.0, 0.0, {"negated": 0.3, "date_differs": 0.4}, 0.9, digest=""
)
COVERED = {"coverage": 0.75}
"""z = 2 * (0.75 - 0.5) / 0.25 = 2, so that p = 1 / (1 + exp(-2)) = 0.880797."""
RECORD = {
    "format": 1,
    "intercept": 0.5,
    "terms": [{"name": "coverage", "weight": 2.0, "mean": 0.5, "scale": 0.25}],
    "calibration": {"slope": 2.0, "shift": -1.0},
    "ceilings": {"negated": 0.3},
    "verbatim_floor": 0.9,
}


def test_z_adds_each_feature_in_standard_deviations_to_the_intercept() -> None:
    two = ScoreModel(0.5, (Term("a", 2.0, 0.5, 0.25), Term("b", -1.0, 1.0, 2.0)), 1.0, 0.0, {}, 0.9, digest="")
    # 0.5 + 2 * (0.75 - 0.5) / 0.25 - 1 * (5 - 1) / 2 = 0.5 + 2 - 2
    assert two.logit({"a": 0.75, "b": 5.0}) == pytest.approx(0.5)


def test_a_probability_is_the_logistic_function_of_z() -> None:
    assert MODEL.probability({"coverage": 0.5}) == 0.5  # z = 0
    assert MODEL.probability(COVERED) == pytest.approx(0.880797, abs=1e-6)


def test_calibration_scales_and_shifts_z() -> None:
    model = ScoreModel(0.0, MODEL.terms, 2.0, -1.0, {}, 0.9, digest="")
    # z = 2 * (0.625 - 0.5) / 0.25 = 1; 2 * 1 - 1 = 1; 1 / (1 + exp(-1)) = 0.731059
    assert model.probability({"coverage": 0.625}) == pytest.approx(0.731059, abs=1e-6)


def test_a_decisive_difference_keeps_the_probability_below_its_ceiling() -> None:
    # ORDER_KEPT is 0.3: 0.3 * (0.7 + 0.3 * 0.880797) = 0.289272
    assert MODEL.probability(COVERED, ["negated"]) == pytest.approx(0.289272, abs=1e-6)


def test_with_several_decisive_differences_the_lowest_ceiling_applies() -> None:
    # 0.4 * (0.7 + 0.3 * 0.880797) = 0.385696
    assert MODEL.probability(COVERED, ["date_differs"]) == pytest.approx(0.385696, abs=1e-6)
    assert MODEL.probability(COVERED, ["date_differs", "negated"]) == MODEL.probability(COVERED, ["negated"])


def test_a_decisive_difference_never_raises_a_probability() -> None:
    # z = -4, p = 0.017986; the ceiling alone would allow 0.3 * (0.7 + 0.3 * 0.017986) = 0.2116
    assert MODEL.probability({"coverage": 0.0}, ["negated"]) == pytest.approx(0.017986, abs=1e-6)


def test_a_claim_copied_word_for_word_has_a_floor_unless_something_decisive_differs() -> None:
    # z = -4, p = 0.017986, raised to 0.9; z = 4, p = 0.982014 is above it already.
    assert MODEL.probability({"coverage": 0.0}, verbatim=True) == 0.9
    assert MODEL.probability({"coverage": 1.0}, verbatim=True) == pytest.approx(0.982014, abs=1e-6)
    assert MODEL.probability(COVERED, ["negated"], verbatim=True) == MODEL.probability(COVERED, ["negated"])


@given(st.floats(-5, 5), st.floats(-5, 5), st.sets(st.sampled_from(["negated", "date_differs"])))
def test_the_better_covered_claim_never_scores_lower_whatever_differs(
    one: float, other: float, kinds: set[str]
) -> None:
    low, high = (MODEL.probability({"coverage": c}, kinds) for c in sorted((one, other)))
    assert low <= high


@given(st.floats(-1e12, 1e12), st.sets(st.sampled_from(["negated", "date_differs"])))
def test_a_probability_is_never_certain_and_stays_below_every_ceiling(coverage: float, kinds: set[str]) -> None:
    probability = MODEL.probability({"coverage": coverage}, kinds)
    assert 0.0 < probability < 1.0
    assert all(probability < MODEL.ceilings[kind] for kind in kinds)


def test_the_shipped_model_has_ceilings_below_one_half_and_names_its_file() -> None:
    model = load_score_model()
    raw = files("vouching.embedded").joinpath("weights", "rules.json").read_bytes()
    assert model.digest == hashlib.sha256(raw).hexdigest()[:12]
    assert all(0 < ceiling < 0.5 for ceiling in model.ceilings.values())
    assert all(term.scale > 0 and math.isfinite(term.weight) for term in model.terms)


def test_a_model_is_read_from_the_contents_of_its_file() -> None:
    model = score_model_of(json.dumps(RECORD).encode())
    # z = 0.5 + 2 * (0.75 - 0.5) / 0.25 = 2.5; 2 * 2.5 - 1 = 4; 1 / (1 + exp(-4)) = 0.982014
    assert model.probability(COVERED) == pytest.approx(0.982014, abs=1e-6)
    assert model.ceilings == {"negated": 0.3}


def test_a_file_of_another_version_says_which_was_expected() -> None:
    with pytest.raises(WeightsError, match=r"format 2, expected 1"):
        score_model_of(json.dumps(RECORD | {"format": 2}).encode())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        json.dumps(RECORD | {"terms": 5}).encode(),
        json.dumps(RECORD | {"terms": [{"name": "coverage"}]}).encode(),
        json.dumps(RECORD | {"calibration": None}).encode(),
        json.dumps(RECORD | {"intercept": "0.5"}).encode(),
        json.dumps(RECORD | {"intercept": float("nan")}).encode(),
        json.dumps(RECORD | {"ceilings": {"negated": None}}).encode(),
        json.dumps(RECORD | {"ceilings": [0.3]}).encode(),
        json.dumps({k: v for k, v in RECORD.items() if k != "ceilings"}).encode(),
        json.dumps({k: v for k, v in RECORD.items() if k != "verbatim_floor"}).encode(),
    ],
)
def test_damaged_contents_are_an_error_of_the_weights(content: bytes) -> None:
    with pytest.raises(WeightsError, match="reinstall"):
        score_model_of(content)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped tables with their sums."""
    shipped = Path(str(files("vouching.embedded").joinpath("weights")))
    return Path(shutil.copytree(shipped, tmp_path / "weights"))


@pytest.mark.parametrize("name", ["rules.json", "combined.json", "rarity.txt", "case.txt"])
def test_an_altered_or_missing_table_is_rejected_by_name(folder: Path, name: str) -> None:
    assert shipped_table(name, folder) == shipped_table(name)
    (folder / name).write_bytes(shipped_table(name) + b" ")
    with pytest.raises(WeightsError, match=rf"{name} has SHA-256 .* changed; reinstall"):
        shipped_table(name, folder)
    (folder / name).unlink()
    with pytest.raises(WeightsError, match=rf"cannot read .*{name}.* reinstall"):
        shipped_table(name, folder)


def test_tables_without_checksums_are_rejected(folder: Path) -> None:
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(WeightsError, match="SHA256SUMS"):
        shipped_table("rules.json", folder)
