"""The request for an answer (three styles, fences that hold, examples of one's own) and what a model replies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.answering.prompt import ABSTAINED, Reply, Style, answer_messages, read_reply, read_shots, text_messages
from vouching.errors import InputError
from vouching.types import Source

BRIDGE = Source("The bridge opened in 1973.", "a", "Bridge")
MINE = [{"question": f"Question {n}?", "source": f"Text {n}.", "answer": f"answer {n}"} for n in range(10)]


def test_only_the_step_by_step_request_asks_for_reasoning() -> None:
    systems = {style: answer_messages("When?", [BRIDGE], style)[0].content for style in ("plain", "cot", "few-shot")}
    assert [style for style, text in systems.items() if "Reasoning:" in text] == ["cot"]
    assert "not in the sources" in systems["plain"]


def test_ten_examples_of_ones_own_make_ten_turns_before_the_question() -> None:
    messages = answer_messages("When?", [BRIDGE], "few-shot", read_shots(MINE))
    assert [message.role for message in messages] == ["system", *["user", "assistant"] * 10, "user"]
    assert messages[2].content == "Answer: answer 0"
    assert "When?" in messages[-1].content


def test_examples_are_shown_in_no_other_style() -> None:
    assert len(answer_messages("When?", [BRIDGE], "plain", read_shots(MINE))) == 2


def test_the_solver_is_asked_as_march_prints_it_in_app_a_1() -> None:
    [asked] = answer_messages("When?", [BRIDGE, Source("It is red.", "b")], "paper")
    assert (asked.role, " ".join(asked.content.split())) == (
        "user",
        "Instruction: You must respond based strictly on the information in provided passages. Do not incorporate any "
        "external knowledge or infer any details beyond what is given in the passages. Passages: Document-1: The "
        "bridge opened in 1973. Document-2: It is red. Query: When? Output:",
    )


def test_a_title_goes_along_and_a_text_is_asked_for_as_such() -> None:
    system, user = text_messages("Summarise it.", [BRIDGE])
    assert "nothing else" in system.content
    assert "title of source 1>>>\nBridge\n" in user.content


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(["plain", "cot", "few-shot"]))
def test_no_source_and_no_question_can_end_its_fence(source: str, question: str, style: Style) -> None:
    user = answer_messages(question, [Source(source, "a")], style)[-1].content
    delimiter = user.split(" source 1>>>", 1)[0].removeprefix("<<<")
    assert user.count(delimiter) == 4
    assert delimiter not in source + question


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "expected at least one example"),
        ([{"question": "When?", "source": "In 1973."}], 'example 1: the row has no "answer"; its keys are question'),
        ([MINE[0], {"question": "When?", "answer": "1973"}], "example 2: "),
        ([{"question": 7, "source": "In 1973.", "answer": "1973"}], "example 1: the question"),
    ],
)
def test_examples_that_cannot_be_shown_are_refused(rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_shots(rows)


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
        (
            "Response: Two things:\nThe Answer: a film of 1973.",
            Reply("Two things:\nThe Answer: a film of 1973.", "Two things:\nThe Answer: a film of 1973"),
        ),
        ("", Reply("", "")),
        ("Answer:", Reply("", "")),
    ],
)
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
