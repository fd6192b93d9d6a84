"""What a report is about, in words."""

from __future__ import annotations

import pytest

from tests.report.records import report, supported
from vouching.report.overview import Overview
from vouching.types import PairResult, Report

OWN = len(report().findings)


@pytest.mark.parametrize(
    ("singles", "responses", "said"),
    [
        (3, 0, "3 claims"),
        (0, 1, f"{OWN} claims in 1 response"),
        (3, 2, f"{2 * OWN + 3} claims, {2 * OWN} of them in 2 responses"),
    ],
)
def test_single_claims_beside_a_response_are_not_counted_as_its_own(singles: int, responses: int, said: str) -> None:
    overview = Overview()
    for record in [supported()] * singles + [report()] * responses:
        overview.add(record)
    assert overview.subject_words() == said


def test_questions_of_an_audit_are_called_so_and_all_their_outcomes_are_drawn() -> None:
    overview = Overview()
    outcomes = ("same", "same", "different", "not_found", "contradictory", "leaked")
    overview.add(Report("It opened.", (), tuple(PairResult("When?", "1973", one) for one in outcomes)))
    assert overview.subject_words() == "6 questions in 1 response"
    drawn = overview.label_chart()
    for label in ("Different", "Not in the documents", "Contradictory documents", "Leaked"):
        assert f"{label}: 1 of 6" in drawn
    assert "Same: 2 of 6" in drawn
