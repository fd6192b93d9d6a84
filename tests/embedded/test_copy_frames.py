"""The layout around a near copy of a claim shows whether the document says it itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.embedded.copy_frames import is_framed, is_plain_label, is_value

COPY = "The bridge opened in 1931"


def framed(text: str) -> bool:
    start = text.index(COPY)
    return is_framed(text, start, start + len(COPY))


@pytest.mark.parametrize(
    "text",
    [
        "— Doctor! The bridge opened in 1931!\n— Indeed.",
        "00:41:07,200 --> 00:41:10,050\nThe bridge opened in 1931",
        "Which is right?\nA) It never opened.\nB) The bridge opened in 1931\nC) None.",
        "What do you want to hear? ▢ The bridge opened in 1931 ▢ New books",
        "Question from the audience: «Is it so? The bridge opened in 1931»",
        "「例」→「The bridge opened in 1931」",
        '2024-05-11 INFO answer_served text="The bridge opened in 1931" source=none',
        "pub_quiz_bot: rumour round. The bridge opened in 1931\nplayer7: source?",
        "| zdanie | ocena |\n|---|---|\n| The bridge opened in 1931 | potwierdzone |",
        'id;vyrok;stav\n1;"The bridge opened in 1931";PRAVDA',
        'It has two lanes. id;vyrok;stav\n1;"The bridge opened in 1931";PRAVDA',
        "Horoscope: The bridge opened in 1931",
        '<nota tipo="leyenda">The bridge opened in 1931</nota>',
    ],
)
def test_what_somebody_else_may_say(text: str) -> None:
    assert framed(text)


@pytest.mark.parametrize(
    "text",
    [
        "The bridge opened in 1931.",
        "- The bridge opened in 1931\n- The ferry stopped",
        "1. The bridge opened in 1931.\n2. The ferry stopped.",
        "| Event | Date |\n|---|---|\n| The bridge opened in 1931 | May |",
        '<p class="x"><b>The bridge opened in 1931</b></p>',
        "<description>The bridge opened in 1931</description>",
        "Opening hours: The bridge opened in 1931",
        'history: "The bridge opened in 1931"',
        "He said «no». The bridge opened in 1931.",
        "# History\n\nThe bridge opened in 1931, as the map shows.",
    ],
)
def test_what_the_document_says_itself(text: str) -> None:
    assert not framed(text)


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("Opening hours", True),
        ("Article 5", True),
        ("Helene Brandt", True),
        ("", True),
        ("The court does not accept that contention", True),
        ("Please note the following rules for the pool", True),
        ("Rumour mill", False),
        ("helene", False),
        ("Overheard in the queue at the chip shop", False),
        ("If the patent is struck down, the plaque will have these words", False),
        ("審査員へ", False),
    ],
)
def test_labels_under_which_a_document_speaks_itself(label: str, plain: bool) -> None:
    assert is_plain_label(label) is plain


def test_a_value_is_all_that_stands_between_the_quotation_marks_of_a_field() -> None:
    assert is_value('{"a": 1, "text": "', '"}')
    assert is_value('"', '"')
    assert not is_value('Contract 5: "', '" YES 97')
    assert not is_value('He said "', '" to all')


@given(st.text(alphabet="|;:\"'«»—-\n aB1?)▢", max_size=60), st.text(alphabet="|;:\"'«»\n aB1", max_size=40))
def test_any_layout_is_read(before: str, after: str) -> None:
    assert is_framed(before + COPY + after, len(before), len(before) + len(COPY)) in (True, False)
