"""Answers as judges write them: yes, no, unclear, or none of these."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.checklist.reply import ItemAnswer, read_answer


@pytest.mark.parametrize(
    ("reply", "vote"),
    [
        ("yes", True),
        ("No.", False),
        ("**YES**", True),
        ('"no"', False),
        ("Unclear", None),
        ("Yes, it does.", True),
        ("No - it lacks a title.", False),
        ("Yes (all three).", True),
        ("I count three.\nno", False),
        ("<answer>no</answer>", False),
        ("The answer is **no**.", False),
        ("<think>no, or yes?</think>\nyes", True),
        ("YES\n\nBecause it is so.", True),
        ("The answer is no, since it has four.", False),
        ("Answer: yes because it says so.", True),
        ("No, no commas are used.", False),
    ],
)
def test_one_word_answers_however_it_is_dressed(reply: str, vote: bool | None) -> None:
    found = read_answer(reply)
    assert found is not None
    assert found.vote is vote


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Mostly.",
        "Ja",
        "No-one can tell.",
        "No doubt it is fine",
        "yes/no",
        "<think>yes</think>",
        "No, wait:\nyes",
        'The answer is "no" to the question of whether the instruction and response are clear.',
        'Yes: Yes\n\nOutput "yes" or "no" and nothing else.',
        "Yes: Yes",
        "Yes or no? Yes.",
        'Answer: "yes" or "no"',
        "Reason: It is short.\nQuote: none",
        "Reason: It says so.\nQuote: the answer: yes",
    ],
)
def test_what_is_no_answer_is_none(reply: str) -> None:
    assert read_answer(reply) is None


def test_reason_and_quotation_are_read_and_the_last_answer_counts() -> None:
    reply = "**Reason:** It has two points.\n**Quote:** “Answer: yes”\n**Answer:** no"
    assert read_answer(reply) == ItemAnswer(False, "It has two points.", "Answer: yes")
    assert read_answer("Reason: It is so.\nQuote: None\nAnswer: yes") == ItemAnswer(True, "It is so.")


@given(st.text(max_size=200))
def test_no_reply_raises(reply: str) -> None:
    found = read_answer(reply)
    assert found is None or found.vote in (True, False, None)
