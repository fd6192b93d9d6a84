"""Fitting a calibrator: what it does to scores, by hand, against scikit-learn, and for any rows."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from vouching.errors import InputError
from vouching.metrics import brier, ece
from vouching.metrics.calibrators import Calibrator, fit_calibrator, held_out_scores

rows = st.lists(st.tuples(st.booleans(), st.integers(0, 100).map(lambda n: n / 100)), min_size=20, max_size=80).filter(
    lambda found: 0 < sum(gold for gold, _ in found) < len(found)
)


def test_a_temperature_is_the_ratio_of_stated_to_true_log_odds() -> None:
    # Of 30 claims scored .8, 20 are Attributable: odds 4 should be odds 2, so T = ln 4 / ln 2 = 2. And mirrored.
    truth = [True] * 20 + [False] * 10 + [True] * 10 + [False] * 20
    fitted = fit_calibrator("temperature", truth, [0.8] * 30 + [0.2] * 30)
    assert fitted.at[0] == pytest.approx(math.log(4) / math.log(2), abs=1e-6)
    assert (fitted(0.8), fitted(0.2), fitted(0.5)) == (pytest.approx(2 / 3), pytest.approx(1 / 3), 0.5)


def test_scores_in_the_wrong_direction_become_one_half() -> None:
    fitted = fit_calibrator("temperature", [False] * 15 + [True] * 15, [0.9] * 15 + [0.1] * 15)
    assert fitted(1.0) == pytest.approx(0.5, abs=1e-3)


def test_a_confident_model_that_is_always_right_does_not_reach_certainty() -> None:
    fitted = fit_calibrator("temperature", [True] * 15 + [False] * 15, [1.0] * 15 + [0.0] * 15)
    assert 0 < fitted(0.0) < 0.01 < 0.99 < fitted(1.0) < 1


def test_platt_draws_the_line_between_two_raw_scores() -> None:
    # At -3, 2 of 10 are right; at 9, 18 of 20. Labels are softened to 21/22 and 1/12 (20 right, 10 wrong):
    # means 2/10 * 21/22 + 8/10 * 1/12 = .2576 and 18/20 * 21/22 + 2/20 * 1/12 = .8674, which two points fit exactly.
    fitted = fit_calibrator("platt", [True] * 2 + [False] * 8 + [True] * 18 + [False] * 2, [-3.0] * 10 + [9.0] * 20)
    assert (fitted(-3.0), fitted(9.0)) == (pytest.approx(0.2576, abs=1e-4), pytest.approx(0.8674, abs=1e-4))
    low, high = (math.log(p / (1 - p)) for p in (fitted(-3.0), fitted(9.0)))
    assert fitted.at == (pytest.approx((high - low) / 12), pytest.approx(low + 3 * (high - low) / 12))


def test_platt_does_not_depend_on_location_or_scale_of_raw_scores() -> None:
    random = np.random.default_rng(1)
    scores = random.normal(size=200)
    truth = random.random(200) < 1 / (1 + np.exp(-2 * scores))
    plain = fit_calibrator("platt", truth, scores).apply(scores)
    for slope, shift in ((1000.0, 5e6), (1e-4, -3.0)):
        moved = slope * scores + shift
        np.testing.assert_allclose(fit_calibrator("platt", truth, moved).apply(moved), plain, atol=1e-6)


def test_platt_stays_finite_where_scores_separate_the_labels_or_do_not_differ() -> None:
    truth = [True] * 15 + [False] * 15
    fitted = fit_calibrator("platt", truth, [4.0] * 15 + [-4.0] * 15)
    assert fitted(4.0) == pytest.approx(16 / 17)  # (15 + 1) / (15 + 2)
    assert fitted(1e9) < 1
    assert fit_calibrator("platt", truth, [2.0] * 30)(2.0) == pytest.approx(0.5)
    wrong = fit_calibrator("platt", truth, [-4.0] * 15 + [4.0] * 15)
    assert wrong.at == (0.0, pytest.approx(0.0))


@settings(max_examples=30)
@given(rows)
def test_platt_is_logistic_regression_on_softened_labels(found: list[tuple[bool, float]]) -> None:
    truth, scores = np.array([gold for gold, _ in found]), np.array([score for _, score in found])
    right, wrong = truth.sum(), (~truth).sum()
    target = np.where(truth, (right + 1) / (right + 2), 1 / (wrong + 2))
    spread = scores.std() or 1.0
    both = np.concatenate([scores, scores])[:, None] / spread
    theirs = LogisticRegression(C=1e9, tol=1e-9, max_iter=10_000)
    theirs.fit(both, [True] * len(scores) + [False] * len(scores), np.concatenate([target, 1 - target]))
    ours = fit_calibrator("platt", truth, scores)
    if theirs.coef_[0, 0] > 1e-4:
        np.testing.assert_allclose(ours.apply(scores), theirs.predict_proba(both[: len(scores)])[:, 1], atol=1e-3)
    else:
        assert ours.at[0] < 1e-3 / spread


def test_isotonic_takes_raw_scores_too() -> None:
    fitted = fit_calibrator("isotonic", [False] * 10 + [True] * 10, [-7.0] * 10 + [30.0] * 10)
    assert fitted(-100.0) < 0.2 < 0.8 < fitted(100.0)
    with pytest.raises(InputError, match="must be in"):
        fit_calibrator("temperature", [False] * 10 + [True] * 10, [-7.0] * 10 + [30.0] * 10)


def test_isotonic_pools_neighbours_that_are_out_of_order() -> None:
    # By score: .1 (8 of 10 wrong), .4 (7 of 10 right), .6 (3 of 10 right), .9 (9 of 10 right). Made-up rows: one right
    # at .1, one wrong at .9: (2+1)/11, then .4 and .6 pooled to 10/20, then 9/11.
    truth = [True] * 2 + [False] * 8 + [True] * 7 + [False] * 3 + [True] * 3 + [False] * 7 + [True] * 9 + [False]
    fitted = fit_calibrator("isotonic", truth, [0.1] * 10 + [0.4] * 10 + [0.6] * 10 + [0.9] * 10)
    assert fitted.at == (0.1, 0.4, 0.6, 0.9)
    assert fitted.values == pytest.approx((3 / 11, 0.5, 0.5, 9 / 11))
    assert fitted(0.25) == pytest.approx((3 / 11 + 0.5) / 2)
    assert (fitted(0.0), fitted(1.0)) == (fitted(0.1), fitted(0.9))


@settings(max_examples=40)
@given(rows)
def test_isotonic_equals_the_fit_of_scikit_learn(found: list[tuple[bool, float]]) -> None:
    truth, scores = [gold for gold, _ in found], [score for _, score in found]
    fitted = fit_calibrator("isotonic", truth, scores)
    theirs = IsotonicRegression(out_of_bounds="clip")
    theirs.fit([*scores, min(scores), max(scores)], [*map(float, truth), 1.0, 0.0])
    np.testing.assert_allclose(fitted.apply(scores), theirs.predict(scores), atol=1e-6)


@settings(max_examples=40)
@given(rows, st.sampled_from(["temperature", "platt", "isotonic"]))
def test_no_fit_turns_the_order_of_two_scores_or_leaves_the_open_interval(
    found: list[tuple[bool, float]], kind: str
) -> None:
    fitted = fit_calibrator(kind, [gold for gold, _ in found], [score for _, score in found])  # type: ignore[arg-type]
    curve = fitted.apply(np.linspace(0, 1, 101))
    assert (np.diff(curve) >= -1e-12).all()
    assert (curve > 0).all()
    assert (curve < 1).all()


def test_held_out_scores_of_an_overconfident_model_are_better_than_its_own() -> None:
    random = np.random.default_rng(0)
    right = random.random(600)
    truth = random.random(600) < right
    stated = right**3 / (right**3 + (1 - right) ** 3)  # odds to the third power: T = 3
    for kind in ("temperature", "platt", "isotonic"):
        better = held_out_scores(kind, truth, stated, np.arange(600) % 5)
        assert brier(truth, better) < brier(truth, stated)
        assert ece(truth, better) < ece(truth, stated) / 2


@pytest.mark.parametrize("truth", [[True, False] * 9, [True] * 30])
def test_too_few_rows_or_one_label_are_rejected(truth: list[bool]) -> None:
    with pytest.raises(InputError, match="at least 20 rows and both labels"):
        fit_calibrator("temperature", truth, [0.5] * len(truth))


@pytest.mark.parametrize(
    ("kind", "at", "values"),
    [
        ("temperature", (), ()),
        ("temperature", (0.0,), ()),
        ("temperature", (1.0,), (0.5,)),
        ("isotonic", (), ()),
        ("isotonic", (0.1, 0.1), (0.1, 0.2)),
        ("isotonic", (0.1, 0.2), (0.2, 0.1)),
        ("isotonic", (0.1,), (1.5,)),
        ("platt", (1.0,), ()),
        ("platt", (-1.0, 0.0), ()),
        ("platt", (1.0, 0.0), (0.5,)),
        ("other", (1.0,), ()),
    ],
)
def test_a_decreasing_or_invalid_curve_is_rejected(kind: str, at: tuple[float, ...], values: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="must be a temperature, a line or an increasing curve"):
        Calibrator(kind, at, values)  # type: ignore[arg-type]


def test_platt_takes_weights_as_so_many_equal_rows() -> None:
    """A row that counts three times is three rows. The targets (n + 1) / (n + 2) count what rows weigh, too."""
    draw = random.Random(3)
    truth = [draw.random() < 0.4 for _ in range(60)]
    scores = [draw.gauss(float(label), 1.0) for label in truth]
    weights = [draw.choice((1, 2, 3)) for _ in truth]
    repeated = [(label, score) for label, score, n in zip(truth, scores, weights, strict=True) for _ in range(n)]
    expected = fit_calibrator("platt", *zip(*repeated, strict=True))
    found = fit_calibrator("platt", truth, scores, weights)
    assert found(0.0) == pytest.approx(expected(0.0), abs=1e-6)
    assert found(2.0) == pytest.approx(expected(2.0), abs=1e-6)


@pytest.mark.parametrize("weights", [[1.0] * 39, [0.0] + [1.0] * 39])
def test_invalid_weights_are_rejected(weights: list[float]) -> None:
    with pytest.raises(InputError, match="a positive number per row"):
        fit_calibrator("platt", [True, False] * 20, [0.1, 0.9] * 20, weights)
    with pytest.raises(InputError, match=r"weights require kind platt .*, got temperature"):
        fit_calibrator("temperature", [True, False] * 20, [0.1, 0.9] * 20, [1.0] * 40)
