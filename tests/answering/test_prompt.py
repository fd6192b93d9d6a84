"""The request for an answer: three styles, fences that hold, examples of one's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.answering.prompt import Style, answer_messages, read_shots, text_messages
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


def test_a_title_goes_along_and_a_text_is_asked_for_as_such() -> None:
    system, user = text_messages("Summarise it.", [BRIDGE])
    assert "nothing else" in system.content
    assert "title of source 1>>>\nBridge\n" in user.content


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(["plain", "cot", "few-shot"]))
def test_no_source_and_no_question_can_end_its_fence(source: str, question: str, style: Style) -> None:
    user = answer_messages(question, [Source(source, "a")], style)[-1].content
    fence = user.split(" source 1>>>", 1)[0].removeprefix("<<<")
    assert user.count(fence) == 4
    assert fence not in source + question


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "there are no examples"),
        ([{"question": "When?", "source": "In 1973."}], "example 1: it has the keys .* wanted \"answer\""),
        ([MINE[0], {"question": "When?", "answer": "1973"}], "example 2: "),
        ([{"question": 7, "source": "In 1973.", "answer": "1973"}], "example 1: the question"),
    ],
)  # fmt: skip
def test_examples_that_cannot_be_shown_are_refused(rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_shots(rows)
