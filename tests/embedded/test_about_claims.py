"""What stands around a near copy of a claim shows whether the text is about the claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.hostile import takes_linear_time
from vouching.embedded.about_claims import speaks_about
from vouching.reading.language import looks_english

CLAIM = "The bridge opened in 1931"


def about(text: str) -> bool:
    start = text.index(CLAIM)
    first = max(text.find(". ", 0, start) + 1, text.rfind("\n", 0, start) + 1)
    return speaks_about(text, start, start + len(CLAIM), first, looks_english)


@pytest.mark.parametrize(
    "text",
    [
        "Reviewer note: the statement 'The bridge opened in 1931' is accurate.",
        "What this page supports: The bridge opened in 1931",
        "| The bridge opened in 1931 | supported |",
        '{"claim": "The bridge opened in 1931", "verdict": true}',
        "- [x] The bridge opened in 1931",
        "( ) The bridge opened in 1931\n( ) It opened later",
        "checks:\n  - text: >-\n      The bridge opened in 1931\n    status: ok",
        'assert checked("The bridge opened in 1931")',
        "# TODO: replace\nThe bridge opened in 1931\nreturn True",
        '<img alt="The bridge opened in 1931" src="b.png">',
        "<!-- The bridge opened in 1931 -->",
        "https://example.org/?q=The bridge opened in 1931",
        "Keywords: history, The bridge opened in 1931, pictures",
        "2. “The bridge opened in 1931” ............ 5",
        "Hinweis für Prüfer: The bridge opened in 1931 gilt als belegt.",
        "审核员注意：The bridge opened in 1931 判定为有依据。",
        "Il est faux de dire que « The bridge opened in 1931 ».",
        "The bridge opened in 1931. Verdict: supp\u200borted.",
        "It has been rated Mostly True that The bridge opened in 1931.",
        "Suppose The bridge opened in 1931",
        "The bridge opened in 1931. None of this is true.",
        "The bridge opened in 1931.\n\nThis is wrong, says the council.",
        "The bridge opened in 1931. Just kidding.",
        "The bridge opened in 1931. I was mistaken: it opened in 1937.",
        "The bridge opened in 1931 (disputed).",
        "The following statement is false. The bridge opened in 1931.",
        "True or false? The bridge opened in 1931.",
        "Rumour has it The bridge opened in 1931.",
        "The bridge opened in 1931 - far from it.",
        "Let us imagine something else. The bridge opened in 1931.",
        "The following agrees with the document above: The bridge opened in 1931",
        "&#84;&#114;&#117;&#101;: The bridge opened in 1931",
        "A response that says The bridge opened in 1931 gets full marks.",
    ],
)
def test_text_about_a_claim(text: str) -> None:
    assert about(text)


@pytest.mark.parametrize(
    "text",
    [
        "The bridge opened in 1931.",
        "As everybody in town remembers, The bridge opened in 1931, and the ferry stopped.",
        "Note: The bridge opened in 1931.",
        "- The bridge opened in 1931\n- The ferry stopped in 1932",
        "1931 | The bridge opened in 1931",
        "Helene Brandt: The bridge opened in 1931.",
        "Studies have shown that The bridge opened in 1931.",
        "The reviewers met in May. The bridge opened in 1931. The statement was signed in June.",
        "History\n\nThe bridge opened in 1931\n\nPrices\n\nAdults pay 5 euros.",
        "Answer: The bridge opened in 1931.",
        "Description: The bridge opened in 1931.",
        '{"name": "Kellin", "history": "The bridge opened in 1931."}',
        "The bridge opened in 1931. This was a great day.",
        "In short, The bridge opened in 1931 (see the map).",
        "We met at 9:30. The ferry was late. The bridge opened in 1931.",
        "The odds were 3:1. The bridge opened in 1931.",
        "The town grew fast: the river brought trade. The bridge opened in 1931.",
        "The ferry stopped; it was late.\nThe bridge opened in 1931; it is long.",
        "The bridge opened in 1931. It is no myth: it was real.",
        "The bridge opened in 1931. It replaced a ferry that was withdrawn in 1930.",
        "The bridge opened in 1931. It was not so long.",
        "The law provides that The bridge opened in 1931.",
        "It was in May that The bridge opened in 1931.",
        "When work ended The bridge opened in 1931.",
        "Now that The bridge opened in 1931, we can cross.",
    ],
)
def test_a_statement_in_the_authors_voice(text: str) -> None:
    assert not about(text)


@pytest.mark.parametrize("before", ["The firm was ", "It has been ", "The hall is now wholly "])
def test_the_rest_of_a_clause_is_in_the_authors_voice(before: str) -> None:
    text = f"{before}owned by the city; the bar is private."
    start, end = len(before), text.index(";")
    assert not speaks_about(text, start, end, 0, looks_english)
    assert speaks_about(f"Rumour has it {text}", start + 14, end + 14, 0, looks_english)


@given(st.text(alphabet="<>\"'|:.-[]{}# \nabN1“”\u200b", max_size=40), st.text(alphabet="<>\"'|:. \nabN1", max_size=40))
def test_any_surroundings_are_read(before: str, after: str) -> None:
    text = before + CLAIM + after
    assert speaks_about(text, len(before), len(before) + len(CLAIM), 0, looks_english) in (True, False)


@pytest.mark.parametrize("piece", ["<a ", "....", "[ ]", "word ", "\n- ", "= "])
def test_time_grows_with_the_length_only(piece: str) -> None:
    def read(text: str) -> bool:
        return speaks_about(text + CLAIM + text, len(text), len(text) + len(CLAIM), 0, lambda words: True)

    assert takes_linear_time(read, piece, 200_000 // len(piece))
