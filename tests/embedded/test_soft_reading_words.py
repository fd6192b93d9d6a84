"""Equal numbers and dates reach the encoder in the source's words, and what it says comes back in the claim's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.embedded.compared import compare
from vouching.embedded.soft_reading import Reworded, reword
from vouching.encoder.reading import SoftReading, TokenMatch
from vouching.reading.evidence import index_sources
from vouching.types import Source, Span


def reworded(claim: str, source: str) -> Reworded:
    index = index_sources([Source(source)])
    return reword(compare(claim, index))


@pytest.mark.parametrize(
    ("claim", "source", "text"),
    [
        (
            "The plant cut its costs by 33%.",
            "The plant cut its costs by one-third.",
            "The plant cut its costs by one-third.",
        ),
        ("It was opened on 3 May 1937.", "It was opened on May 3, 1937.", "It was opened on May 3, 1937."),
        ("It has 1.2 million users.", "It has 1,200,000 users.", "It has 1,200,000 users."),
        ("It has 12 towers.", "It has 8 towers.", "It has 12 towers."),  # another value stays
        ("It has 8 towers.", "It has 8 towers.", "It has 8 towers."),
    ],
)
def test_equal_values_are_replaced_and_others_stay(claim: str, source: str, text: str) -> None:
    assert reworded(claim, source).text == text


def match(text: str, start: int, end: int) -> TokenMatch:
    return TokenMatch(Span(text[start:end], start, end), Span("x", 0, 1, "source-1"), 0.5, 0.5)


def test_tokens_map_back_to_their_places_in_the_claim() -> None:
    # "50%" (14..17) became "half" (14..18): what follows stands one character further on in the text.
    found = Reworded("Sales grew by 50% in May.", "Sales grew by half in May.", ((14, 17, 14, 18),))
    tokens = tuple(match(found.text, *place) for place in ((0, 5), (14, 16), (16, 18), (22, 25)))
    even = {"supported": 0.5, "contradicted": 0.3, "not_found": 0.2}
    reading = found.back(SoftReading(even, {}, tokens, 0.0, 1, 1, (), 26))  # type: ignore[arg-type]
    spans = [(m.claim_span.text, m.claim_span.start, m.claim_span.end) for m in reading.matches]
    assert spans == [("Sales", 0, 5), ("50%", 14, 17), ("50%", 14, 17), ("May", 21, 24)]
    assert reading.claim_read == 25


@given(st.lists(st.sampled_from("50% half 0.5 1973 two 2 dozen 12 May 3, 3 the sales grew in by".split()), max_size=14))
def test_text_that_was_not_replaced_keeps_its_offsets(words: list[str]) -> None:
    found = reworded("Sales " + " ".join(words), "Sales grew by half, 0.5 percent, on 3 May 1973, twelve or 2 dozen.")
    done = new_done = 0
    for start, end, new_start, new_end in (*found.places, (len(found.claim),) * 2 + (len(found.text),) * 2):
        assert found.claim[done:start] == found.text[new_done:new_start]
        done, new_done = end, new_end


@pytest.mark.parametrize(
    ("claim", "read"),
    [
        ("[sale:] negotiable: false", "sale: not negotiable"),
        ("refundable: true", "refundable"),
        ("[price eur:] adult: 68", "price eur: the adult is 68"),
        ("| **HG-115** | [Speed (rpm):] 9500 | [Brake:] no |", "HG-115, the Speed (rpm) is 9500, not Brake"),
        ("[Seller:] Berg", "the Seller is Berg"),
        ("[trains, Day train:] departure: 9:05", "trains, Day train: the departure is 9:05"),
        ("[contact:] notes: The lift is broken.", "contact: notes: The lift is broken."),
        ("Note: it rained.", "Note: it rained."),  # a sentence
        ("He said: nothing", "He said: nothing"),
        ("Pets allowed: true", "Pets allowed"),
    ],
)
def test_a_field_of_a_structured_answer_is_read_as_a_phrase(claim: str, read: str) -> None:
    found = reworded(claim, "The car is for sale.")
    assert found.text.lower() == read.lower()  # a claim in one case is put into the usual one
    assert all(0 <= start <= end <= len(found.claim) for start, end, _, _ in found.places)


def test_a_field_whose_end_is_not_read_as_it_stands_counts_as_read() -> None:
    found = reworded("refundable: true", "The car is for sale.")
    even = {"supported": 0.5, "contradicted": 0.3, "not_found": 0.2}
    read = found.back(SoftReading(even, {}, (), 0.0, 1, 1, (), len(found.text)))  # type: ignore[arg-type]
    assert read.claim_read == len("refundable: true")
