"""A text in plain form is what a reader sees, and its offsets lead back to what was written."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.hostile import ANY_TEXT, takes_linear_time
from vouching.reading.plain import as_plain

TYPESET = st.lists(
    st.sampled_from(
        ["a", "b", " ", "  ", "\n", "\u00a0", "\u2009", "\u00ad", "\u00ad\n", "\u200b", "e\u0301", "ﬁ", "’", "5"]
    )
).map("".join)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a  bridge", "a bridge"),
        ("5\u00a0km and 10\u202f000\u2009t", "5 km and 10 000 t"),
        ("foot\u00adbridge", "footbridge"),
        ("foot\u00ad\n  bridge", "footbridge"),
        ("the “bridge’s” co\u2011op", 'the "bridge\'s" co-op'),
        ("ﬁve oﬃces", "five offices"),
        ("cafe\u0301", "café"),
        ("１２ ｋｍ", "12 km"),
    ],
)
def test_typesetting_is_undone(text: str, plain: str) -> None:
    assert as_plain(text).text == plain


@pytest.mark.parametrize(
    "text", ["  indented", "ends a line  \nhere", "a\t\tb", "1903–1908", "5 m²", "−3 °C", "one\n\ntwo"]
)
def test_what_means_something_stays(text: str) -> None:
    assert as_plain(text).text == text


@given(st.one_of(TYPESET, ANY_TEXT))
def test_each_stretch_leads_back_to_the_same_letters(text: str) -> None:
    plain = as_plain(text)
    for start in range(0, len(plain.text), 3):
        for end in range(start + 1, min(len(plain.text), start + 6) + 1):
            first, last = plain.origin(start, end)
            assert 0 <= first <= last <= len(text)
            found = plain.text[start:end]
            if found.isalpha() and found.isascii():
                # A ligature cannot be divided, so that more of it than asked for may come back.
                assert found in unicodedata.normalize("NFKD", as_plain(text[first:last]).text)


@given(st.text(st.characters(max_codepoint=126)).filter(lambda text: "  " not in text))
def test_plain_ascii_is_left_alone(text: str) -> None:
    assert as_plain(text).text == text
    assert as_plain(text).pieces == ()


@pytest.mark.parametrize("piece", ["  ", "\u00ad", "\u00ad \n", "a\u0301", "a\u00ad  ", "ﬁ"])
def test_time_is_linear(piece: str) -> None:
    assert takes_linear_time(lambda text: as_plain(text), piece, 200_000)
