"""Rows that share a document get one number, however the sharing runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from vouching.errors import InputError
from vouching.metrics import document_numbers

KEYS = st.lists(st.lists(st.integers(0, 12), max_size=3), min_size=1, max_size=15)


def test_rows_meet_through_other_rows() -> None:
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
def test_what_is_no_collection_of_keys_is_refused_instead_of_being_taken_apart(keys: Any) -> None:
    with pytest.raises(InputError, match=f"row 2: the keys are of type {type(keys).__name__}, wanted a collection"):
        document_numbers([["text"], keys])


def test_no_rows_have_no_numbers() -> None:
    assert document_numbers([]).tolist() == []
