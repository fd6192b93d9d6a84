"""A disguised text is read as a reader sees it; a plain one is read as it stands."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.text.hostile import ANY_TEXT, takes_linear_time
from vouching.text.disguises import may_be_disguised, readings, spaced_words


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("The la\u200bbel is wrong.", "The label is wrong."),
        ("The\u200blabel is wrong.", "The label is wrong."),
        ("Th\u0435 l\u0430b\u0435l is wrong.", "The label is wrong."),
        ("Thé làbel is wrong.", "The label is wrong."),
        ("The &#108;abel is wrong.", "The label is wrong."),
        ("\uff34he label is wrong.", "The label is wrong."),
        ("The l a b e l is wrong.", "The label is wrong."),
        ("".join(chr(0xE0000 + ord(c)) for c in "The label is wrong."), "The label is wrong."),
    ],
)
def test_a_disguised_text_is_read_as_a_reader_sees_it(text: str, read_as: str) -> None:
    assert read_as in readings(text)
    assert may_be_disguised(text)


@pytest.mark.parametrize("text", ["Oslo is a city.", "“It’s cold” — she said.", "A. B. Smith and J. R. Jones met."])
def test_a_plain_text_is_read_as_it_stands(text: str) -> None:
    assert not may_be_disguised(text)
    assert spaced_words(text) == []


@given(ANY_TEXT)
def test_a_text_without_a_sign_of_disguise_has_one_reading(text: str) -> None:
    assert may_be_disguised(text) or len(readings(text)) <= 2
    assert readings("Oslo is a city.") == ["Oslo is a city."]


@pytest.mark.parametrize("unit", ["a b c d e f ", "c\u200bl", "\u0430a", "&#99;", "-x-y"])
def test_time_grows_linearly(unit: str) -> None:
    assert takes_linear_time(readings, unit, 64_000 // len(unit))
