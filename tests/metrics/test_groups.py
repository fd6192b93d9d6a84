"""Rows that share a document get one number, however the sharing runs; slices keep the shares of the labels."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from vouching.errors import InputError
from vouching.metrics import document_numbers, spread_over_seeds, stratified_slice

KEYS = st.lists(st.lists(st.integers(0, 12), max_size=3), min_size=1, max_size=15)


def test_rows_are_joined_through_other_rows() -> None:
    # Rows 1 and 3 share nothing; row 4 has a key of each.
    assert document_numbers([["a"], ["z"], ["b"], ["a", "b"]]).tolist() == [0, 1, 0, 0]


def test_a_missing_key_joins_nothing() -> None:
    assert document_numbers([("a", None), ("b", None), (None,), ()]).tolist() == [0, 1, 2, 3]


def test_keys_of_different_kinds_carry_their_kind() -> None:
    assert document_numbers([[("source", "7")], [("group", "7")]]).tolist() == [0, 1]


@given(keys=KEYS)
def test_the_numbers_are_the_connected_components_in_order_of_appearance(keys: list[list[int]]) -> None:
    links = [(row, len(keys) + key) for row, row_keys in enumerate(keys) for key in row_keys]
    rows, columns = np.array(links, dtype=int).reshape(-1, 2).T
    size = len(keys) + 13
    _, component = connected_components(coo_array((np.ones(len(links)), (rows, columns)), shape=(size, size)), False)
    appearance = {number: place for place, number in enumerate(dict.fromkeys(component[: len(keys)].tolist()))}
    assert document_numbers(keys).tolist() == [appearance[number] for number in component[: len(keys)].tolist()]


def test_a_long_chain_is_one_document() -> None:
    assert set(document_numbers((n, n + 1) for n in range(100_000)).tolist()) == {0}


@pytest.mark.parametrize("keys", ["text", b"text", 7, np.int64(7), None, {"source": "text"}])
def test_a_single_key_is_rejected_and_not_split(keys: Any) -> None:
    with pytest.raises(InputError, match=rf"row 2: the keys must be a collection, .*, got {type(keys).__name__}$"):
        document_numbers([["text"], keys])


def test_without_rows_there_are_no_numbers() -> None:
    assert document_numbers([]).tolist() == []


def test_remaining_rows_go_to_the_largest_remainders() -> None:
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
def test_a_slice_larger_than_the_set_or_empty_is_rejected(size: int) -> None:
    with pytest.raises(InputError, match="the slice must have at least 1 row, and at most"):
        stratified_slice(["a", "a", "b"], size, seed=0)


def test_the_spread_is_the_mean_and_the_sample_deviation_over_seeds() -> None:
    values = iter([0.6, 0.7, 0.8])
    spread = spread_over_seeds(lambda rows: next(values), ["a", "b"], size=1)
    assert spread.values == (0.6, 0.7, 0.8)
    assert_allclose([spread.mean, spread.standard_deviation], [0.7, 0.1])  # sqrt((.01 + 0 + .01) / 2)


def test_one_seed_has_no_deviation_and_an_undefined_slice_no_mean() -> None:
    assert np.isnan(spread_over_seeds(lambda rows: 0.5, ["a"], 1, seeds=[0]).standard_deviation)
    assert np.isnan(spread_over_seeds(lambda rows: float("nan") if rows[0] else 0.5, ["a", "a"], 1, range(9)).mean)
    with pytest.raises(InputError, match="expected at least one seed"):
        spread_over_seeds(lambda rows: 0.5, ["a"], 1, seeds=[])
