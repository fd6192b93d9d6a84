from __future__ import annotations

import pytest
from hypothesis import given

from tests.text.hostile import ANY_TEXT, growth
from vouching.text.cues import QUALIFIERS, Qualifier, compare_qualifiers, find_qualifiers
from vouching.text.words import find_words


def qualifiers(text: str) -> list[Qualifier]:
    return find_qualifiers(find_words(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("The bridge opened.", []),
        ("ALL of them always improved", [("all", "quantity"), ("always", "frequency")]),
        ("It may significantly help", [("may", "certainty"), ("significantly", "degree")]),
        ("only a few", [("only", "exclusivity"), ("few", "quantity")]),
    ],
)
def test_qualifiers_are_found_with_their_scale(text: str, found: list[tuple[str, str]]) -> None:
    assert [(q.word, q.scale) for q in qualifiers(text)] == found


@pytest.mark.parametrize(
    "text", ["in May sales fell", "May 2004", "on 5 May", "by May", "May 5th", "late May", "since may"]
)
def test_the_month_of_may_is_no_hedge(text: str) -> None:
    assert qualifiers(text) == []


@pytest.mark.parametrize("text", ["It may fall", "May it fall", "what they may be"])
def test_the_verb_may_is_a_hedge(text: str) -> None:
    assert [q.word for q in qualifiers(text)] == ["may"]


@pytest.mark.parametrize(
    ("claim", "source", "relation"),
    [
        ("all patients", "every patient", "equal"),
        ("all patients", "most patients", "stronger"),
        ("some patients", "most patients", "weaker"),
        ("all patients", "patients", "absent"),
        ("all patients", "patients often", "absent"),  # another scale
        ("most patients", "few here, all there", "weaker"),  # the strongest of the source counts
        ("significantly better", "slightly better", "stronger"),
    ],
)
def test_a_claims_qualifier_is_held_against_the_strongest_of_its_scale(claim: str, source: str, relation: str) -> None:
    assert compare_qualifiers(qualifiers(claim)[0], qualifiers(source)) == relation


@pytest.mark.parametrize(
    ("word", "hedge"), [("may", True), ("some", True), ("slightly", True), ("all", False), ("mostly", False)]
)
def test_a_hedge_is_a_weak_qualifier(word: str, hedge: bool) -> None:
    assert qualifiers(word)[0].is_hedge is hedge


def test_every_entry_of_the_lexicon_is_one_word_that_can_be_found() -> None:
    assert [word for word in QUALIFIERS if [q.word for q in qualifiers(word)] != [word]] == []
    assert all(0 < strength <= 1 for _, strength in QUALIFIERS.values())


@given(ANY_TEXT)
def test_every_qualifier_lies_where_it_says(text: str) -> None:
    assert all(text[q.start : q.end].lower() == q.word for q in qualifiers(text))


@given(ANY_TEXT)
def test_a_text_never_overstates_itself(text: str) -> None:
    found = qualifiers(text)
    assert {compare_qualifiers(q, found) for q in found} <= {"equal", "weaker"}


@pytest.mark.parametrize("piece", ["may ", "all ", "5 may "])
def test_finding_qualifiers_takes_time_linear_in_the_text(piece: str) -> None:
    assert growth(qualifiers, piece) < 10
