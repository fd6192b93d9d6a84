"""Documents cut into passages."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from vouching.search.passages import MIN_WORDS, cut_passages, pages_of
from vouching.text.words import find_words

PIECES = st.lists(
    st.sampled_from(["word ", "Word", ". ", "! ", "\n\n", "\f", "“", "” ", "- ", "7,5 ", "東京", "é", "  ", "… "]),
    max_size=400,
)


@given(PIECES, st.integers(MIN_WORDS, 90))
def test_every_word_is_in_a_passage_and_no_passage_has_too_many(pieces: list[str], most: int) -> None:
    text = "".join(pieces)
    cuts = cut_passages(text, most)
    words = find_words(text)
    assert all(any(start <= word.start and word.end <= end for start, end in cuts) for word in words)
    for start, end in cuts:
        assert text[start:end] == text[start:end].strip() != ""
        assert 1 <= len(find_words(text, start, end)) <= most
    assert cuts == sorted(cuts)
    assert len({start for start, _ in cuts}) == len(cuts)


def test_passages_begin_and_end_with_sentences_and_repeat_the_last_ones() -> None:
    # Each sentence has 10 words: 64 words take six of them; the overlap, at most 32 words, takes three of these.
    sentences = [f"Sentence {number} has ten words in it and no more." for number in range(12)]
    text = " ".join(sentences)
    found = [text[start:end] for start, end in cut_passages(text, 64)]
    assert found == [" ".join(sentences[first : first + 6]) for first in (0, 3, 6)]


def test_an_opening_quotation_mark_belongs_to_the_passage_that_its_sentence_opens() -> None:
    text = "One two. “Three four five,” he said. Six."
    assert [text[start:end] for start, end in cut_passages(text, 5)] == [
        "One two.",
        "“Three four five,” he said.",
        "Six.",
    ]


def test_a_text_without_words_has_no_passage() -> None:
    assert cut_passages("") == cut_passages(" \n … ") == []


def test_a_short_text_is_one_passage_without_its_outer_blanks() -> None:
    assert cut_passages("\n One two.  Three.\n") == [(2, 18)]


def test_a_long_text_is_cut_as_a_short_one_and_takes_little_memory() -> None:
    sentence = "The mill of Oslo was built by Ada in 1873 and burnt down. "
    text = sentence * 2_000  # 120,000 characters
    tracemalloc.start()
    cuts = cut_passages(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(text)  # a list of its words would be twice as much
    short = cut_passages(sentence * 40)
    assert cuts[: len(short) - 1] == short[:-1]


def test_a_long_text_of_few_words_or_none_is_one_passage_or_none() -> None:
    assert cut_passages("One" + " " * 200_000 + "two.") == [(0, 200_007)]
    assert cut_passages(" " * 200_000) == []


def test_pages_are_counted_by_form_feeds() -> None:
    assert pages_of("a\fb\fc", range(5)) == [1, 1, 2, 2, 3]
