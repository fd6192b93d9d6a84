"""A value counts only for the subject that the sources give it to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vouching.embedded.verify import EmbeddedVerifier
from vouching.types import Claim, Source

VERIFIER = EmbeddedVerifier()
PLANS = {
    "markdown": "| Plan | Price |\n|---|---|\n| Basic | $10 |\n| Pro | $49 |\n| Team | $99 |\n",
    "csv": "Plan,Price\nBasic,$10\nPro,$49\nTeam,$99",
    "html": "<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic</td><td>$10</td></tr><tr><td>Pro</td>"
    "<td>$49</td></tr><tr><td>Team</td><td>$99</td></tr></table>",
    "columns": "| Plan | Basic | Pro | Team |\n|---|---|---|---|\n| Price | $10 | $49 | $99 |\n| Users | 3 | 20 | 60 |",
    "key and value": "Price of the Basic plan: $10\nPrice of the Pro plan: $49\nPrice of the Team plan: $99",
    "sentences": "The price of the Basic plan is $10. The price of the Pro plan is $49. "
    "The price of the Team plan is $99.",
    "clauses": "The price of the Basic plan is $10, that of the Pro plan is $49, and that of the Team plan is $99.",
}


def attributable(claim: str, source: str) -> bool:
    return VERIFIER.judge(Claim(claim), [Source(source)]).attributable


@pytest.mark.parametrize("form", PLANS)
@pytest.mark.parametrize(("plan", "own", "other"), [("Basic", 10, 49), ("Pro", 49, 10), ("Team", 99, 10)])
def test_a_value_of_another_row_column_line_or_clause_differs(form: str, plan: str, own: int, other: int) -> None:
    assert attributable(f"The price of the {plan} plan is ${own}.", PLANS[form])
    assert not attributable(f"The price of the {plan} plan is ${other}.", PLANS[form])


def test_both_places_are_named_in_the_reason() -> None:
    verdict = VERIFIER.judge(Claim("The price of the Basic plan is $49."), [Source(PLANS["markdown"])])
    # $49 is the price of another plan: one subject is taken for another.
    assert (verdict.error_type, verdict.relation) == ("entity_substitution", "contradicted")
    found = {e.source_span.text for e in verdict.evidence_alignment if e.status == "mismatch" and e.source_span}
    assert found == {"Pro", "$10"}


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        (
            "In 2024 the museum had 186,400 visitors (2023: 171,900), most of them from outside the county.",
            ["The museum had 171,900 visitors in 2023.", "The museum had 186,400 visitors in 2024."],
            ["The museum had 171,900 visitors in 2024.", "The museum had 186,400 visitors in 2023."],
        ),
        (
            "Heat the oven to 180 °C (fan oven: 160 °C).",
            ["Heat the fan oven to 160 °C."],
            [],
        ),
        (
            "The north tower is 80 metres high and the south tower is 95 metres high.",
            ["The north tower is 80 metres high.", "The south tower is 95 metres high."],
            ["The north tower is 95 metres high.", "The south tower is 80 metres high."],
        ),
        (
            "The annual pass costs 36 euros for adults, 62 euros for couples and 12 euros for children.",
            ["The annual pass for couples costs 62 euros.", "The annual pass for adults costs 36 euros."],
            ["The annual pass for adults costs 62 euros.", "The annual pass for couples costs 36 euros."],
        ),
        (
            "Present: 47 of 212 members.",
            ["47 members were present."],
            [],
        ),
    ],
)
def test_each_value_of_a_sentence_has_its_own_zone(source: str, right: list[str], wrong: list[str]) -> None:
    assert [claim for claim in right if not attributable(claim, source)] == []
    assert [claim for claim in wrong if attributable(claim, source)] == []


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(11, 99), min_size=3, max_size=5, unique=True), st.sampled_from(["table", "list"]), st.data()
)
def test_exchanging_two_subjects_changes_the_label(values: list[int], form: str, data: st.DataObject) -> None:
    names = ["Harbour", "Mill", "Castle", "Quarry", "Abbey"][: len(values)]
    if form == "table":
        source = "| Station | Staff |\n|---|---|\n" + "".join(
            f"| {name} | {value} |\n" for name, value in zip(names, values, strict=True)
        )
    else:
        source = "".join(f"- The staff of {name} station: {v}\n" for name, v in zip(names, values, strict=True))
    one, other = data.draw(st.permutations(range(len(values))))[:2]
    assert attributable(f"The staff of {names[one]} station is {values[one]}.", source)
    assert not attributable(f"The staff of {names[one]} station is {values[other]}.", source)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The cache can be set to 1 GB.", True),
        ("The cache can be set to 3 GB.", False),
        # Inside the range, but not stated.
        ("The cache is set to 1 GB.", False),
        ("The cache can be set to exactly 1 GB.", False),
    ],
)
def test_a_value_inside_a_range_is_permitted_but_not_stated(claim: str, expected: bool) -> None:
    assert attributable(claim, "The cache can be set anywhere between 4 MB and 2 GB.") == expected


def test_a_number_is_found_in_words_and_in_digits() -> None:
    source = "Delivery is repeated up to 6 times. " + "The clerk repeats the delivery of parcels daily. " * 8
    assert attributable("Delivery is repeated up to six times.", source)
