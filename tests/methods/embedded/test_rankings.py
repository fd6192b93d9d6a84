"""Comparisons and superlatives that the values of a source decide, in both directions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.embedded.verify import open_embedded
from vouching.types import Claim, Source

VERIFIER = open_embedded("embedded:rules")


def opposite(claim: str, source: str) -> bool:
    """Whether a step of the verdict names an opposite, or a word that the source has for another thing."""
    verdict = VERIFIER.judge(Claim(claim), [Source(source)])
    reasons = [step.explanation for step in verdict.reasoning_chain]
    signs = ("is the opposite of", "not of what the claim is", "The values of the source say otherwise")
    found = any(said in reason for reason in reasons for said in signs)
    assert not (found and verdict.attributable)
    return found


PLANS = """# Plans

| Plan | Price | Seats | Retention |
|---|---|---|---|
| Basic | $10 | 5 | 12 months |
| Pro | $49 | 20 | 24 months |
| Team | $99 | 8 | 36 months |
"""
LUNCH = "Lunch costs $2.75 (pupils) or $3.40 (teachers). In 2024 the museum had 186,400 visitors (2023: 171,900)."


@pytest.mark.parametrize(
    ("right", "wrong", "source"),
    [
        ("Basic is cheaper than Pro.", "Basic is dearer than Pro.", PLANS),
        ("Pro has more seats than Team.", "Pro has fewer seats than Team.", PLANS),
        ("Pro has a longer retention than Basic.", "Pro has a shorter retention than Basic.", PLANS),
        ("Pro has the most seats.", "Team has the most seats.", PLANS),
        ("Basic is the cheapest plan.", "Pro is the cheapest plan.", PLANS),
        ("Lunch is dearer for teachers than for pupils.", "Lunch is cheaper for teachers than for pupils.", LUNCH),
        ("There were more visitors in 2024 than in 2023.", "There were fewer visitors in 2024 than in 2023.", LUNCH),
        ("Visitors in 2024 were above the year before.", "Visitors in 2024 were below the year before.", LUNCH),
        # The source compares in words, and in the other order.
        ("The lake is deeper than the pond.", "The pond is deeper than the lake.", "The lake is deeper than the pond."),
        ("Ponds hold less salt than lakes.", "Ponds hold more salt than lakes.", "Lakes hold more salt than ponds."),
    ],
)  # fmt: skip
def test_order_of_two_values_decides_a_comparison(right: str, wrong: str, source: str) -> None:
    assert not opposite(right, source)
    assert opposite(wrong, source)


@given(st.integers(10, 999), st.integers(10, 999))
def test_prices_decide_which_is_cheaper(one: int, other: int) -> None:
    source = f"| Plan | Price |\n|---|---|\n| Amber | ${one} |\n| Cobalt | ${other} |\n| Ochre | $5 |\n"
    assert opposite("Amber is cheaper than Cobalt.", source) == (one >= other)
    assert opposite("Cobalt is cheaper than Amber.", source) == (other >= one)


def test_amount_of_the_difference_is_left_to_arithmetic() -> None:
    assert not opposite("Amber costs $5 more than Cobalt.", "Amber costs $10 and Cobalt $15.")
