from __future__ import annotations

import re

import pytest

from vouching import Checker

CHECKER = Checker("embedded:rules")


@pytest.mark.parametrize(
    ("claim", "source", "reason"),
    [
        (
            "You can take ten days of leave.",
            "You may take up to 25 days of leave.",
            '"ten days" fits "up to 25 days".',
        ),
        ("It costs at least 10 euros.", "It costs 25 euros.", '"at least 10 euros" fits "25 euros".'),
        ("It takes 90 minutes.", "It takes 1.5 hours.", '"90 minutes" and "1.5 hours" agree.'),
        (
            "Users can delete posts.",
            "Users may not delete posts.",
            'One denies what the other says: the source has "Users may not delete posts".',
        ),
    ],
)
def test_a_reason_says_how_the_two_sides_relate(claim: str, source: str, reason: str) -> None:
    assert reason in [step.explanation for step in CHECKER.check(claim, source).reasoning_chain]


@pytest.mark.parametrize(
    ("claim", "source", "words"),
    [
        ("Staff may take ten days of leave.", "Staff have 25 days of leave, ten days may be carried over.", "25"),
        ("The warranty runs for six years.", "You may use the warranty form for 28 days.", "28 days"),
        ("Veltrazine helps adults with asthma.", "Adults with asthma are helped.", "Adults"),
    ],
)
def test_a_pair_without_a_shared_meaning_is_not_shown(claim: str, source: str, words: str) -> None:
    found = CHECKER.check(claim, source)
    for step in found.reasoning_chain:
        said = re.search(r"where the claim has .*|the claim says .*", step.explanation, re.IGNORECASE)
        assert said is None or words not in said.group() or step.claim_part == "ten days"
