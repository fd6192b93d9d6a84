"""Statements of a sentence: what they demand, deny and expect, and where that ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.embedded.stance import read_statements


def force(sentence: str) -> str | None:
    """The force of the sentence's only statement."""
    (statement,) = read_statements(sentence)
    return statement.force


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Visitors must wear a badge", "required"),
        ("Visitors have to wear a badge", "required"),
        ("A badge is compulsory", "required"),
        ("Visitors are obliged to wear a badge", "required"),
        ("Visitors may take photographs", "allowed"),
        ("Visitors are entitled to a refund", "allowed"),
        ("Visitors are free to leave", "allowed"),
        ("Visitors must not smoke", "forbidden"),
        ("Visitors may not smoke", "forbidden"),
        ("Smoking is prohibited", "forbidden"),
        ("Nobody may smoke", "forbidden"),
        ("Do not open the valve", "forbidden"),
        ("Clients have to refrain from calling", "forbidden"),
        ("Smoking is not forbidden", "allowed"),
        ("Visitors need not book", "optional"),
        ("Visitors do not have to book", "optional"),
        ("Booking is not required", "optional"),
        ("Booking is voluntary", "optional"),
        ("Booking is not optional", "required"),
        ("Booking is recommended", "recommended"),
        ("Visitors should not touch the frames", "discouraged"),
        # a chance, a month, and a plain statement demand and allow nothing
        ("The lift may fail", None),
        ("The shop opened in May", None),
        ("The shop opens at noon", None),
    ],
)
def test_a_force_is_read_with_its_denial_inside(sentence: str, expected: str | None) -> None:
    assert force(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        ("The store did not open", True),
        ("Neither store opened", True),
        ("The store no longer sells bread", True),
        ("The store failed to open", True),
        ("The store lacks a door", True),
        ("No visitor was not counted", False),
        ("Not only bread is sold", False),
        ("The store opened no later than noon", False),
        ("Whether or not it rains the store opens", False),
    ],
)
def test_two_denials_cancel_out_and_some_words_only_look_like_one(sentence: str, denied: bool) -> None:
    (statement,) = read_statements(sentence)
    assert statement.denied is denied


@pytest.mark.parametrize(
    ("sentence", "certainty"),
    [
        ("The bridge might open", 1),
        ("The bridge is under discussion", 1),
        ("The driver is suspected of theft", 1),
        ("The lift may be out of service", 1),
        ("The bridge is planned", 2),
        ("The bridge will open", 2),
        ("The bridge opened", 3),
        ("Visitors may cross the bridge", 3),
    ],
)
def test_certainty_tells_open_from_expected_and_settled(sentence: str, certainty: int) -> None:
    (statement,) = read_statements(sentence)
    assert statement.certainty == certainty


@pytest.mark.parametrize(
    ("sentence", "word", "excepted"),
    [
        ("It opens daily except on Sundays", "Sundays", True),
        ("Dogs are barred apart from guide dogs", "guide", True),
        ("Pay in cash, not by card", "card", True),
        ("Every course but the first is free", "first", True),
        ("Every course but the first is free", "free", False),
        ("Entry is barred unless you are invited", "invited", True),
        ("Do not enter until noon", "noon", True),
        # only a denied statement does not hold before "until"
        ("It is open until noon", "noon", False),
    ],
)
def test_what_is_excepted_ends_with_its_name_or_clause(sentence: str, word: str, excepted: bool) -> None:
    (statement,) = read_statements(sentence)
    assert statement.excepts(sentence.index(word)) is excepted


def test_a_modal_verb_ends_at_the_next_clause() -> None:
    sentence = "Swimming is prohibited in the locks but tolerated elsewhere; boats need a permit"
    assert [s.force for s in read_statements(sentence)] == ["forbidden", "allowed", "required"]


@given(st.text(alphabet=st.sampled_from("abc ,.;:!?()'’-\nİß\u0130 notmayexceptbutuntil"), max_size=80))
def test_statements_lie_in_order_inside_the_text(text: str) -> None:
    statements = read_statements(text)
    ends = [0]
    for statement in statements:
        assert ends[-1] <= statement.start < statement.end <= len(text)
        ends.append(statement.end)
        for start, end in (*statement.cues, *statement.exceptions, *statement.conditions):
            assert statement.start <= start < end <= statement.end
