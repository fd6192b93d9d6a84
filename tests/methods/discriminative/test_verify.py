"""Scorers as verifiers of claims: a verdict needs a probability, and its explanation is the aligner's."""

from __future__ import annotations

import asyncio

import pytest

from tests.methods.discriminative.scorers import BRIDGE, TableScorer, first_sentence
from tests.methods.scripts import warned
from vouching.errors import ConfigError, ModelError
from vouching.judging.calibration import VARIABLE, Calibration
from vouching.judging.verifier import Outcome
from vouching.methods.discriminative.open import SCORERS, open_scorer
from vouching.methods.discriminative.scorer import ClaimScorer, Scored
from vouching.methods.discriminative.verify import DiscriminativeVerifier
from vouching.metrics.calibrators import Calibrator
from vouching.types import Claim, Compression, Scale, Source, Trajectory, Unverified, Verdict

RIGHT, WRONG = "The bridge opened in 1973.", "The bridge opened in 1937."


def calibrated(scorer: TableScorer, slope: float = 1.0) -> Calibration:
    digest = scorer.digest("compressed" if scorer.reads == "text" else "full", question=False)
    return Calibration(scorer.name, digest, 1, Calibrator("platt", (slope, 0.0)))


def claims_of(scorer: TableScorer) -> ClaimScorer:
    return ClaimScorer(scorer, compress=first_sentence)


def verifier(table: dict[str, float], threshold: float = 0.5) -> DiscriminativeVerifier:
    scorer = TableScorer(table)
    return DiscriminativeVerifier(claims_of(scorer), threshold, calibration=calibrated(scorer))


def judged(judge: DiscriminativeVerifier, *claims: str) -> list[Outcome]:
    return asyncio.run(judge.verify([Claim(text, f"c{n}") for n, text in enumerate(claims)], [Source(BRIDGE)]))


def test_a_raw_number_becomes_a_verdict_only_through_a_calibration() -> None:
    with pytest.raises(ConfigError, match=f"vouch calibrate --model table .*{VARIABLE}.*vouch rank"):
        DiscriminativeVerifier(claims_of(TableScorer({})))
    other = Calibration("table", "0" * 64, 1, Calibrator("platt", (1.0, 0.0)))
    with pytest.raises(ConfigError, match="was fitted with prompt"):
        DiscriminativeVerifier(claims_of(TableScorer({})), calibration=other)


def test_a_calibration_made_with_questions_is_not_one_for_claims_alone() -> None:
    scorer = TableScorer({})
    asked = Calibration("table", scorer.digest("compressed", question=True), 1, Calibrator("platt", (1.0, 0.0)))
    with pytest.raises(ConfigError, match="was fitted with prompt"):
        DiscriminativeVerifier(claims_of(scorer), calibration=asked)


def test_score_label_and_confidence_follow_from_the_calibrated_number() -> None:
    right, wrong = judged(verifier({RIGHT: 2.0, WRONG: -1.0}), RIGHT, WRONG)
    assert isinstance(right, Verdict)
    assert isinstance(wrong, Verdict)
    # 1 / (1 + exp(-2)) = .8808 and 1 / (1 + exp(1)) = .2689
    assert (right.label, right.score, right.relation) == ("Attributable", pytest.approx(0.8808, abs=1e-4), "supported")
    assert (wrong.label, wrong.confidence) == ("Not Attributable", pytest.approx(0.7311, abs=1e-4))
    assert (right.provenance.model, right.provenance.calibrator) == ("table", calibrated(TableScorer({})).name)


def test_alignment_chain_error_and_fix_are_the_aligners() -> None:
    [verdict] = judged(verifier({WRONG: -1.0, RIGHT: 2.0}), WRONG)
    assert isinstance(verdict, Verdict)
    assert (verdict.error_type, verdict.fix_suggestion) == ("temporal_shift", "Change 1937 to 1973.")
    assert verdict.revised_claim == RIGHT
    spans = [entry.source_span for entry in verdict.evidence_alignment if entry.source_span]
    assert spans
    assert all(BRIDGE[span.start : span.end] == span.text for span in spans)
    assert verdict.reasoning_chain


@pytest.mark.parametrize("table", [{WRONG: -1.0, RIGHT: -2.0}, {WRONG: -1.0}])
def test_a_revised_claim_that_the_scorer_itself_does_not_pass_is_not_offered(table: dict[str, float]) -> None:
    [verdict] = judged(verifier(table), WRONG)
    assert isinstance(verdict, Verdict)
    assert (verdict.revised_claim, verdict.fix_suggestion, verdict.error_type) == (None, None, "temporal_shift")


def test_a_fix_is_scored_only_for_a_claim_that_does_not_pass_and_its_cost_counts() -> None:
    scorer = TableScorer({WRONG: -1.0, RIGHT: 2.0, "It has six towers.": 1.0})
    judge = DiscriminativeVerifier(claims_of(scorer), calibration=calibrated(scorer))
    failing, passing = judged(judge, WRONG, "It has six towers.")
    assert [one.answer for one in scorer.read] == [WRONG, "It has six towers.", RIGHT]
    assert (failing.usage.calls, passing.usage.calls) == (2, 1)


def test_where_aligner_and_scorer_disagree_the_scorer_decides_and_that_is_told() -> None:
    high, low = judged(verifier({WRONG: 3.0, RIGHT: -3.0}), WRONG, RIGHT)
    assert isinstance(high, Verdict)
    assert isinstance(low, Verdict)
    assert (high.label, high.error_type, high.relation) == ("Attributable", None, "supported")
    assert (low.label, low.relation, low.revised_claim) == ("Not Attributable", "not_found", None)
    assert all("say otherwise" in warned(verdict, "inconsistency")[-1] for verdict in (high, low))


def test_the_threshold_moves_the_label_and_leaves_the_probability() -> None:
    [verdict] = judged(verifier({RIGHT: 2.0}, threshold=0.95), RIGHT)
    assert isinstance(verdict, Verdict)
    assert (verdict.label, verdict.score) == ("Not Attributable", pytest.approx(0.8808, abs=1e-4))


def test_a_claim_without_a_number_is_unverified_and_the_others_go_on() -> None:
    outcomes = judged(verifier({RIGHT: 2.0}), "Ulm lies on the Danube.", RIGHT)
    assert [outcome.kind for outcome in outcomes] == ["unverified", "verdict"]


def test_a_model_that_fails_to_compress_leaves_the_claim_unverified() -> None:
    async def failing(trajectory: Trajectory, answer: str) -> Compression:
        raise ModelError("no facts in the reply")

    scorer = TableScorer({RIGHT: 2.0})
    [outcome] = judged(
        DiscriminativeVerifier(ClaimScorer(scorer, compress=failing), calibration=calibrated(scorer)), RIGHT
    )
    assert isinstance(outcome, Unverified)
    assert (outcome.reason, outcome.message) == ("backend", "no facts in the reply")


def test_a_models_own_probability_makes_a_verdict_that_says_it_is_not_calibrated() -> None:
    scorer = TableScorer({RIGHT: 0.9}, scale="unit", reads="passages")
    [verdict] = judged(DiscriminativeVerifier(ClaimScorer(scorer)), RIGHT)
    assert isinstance(verdict, Verdict)
    assert (verdict.score, verdict.provenance.calibrator) == (0.9, None)
    assert "vouch calibrate" in warned(verdict, "uncalibrated")[0]
    [verdict] = judged(DiscriminativeVerifier(ClaimScorer(scorer), calibration=calibrated(scorer)), RIGHT)
    assert isinstance(verdict, Verdict)
    assert verdict.score == pytest.approx(0.7109, abs=1e-4)  # 1 / (1 + exp(-.9))
    assert warned(verdict, "uncalibrated") == []


@pytest.mark.parametrize("scale", ["share"])
def test_a_share_of_facts_judges_no_claim(scale: Scale) -> None:
    with pytest.raises(ConfigError, match="use vouch rank"):
        DiscriminativeVerifier(ClaimScorer(TableScorer({}, scale=scale, reads="passages")))


def test_the_scorer_is_shown_the_claim_and_the_compressed_sources_without_a_question() -> None:
    scorer = TableScorer({RIGHT: 2.0})
    judged(DiscriminativeVerifier(claims_of(scorer), calibration=calibrated(scorer)), RIGHT)
    first = "Useful facts: The bridge opened to traffic in 1973"
    assert scorer.read[0].read.text == f"Answer: {RIGHT}\n{first}\nReasoning: About {RIGHT}"


def test_a_claim_may_have_a_question_where_only_numbers_are_wanted() -> None:
    scorer = TableScorer({RIGHT: 2.0})
    [outcome] = asyncio.run(claims_of(scorer).score([Claim(RIGHT)], [Source(BRIDGE)], "When did it open?"))
    assert isinstance(outcome, Scored)
    assert outcome.value == 2.0
    assert scorer.read[0].read.asked == f"Question: When did it open?\nAnswer: {RIGHT}\n"


@pytest.mark.parametrize("name", ["bogus", "bogus:/x", "discriminative:", "minicheck", "http://host/v1#m"])
def test_a_name_that_no_scorer_has_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_scorer(name)
    assert SCORERS in str(refused.value)
