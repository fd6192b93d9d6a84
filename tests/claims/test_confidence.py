from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vouching
from vouching.claims.confidence import decided
from vouching.errors import ConfigError
from vouching.repair import Rest
from vouching.report import report_markdown
from vouching.types import Claim, Unverified, Verdict, from_json, to_json

SOURCE = "The bridge opened in 1973. It is red."


def verdict(score: float) -> Verdict:
    label = "Attributable" if score >= 0.5 else "Not Attributable"
    relation = "supported" if score >= 0.5 else "not_found"
    return Verdict(Claim("It rained."), label, score, max(score, 1 - score), 0.5, relation)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_verdict_is_undecided_exactly_below_the_minimum(score: float, minimum: float) -> None:
    [outcome] = decided([verdict(score)], minimum)
    assert isinstance(outcome, Unverified) == (max(score, 1 - score) < minimum)


def test_an_undecided_claim_counts_as_unverified_and_comes_first_in_the_review() -> None:
    checker = vouching.Checker("embedded:rules", min_confidence=0.9)
    report = checker.check_response("The bridge opened in 1973. The bridge is big.", SOURCE)
    assert [finding.status for finding in report.findings] == ["match", "unverified"]
    assert (report.totals.unverified, report.passed, report.score) == (1, None, None)
    assert report.review_first == ((2, "undecided"),)


def test_an_undecided_claim_keeps_the_verdict_with_its_reasons_and_its_fix() -> None:
    claim = "The bridge opened in 1937."
    sure = vouching.check(claim, SOURCE, model="embedded:rules")
    [unsure] = decided([sure], 1.0)
    assert isinstance(unsure, Unverified)
    assert unsure.verdict == sure
    assert unsure.verdict is not None
    assert unsure.verdict.revised_claim == "The bridge opened in 1973."
    assert from_json(Unverified, to_json(unsure)) == unsure


@pytest.mark.parametrize(
    ("rest", "revised"),
    [
        ("mark", "The ferry leaves at 9:40. [undecided] The fare is 3 euros. [undecided]"),
        ("remove", "The ferry leaves at 9:40. [undecided] The fare is 3 euros. [undecided]"),
        ("keep", "The ferry leaves at 9:40. The fare is 3 euros."),
    ],
)
def test_a_repair_leaves_the_undecided_claims_to_a_person_and_says_which_they_are(rest: Rest, revised: str) -> None:
    checker = vouching.Checker("embedded:rules", min_confidence=1.0)
    source = "The ferry leaves at 9:50. The fare is 3 euros."
    report = checker.check_response("The ferry leaves at 9:40. The fare is 3 euros.", source, repair_rest=rest)
    assert report.revised_response == revised
    assert [finding.label for finding in report.unrepaired] == ["Unverified", "Unverified"]
    assert "nothing to change" not in report_markdown(report).lower()


def test_a_repair_without_a_minimum_marks_nothing_as_undecided() -> None:
    report = vouching.check_response("The ferry leaves at 9:40.", "The ferry leaves at 9:50.", repair_rest="mark")
    assert report.revised_response == "The ferry leaves at 9:50."
    assert report.unrepaired == ()


def test_a_single_claim_and_a_row_are_undecided_alike() -> None:
    checker = vouching.Checker("embedded:rules", min_confidence=0.999)
    claim = "The bridge opened in 1973."
    [row] = checker.check_many([{"claim": claim, "source": SOURCE}])
    outcome = checker.check(claim, SOURCE)
    assert isinstance(outcome, Unverified)
    assert isinstance(row, Unverified)
    assert outcome.reason == row.reason == "undecided"


@pytest.mark.parametrize("minimum", [-0.1, 1.1, "high"])
def test_a_minimum_out_of_range_is_refused(minimum: float) -> None:
    with pytest.raises(ConfigError, match="min_confidence must be in"):
        vouching.Checker("embedded:rules", min_confidence=minimum)


def test_a_method_without_confidence_takes_no_minimum() -> None:
    with pytest.raises(ConfigError, match="a minimum confidence"):
        vouching.Checker(method="rules", min_confidence=0.9)
