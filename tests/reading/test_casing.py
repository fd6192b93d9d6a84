"""Capitals are restored from the sources and from general English."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.text.hostile import ANY_TEXT
from vouching.reading.casing import has_one_case, in_usual_case
from vouching.reading.evidence import index_sources, usual_form
from vouching.text.words import find_words
from vouching.types import Source

SOURCE = (
    "In 1903 the Velm Gorge Bridge near Upper Stowe was built by Brodie & Sons. The upper deck was closed. "
    "Its deck was painted by Bill Oak, who paid the bill. Tickets of the BRT are valid until May."
)


def recased(claim: str, source: str = SOURCE) -> str:
    return in_usual_case(claim, index_sources([Source(source)]).forms(find_words(claim)), usual_form)


@pytest.mark.parametrize(
    "claim",
    [
        "The Velm Gorge Bridge near Upper Stowe was built in 1903.",
        "The upper deck was painted by Bill Oak.",  # "upper" beside "deck" is no name
        "Brodie & Sons paid the bill.",
        "Tickets of the BRT may be used on 5 May.",
        "I know that Paris and London are cities of Europe.",  # names of general English
        "She took vitamin C. He did not.",
        "The abutments were quickly strengthened by Quillon.",  # unknown words: by their endings, else names
    ],
)
def test_a_claim_in_one_case_gets_the_capitals_it_had(claim: str) -> None:
    assert recased(claim.upper()) == recased(claim.lower()) == claim


def test_a_word_that_the_source_only_has_at_the_start_of_a_sentence_proves_nothing() -> None:
    assert recased("THEY SOLD TICKETS.") == "They sold tickets."


@given(ANY_TEXT)
def test_only_the_case_changes(text: str) -> None:
    found = in_usual_case(text, {}, usual_form)
    assert len(found) == len(text)
    assert found.lower() == text.lower()


@pytest.mark.parametrize("text", ["It opened.", "the BBC", "1937", ""])
def test_other_texts_have_not_one_case(text: str) -> None:
    assert not has_one_case(text)
