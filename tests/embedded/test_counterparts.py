"""What is shown as the counterpart of a word or a value of the claim, where the source is a table."""

from __future__ import annotations

import pytest

import vouching
from vouching.types import Verdict

ROOMS = """| Room | Seats | Price per hour | Projector |
|---|---|---|---|
| Heron | 12 | €18 | yes |
| Plover | 30 | €45 | no |
| Stilt | 8 | €11 | yes |
"""
HEADS = {"Room", "Seats", "Price per hour", "Projector", "Price"}


def checked(claim: str, source: str = ROOMS) -> Verdict:
    verdict = vouching.check(claim, source, model="embedded:rules")
    assert isinstance(verdict, Verdict)
    return verdict


@pytest.mark.parametrize(
    "claim",
    [
        "The Heron room comes with 12 seats.",
        "The Heron room comes with 30 seats.",
        "Plover: 30 seats, 45 euros per hour.",
        "In room Stilt an hour costs €18, with a projector.",
        "The Curlew room seats 12.",
    ],
)
def test_the_name_of_a_column_is_never_what_the_source_says_instead(claim: str) -> None:
    differing = [entry for entry in checked(claim).evidence_alignment if entry.status == "mismatch"]
    assert not {entry.source_span.text for entry in differing if entry.source_span} & HEADS


def test_the_value_of_another_row_is_still_named_beside_the_right_one() -> None:
    verdict = checked("Plover costs €18 per hour.")
    assert not verdict.attributable
    [step] = [step for step in verdict.reasoning_chain if step.judgment == "not_supported"]
    assert step.explanation == "The source says €45 here; it gives €18 to something else."


def test_a_value_with_a_bound_is_given_to_something_else_without_it() -> None:
    source = "| Zone | Breakfast | Dinner |\n|---|---|---|\n| North | €9 | €24 |\n| South | €7 | €19 |\n"
    verdict = checked("In the zone North, dinner is paid up to €19.", source)
    explained = " ".join(step.explanation for step in verdict.reasoning_chain)
    assert "it gives €19 to something else" in explained


def test_opposite_words_are_still_called_so() -> None:
    verdict = checked("The gate is open at night.", "The gate is closed at night.")
    assert any("is the opposite of" in step.explanation for step in verdict.reasoning_chain)


def test_words_of_two_cells_are_not_in_one_place() -> None:
    source = "| Step | Task | Team | Time |\n|---|---|---|---|\n| 2 | Export the orders | Data Desk | 95 min |\n"
    claimed = checked("The export of the orders has taken 95 minutes.", source)
    spans = [entry.source_span.text for entry in claimed.evidence_alignment if entry.source_span]
    assert not {"Data", "Desk"} & set(spans)
