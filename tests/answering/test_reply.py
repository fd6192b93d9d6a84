"""Replies of a model that answers: labels, reasoning, thoughts, abstention; and whatever else a model may write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.answering.prompt import ABSTAINED
from vouching.answering.reply import Reply, read_reply


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Response: It opened in 1973.\nAnswer: 1973", Reply("It opened in 1973.", "1973")),
        ("Reasoning:\n- a says 1973\nResponse: In 1973.\nAnswer: 1973.", Reply("In 1973.", "1973", "- a says 1973")),
        ("answer: 1973", Reply("1973", "1973")),
        ("It opened in 1973.", Reply("It opened in 1973.", "It opened in 1973.")),
        ("It opened in 1973.\nAnswer: 1973", Reply("It opened in 1973.", "1973")),
        ("**Response:** In 1973.\n**Answer:** 1973", Reply("In 1973.", "1973")),
        ("<think>Answer: 1937</think>Response: In 1973.\nAnswer: 1973", Reply("In 1973.", "1973")),
        ("Response: In 1937.\nAnswer: 1937\nResponse: No, in 1973.\nAnswer: 1973", Reply("No, in 1973.", "1973")),
        ("Reasoning: 2 + 2\nAnswer: 4", Reply("4", "4", "2 + 2")),
        ("Response: Two things:\nThe Answer: a film of 1973.", Reply("Two things:\nThe Answer: a film of 1973.",
                                                                    "Two things:\nThe Answer: a film of 1973")),
        ("", Reply("", "")),
        ("Answer:", Reply("", "")),
    ],
)  # fmt: skip
def test_a_reply_is_taken_apart_by_its_labels(text: str, expected: Reply) -> None:
    found = read_reply(text)
    assert (found.response, found.reasoning) == (expected.response, expected.reasoning)
    assert found.answer.rstrip(".") == expected.answer.rstrip(".")


@pytest.mark.parametrize("text", ["Answer: not in the sources", "Response: I looked.\nAnswer: Not in the sources."])
def test_an_abstention_has_no_response(text: str) -> None:
    assert read_reply(text) == Reply("", ABSTAINED)
    assert read_reply(text).abstained


@given(st.text())
def test_any_text_is_a_reply(text: str) -> None:
    found = read_reply(text)
    assert found.response.strip() == found.response
    assert bool(found.answer) >= bool(found.response)
