from __future__ import annotations

import pytest

from vouching import Checker

CHECKER = Checker("embedded:rules")


@pytest.mark.parametrize(
    ("claim", "source", "item"),
    [
        ("The kit contains a rope and a stove.", "The kit contains a rope. A stove is not included.", "stove"),
        ("The plan covers dental and hearing.", "The plan covers dental. Hearing is excluded.", "Hearing"),
        ("Apples and plums are sold here.", "Apples are sold here. Plums are not sold here.", "Plums"),
        ("Lunch and dinner are included.", "Lunch is included in the price, except dinner.", "dinner"),
        ("Ann and Ben attended the meeting.", "Ann attended the meeting. Ben did not attend.", "Ben"),
        ("The tent has a door and a window.", "The tent has a door. There is no window.", "window"),
    ],
)
def test_a_list_of_which_the_source_excludes_one_item_fails_for_that_item(claim: str, source: str, item: str) -> None:
    found = CHECKER.check(claim, source)
    assert (found.label, found.relation) == ("Not Attributable", "contradicted")
    assert found.error_type in ("negation_flip", "scope_inflation")
    assert item in [step.source_evidence for step in found.reasoning_chain if step.judgment == "not_supported"]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The fee covers the room and the towels.", "The fee covers the room and the towels. It covers no meals."),
        ("The hotel has a pool and a gym.", "The hotel has a pool and a gym. The gym is not free."),
        ("The pass is valid on trams and buses.", "The pass is valid on trams and buses. Night buses are excluded."),
        ("Pets are allowed in the garden.", "Pets are allowed in the garden. Pets are not allowed in the pool."),
        ("You may take a bag.", "You may take a bag. A bag is not allowed if it is larger than the tray."),
        ("The Pro plan has phone support.", "The Pro plan has phone support. The Basic plan has no phone support."),
    ],
)
def test_an_exclusion_of_something_else_or_for_another_case_denies_nothing(claim: str, source: str) -> None:
    assert CHECKER.check(claim, source).label == "Attributable"
