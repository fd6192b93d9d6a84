"""Negation cues with their reach, and qualifiers with their strength."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis.strategies import lists, sampled_from

from tests.text.hostile import ANY_TEXT, growth
from vouching.text.cues import (
    QUALIFIERS,
    Negation,
    Qualifier,
    compare_qualifiers,
    find_negations,
    find_qualifiers,
    is_negated,
    negative_forms,
)
from vouching.text.words import find_words


def negations(text: str) -> list[Negation]:
    return find_negations(text, find_words(text))


@pytest.mark.parametrize(
    ("text", "cue", "scope"),
    [
        ("It did not lower costs.", "not", " lower costs"),
        ("It didn’t lower costs", "didn’t", " lower costs"),
        ("It cannot work; it is old", "cannot", " work"),
        ("without any effect (so far)", "without", " any effect "),
        ("Never, but maybe", "Never", ""),
        ("not safe but cheap", "not", " safe "),
        ("not safe, which matters", "not", " safe"),
        # A point inside a number or an abbreviation ends no clause.
        ("It did not reach 3.5 million.", "not", " reach 3.5 million"),
        ("not before 10:30 today", "not", " before 10:30 today"),
        ("not in the U.S.A. today", "not", " in the U.S.A"),
        # Three content words at most.
        ("not the big red old wet dry", "not", " the big red old"),
        ("he failed to win", "failed", " to win"),
    ],
)
def test_a_cue_reaches_to_the_end_of_its_clause(text: str, cue: str, scope: str) -> None:
    found = negations(text)
    assert [(text[n.start : n.end], text[n.end : n.scope_end]) for n in found] == [(cue, scope)]


@pytest.mark.parametrize(
    "text", ["It grew.", "not only fast", "no doubt it grew", "no less than 5", "knot", "notable", "no matter what"]
)
def test_what_only_looks_like_a_negation_is_not_found(text: str) -> None:
    assert negations(text) == []


@pytest.mark.parametrize(
    ("text", "word", "negated"),
    [
        ("It did not lower costs", "lower", True),
        ("It did not lower costs", "It", False),
        ("It did not fail to win", "win", False),  # "not" and "fail" cancel
        ("He never denied that nobody came", "came", False),  # two cues
        ("It was not cheap, but it helped", "helped", False),
    ],
)
def test_a_word_is_negated_by_an_odd_number_of_cues(text: str, word: str, negated: bool) -> None:
    assert is_negated(text.index(word), negations(text)) is negated


@pytest.mark.parametrize(
    ("one", "other", "related"),
    [
        ("unsafe", "safe", True),
        ("like", "dislike", True),
        ("safe", "safe", False),
        ("invent", "vent", True),
        ("under", "der", False),
        ("", "un", False),
    ],
)
def test_a_negative_prefix_is_recognised_in_either_order(one: str, other: str, related: bool) -> None:
    assert (one in negative_forms(other)) is (other in negative_forms(one)) is related


@given(ANY_TEXT)
def test_scopes_start_at_their_cue_and_stay_in_the_text(text: str) -> None:
    for found in negations(text):
        assert 0 <= found.start < found.end <= found.scope_end <= len(text)


@given(ANY_TEXT)
def test_no_cue_negates_itself(text: str) -> None:
    assert not any(is_negated(found.start, [found]) for found in negations(text))


@given(lists(sampled_from(["not", "never", "nobody", "fail to", "it", "wins", ",", ".", "but", "only"]), max_size=20))
def test_whether_a_word_is_negated_is_counted_by_the_scopes_that_hold_it(words: list[str]) -> None:
    text = " ".join(words)
    found = negations(text)
    for start in range(len(text)):
        assert is_negated(start, found) is (sum(one.end <= start < one.scope_end for one in found) % 2 == 1)


@pytest.mark.parametrize("piece", ["not ", "not a ", "not safe ", "no, but ", "never. "])
def test_finding_negations_takes_time_linear_in_the_text(piece: str) -> None:
    assert growth(negations, piece) < 10


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
def test_the_month_of_may_is_not_a_hedge(text: str) -> None:
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
def test_a_claims_qualifier_is_compared_with_the_strongest_on_its_scale(claim: str, source: str, relation: str) -> None:
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
def test_every_qualifier_is_the_text_at_its_offsets(text: str) -> None:
    assert all(text[q.start : q.end].lower() == q.word for q in qualifiers(text))


@given(ANY_TEXT)
def test_a_text_never_overstates_itself(text: str) -> None:
    found = qualifiers(text)
    assert {compare_qualifiers(q, found) for q in found} <= {"equal", "weaker"}


@pytest.mark.parametrize("piece", ["may ", "all ", "5 may "])
def test_finding_qualifiers_takes_time_linear_in_the_text(piece: str) -> None:
    assert growth(qualifiers, piece) < 10
