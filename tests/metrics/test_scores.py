"""Labels and orderings, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import metrics as sk

from tests.metrics.made_rows import Rows, any_rows, made_rows
from vouching import metrics as m
from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray

ROWS = made_rows(300)


@pytest.mark.parametrize("weights", [None, ROWS.weights], ids=["unweighted", "weighted"])
def test_label_metrics_equal_those_of_scikit_learn(weights: FloatArray | None) -> None:
    truth, predicted = ROWS.truth, ROWS.predicted
    options = {"sample_weight": weights}
    na = {"pos_label": False, **options}
    assert_allclose(m.accuracy(truth, predicted, weights), sk.accuracy_score(truth, predicted, **options))
    assert_allclose(m.macro_f1(truth, predicted, weights), sk.f1_score(truth, predicted, average="macro", **options))
    balanced = sk.balanced_accuracy_score(truth, predicted, **options)
    assert_allclose(m.balanced_accuracy(truth, predicted, weights), balanced)
    assert_allclose(m.na_precision(truth, predicted, weights), sk.precision_score(truth, predicted, **na))
    assert_allclose(m.na_recall(truth, predicted, weights), sk.recall_score(truth, predicted, **na))
    assert_allclose(m.na_f1(truth, predicted, weights), sk.f1_score(truth, predicted, **na))
    matrix = sk.confusion_matrix(truth, predicted, labels=[True, False], **options)
    assert_allclose(m.confusion_matrix(truth, predicted, weights), matrix)


@pytest.mark.parametrize("weights", [None, ROWS.weights], ids=["unweighted", "weighted"])
def test_auroc_with_many_ties_equals_that_of_scikit_learn(weights: FloatArray | None) -> None:
    theirs = sk.roc_auc_score(ROWS.truth, ROWS.scores, sample_weight=weights)
    assert_allclose(m.auroc(ROWS.truth, ROWS.scores, weights), theirs)


@given(rows=any_rows())
def test_auroc_equals_the_share_of_pairs_in_the_right_order(rows: Rows) -> None:
    upper = [(s, w) for t, s, w in zip(rows.truth, rows.scores, rows.weights, strict=True) if t]
    lower = [(s, w) for t, s, w in zip(rows.truth, rows.scores, rows.weights, strict=True) if not t]
    won = sum(v * w * ((a > b) + (a == b) / 2) for a, v in upper for b, w in lower)
    pairs = sum(v * w for _, v in upper for _, w in lower)
    assert_allclose(m.auroc(rows.truth, rows.scores, rows.weights), won / pairs if pairs else np.nan)


@given(rows=any_rows(), factor=st.floats(0.1, 10), shift=st.floats(-5, 5))
def test_auroc_sees_only_the_order_of_the_scores(rows: Rows, factor: float, shift: float) -> None:
    moved = np.exp(factor * rows.scores) + shift
    assert_allclose(m.auroc(rows.truth, moved), m.auroc(rows.truth, rows.scores))


@given(rows=any_rows())
def test_auroc_of_negated_scores_is_the_complement(rows: Rows) -> None:
    assert_allclose(m.auroc(rows.truth, -rows.scores), 1 - m.auroc(rows.truth, rows.scores))


def test_a_constant_score_has_an_auroc_of_one_half() -> None:
    assert m.auroc([True, False, False], [0.3, 0.3, 0.3]) == 0.5


@given(rows=any_rows())
def test_the_trapezoids_below_the_roc_points_add_up_to_auroc(rows: Rows) -> None:
    points = m.roc_points(rows.truth, rows.scores)
    if not points:
        assert np.isnan(m.auroc(rows.truth, rows.scores))
        return
    across, up = np.array(points).T
    assert_allclose(np.trapezoid(up, across), m.auroc(rows.truth, rows.scores))
    assert (points[0], points[-1]) == ((0, 0), (1, 1))


def test_the_roc_points_are_on_the_curve_of_scikit_learn() -> None:
    across, up, _ = sk.roc_curve(ROWS.truth, ROWS.scores, drop_intermediate=False)
    on_curve = {(round(x, 12), round(y, 12)) for x, y in zip(across.tolist(), up.tolist(), strict=True)}
    assert {(round(x, 12), round(y, 12)) for x, y in m.roc_points(ROWS.truth, ROWS.scores)} <= on_curve


def test_a_straight_piece_of_the_roc_curve_has_no_inner_points() -> None:
    # 0.9 and 0.8 are both Attributable: up, up; then both others: across, across.
    assert m.roc_points([True, True, False, False], [0.9, 0.8, 0.2, 0.1]) == [(0, 0), (0, 1), (1, 1)]


def test_with_one_class_ranking_and_balance_are_undefined_and_the_rest_is_not() -> None:
    truth, predicted, scores = [True] * 3, [True, True, False], [0.9, 0.8, 0.1]
    assert np.isnan(m.auroc(truth, scores))
    assert np.isnan(m.balanced_accuracy(truth, predicted))
    assert np.isnan(m.na_recall(truth, predicted))
    assert m.roc_points(truth, scores) == []
    # One Not Attributable label, wrong: precision 0 / 1. Attributable F1: 2 * 2 / (3 + 2) = .8, the other 0 / 1.
    assert m.na_precision(truth, predicted) == 0
    assert_allclose(m.macro_f1(truth, predicted), 0.4)
    assert m.why_undefined(truth, predicted) == "one class only: all 3 rows are Attributable"


def test_a_class_that_never_occurs_has_an_undefined_f1() -> None:
    assert np.isnan(m.macro_f1([True, True], [True, True]))
    assert np.isnan(m.na_f1([True, True], [True, True]))


def test_the_undefined_precision_has_its_own_reason() -> None:
    assert np.isnan(m.na_precision([True, False], [True, True]))
    assert m.why_undefined([True, False], [True, True]) == "no row is judged Not Attributable"
    assert m.why_undefined([False], [False]) == "one class only: all 1 rows are Not Attributable"


def test_error_types_are_counted_in_the_order_of_the_taxonomy() -> None:
    counts = m.error_type_distribution(["fabrication", "temporal_shift", None, "fabrication"])
    assert [(kind, count) for kind, count in counts.items() if count] == [("temporal_shift", 1), ("fabrication", 2)]
    assert len(counts) == 6


def test_an_error_type_outside_the_taxonomy_is_rejected() -> None:
    with pytest.raises(InputError, match="unknown error type 'typo'; expected one of numerical_exaggeration"):
        m.error_type_distribution(["typo"])


@pytest.mark.parametrize("dtype", [int, np.int8, np.uint64])
def test_zeros_and_ones_are_taken_as_booleans(dtype: type) -> None:
    truth, predicted = [True, True, False, False], [True, False, False, False]
    assert m.macro_f1(np.array(truth, dtype), np.array(predicted, dtype)) == m.macro_f1(truth, predicted)
    assert m.predicted_na_rate(np.array(predicted, dtype)) == m.predicted_na_rate(predicted)


@pytest.mark.parametrize(
    ("truth", "scores", "message"),
    [
        ([], [], "truth must have at least one row, got none"),
        ([True, False], [0.1], "scores and the other array must have the same number of rows, got 1 and 2"),
        ([True, False, True], [0.1, 0.2, np.nan], "scores must be finite, got nan in row 3"),
        ([True, False], [np.inf, np.nan], "got inf in row 1"),
        ([True, False], ["0.1", "0.2"], "scores must be numbers"),
        ([True, False], [0.1, None], "scores must be numbers"),
        ([1.0, 0.0], [0.1, 0.2], "truth must be booleans"),
        ([1, 2], [0.1, 0.2], "truth must be booleans, or 0 and 1 .* got 2 in row 2"),
        ([-1, 1], [0.1, 0.2], "got -1 in row 1"),
        (["Attributable", "Attributable"], [0.1, 0.2], "truth must be booleans"),
        ([[True, False]], [0.1, 0.2], "one value per row"),
    ],
)
def test_invalid_arrays_are_rejected(truth: list[bool], scores: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        m.auroc(truth, scores)
