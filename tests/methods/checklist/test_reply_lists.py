"""Lists as models write them: each form by example, and any list of questions in any form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.checklist.reply import is_question, parse_checklist

TWO = ("Is it short?", "Is it red?")


@pytest.mark.parametrize(
    "reply",
    [
        "1. Is it short?\n2. Is it red?",
        "1) Is it short?\n2) Is it red?",
        "(1) Is it short?\n(2) Is it red?",
        "1: Is it short?\n2: Is it red?",
        "1.Is it short?\n2.Is it red?",
        "1. Is it short?\n1. Is it red?",
        " 9. Is it short?\n10. Is it red?",
        "1\\. Is it short?\n2\\. Is it red?",
        "- 1. Is it short?\n- 2. Is it red?",
        "### 1. Is it short?\n### 2. Is it red?",
        "> 1. Is it short?\n> 2. Is it red?",
        "**1. Is it short?**\n\n**2. Is it red?**",
        "**1.** Is it short?\n**2.** Is it red?",
        "1. **Is it short?**\n2. __Is it red?__",
        "1. *Is it short?*\n2. _Is it red?_",
        "1. Is it short? (Yes/No)\n2. Is it red? - yes or no",
        "```markdown\n1. Is it short?\n2. Is it red?\n```",
        "1. Is it\n   short?\n2. Is it\nred?",
        "Here is the checklist:\n\n1. Is it short?\n2. Is it red?\n\nLet me know if you need more.",
        "1. Is it short?\n2. Is it red?\nI hope that helps!",
        "<think>1. Is it long?</think>1. Is it short?\n2. Is it red?",
        "- [ ] Is it short?\n- [x] Is it red?",
        "* Is it short?\n* Is it red?",
        "a. Is it short?\nb. Is it red?",
        "Is it short?\nIs it red?",
        "1. Form\n   - Is it short?\n2. Colour:\n   a) Is it red?",
    ],
)
def test_every_form_gives_the_same_two_questions(reply: str) -> None:
    assert parse_checklist(reply) == TWO


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("1. **Length:** Is it short?", ("Length: Is it short?",)),
        ("1. Are these there?\n   - A title\n   - An end", ("Are these there? A title; An end",)),
        ("1. Is it short?\n1.1 Has it at most 9 words?", ("Is it short? Has it at most 9 words?",)),
        ("1. Is it **bold** somewhere?", ("Is it **bold** somewhere?",)),
        ("1. Is it short?\n\n   (At most 9 words, i.e. one line,\n   e.g. this.)", None),
        ("1. Mentions Paris\n2. Is short", ("Mentions Paris", "Is short")),
        ("1. Does it name the year\n2024. and the place?", ("Does it name the year 2024. and the place?",)),
        ("1、它短吗？\n2、它是红的吗？", ("它短吗？", "它是红的吗？")),
        ("I cannot do that.", ()),
        ("1.\n2. **", ()),
        ("", ()),
    ],
)
def test_what_a_list_may_hold(reply: str, items: tuple[str, ...] | None) -> None:
    whole = ("Is it short? (At most 9 words, i.e. one line, e.g. this.)",)
    assert parse_checklist(reply) == (whole if items is None else items)


WORD = st.text("abcdefghijklmnopqrstuvwxyzäßéжあ,'\"-", min_size=2, max_size=9).filter(lambda w: w[0].isalpha())
QUESTION = st.lists(WORD, min_size=1, max_size=9).map(lambda words: f"Is {' '.join(words)}?").filter(is_question)
FORMS = (
    "{n}. {q}",
    "{n}) {q}",
    "({n}) {q}",
    "**{n}. {q}**",
    "**{n}.** {q}",
    "{n}. **{q}**",
    "## {n}. {q}",
    "- {n}. {q}",
)


@given(st.lists(QUESTION, min_size=1, max_size=40), st.sampled_from(FORMS), st.sampled_from(["\n", "\n\n", "\r\n"]))
def test_any_questions_in_any_form_come_back(questions: list[str], form: str, end: str) -> None:
    reply = end.join(form.format(n=n, q=question) for n, question in enumerate(questions, 1))
    assert parse_checklist(f"Sure!\n\n{reply}\n\nGood luck.") == tuple(questions)


@given(st.lists(QUESTION, min_size=1, max_size=9), st.integers(0, 8), st.sampled_from(["", "   ", "\t"]))
def test_lines_that_go_on_belong_to_their_question(questions: list[str], at: int, margin: str) -> None:
    def wrapped(question: str) -> str:
        words = question.split()
        cut = min(at + 1, len(words) - 1)
        return f"{' '.join(words[:cut])}\n{margin}{' '.join(words[cut:])}"

    reply = "\n".join(f"{n}. {wrapped(question)}" for n, question in enumerate(questions, 1))
    assert parse_checklist(reply) == tuple(questions)


@given(st.dictionaries(st.sampled_from(["Form", "Style", "Length"]), st.lists(QUESTION, min_size=1), min_size=1))
def test_questions_below_headings_are_the_items(groups: dict[str, list[str]]) -> None:
    lines = [
        f"{n}. {head}:\n" + "\n".join(f"   - {q}" for q in below) for n, (head, below) in enumerate(groups.items())
    ]
    assert parse_checklist("\n".join(lines)) == tuple(q for below in groups.values() for q in below)


@given(st.text(max_size=300))
def test_no_reply_raises_and_every_item_is_one_line(reply: str) -> None:
    for item in parse_checklist(reply):
        assert item == " ".join(item.split())
        assert any(c.isalnum() for c in item)


def test_a_list_of_five_hundred_is_read_whole() -> None:
    assert len(parse_checklist("\n".join(f"{n}. Is it {n}?" for n in range(1, 501)))) == 500
