"""Texts that may not be trained on are found however they are dressed, and others are not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.checklist.gold import KnownTexts

LONG = "Write a summary of the history of the old bridge in at least 300 words and do not use any commas."
KNOWN = KnownTexts([LONG, "Name a bridge.", ""])


def test_the_same_words_in_other_case_and_signs_overlap() -> None:
    assert KNOWN.find(LONG.upper().replace(".", " !")) == LONG
    assert KNOWN.find("NAME a *bridge*") == "Name a bridge."


def test_a_text_that_holds_a_known_one_and_a_part_of_one_overlap() -> None:
    assert KNOWN.find(f"You are helpful. {LONG} Thank you.") == LONG
    assert KNOWN.find(" ".join(LONG.split()[:14])) == LONG


def test_few_words_in_common_are_no_overlap() -> None:
    assert KNOWN.find("Write a summary of the history of the old castle in at most 20 words, with commas.") is None
    assert KNOWN.find("Name a bridge in Japan.") is None
    assert KNOWN.find("") is None


@given(st.lists(st.text(max_size=60), max_size=5), st.text(max_size=60))
def test_every_text_with_a_word_overlaps_with_itself(texts: list[str], text: str) -> None:
    known = KnownTexts([*texts, text])
    assert all(known.find(one) is not None for one in texts if any(c.isascii() and c.isalnum() for c in one))
