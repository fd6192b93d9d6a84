"""The cases SEVA names, with the paper's gold; those the verifier cannot reach are in ``UNREACHED`` and the docs."""

from __future__ import annotations

import pytest

import vouching
from vouching.types import Verdict


def judge(claim: str, source: str, model: str = "embedded") -> Verdict:
    verdict = vouching.check(claim, source, model=model)
    assert isinstance(verdict, Verdict)
    return verdict


def status_of(verdict: Verdict, words: str) -> tuple[str, str | None]:
    """Status and counterpart of the first alignment whose claim span contains ``words``."""
    entry = next(e for e in verdict.evidence_alignment if words in e.claim_span.text)
    return entry.status, entry.source_span.text if entry.source_span else None


def test_figure_4_finds_the_share_and_misses_the_qualifier() -> None:
    verdict = judge("60% of participants significantly improved", "60% of subjects showed improvement")
    assert verdict.label == "Not Attributable"
    assert verdict.error_type == "scope_inflation"
    assert status_of(verdict, "60% of participants") == ("match", "60% of subjects")
    assert status_of(verdict, "significantly") == ("not_found", None)
    assert verdict.fix_suggestion == 'Remove "significantly".'
    assert verdict.revised_claim == "60% of participants improved"


def test_appendix_g_example_1_is_attributable() -> None:
    verdict = judge(
        "The company was founded in 2004 and is headquartered in San Francisco.",
        "Founded in 2004, the technology firm operates from its main office in San Francisco, CA.",
    )
    assert verdict.label == "Attributable"
    assert verdict.error_type is None
    assert status_of(verdict, "founded in 2004") == ("match", "Founded in 2004")
    assert status_of(verdict, "San Francisco")[0] == "match"


def test_appendix_g_example_2_exchanges_12_for_8() -> None:
    verdict = judge(
        "The study involved 500 participants from 12 countries.",
        "The research included 500 volunteers from 8 different nations.",
    )
    assert verdict.label == "Not Attributable"
    assert verdict.error_type == "numerical_exaggeration"
    assert status_of(verdict, "500 participants") == ("match", "500 volunteers")
    assert status_of(verdict, "12 countries") == ("mismatch", "8 different nations")
    assert verdict.fix_suggestion == "Change 12 to 8."
    assert verdict.revised_claim == "The study involved 500 participants from 8 countries."


GREENHOUSE = (
    "The policy was implemented to reduce emissions.",
    "The new regulation was enacted with the goal of lowering greenhouse gas output.",
)


@pytest.mark.parametrize("model", ["embedded:rules", "embedded"])
def test_appendix_g_example_3_is_attributable(model: str) -> None:
    assert judge(*GREENHOUSE, model=model).label == "Attributable"


def test_appendix_j_takes_30_percent_for_about_a_third() -> None:
    verdict = judge(
        "The drug reduced mortality by 30%.",
        "The treatment decreased death rates by approximately one-third.",
    )
    assert verdict.label == "Attributable"
    assert status_of(verdict, "30%")[0] == "match"


def test_15_percent_is_the_same_in_words() -> None:
    assert judge("Revenue grew by 15%.", "Revenue grew by 15 percent.").label == "Attributable"


@pytest.mark.parametrize(
    ("claim", "source", "error_type", "fix"),
    [
        ("The bridge opened in 1937.", "The bridge opened in 1973.", "temporal_shift", "Change 1937 to 1973."),
        (
            "Penicillin was discovered in 1928 by Marie Curie.",
            "Penicillin was discovered by Alexander Fleming in 1928.",
            "entity_substitution",
            "Change Marie Curie to Alexander Fleming.",
        ),
        (
            "The drug did not lower blood pressure.",
            "The drug lowered blood pressure.",
            "negation_flip",
            None,  # a fix never deletes a negation
        ),
        (
            "The drug lowered blood pressure.",
            "The drug did not lower blood pressure.",
            "negation_flip",
            'Change "lowered" to "did not lower".',
        ),
    ],
)
def test_one_wrong_word_is_found_named_and_mended(claim: str, source: str, error_type: str, fix: str | None) -> None:
    verdict = judge(claim, source)
    assert verdict.label == "Not Attributable"
    assert verdict.relation == "contradicted"
    assert verdict.error_type == error_type
    assert verdict.fix_suggestion == fix


def test_case_f3_is_not_attributable() -> None:
    verdict = judge(
        "Eating carrots significantly improves night vision in healthy adults.",
        "Carrots contain vitamin A, which is necessary for normal vision; deficiency causes night blindness, but "
        "supplementation in adults with adequate intake does not measurably improve night vision.",
    )
    assert verdict.label == "Not Attributable"
    assert status_of(verdict, "significantly") == ("not_found", None)


UNREACHED = [
    (
        "The Nobel Prize was awarded in 1921 to Einstein for the photoelectric effect.",
        "Einstein received the 1921 Nobel for the photoelectric law.",
        "Not Attributable",
    ),
]


@pytest.mark.parametrize(("claim", "source", "gold"), UNREACHED)
@pytest.mark.xfail(strict=True, reason="a known failure: one ordinary noun for another")
def test_known_failures_are_still_failures(claim: str, source: str, gold: str) -> None:
    assert judge(claim, source).label == gold
