"""Slices keep the shares of the labels; the spread is over the seeds."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from vouching.errors import InputError
from vouching.metrics import spread_over_seeds, stratified_slice


def test_rows_left_over_go_to_the_largest_remainders() -> None:
    # 5 of 10 rows with labels a 5, b 3, c 2: 2.5, 1.5 and 1, so one row is left and a comes first in the tie.
    labels = list("aaaaabbbcc")
    assert Counter(labels[row] for row in stratified_slice(labels, 5, seed=0)) == {"a": 3, "b": 1, "c": 1}


@given(labels=st.lists(st.sampled_from("abcd"), min_size=1, max_size=40), data=st.data())
def test_a_slice_has_its_size_no_row_twice_and_every_share_within_one_row(
    labels: list[str], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(labels)))
    rows = stratified_slice(labels, size, seed=data.draw(st.integers(0, 5))).tolist()
    assert len(rows) == len(set(rows)) == size
    assert rows == sorted(rows)
    drawn, whole = Counter(labels[row] for row in rows), Counter(labels)
    assert all(abs(drawn[label] - Fraction(size * whole[label], len(labels))) < 1 for label in whole)


def test_the_seed_decides_the_slice() -> None:
    labels = [True, False] * 50
    first, same, other = (stratified_slice(labels, 20, seed).tolist() for seed in (3, 3, 4))
    assert first == same
    assert first != other


def test_every_row_of_a_label_is_as_likely() -> None:
    # 600 slices with 1 of 3 rows of one label: 200 each, standard deviation sqrt(600 x 1/3 x 2/3) = 11.5.
    hits = Counter(int(row) for seed in range(600) for row in stratified_slice(["a"] * 3, 1, seed))
    assert all(abs(hits[row] - 200) < 50 for row in range(3))


@pytest.mark.parametrize("size", [0, -1, 4])
def test_a_slice_larger_than_the_set_or_empty_is_refused(size: int) -> None:
    with pytest.raises(InputError, match="wanted 1 to all of them"):
        stratified_slice(["a", "a", "b"], size, seed=0)


def test_the_spread_is_the_mean_and_the_sample_deviation_over_seeds() -> None:
    values = iter([0.6, 0.7, 0.8])
    spread = spread_over_seeds(lambda rows: next(values), ["a", "b"], size=1)
    assert spread.values == (0.6, 0.7, 0.8)
    assert_allclose([spread.mean, spread.deviation], [0.7, 0.1])  # sqrt((.01 + 0 + .01) / 2)


def test_one_seed_has_no_deviation_and_an_undefined_slice_no_mean() -> None:
    assert np.isnan(spread_over_seeds(lambda rows: 0.5, ["a"], 1, seeds=[0]).deviation)
    assert np.isnan(spread_over_seeds(lambda rows: float("nan") if rows[0] else 0.5, ["a", "a"], 1, range(9)).mean)
    with pytest.raises(InputError, match="no seeds"):
        spread_over_seeds(lambda rows: 0.5, ["a"], 1, seeds=[])
