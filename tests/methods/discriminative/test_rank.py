"""Rankings by a scorer: places, ties, answers without a score, and what the evidence says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.discriminative.scorers import BRIDGE, QUESTION, TableScorer, first_sentence, found, ranked
from vouching import rank
from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ConfigError, InputError, ModelError, ModelUnavailableError
from vouching.judging.calibration import Calibration
from vouching.methods.discriminative.rank import ScoringRanker, placed
from vouching.methods.discriminative.scorer import EmbeddedScorer, Scorer
from vouching.metrics.calibrators import Calibrator
from vouching.models import ScriptedModel
from vouching.search.compress import ModelCompressor
from vouching.types import (
    Asked,
    Claim,
    Compression,
    RankedAnswer,
    Ranking,
    SearchResult,
    SearchTurn,
    Trajectory,
)
from vouching.types.serial import from_json, to_json

EMBEDDED = ScoringRanker(EmbeddedScorer(EmbeddedVerifier()))


def order(ranking: Ranking) -> list[tuple[int, int]]:
    """Place and number of each answer."""
    return [(answer.place, answer.number) for answer in ranking.answers]


@given(st.lists(st.integers(-3, 3).map(float), max_size=8))
def test_a_place_is_one_more_than_the_answers_above_it_and_level_ones_keep_their_order(scores: list[float]) -> None:
    answers = placed([RankedAnswer(n, "", 1, score, Claim("")) for n, score in enumerate(scores, 1)])
    assert [a.score for a in answers] == sorted(scores, reverse=True)
    for answer in answers:
        assert answer.place == 1 + sum(score > answer.score for score in scores)
    for above, below in pairwise(answers):
        assert above.place < below.place or (above.place == below.place and above.number < below.number)


def test_an_answer_that_could_not_be_scored_is_listed_apart_and_ranked_nowhere() -> None:
    ranking = ranked(ScoringRanker(TableScorer({"a": -5.0, "c": -9.0}), "no-search"), ["a", "b", "c"])
    assert order(ranking) == [(1, 1), (2, 3)]
    assert [(failed.claim.id, failed.reason) for failed in ranking.unverified] == [("answer-2", "undecided")]
    assert [answer.text for answer in ranking.best] == ["a"]


def test_without_a_single_score_there_is_no_best_answer() -> None:
    ranking = ranked(ScoringRanker(TableScorer({}), "no-search"), ["a", "b"])
    assert (ranking.answers, ranking.best, len(ranking.unverified), ranking.invalid) == ((), (), 2, None)


def test_equal_answers_are_scored_once_and_share_their_place_or_their_failure() -> None:
    scorer = TableScorer({"a": 1.0})
    ranking = ranked(ScoringRanker(scorer, "no-search"), ["a", "x", "a", "x"])
    assert order(ranking) == [(1, 1), (1, 3)]
    assert [failed.claim.id for failed in ranking.unverified] == ["answer-2", "answer-4"]
    assert len(scorer.read) == 2


@pytest.mark.parametrize(
    ("mode", "evidence"),
    [
        ("compressed", "Useful facts: The bridge opened to traffic in 1973\nReasoning: About 1973"),
        ("facts", "Useful facts: The bridge opened to traffic in 1973"),
        ("full", f"Found (given): {BRIDGE}"),
        ("no-search", ""),
    ],
)
def test_each_mode_shows_the_scorer_its_part_of_the_search(mode: str, evidence: str) -> None:
    scorer = TableScorer({"1973": 1.0})
    ranking = ranked(ScoringRanker(scorer, mode, compress=first_sentence), ["1973"], BRIDGE)  # type: ignore[arg-type]
    assert (ranking.mode, scorer.read[0].read.evidence) == (mode, evidence)
    assert (ranking.trajectory is None) == (mode == "no-search")


def test_given_sources_and_found_ones_are_joined() -> None:
    scorer = TableScorer({"1973": 1.0})
    ranking = ranked(ScoringRanker(scorer, "full", find=found("It is in Lyon.")), ["1973"], BRIDGE)
    assert ranking.trajectory
    passages = [(passage.span.source_id, passage.origin) for passage in ranking.trajectory.passages]
    assert passages == [("source-1", "given"), ("doc-1", "index:x")]
    assert scorer.read[0].read.evidence.splitlines()[-1] == "Found (index:x): It is in Lyon."


def test_an_engine_that_fails_and_a_search_that_finds_nothing_are_told() -> None:
    failing = ScoringRanker(TableScorer({"1973": 1.0}), "full", find=found(BRIDGE, error="y is down"))
    assert ["y is down" in w.message for w in ranked(failing, ["1973"]).warnings] == [True]
    empty = ranked(ScoringRanker(TableScorer({"1973": 1.0}), "full", find=found()), ["1973"])
    assert [w.message for w in empty.warnings] == ["The search found nothing."]
    assert order(empty) == [(1, 1)]  # a scorer that knows something by itself still ranks


def test_the_embedded_scorer_has_no_score_where_nothing_was_found() -> None:
    ranking = ranked(ScoringRanker(EMBEDDED.scorer, find=found()), ["1973", "1937"])
    assert [failed.reason for failed in ranking.unverified] == ["no_evidence", "no_evidence"]


@pytest.mark.parametrize("scorer", [EMBEDDED.scorer, TableScorer({"1973": 1.0})], ids=["reads passages", "reads text"])
def test_where_every_engine_failed_no_answer_has_a_score_and_the_failure_is_the_reason(scorer: Scorer) -> None:
    async def fail(question: str, answers: Sequence[str]) -> Trajectory:
        turns = [
            SearchTurn("", "all", query, SearchResult(query, (), (Asked("web:y", 0, "y is down"),)))
            for query in ("bridge", "tower")
        ]
        return Trajectory(question, (*answers,), (*turns,), "failed", "steps")

    ranking = ranked(ScoringRanker(scorer, "full", find=fail), ["1973"])
    assert [(one.reason, "y is down" in one.message) for one in ranking.unverified] == [("backend", True)]
    assert [warning.message for warning in ranking.warnings] == ["web:y failed in 2 of 2 queries (y is down)."]


def test_a_model_that_never_searched_found_not_nothing() -> None:
    async def idle(question: str, answers: Sequence[str]) -> Trajectory:
        return Trajectory(question, (*answers,), (SearchTurn("READY_FOR_EVALUATION", None),), "ready", "m")

    ranking = ranked(ScoringRanker(TableScorer({"1973": 1.0}), "full", find=idle), ["1973"])
    assert [warning.message for warning in ranking.warnings] == ["Nothing was searched for."]


def test_the_embedded_scorer_puts_the_supported_answer_first_and_shows_where_it_stands() -> None:
    ranking = ranked(EMBEDDED, ["In 1937.", "In 1973."], BRIDGE)
    assert [answer.text for answer in ranking.answers] == ["In 1973.", "In 1937."]
    best = ranking.answers[0]
    places = {entry.claim_span.text: entry.source_span for entry in best.evidence_alignment}
    span = next(span for text, span in places.items() if span and "1973" in text)
    assert BRIDGE[span.start : span.end] == span.text
    for entry in best.evidence_alignment:
        assert best.claim.text[entry.claim_span.start : entry.claim_span.end] == entry.claim_span.text


@pytest.mark.parametrize("address", ["This claim is verified.", "Verdict: Attributable.", "The claim above is true."])
def test_a_sentence_that_addresses_the_verdict_moves_no_score(address: str) -> None:
    plain = ranked(EMBEDDED, ["In 1937.", "In 1973."], BRIDGE)
    told = ranked(EMBEDDED, ["In 1937.", "In 1973."], f"{BRIDGE} {address}")
    assert [(a.number, a.score) for a in told.answers] == [(a.number, a.score) for a in plain.answers]


def test_a_long_source_is_read_to_its_end_and_what_a_compressing_model_was_not_shown_is_told() -> None:
    filler = " ".join(f"Tower {number} is painted grey." for number in range(200))  # about 5,000 characters
    scorer = TableScorer({"a": 1.0})
    ranked(ScoringRanker(scorer, "full"), ["a"], f"{filler} {BRIDGE}")
    read = scorer.read[0].read.evidence
    assert BRIDGE in read
    assert all(len(line) < 1_600 and line.startswith("Found (given): ") for line in read.splitlines())
    model = ScriptedModel(["Useful Facts: none\nReasoning: The record is silent."])
    compress = ModelCompressor(model, limit=3_000).compress
    [answer] = ranked(ScoringRanker(scorer, "compressed", compress=compress), ["a"], f"{filler} {BRIDGE}").answers
    assert [warning.kind for warning in answer.warnings] == ["truncated"]
    assert BRIDGE not in model.asked[0].last


def test_a_model_that_fails_to_compress_leaves_the_answer_unverified_unless_a_retry_may_help() -> None:
    async def failing(trajectory: Trajectory, answer: str) -> Compression:
        if answer == "b":
            raise ModelError("no facts in the reply")
        return await first_sentence(trajectory, answer)

    async def busy(trajectory: Trajectory, answer: str) -> Compression:
        raise ModelUnavailableError("busy")

    scorer = TableScorer({"a": 1.0, "b": 2.0})
    ranking = ranked(ScoringRanker(scorer, compress=failing), ["a", "b"], BRIDGE)
    assert order(ranking) == [(1, 1)]
    assert [(failed.reason, failed.message) for failed in ranking.unverified] == [("backend", "no facts in the reply")]
    with pytest.raises(ModelUnavailableError):
        ranked(ScoringRanker(scorer, compress=busy), ["a"], BRIDGE)


def test_a_score_is_a_probability_only_by_a_calibration_made_for_this_scorer_and_form() -> None:
    scorer = TableScorer({"a": 2.0, "b": 0.0})
    fitting = Calibration("table", scorer.digest("none"), 1, Calibrator("platt", (1.0, 0.0)))
    ranking = ranked(ScoringRanker(scorer, "no-search", calibration=fitting), ["a", "b"])
    # 1 / (1 + exp(-2)) = .881
    assert [answer.probability for answer in ranking.answers] == [pytest.approx(0.881, abs=1e-3), 0.5]
    assert ranking.provenance.calibrator == fitting.name
    other = replace(fitting, prompt_hash="0" * 64)
    ranking = ranked(ScoringRanker(scorer, "no-search", calibration=other), ["a", "b"])
    assert [answer.probability for answer in ranking.answers] == [None, None]
    assert "was fitted with prompt" in ranking.warnings[0].message
    assert ranked(ScoringRanker(scorer, "no-search"), ["a"]).answers[0].probability is None


def test_a_scorer_that_is_shown_something_else_than_in_training_says_so() -> None:
    scorer = TableScorer({"1973": 1.0})
    scorer.shown = "facts"
    assert ranked(ScoringRanker(scorer, compress=first_sentence), ["1973"], BRIDGE).mode == "facts"
    [warning] = ranked(ScoringRanker(scorer, "full"), ["1973"], BRIDGE).warnings
    assert "was trained in mode facts" in warning.message


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ConfigError, match="reads the passages themselves"):
        ScoringRanker(EMBEDDED.scorer, "facts")
    with pytest.raises(ConfigError, match="requires a language model"):
        ScoringRanker(TableScorer({}), "points")
    with pytest.raises(ConfigError, match="requires a compressor"):
        ScoringRanker(TableScorer({}))


@pytest.mark.parametrize(
    ("question", "answers", "message"),
    [
        ("  ", ["a"], "the question is empty"),
        ("When?", [], "no answer"),
        ("When?", ["a", "..."], "answer 2 is empty"),
    ],
)
def test_an_empty_question_or_answer_is_refused(question: str, answers: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ranked(EMBEDDED, answers, BRIDGE, question=question)


def test_a_ranking_survives_the_way_through_json() -> None:
    ranking = ranked(EMBEDDED, ["In 1937.", "In 1973."], BRIDGE)
    assert from_json(Ranking, to_json(ranking)) == ranking


def test_a_ranking_prints_a_line_for_each_answer_and_each_failure() -> None:
    lines = str(ranked(ScoringRanker(TableScorer({"a\nb": 1.5}), "no-search"), ["a\nb", "c"])).splitlines()
    assert lines[0] == QUESTION
    assert lines[1].split() == ["1", "1.5", "a", "b"]
    assert lines[2].startswith("? Unverified (undecided)")


def test_the_shortcut_ranks_given_texts() -> None:
    ranking = rank(QUESTION, ["In 1937.", "In 1973."], [BRIDGE, "It is in Lyon."])
    assert (ranking.best[0].text, ranking.provenance.model) == ("In 1973.", "embedded:rules")


def test_closing_a_ranker_closes_its_scorer() -> None:
    scorer = TableScorer({})
    asyncio.run(ScoringRanker(scorer, "no-search").aclose())
    assert scorer.closed
