"""The idea of the layer: a weight is how often a row counts, for every metric, one vector or thousands at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.metrics.made_rows import Rows, any_rows, made_rows
from vouching import metrics as m
from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray

STATISTICS: dict[str, Callable[[Rows], m.Statistic]] = {
    "mean": lambda rows: partial(m.mean, rows.scores),
    "accuracy": lambda rows: partial(m.accuracy, rows.truth, rows.predicted),
    "macro_f1": lambda rows: partial(m.macro_f1, rows.truth, rows.predicted),
    "balanced_accuracy": lambda rows: partial(m.balanced_accuracy, rows.truth, rows.predicted),
    "na_precision": lambda rows: partial(m.na_precision, rows.truth, rows.predicted),
    "na_recall": lambda rows: partial(m.na_recall, rows.truth, rows.predicted),
    "na_f1": lambda rows: partial(m.na_f1, rows.truth, rows.predicted),
    "predicted_na_rate": lambda rows: partial(m.predicted_na_rate, rows.predicted),
    "auroc": lambda rows: partial(m.auroc, rows.truth, rows.scores),
    "ece": lambda rows: partial(m.ece, rows.truth, rows.scores),
    "brier": lambda rows: partial(m.brier, rows.truth, rows.scores),
    "brier_skill": lambda rows: partial(m.brier_skill, rows.truth, rows.scores),
    "accuracy_at_50": lambda rows: partial(m.accuracy_at_coverage, rows.right, rows.confidence, coverage=0.5),
    "accuracy_at_80": lambda rows: partial(m.accuracy_at_coverage, rows.right, rows.confidence, coverage=0.8),
    "cohen_kappa": lambda rows: partial(m.cohen_kappa, rows.truth, rows.predicted),
    "span_precision": lambda rows: partial(m.span_precision, _span_counts(rows)),
    "span_recall": lambda rows: partial(m.span_recall, _span_counts(rows)),
    "span_f1": lambda rows: partial(m.span_f1, _span_counts(rows)),
}


@pytest.fixture(params=STATISTICS)
def statistic_of(request: pytest.FixtureRequest) -> Callable[[Rows], m.Statistic]:
    return STATISTICS[request.param]


@pytest.mark.parametrize("name", STATISTICS)
@given(rows=any_rows())
def test_a_weight_of_k_equals_k_copies_of_the_row(name: str, rows: Rows) -> None:
    copied = rows.repeated()
    weighted, repeated = STATISTICS[name](rows)(rows.weights), STATISTICS[name](copied)(copied.weights)
    assert_allclose(weighted, repeated, rtol=1e-12, atol=1e-12)


def test_many_weight_vectors_give_the_value_of_each(statistic_of: Callable[[Rows], m.Statistic]) -> None:
    statistic = statistic_of(made_rows(40))
    weights = np.random.default_rng(1).integers(0, 4, (2, 3, 40)).astype(float)
    together = statistic(weights)
    assert together.shape == (2, 3)
    one_by_one: list[list[FloatArray]] = [[statistic(vector) for vector in block] for block in weights]
    assert_allclose(together, np.array(one_by_one), rtol=1e-12)


def test_no_weights_count_every_row_once(statistic_of: Callable[[Rows], m.Statistic]) -> None:
    rows = made_rows(40)
    assert_allclose(statistic_of(rows)(np.ones(40)), float(statistic_of(rows)(None)))


def test_the_scale_of_the_weights_does_not_matter(statistic_of: Callable[[Rows], m.Statistic]) -> None:
    rows = made_rows(40)
    assert_allclose(statistic_of(rows)(rows.weights), statistic_of(rows)(rows.weights / 7), rtol=1e-12)


def test_without_any_weight_every_metric_is_undefined(statistic_of: Callable[[Rows], m.Statistic]) -> None:
    assert np.isnan(statistic_of(made_rows(40))(np.zeros(40)))


@pytest.mark.parametrize(
    "weights", [np.ones(39), np.float64(1), -np.ones(40), np.full(40, np.nan), np.full(40, np.inf)]
)
def test_weights_of_the_wrong_shape_are_rejected(
    statistic_of: Callable[[Rows], m.Statistic], weights: FloatArray
) -> None:
    with pytest.raises(InputError, match="weights must"):
        statistic_of(made_rows(40))(weights)


@given(rows=any_rows(), row=st.integers(0, 14))
def test_the_order_of_the_rows_does_not_matter(rows: Rows, row: int) -> None:
    turned = Rows(*(np.roll(column, row) for column in (rows.truth, rows.scores, rows.weights)))
    for name, statistic_of in STATISTICS.items():
        if not name.startswith("span"):  # their spans are made from the row number
            before, after = statistic_of(rows)(rows.weights), statistic_of(turned)(turned.weights)
            assert_allclose(before, after, rtol=1e-12, atol=1e-12, err_msg=name)


def _span_counts(rows: Rows) -> FloatArray:
    """Spans as long as the score is high, gold where the truth is."""
    length = [round(20 * score) for score in rows.scores]
    gold = [[(0, 10)] if truth else [] for truth in rows.truth]
    return m.span_counts(gold, [[(5, 5 + size)] for size in length])
