"""Agreement on labels against scikit-learn; overlap of spans by hand and character by character."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import cohen_kappa_score, f1_score

from vouching import metrics as m
from vouching.errors import InputError

SPAN = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda ends: (min(ends), max(ends)))
SPANS = st.lists(SPAN, max_size=4)


def test_kappa_of_three_labels_equals_that_of_scikit_learn() -> None:
    random = np.random.default_rng(1)
    first = random.choice(["match", "mismatch", "not_found"], 200)
    second = np.where(random.random(200) < 0.6, first, random.permutation(first))
    weights = random.integers(0, 4, 200).astype(float)
    assert_allclose(m.cohen_kappa(first, second), cohen_kappa_score(first, second))
    assert_allclose(m.cohen_kappa(first, second, weights), cohen_kappa_score(first, second, sample_weight=weights))


def test_kappa_of_one_label_throughout_is_undefined() -> None:
    assert np.isnan(m.cohen_kappa(["a"] * 3, ["a"] * 3))
    assert m.cohen_kappa(["a"] * 3, ["b"] * 3) == 0  # agreement 0, by chance 0


def test_kappa_needs_the_same_rows_from_both() -> None:
    for first, second in (([], []), (["a"], ["a", "b"])):
        with pytest.raises(InputError, match="two labels per row"):
            m.cohen_kappa(first, second)


def test_span_scores_add_up_over_rows() -> None:
    # Row 1: gold 10, predicted 5 to 15, so 5 in both. Row 2: predicted 20, none gold. Row 3: gold 10, none predicted.
    gold, predicted = [[(0, 10)], [], [(3, 13)]], [[(5, 15)], [(0, 20)], []]
    assert m.span_counts(gold, predicted).tolist() == [[5, 10, 10], [0, 20, 0], [0, 0, 10]]
    scores = m.span_scores(gold, predicted)
    assert_allclose([scores.precision, scores.recall, scores.f1], [5 / 30, 5 / 20, 10 / 50])


@given(rows=st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=4))
def test_span_scores_equal_those_of_scikit_learn_on_characters(rows: list[tuple[m.RowSpans, m.RowSpans]]) -> None:
    gold, predicted = (list(column) for column in zip(*rows, strict=True))
    marked = [
        [any(start <= place < end for start, end in spans) for spans in side for place in range(31)]
        for side in (gold, predicted)
    ]
    expected = f1_score(*marked, zero_division=np.nan)
    assert_allclose(m.span_scores(gold, predicted).f1, expected)


def test_a_token_counts_if_a_span_touches_it() -> None:
    tokens = [(0, 3), (4, 10), (11, 14), (15, 16)]
    # Gold touches tokens 1 and 2, predicted tokens 2 and 3; a span of the space alone and an empty one touch none.
    counts = m.token_counts([[(2, 5)]], [[(9, 12), (14, 15), (5, 5)]], [tokens])
    assert counts.tolist() == [[1, 2, 2]]


def test_tokens_after_the_last_span_are_in_no_span() -> None:
    assert m.token_counts([[(0, 2)]], [[]], [[(0, 2), (50, 60)]]).tolist() == [[0, 0, 1]]
    assert m.token_counts([[(0, 2)]], [[(0, 2)]], [[]]).tolist() == [[0, 0, 0]]


def test_scores_without_any_span_are_undefined() -> None:
    scores = m.span_scores([[]], [[]])
    assert np.isnan([scores.precision, scores.recall, scores.f1]).all()
    missed = m.span_scores([[(0, 4)]], [[]])
    assert np.isnan(missed.precision)
    assert (missed.recall, missed.f1) == (0, 0)


def test_invalid_spans_are_named_by_row() -> None:
    for spans in ([(5, 3)], [(-1, 3)]):
        with pytest.raises(InputError, match="row 2: span offsets must satisfy 0 <= start <= end"):
            m.span_counts([[], spans], [[], []])
    with pytest.raises(InputError, match="predicted and gold must have the same number of rows, got 2 and 1"):
        m.span_scores([[]], [[], []])
    with pytest.raises(InputError, match="tokens and gold must have the same number of rows, got 0 and 1"):
        m.token_counts([[]], [[]], [])
    with pytest.raises(InputError, match=r"shape \(N, 3\)"):
        m.span_f1([1, 2, 3])
