"""Calibration and coverage, against scikit-learn, by brute force and by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from tests.metrics.made_rows import Rows, any_rows, made_rows
from vouching import metrics as m
from vouching.errors import InputError

ROWS = made_rows(300)


def test_ece_is_the_mean_distance_over_bins_by_rows() -> None:
    # [.9, 1]: |.95 - 1| x 1; [.8, .9): |.85 - 1/2| x 2; [.1, .2): .15 x 1; [0, .1): .05 x 1. Sum .95, of 5 rows.
    assert_allclose(m.ece([True, True, False, False, False], [0.95, 0.85, 0.85, 0.15, 0.05]), 0.19)


def test_errors_in_both_directions_cancel_within_a_bin_and_not_between_bins() -> None:
    # .85 against a share of 1 and .85 against 0 are one bin: |.85 - .5|. With .35 instead of one of them: .65 and .15.
    assert_allclose(m.ece([False, True], [0.85, 0.85]), 0.35)
    assert_allclose(m.ece([True, False], [0.35, 0.15]), (0.65 + 0.15) / 2)


def test_every_edge_belongs_to_the_bin_above_it_and_one_to_the_last() -> None:
    edges = [step / 10 for step in range(11)]
    bins = m.reliability_bins([True] * 11, edges)
    assert [b.count for b in bins] == [1] * 9 + [2]
    assert [b.low for b in bins] == edges[:-1]
    assert [b.high for b in bins] == edges[1:]


def test_the_bins_equal_those_of_scikit_learn_away_from_the_edges() -> None:
    random = np.random.default_rng(3)
    scores = random.random(200)
    truth = random.random(200) < scores
    share, score = calibration_curve(truth, scores, n_bins=10)
    bins = m.reliability_bins(truth, scores)
    assert_allclose([b.mean_score for b in bins], score)
    assert_allclose([b.share_attributable for b in bins], share)
    assert_allclose(m.ece(truth, scores), np.abs(share - score) @ [b.count for b in bins] / 200)


def test_an_empty_bin_is_listed_and_has_no_share() -> None:
    [empty, full] = m.reliability_bins([True], [0.9], bins=2)
    assert (empty.count, full.count) == (0, 1)
    assert np.isnan(empty.mean_score)
    assert np.isnan(empty.share_attributable)


def test_brier_equals_that_of_scikit_learn() -> None:
    for weights in (None, ROWS.weights):
        theirs = brier_score_loss(ROWS.truth, ROWS.scores, sample_weight=weights)
        assert_allclose(m.brier(ROWS.truth, ROWS.scores, weights), theirs)


def test_brier_skill_is_the_saving_over_the_base_rate() -> None:
    # Brier (.04 + .09 + .01 + .16) / 4 = .075; base rate 3/4, its score .1875; 1 - .075 / .1875 = .6.
    assert_allclose(m.brier_skill([True, True, True, False], [0.8, 0.7, 0.9, 0.4]), 0.6)


def test_always_predicting_the_base_rate_has_no_skill() -> None:
    assert_allclose(m.brier_skill([True, True, True, False], [0.75] * 4), 0, atol=1e-12)


def test_with_one_class_skill_is_undefined_and_calibration_is_not() -> None:
    assert np.isnan(m.brier_skill([True, True], [0.8, 0.9]))
    assert_allclose(m.ece([True, True], [0.8, 0.9]), 0.15)


def test_a_tie_at_the_cut_counts_in_part() -> None:
    right, confidence = [True, False, True, True, False], [0.9, 0.8, 0.8, 0.6, 0.5]
    # 50 % of 5 rows: the first, right, and 1.5 of two tied ones of which half are right: 1.75 / 2.5.
    assert_allclose(m.accuracy_at_coverage(right, confidence, coverage=0.5), 0.7)
    # 80 %: the first four, three of them right.
    assert_allclose(m.accuracy_at_coverage(right, confidence, coverage=0.8), 0.75)


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(st.booleans(), st.sampled_from([0.5, 0.7, 0.9])), min_size=1, max_size=5),
    coverage=st.floats(0.01, 1),
)
def test_ties_count_as_the_mean_over_all_their_orders(rows: list[tuple[bool, float]], coverage: float) -> None:
    def of_one_order(order: tuple[tuple[bool, float], ...]) -> float:
        hits, room = 0.0, coverage * len(order)
        for right, _ in sorted(order, key=lambda row: -row[1]):
            taken = min(1.0, max(0.0, room))
            hits, room = hits + right * taken, room - taken
        return hits / (coverage * len(order))

    right, confidence = zip(*rows, strict=True)
    expected = np.mean([of_one_order(order) for order in permutations(rows)])
    assert_allclose(m.accuracy_at_coverage(right, confidence, coverage=coverage), expected, atol=1e-9)


@given(rows=any_rows())
def test_full_coverage_is_plain_accuracy(rows: Rows) -> None:
    full = m.accuracy_at_coverage(rows.right, rows.confidence, rows.weights, coverage=1)
    assert_allclose(full, m.accuracy(rows.truth, rows.predicted, rows.weights))


def test_the_coverage_curve_passes_through_the_reported_points() -> None:
    curve = dict(m.coverage_points(ROWS.right, ROWS.confidence))
    assert len(curve) == 100
    for share in (0.5, 0.8, 1.0):
        assert curve[share] == m.accuracy_at_coverage(ROWS.right, ROWS.confidence, coverage=share)


@pytest.mark.parametrize("score", [-0.1, 1.1, 7])
def test_a_score_outside_0_and_1_cannot_be_calibrated(score: float) -> None:
    for metric in (m.ece, m.brier, m.brier_skill, m.reliability_bins):
        with pytest.raises(InputError, match=r"scores must be in \[0, 1\], got .* in row 2"):
            metric([True, False, True], [0.5, score, 0.5])


def test_settings_out_of_range_are_rejected() -> None:
    for coverage in (0, -0.5, 1.01, float("nan")):
        with pytest.raises(InputError, match="coverage must be in"):
            m.accuracy_at_coverage([True], [0.5], coverage=coverage)
    with pytest.raises(InputError, match="number of bins must be at least 1"):
        m.ece([True], [0.5], bins=0)
