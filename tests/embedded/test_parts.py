from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vouching.embedded.parts import split_claim
from vouching.reading.parsed import read


def parts_of(claim: str) -> list[tuple[str, str, str]]:
    """Kind, words and value of each part."""
    return [
        (part.kind, claim[part.start : part.end], claim[part.value_start : part.value_end])
        for part in split_claim(read(claim))
    ]


@pytest.mark.parametrize(
    ("claim", "part"),
    [
        ("The survey covered 12 countries", ("quantity", "12 countries", "12")),
        ("60% of participants improved", ("quantity", "60% of participants", "60%")),
        ("The company was founded in 2004", ("date", "founded in 2004", "2004")),
        ("Marie Curie moved to Paris", ("entity", "moved to Paris", "Paris")),
        ("Marie Curie moved to Paris", ("entity", "Marie Curie", "Marie Curie")),
        ("Patients always recovered", ("qualifier", "always", "always")),
        ("The bridge collapsed", ("predicate", "bridge collapsed", "bridge collapsed")),
    ],
)
def test_each_kind_of_value_makes_a_part_with_the_words_it_belongs_to(claim: str, part: tuple[str, str, str]) -> None:
    assert part in parts_of(claim)


def test_parts_come_in_the_order_of_the_claim() -> None:
    assert parts_of("60% of participants significantly improved in 2004") == [
        ("quantity", "60% of participants", "60%"),
        ("qualifier", "significantly", "significantly"),
        ("date", "improved in 2004", "2004"),
    ]


def test_a_predicate_has_at_most_four_words_and_ends_at_a_comma() -> None:
    # Seven content words: four and three.
    assert [words for _, words, _ in parts_of("The old red wooden narrow crooked bridge collapsed")] == [
        "old red wooden narrow",
        "crooked bridge collapsed",
    ]
    assert [words for _, words, _ in parts_of("The bridge collapsed, traffic stopped")] == [
        "bridge collapsed",
        "traffic stopped",
    ]


def test_a_counted_noun_ends_at_the_first_plural_and_at_a_comma() -> None:
    assert ("quantity", "12 countries", "12") in parts_of("It covered 12 countries worldwide")
    assert ("quantity", "12", "12") in parts_of("It covered 12, countries said")


def test_a_common_first_word_with_a_capital_is_not_a_name() -> None:
    assert [kind for kind, _, _ in parts_of("Bridge collapsed")] == ["predicate"]


def test_a_capitalised_headline_loses_no_word() -> None:
    claim = "Bridge Collapse Kills Three People In Oslo"
    for word in ("Bridge", "Collapse", "Kills", "Three", "People", "Oslo"):
        assert sum(word in words for _, words, _ in parts_of(claim)) == 1, word


def test_a_capitalised_number_word_is_a_quantity_and_not_a_name() -> None:
    assert parts_of("Three people died")[0][::2] == ("quantity", "Three")


@pytest.mark.parametrize(
    ("claim", "cue"),
    [("She was not a doctor", "not"), ("No bridge opened", "No"), ("Tigers never lived there", "never")],
)
def test_a_negation_cue_is_in_no_part_because_polarity_is_compared_with_the_words_it_covers(
    claim: str, cue: str
) -> None:
    reading = read(claim)
    position = reading.word_at(claim.index(cue))
    assert position is not None
    assert all(position not in part.words for part in split_claim(reading))


def test_without_anything_to_compare_there_are_no_parts() -> None:
    assert split_claim(read("")) == split_claim(read("It was there.")) == []


PIECES = st.sampled_from(
    "The the of in to and not never no all always most significantly only may 12 60% $5 million 3.5 2004 May Three "
    "countries people bridge opened founded Marie Curie Oslo Acme Inc. U.S. isn't James's co-founder , ; : . ( ) — \n "
    "twice half two-thirds 12-year 日本".split(" ")
)
CLAIMS = st.lists(PIECES, max_size=14).map(" ".join)


@given(CLAIMS)
@example("Bridge Collapse Kills Three People In Oslo")
@settings(max_examples=300, deadline=None)
def test_every_content_word_except_negation_cues_is_in_exactly_one_part(claim: str) -> None:
    reading = read(claim)
    parts = split_claim(reading)
    cues = {negation.start for negation in reading.negations}
    for position in reading.content():
        start = reading.words[position].start
        words = [part for part in parts if position in part.words]
        values = [part for part in parts if part.value and part.value_start <= start < part.value_end]
        if start in cues:
            assert words == []
        else:
            assert len(words) + len(values) == 1, reading.words[position]


@given(st.one_of(CLAIMS, st.text(max_size=40)))
@settings(max_examples=150, deadline=None)
def test_a_part_contains_its_value_and_is_in_the_claim(claim: str) -> None:
    for part in split_claim(read(claim)):
        assert 0 <= part.start <= part.value_start < part.value_end <= part.end <= len(claim)
        assert (part.value is None) == (part.kind == "predicate")
