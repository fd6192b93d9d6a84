from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import ends_within
from vouching.text.locate import Located, locate, locate_all

TEXT = "The Menai Bridge opened in 1826. It was “the first”  modern\nsuspension bridge – a wonder. The party left."


def found(quote: str, text: str = TEXT) -> tuple[str, str] | None:
    place = locate(quote, text)
    return (text[place.start : place.end], place.how) if place else None


def test_the_exact_characters_are_found_first() -> None:
    assert locate("opened in 1826", TEXT) == Located(start=17, end=31, how="exact", score=100.0)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("the menai  bridge", "The Menai Bridge"),
        ('was "the first" modern suspension', "was “the first”  modern\nsuspension"),
        ("bridge - a wonder", "bridge – a wonder"),
        ("``the first'' modern", "“the first”  modern"),
        ("opened in 1826 .", "opened in 1826."),
        ('"opened in 1826"', "opened in 1826"),
    ],
)
def test_case_white_space_and_typography_do_not_matter(quote: str, text: str) -> None:
    assert found(quote) == (text, "normalised")


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert found("Cafe\u0301 Noir", "the Caf\u00e9 Noir") == ("Caf\u00e9 Noir", "normalised")
    assert found("Caf\u00e9 Noir", "the Cafe\u0301 Noir") == ("Cafe\u0301 Noir", "normalised")


def test_a_misspelt_quote_is_found_and_snapped_to_word_borders() -> None:
    assert found("Menai Brige opend in 1826") == ("Menai Bridge opened in 1826", "fuzzy")


def test_the_score_is_that_of_the_text_returned() -> None:
    # "brige" lacks one letter of "bridge": 2 * 5 equal characters of 5 + 6 lie in common.
    place = locate("brige", "an old bridge")
    assert place is not None
    assert place.score == pytest.approx(100 * 10 / 11)
    assert locate("brige", "an old bridge", min_score=91) is None


@pytest.mark.parametrize("quote", ["", "  \n", "The Severn Tunnel closed", "xyz"])
def test_what_does_not_occur_is_not_found(quote: str) -> None:
    assert locate(quote, TEXT) is None


def test_a_short_quote_is_neither_fuzzy_nor_part_of_a_word() -> None:
    assert locate("art", "The party left") is None
    assert locate("bar", "a car") is None
    assert found("art", "The party, an art") == ("art", "exact")
    assert found("東京", "今は東京です") == ("東京", "exact")


def test_whole_words_are_preferred_to_parts_of_words() -> None:
    assert locate("bridge", "Cambridge has a bridge") == Located(start=16, end=22, how="exact", score=100.0)
    assert locate("bridge", "Cambridge") == Located(start=3, end=9, how="exact", score=100.0)


def test_after_prefers_a_later_occurrence_and_falls_back_to_the_first() -> None:
    starts = [place.start for after in (0, 1, 7) if (place := locate("same", "same, same", after=after))]
    assert starts == [0, 6, 0]


def test_near_prefers_the_occurrence_with_the_most_shared_words() -> None:
    text = "In Paris it was built in 1900." + " x" * 200 + " In London, near the river, it was built in 1900."
    place = locate("built in 1900", text, near="the river in London")
    assert place is not None
    assert place.start == text.rindex("built")


def test_repeated_quotes_are_found_at_successive_places() -> None:
    starts = [place and place.start for place in locate_all(["ab", "AB", "ab", "zz", "ab"], "ab, ab")]
    # The second is the second occurrence; there is no third, so later ones keep its place.
    assert starts == [0, 4, 4, None, 4]


@given(st.text(max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_every_piece_of_a_text_at_word_borders_is_found_in_it(text: str, start: int, length: int) -> None:
    piece = text[start : start + length].strip()
    place = locate(piece, text)
    if len(piece) >= 4:
        assert place is not None
        assert text[place.start : place.end] == piece
    elif place:
        assert 0 <= place.start < place.end <= len(text)


@given(st.text(max_size=40), st.text(max_size=120))
def test_offsets_are_inside_the_text_for_any_quote(quote: str, text: str) -> None:
    place = locate(quote, text, near="a b")
    assert place is None or (0 <= place.start < place.end <= len(text) and 0 <= place.score <= 100)


def test_time_is_bounded_on_long_and_repetitive_texts() -> None:
    with ends_within():  # about .3 s
        assert locate("Menai Brige opend in 1826", "the quick brown fox " * 100_000 + TEXT) is not None
        assert locate("a " * 100 + "b", "a " * 200_000) is None
