from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from tests.text.hostile import ANY_TEXT, growth
from vouching.text.words import antonyms, concepts, find_words, lower_words, stem, synonym_groups


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("... --- !", []),
        ("It rains.", ["it", "rains"]),
        ("well-known", ["well", "known"]),
        ("snake_case", ["snake", "case"]),
        ("the U.S.A. army", ["the", "u.s.a", "army"]),
        ("1,200.50 km", ["1,200.50", "km"]),
        ("O’Neill didn’t", ["o'neill", "didn't"]),
        ("東京は晴れ", ["東", "京", "は", "晴", "れ"]),
        ("in 東京 today", ["in", "東", "京", "today"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("a\0b", ["a", "b"]),
        ("good 👍 news", ["good", "news"]),
    ],
)
def test_words_are_what_a_reader_would_call_words(text: str, words: list[str]) -> None:
    assert [word.lower for word in find_words(text)] == words


@pytest.mark.parametrize(
    "forms",
    [
        "improve improves improved improving improvement",
        "study studies studied studying",
        "organize organise organized organisation organizations",
        "run running runs",
        "found finds find",
        "win won wins winning",
        "write wrote written writing",
        "child children",
        "reduce reduced reduction reducing",
        "company companies company's",
    ],
)
def test_forms_of_one_word_share_a_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("news", "new"), ("found", "founded"), ("universe", "university"), ("bus", "bush"), ("policy", "police")],
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["it", "x", "1,200", "b12", "東", "Москва"])
def test_short_words_numbers_and_other_alphabets_are_their_own_stems(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize("word", ["the", "isn't", "We’ve", "they're", "can't", "won't", "who's", "It's"])
def test_grammar_words_and_their_contractions_carry_no_content(word: str) -> None:
    assert not find_words(word)[0].is_content


@pytest.mark.parametrize("word", ["won", "Don", "bridge", "1937", "Anna's"])
def test_words_that_mean_something_carry_content(word: str) -> None:
    assert find_words(word)[0].is_content


def test_a_phrase_shares_its_concepts_with_a_single_word() -> None:
    phrase, single = find_words("the death rate fell"), find_words("mortality fell")
    assert set(concepts(phrase)[1]) & set(concepts(single)[0])


def test_a_word_has_each_of_its_synonym_groups_once() -> None:
    assert [key for key, groups in synonym_groups().items() if len(set(groups)) < len(groups)] == []


def test_antonyms_are_symmetric_and_no_word_is_its_own() -> None:
    table = antonyms()
    assert all(one in table[other] for one, others in table.items() for other in others)
    assert [one for one, others in table.items() if one in others] == []


@given(ANY_TEXT)
def test_every_word_is_the_text_at_its_offsets_and_words_do_not_overlap(text: str) -> None:
    words = find_words(text)
    assert [text[w.start : w.end].lower().replace("’", "'") for w in words] == [w.lower for w in words]
    assert all(a.end <= b.start for a, b in pairwise(words))
    assert lower_words(text) == [w.lower for w in words]


@given(ANY_TEXT)
def test_every_letter_and_digit_is_in_a_word(text: str) -> None:
    covered = {i for w in find_words(text) for i in range(w.start, w.end)}
    assert all(i in covered for i, c in enumerate(text) if c.isalnum())


@given(ANY_TEXT)
def test_words_of_a_slice_keep_the_offsets_of_the_whole_text(text: str) -> None:
    start, end = len(text) // 4, len(text) // 4 * 3
    shifted = [(w.start + start, w.end + start) for w in find_words(text[start:end])]
    assert [(w.start, w.end) for w in find_words(text, start, end)] == shifted


@pytest.mark.parametrize("piece", ["a.", "a'", "1,", "ab ", "東", "a.a'"])
def test_reading_words_takes_time_linear_in_the_text(piece: str) -> None:
    assert growth(find_words, piece) < 10
