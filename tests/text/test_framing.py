from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.text.framing import statement_of, without_additions


def stated(text: str) -> str:
    return " ".join(statement_of(text).split())


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Yes, residents get in free.", "residents get in free."),
        ("No, that is wrong.", "that is wrong."),
        ("In short: it rained.", "it rained."),
        ("According to the policy, it rained.", "it rained."),
        ("According to the release notes, it rained.", "it rained."),
        ("According to section 6, it rained.", "it rained."),
        ("Based on the provided context, it rained.", "it rained."),
        ("The document states that it rained.", "it rained."),
        ("The source says it rained.", "it rained."),
        ("I'd say that it rained.", "it rained."),
        ("I’d say it rained.", "it rained."),
        ("Please note that it rained.", "it rained."),
        ("Yes, according to the report, it rained.", "it rained."),
        ("It rained, according to section 5.", "It rained ."),
        ("As step 2 of the list says, it rained.", "it rained."),
        ("Paragraph 3 on page 7 states that it rained.", "it rained."),
        ("The second bullet point says that it rained.", "it rained."),
        ("It rained (see section 4.1 of the manual).", "It rained ."),
        ("It rained (p. 12).", "It rained ."),
    ],
)
def test_a_frame_is_no_part_of_the_statement(text: str, statement: str) -> None:
    assert stated(text) == statement


@pytest.mark.parametrize(
    "text",
    [
        "According to Reuters, it rained.",  # a named authority can be wrong
        "According to the Reuters report, it rained.",
        "No dogs are allowed.",
        "The document does not state that it rained.",
        "I think it may rain.",
        "Short answers are fine.",
        "Overall costs rose.",
        "In short supply: water.",
        "The policy states its aims.",
        "The policy mentions it.",
        "Section 8 requires that it rained.",
        "The second guard says that it rained.",
        "It rained (in May 12).",
        "Yes.",
    ],
)
def test_what_only_looks_like_a_frame_stays(text: str) -> None:
    assert statement_of(text) == text


@pytest.mark.parametrize(
    "citation",
    ["[1]", "[1, 3]", "[1–3]", "[1][2]", "【1】", "【1†source】", "(source: policy.md)", "[policy.md]", "(Source 2)"],
)
def test_a_citation_is_no_part_of_the_statement(citation: str) -> None:
    assert stated(f"It opened in 1973 {citation}.") == "It opened in 1973 ."


@pytest.mark.parametrize(
    "citation",
    [
        "[Okafor, 2011]",
        "[Okafor 2011]",
        "(Okafor, 2011)",
        "(Okafor et al., 2011)",
        "(see Okafor & Lind, 2011a; Ruiz 2004)",
        "(van der Meer, 1998, p. 4)",
        "(Ruiz 2004)",
    ],
)
def test_a_citation_by_author_and_year_is_no_part_of_the_statement(citation: str) -> None:
    text = f"Eels migrate at night {citation}, but herons do not."
    assert stated(text) == "Eels migrate at night , but herons do not."
    assert len(statement_of(text)) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "The Games (Tokyo 2020) were held late.",
        "The lock (Velm, 1908) was the first.",
        "The film Heat (Mann, 1995) is long.",
        "It opened (May 2019).",
        "`rate(Okafor, 2011)` is read.",
        "It is in [Okafor, 2011](okafor.md).",
    ],
)
def test_a_place_or_a_month_with_a_year_is_part_of_the_statement(text: str) -> None:
    assert statement_of(text) == text


@pytest.mark.parametrize(
    "text",
    ["It is in [the notes](notes.md).", "`a[1]` is read.", "It has 3 [sic] towers (in 1973).", "See (the source)."],
)
def test_other_brackets_keep_their_words(text: str) -> None:
    assert stated(text).replace(" ", "") == text.replace(" ", "").replace("[sic]", "sic")


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("It [the lease] ends in May.", "the lease ends in May."),
        ("His [Peter Brice's] liability ends.", "Peter Brice's liability ends."),
        ("At the latter [Dover High], phones are allowed.", "At Dover High , phones are allowed."),
        ("In that year [1976], it grew.", "In 1976 , it grew."),
        ("The fund [Nordlys Fund] grew.", "The fund Nordlys Fund grew."),
        ("[Ann Lee had] four [sons].", "Ann Lee had four sons ."),
        ("No [: the fee is not due].", "the fee is not due ."),
    ],
)
def test_an_addition_stands_in_place_of_its_pronoun(text: str, statement: str) -> None:
    assert stated(text) == statement


FRAGMENTS = st.sampled_from(
    ["Yes, ", "According to the ", "policy, ", "[1]", "[", "]", "It ", "[the fee]", "(source: a)", "`", "rose.", "\n"]
)


@given(st.lists(FRAGMENTS | st.text(max_size=4), max_size=20).map("".join))
def test_what_is_left_stands_where_it_stood(text: str) -> None:
    left = statement_of(text)
    assert len(left) == len(text)
    assert all(kept == " " or kept == character for kept, character in zip(left, text, strict=True))


@given(st.text(alphabet="ab [](1.", max_size=30))
def test_a_text_has_no_additions_to_itself(text: str) -> None:
    assert without_additions(text, text) == text
