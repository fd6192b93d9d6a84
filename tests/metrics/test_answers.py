"""F1 of the words of an answer, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import InputError
from vouching.metrics import token_f1


def test_words_are_counted_as_often_as_they_stand_there() -> None:
    # "new york new york" against "new york": 2 in both, of 4 and of 2: 2 * 2 / (4 + 2).
    assert token_f1("New York, New York!", ["the New York"]) == pytest.approx(2 / 3)


def test_the_nearest_reference_counts() -> None:
    # "paris" is in neither of the first, and all of the last; against "city of paris" it would be 2 * 1 / (1 + 3).
    assert token_f1("Paris", ["London", "City of Paris"]) == 0.5
    assert token_f1("Paris", ["London", "City of Paris", "a Paris."]) == 1.0


def test_texts_without_a_word_are_equal_to_each_other_alone() -> None:
    assert token_f1("The", ["a"]) == 1.0
    assert token_f1("?", ["Paris"]) == 0.0


def test_no_reference_is_refused() -> None:
    with pytest.raises(InputError, match="at least one reference"):
        token_f1("Paris", [])


@given(st.text("ab c"), st.text("ab c"))
def test_it_lies_between_0_and_1_and_does_not_mind_which_is_which(answer: str, reference: str) -> None:
    assert 0.0 <= token_f1(answer, [reference]) == token_f1(reference, [answer]) <= 1.0
