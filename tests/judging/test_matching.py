"""Answers compared: the table of pairs, the released comparison, leaks, votes and ties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging.blinded_pairs import DIFFERENT, SAME
from tests.processor_time import ends_within
from vouching.judging.matching import consensus, distinct, is_answer, leaks, rule, same_answer
from vouching.types import Checked


def test_the_table_holds_a_hundred_pairs() -> None:
    assert len({*SAME, *DIFFERENT}) == 100


@pytest.mark.parametrize(("answer", "checked"), SAME)
def test_the_documents_bear_out_the_response(answer: str, checked: str) -> None:
    assert same_answer(answer, checked)


@pytest.mark.parametrize(("answer", "checked"), DIFFERENT)
def test_the_documents_say_something_else(answer: str, checked: str) -> None:
    assert not same_answer(answer, checked)


@pytest.mark.parametrize(
    ("answer", "checked", "same"),
    [
        ("10k", "10", True),  # k is stripped
        ("10%", "10", True),  # so is %
        ("1,000", "1000", True),  # so are commas
        ("0.05", "0.1", True),  # |.05 - .1| = .05 < .1
        ("0.05", "0.2", False),  # |.05 - .2| = .15
        ("10", "11", False),  # whole numbers are compared exactly
        ("10", "10.05", True),  # one of them is not whole: |10 - 10.05| = .05
        ("ten", "10", False),  # no number words
        ("Paris", "Paris", True),  # equal strings match
        ("", "", False),  # nothing is no answer
    ],
)
def test_the_released_comparison_knows_no_units(answer: str, checked: str, same: bool) -> None:
    assert same_answer(answer, checked, match="released") is same


def test_other_words_for_a_name_are_left_to_the_judge_of_entailment() -> None:
    assert not same_answer("New York", "New York City")
    assert same_answer("New York", "New York City", entails=lambda left, right: left in right)


def test_a_number_that_looks_like_a_year_is_still_a_number() -> None:
    assert same_answer("roughly 1000", "1001")
    assert not same_answer("1000", "1001")


def test_the_judge_of_entailment_is_never_asked_about_numbers() -> None:
    assert not same_answer("12", "13", entails=lambda left, right: True)
    assert not same_answer("twelve", "many", entails=lambda left, right: True)


def test_the_ends_of_a_range_that_between_stands_before_are_the_range() -> None:
    assert same_answer("$5 and $10", "$5 to $10")
    assert same_answer("5 to 10", "5 and 10")
    assert not same_answer("5 and 11", "5 to 10")
    assert not same_answer("5 and 10", "5")


@given(st.floats(1e-6, 1e12, allow_nan=False))
def test_a_number_equals_itself_however_it_is_written(number: float) -> None:
    assert same_answer(f"{number:.17g}", f"{number:.17g}")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared(left: str, right: str) -> None:
    for match in ("units", "released"):
        assert same_answer(left, right, match) in (True, False)


@pytest.mark.parametrize(
    ("question", "answer", "leaked"),
    [
        ("Did 10,000 people come?", "10k", True),
        ("How many people came in 1990?", "10k", False),
        ("How many of the 3 towers stand?", "three", True),
        ("Was it the Golden Gate Bridge?", "Golden Gate Bridge", True),
        ("Which bridge is it?", "Golden Gate Bridge", False),
        ("Is it open 17:00-21:00?", "5 pm to 9 pm", True),
        ("When is it open?", "5 pm to 9 pm", False),
        ("What year?", "", False),
        ("On 3 May 1937, which year was it?", "1937", True),
        ("How many came between 1937 and 1939?", "1937", True),
        ("Is it for 5-10 people?", "5", True),
        ("Is it for 5-10 people?", "6", False),
        ("Who owns the 50%-owned firm?", "50", True),
        ("How far is the 5 kg stone?", "5 km", True),
        ("Which of the 24/7 shops is it?", "24", True),
        ("Is it open from 5 to 9?", "5 pm to 9 pm", True),
        ("Is it about 512 people?", "about 500", True),
        ("Of the 12 towers, how many stand?", "more than 3", False),
        ("When in 1937 did it open?", "3 May 1937", False),
        ("In which years between 1937 and 1939?", "1937-39", True),
    ],
)
def test_a_question_that_contains_its_answer_leaks_it(question: str, answer: str, leaked: bool) -> None:
    assert leaks(question, answer) is leaked


@pytest.mark.parametrize("text", ["Cannot answer", "can't answer.", "Cannot be answered", "N/A", "none", "unknown", ""])
def test_words_for_no_answer_are_no_answer(text: str) -> None:
    assert not is_answer(text)


def test_the_majority_of_the_checkers_decides() -> None:
    assert rule("How many?", "2", ["2", "two", "3"]).outcome == "same"
    assert rule("How many?", "3", ["2", "two", "3"]).outcome == "different"


def test_a_tie_is_a_mismatch_even_where_one_side_agrees() -> None:
    ruling = rule("How many?", "2", ["2", "3"])
    assert (ruling.outcome, ruling.found) == ("different", ("2", "3"))
    assert rule("How many?", "2", ["2", None]).outcome == "different"


def test_most_checkers_without_an_answer_mean_that_the_documents_do_not_say() -> None:
    assert rule("How many?", "2", ["2", None, "Cannot answer"]).outcome == "not_found"


def test_several_values_in_the_documents_are_all_kept() -> None:
    ruling = rule("How many?", "2", [Checked(("2", "3"))])
    assert (ruling.outcome, ruling.found) == ("contradictory", ("2", "3"))


def test_checkers_agree_whatever_the_order_of_their_notations() -> None:
    assert consensus([Checked(("1.2 million",)), Checked(("1,200,000",))]) is not None


def test_without_any_checker_there_is_no_consensus() -> None:
    assert consensus([]) is None


def test_looking_only_at_numbers_that_are_near_leaves_the_answers_that_comparing_all_pairs_leaves() -> None:
    texts = [text for pair in (*SAME[::2], *DIFFERENT[::2]) for text in pair] + "1937 44 BC,44,2k,1,973,33.4 %".split(
        ","
    )
    kept: list[int] = []
    for position, text in enumerate(texts):
        others = [texts[one] for one in kept]
        if not any(same_answer(text, other) or same_answer(other, text) for other in others):
            kept.append(position)
    assert distinct(texts) == kept
    assert distinct([]) == []


def test_two_thousand_numbers_are_told_apart_in_seconds() -> None:
    texts = [f"${number}" for number in range(1, 2_001)]
    with ends_within():  # comparing every pair took minutes
        assert len(distinct(texts)) == 2_000
