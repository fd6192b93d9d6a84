"""The premise that the encoder reads: what it has, in which order, and where each of its words is from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vouching.embedded.features import compare_claim
from vouching.embedded.premise import LONGEST, Premise, premise_for
from vouching.reading.evidence import index_sources
from vouching.types import Source

FILLER = " ".join(f"Barge number {n} carried gravel along the lower canal that week." for n in range(40))
PRICES = (
    "# Prices\n\n| Plan | Price |\n|---|---|\n| Basic | $10 |\n| Pro | $49 |\n\n# Refunds\n\nRefunds take 14 days.\n"
)


def premise(claim: str, *sources: str) -> Premise:
    """The premise of a claim with sources."""
    index = index_sources([Source(text, f"s{i}") for i, text in enumerate(sources)])
    return premise_for(compare_claim(claim, index), index)


def test_short_sources_are_read_in_full_and_in_order() -> None:
    assert premise("Refunds take long.", "Entry is free.", "Refunds take 14 days.").text == (
        "Entry is free. Refunds take 14 days."
    )


def test_a_row_is_read_with_the_heads_of_its_columns_and_its_heading() -> None:
    assert premise("Pro costs $49.", PRICES).text == (
        "Prices: Plan: Basic; Price: $10. Plan: Pro; Price: $49. Refunds: Refunds take 14 days."
    )


def test_of_a_long_source_the_sentences_that_share_words_with_the_claim_are_read() -> None:
    text = premise("The ferry sinks.", f"{FILLER} The ferry sank in May. {FILLER}").text
    assert "The ferry sank in May." in text
    assert len(text) < LONGEST


def test_sentences_are_in_the_order_of_the_document_whatever_their_rank() -> None:
    text = premise(
        "The ferry sank in May with Ada Berg.", f"Ada Berg slept. {FILLER} The ferry sank in May. {FILLER}"
    ).text
    assert text.index("Ada Berg") < text.index("The ferry sank in May")


def test_without_a_shared_word_the_beginning_of_a_long_source_is_read() -> None:
    assert premise("Cats purr.", f"{FILLER} {FILLER}").text.startswith("Barge number 0 carried")


@given(st.text("# |\n.aB1-", max_size=60), st.text("aB1 .", min_size=1, max_size=20))
def test_every_piece_is_copied_from_its_place(source: str, claim: str) -> None:
    index = index_sources([Source(source)])
    found = premise_for(compare_claim(claim, index), index)
    for piece in found.pieces:
        copied = found.text[piece.start : piece.start + piece.length]
        assert index.plain[piece.source].text[piece.offset : piece.offset + piece.length] == copied


def test_words_of_the_premise_map_back_to_the_source() -> None:
    index = index_sources([Source(PRICES, "prices")])
    found = premise_for(compare_claim("Pro costs $49.", index), index)
    at = found.text.index("$49")
    span = found.span(at, at + 3, index)
    assert (span.text, span.start, span.source_id) == ("$49", PRICES.index("$49"), "prices")
