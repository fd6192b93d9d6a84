from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processor_time import ends_within
from vouching.text.sentences import MAX_SENTENCE, sentence_spans


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


# A bar stands where a sentence ends; the white space after it belongs to the text.
MARKED = [
    "Dr. Smith met Mr. Jones vs. Mrs. Lee.| They talked.",
    "The U.S. Army left.| He lives in the U.S.| The war was over.",
    "Use fruit, e.g. apples, i.e. Malus domestica.| Done well.",
    "He works at Apple Inc. in May.| She left Acme Inc.| The firm closed.",
    "Take No. 5 and Fig. 3.| He said no.| Then he left.",
    "It opens at 9 a.m. on Monday and closes at 5 p.m.| It is free.",
    "J. K. Rowling wrote it.| St. Louis has a zoo.",
    "It rains in Sept. and on Sept. 5.| Pi is 3.14 or so.| Next one.",
    "He ate vitamin C.| Oranges have it.",
    "Wait... what?| Yes...| Fine.",
    "Really?!| Yes.",
    'He said "Stop."| Then he left.| "Why?" she asked.',
    "It rained (see p. 5).| Then (wow!) it stopped.",
    "Visit example.com or run foo.py.| It works.",
    "iPhones sell.| iPhone sales rose.",
    "It fell in 1990.[1]| It rose in 1995.[2][3]",
    "It fell in 1990.[1, 3]| It rose in 1995.【2】| It ended.",
    "It is gone.| `open()` makes a file.",
    "Smith et al. (2019) agree.| Others do not.",
    "First line of a\nwrapped sentence.\n|second one after a stop",
    "A heading\n\n|Text follows.",
    "# Title\n|Text that\nis wrapped.",
    "The list:\n|- one\n|* two\n  wrapped\n|• three\n|1. four\n|2) five\n|a) six",
    "| a | b |\n¦| 1 | 2 |",
    "東京は首都です。|大阪は？|はい！|終わり",
    "彼は「行く。」と言った。|終わり",
    "هل هذا صحيح؟| نعم۔| انتهى",
    "यह पहला है।| यह दूसरा है।",
    "He won . | `` It is over . ''| Next came `` Jaws '' .| The end .",
]


@pytest.mark.parametrize("marked", MARKED)
def test_a_sentence_ends_where_a_reader_would_end_it(marked: str) -> None:
    bar = "¦" if "¦" in marked else "|"
    assert split(marked.replace(bar, "")) == [piece.strip() for piece in marked.split(bar)]


def test_a_long_stretch_without_a_stop_is_cut_at_a_late_comma_or_else_a_blank() -> None:
    # 1,800 + 1 characters, then a comma in the last third of the first 2,000.
    with_comma = "a" * 1_800 + ", " + "b" * 1_000
    assert [end - start for start, end in sentence_spans(with_comma)] == [1_801, 1_000]
    assert [end - start for start, end in sentence_spans("a" * 900 + " " + "b" * 1_500)] == [900, 1_500]
    assert [end - start for start, end in sentence_spans("a" * 4_500)] == [2_000, 2_000, 500]


@given(st.text(st.sampled_from("aB1. !?\n\"'([)]-*|#。،؟,;:\u00a0\x00") | st.characters(), max_size=200))
def test_spans_and_the_white_space_between_them_rebuild_any_text(text: str) -> None:
    position = 0
    for start, end in sentence_spans(text):
        assert position <= start < end <= len(text)
        assert end - start <= MAX_SENTENCE
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


@pytest.mark.parametrize("unit", [".", "a. ", "a", ".\n", ". ' ", '."', "1. \n", "**a\n", "A. B", "a; ", "\n", "- "])
def test_time_is_linear_on_repetitive_text(unit: str) -> None:
    text = unit * 100_000
    with ends_within():  # about .3 s; quadratic work on 100,000 units takes minutes
        sentence_spans(text)
