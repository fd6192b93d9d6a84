"""What follows from the values of a text, computed and written beside a claim."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.reader.mirror import pairs
from tests.text.hostile import takes_linear_time
from vouching.reading.amounts import short
from vouching.reading.facts import computed_facts
from vouching.reading.values import read_values
from vouching.reading.windows import Passages

SALES = """Ticket sales by month

| Month | Adults | Children |
|-------|--------|----------|
| March | 410 | 120 |
| April | 385 | 96 |
| May | 520 | 230 |
"""
RULES = """Batteries of up to 100 Wh need no permission. Those of 100 to 160 Wh need the airline's permission.
The pool is open from 9:30 to 17:00. Children from 6 years may swim alone. A bottle holds 1.5 litres.
The lease began on 3 May 2021 and ended on 3 May 2024. The tower is 90 m high and the church 30 m high."""

DERIVATIONS = [
    # text, claim, the fact that decides: computed by hand
    (SALES, "In March and April together, 795 adults came.", "Adults: March 410 + April 385 = 795"),  # 410 + 385
    (SALES, "Altogether 1,315 adults came.", "Adults: all 3 rows add up to 1,315"),  # 410 + 385 + 520
    (SALES, "In May 135 more adults came than in April.", "Adults: May 520 - April 385 = 135"),
    (SALES, "The best month for children was May.", "Children: April 96 < March 120 < May 230"),
    (SALES, "Twice as many children came in May as in March.", "is 1.92 times"),  # 230 / 120
    (RULES, "A battery of 120 Wh needs permission.", "120 is within 100 to 160"),
    (RULES, "The pool is open for seven and a half hours.", "7 hours 30 minutes"),
    (RULES, "A child of five may swim alone.", "five is less than 6 years"),
    (RULES, "A bottle holds 1,500 ml.", "1.5 litres = 1,500 ml"),
    (RULES, "The lease lasted three years.", "from 3 May 2021 to 3 May 2024 is 1,096 days (3 years)"),  # one leap day
    (RULES, "The tower is three times as high as the church.", "is 3 times"),
]


@pytest.mark.parametrize(("text", "claim", "fact"), DERIVATIONS)
def test_the_step_that_a_claim_calls_for_is_among_its_facts(text: str, claim: str, fact: str) -> None:
    facts = [found.text for found in computed_facts(claim, read_values(text))]
    assert any(fact in found for found in facts), facts


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("In March and April together, 905 adults came.", "Adults: March 410 + April 385 = 795"),
        ("Altogether 1,215 adults came.", "Adults: all 3 rows add up to 1,315"),
        ("In May 110 more adults came than in April.", "Adults: May 520 - April 385 = 135"),
    ],
)
def test_a_wrong_result_is_shown_beside_the_right_one(claim: str, fact: str) -> None:
    assert fact in [found.text for found in computed_facts(claim, read_values(SALES))]


@pytest.mark.parametrize("number", range(12))
def test_a_derivation_and_its_wrong_twin_have_the_fact_that_decides(number: int) -> None:
    """What is computed depends on what is asked, not on whether the answer is right; durations need the right value."""
    for kind, (text, right, wrong) in [*pairs(48, seed=1)][number::12]:
        facts = [computed_facts(claim, read_values(text))[:1] for claim in (right, wrong)]
        assert facts[0], (text, right)
        if kind not in ("durations", "ranges"):
            assert facts[0] == facts[1], (text, right, wrong)


def test_operands_lie_in_the_text() -> None:
    [fact, *_] = computed_facts("In March and April together, 795 adults came.", read_values(SALES))
    assert [SALES[start:end] for start, end in fact.operands] == ["410", "385"]


def test_a_claim_without_values_or_comparison_has_no_facts() -> None:
    assert computed_facts("The museum is quiet.", read_values(RULES)) == []


def test_facts_stay_within_the_characters_that_are_allowed() -> None:
    facts = computed_facts("Altogether 1,315 adults came, most of them in May.", read_values(SALES), characters=40)
    assert sum(len(fact.text) for fact in facts) <= 40


@given(
    st.text("0123456789.,:/-%€| \nkmhaMayJuneFriday+than totlmore", max_size=160),
    st.text("0123456789.% totalmrekdys", max_size=60),
)
def test_any_text_can_be_computed_with(text: str, claim: str) -> None:
    for fact in computed_facts(f"{claim} more in total, twice, after 3 days", read_values(text)):
        assert all(0 <= start < end <= len(text) for start, end in fact.operands)


@pytest.mark.parametrize(("number", "written"), [(0.0, "0"), (1000000.0, "1,000,000"), (0.125, "0.12"), (-3.0, "-3")])
def test_results_are_written_as_people_write_numbers(number: float, written: str) -> None:
    assert short(number) == written


@pytest.mark.parametrize(
    "piece",
    [
        "The pump moves 60 litres a minute on 3 May 2021. ",
        "| Yoga | Monday | 8 | 9:30 |\n",
        "- item 5 of 7\n",
        "1,1,1,",
        "# Title\n\nText with 5 words.\n\n",
        "from 9:30 to 10:30, ",
        '"',
        ". ",
    ],
)
def test_values_facts_and_windows_take_linear_time(piece: str) -> None:
    claim = "The pump moves twice as many litres in total than on 4 May, 3 days later, for 5 nights."

    def work(text: str) -> None:
        computed_facts(claim, read_values(text))
        Passages([text], lambda texts: [len(text.split()) for text in texts]).windows([claim], 430, 200)

    assert takes_linear_time(work, piece, times=4_000)
