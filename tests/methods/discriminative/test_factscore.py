"""The FActScore protocol: facts, their share, the penalty, and answers that have no score."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.discriminative.scorers import BRIDGE, QUESTION, ranked
from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ModelRefusedError, ModelUnavailableError
from vouching.judging.ask import ReplyError
from vouching.methods.discriminative.factscore import FactScore, fact_score, read_facts, split_by_model
from vouching.methods.discriminative.input import scorer_input
from vouching.methods.discriminative.open import open_scorer
from vouching.methods.discriminative.rank import ScoringRanker
from vouching.methods.discriminative.scorer import Candidate, Scored, ScoreOutcome
from vouching.methods.structured.verify import StructuredConfig, StructuredVerifier
from vouching.models import ScriptedModel
from vouching.types import Claim, Source, Unverified

FACTS = "- The bridge opened in 1973.\n- The bridge has two towers.\n- The bridge is in Ulm."


def scored(scorer: FactScore, answer: str = "It opened in 1973.", *sources: Source) -> ScoreOutcome:
    candidate = Candidate(QUESTION, answer, Claim(answer, "answer-1"), scorer_input("", answer), sources)
    [outcome] = asyncio.run(scorer.score([candidate]))
    return outcome


def judged_by_rules(*replies: Any) -> FactScore:
    return FactScore(split_by_model(ScriptedModel(replies)), EmbeddedVerifier(), "scripted")


def test_the_score_is_the_share_of_facts_that_hold_times_the_penalty() -> None:
    outcome = scored(judged_by_rules(FACTS), "It opened in 1973 in Ulm, with two towers.", Source(BRIDGE))
    assert isinstance(outcome, Scored)
    # two of three hold; three facts: exp(1 - 10 / 3)
    assert outcome.value == pytest.approx(2 / 3 * math.exp(1 - 10 / 3))


@given(st.integers(1, 40), st.data())
def test_the_penalty_ends_above_ten_facts_and_the_score_rises_with_what_holds(facts: int, data: st.DataObject) -> None:
    held = data.draw(st.integers(0, facts))
    score = fact_score(held, facts)
    assert 0 <= score <= held / facts
    assert (score == held / facts) == (facts >= 10 or held == 0)  # exp(1 - 10 / 10) is 1 as well
    assert held == facts or score < fact_score(held + 1, facts)


@pytest.mark.parametrize(
    ("reply", "facts"),
    [
        ("- a\n- b", ["a", "b"]),
        ("Facts:\n* a\n• b\n\nDone.", ["a", "b"]),
        ("NONE", []),
        ("None.", []),
        ("- ---\n- a", ["a"]),
        ("<think>\n- perhaps\n</think>\n- a", ["a"]),
    ],
)
def test_facts_are_the_lines_that_begin_with_a_dash(reply: str, facts: list[str]) -> None:
    assert read_facts(reply) == facts


def test_a_reply_that_lists_nothing_is_no_abstention() -> None:
    with pytest.raises(ReplyError, match="lines that begin with a dash"):
        read_facts("The answer says that it opened in 1973.")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [("NONE", "undecided"), ("I cannot help.", "unparsable"), (ModelRefusedError("too long"), "backend")],
)
def test_an_answer_without_facts_or_a_reply_without_a_list_has_no_score(reply: Any, reason: str) -> None:
    outcome = scored(judged_by_rules(reply), "I do not know.", Source(BRIDGE))
    assert isinstance(outcome, Unverified)
    assert outcome.reason == reason
    assert outcome.usage.calls == isinstance(reply, str)  # what was said is paid for, also where it is of no use


def test_a_list_that_was_cut_off_is_no_list() -> None:
    split = split_by_model(ScriptedModel(["- It opened in 1973.\n- It never closed."]), max_tokens=7)
    facts = asyncio.run(split("When?", "In 1973."))
    assert facts.texts == ()
    assert facts.unread is not None
    assert facts.unread.fault == "the list of facts was cut off: raise max_tokens (--max-tokens, now 7)"
    assert facts.unread.reason == "truncated"


def test_a_busy_model_is_waited_for() -> None:
    with pytest.raises(ModelUnavailableError):
        scored(judged_by_rules(ModelUnavailableError("busy")), "x", Source(BRIDGE))


def test_without_evidence_no_fact_is_asked_for() -> None:
    outcome = scored(judged_by_rules(), "It opened in 1973.")
    assert isinstance(outcome, Unverified)
    assert outcome.reason == "no_evidence"


def test_one_fact_that_could_not_be_verified_leaves_the_answer_without_a_score() -> None:
    model = ScriptedModel(["- It opened in 1973.", "no JSON", "again none"])
    judge = StructuredVerifier(model, StructuredConfig(style="label"))
    outcome = scored(FactScore(split_by_model(model), judge, "scripted"), "It opened in 1973.", Source(BRIDGE))
    assert isinstance(outcome, Unverified)
    assert (outcome.claim.id, outcome.reason) == ("answer-1", "unparsable")
    assert "'It opened in 1973.' could not be verified" in outcome.message


def test_one_model_splits_and_judges() -> None:
    label = '{"label": "Attributable", "confidence": 0.9}'
    model = ScriptedModel(["- It opened in 1973.\n- It has two towers.", label, label])
    judge = StructuredVerifier(model, StructuredConfig(style="label"))
    outcome = scored(FactScore(split_by_model(model), judge, "scripted"), "It opened in 1973.", Source(BRIDGE))
    assert isinstance(outcome, Scored)
    assert outcome.value == pytest.approx(math.exp(-4))  # both hold: exp(1 - 10 / 2)
    assert outcome.usage.calls == 3  # one to split, one for each fact
    assert "In 1973" not in model.asked[0].messages[0].content


def test_without_a_language_model_sentences_are_facts() -> None:
    ranker = ScoringRanker(open_scorer("factscore:embedded:rules"))
    ranking = ranked(ranker, ["It opened in 1937.", "It opened in 1973."], BRIDGE)
    assert [(answer.number, answer.score) for answer in ranking.answers] == [(2, pytest.approx(math.exp(-9))), (1, 0.0)]
    assert (ranking.scale, ranking.provenance.model) == ("share", "factscore:embedded:rules")
