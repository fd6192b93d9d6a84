"""Published language models: the requests that a server gets, and what is read of its answers."""

from __future__ import annotations

import asyncio
from math import exp, log
from typing import Any

import pytest

from vouching.checker import Checker
from vouching.methods.discriminative.input import scorer_input
from vouching.methods.discriminative.published.served import FORMS, ServedScorer
from vouching.methods.discriminative.scorer import Candidate, ClaimScorer, Scored, ScoreOutcome
from vouching.methods.discriminative.verify import DiscriminativeVerifier
from vouching.models import Completion, ScriptedModel
from vouching.types import Claim, Source, Unverified, Usage, Verdict

BRIDGE = "The bridge opened in 1973."
CLAIM = "It opened in 1937."


def reply(text: str, *steps: dict[str, float]) -> Completion:
    return Completion(text, "stop", Usage(calls=1), alternatives=steps)


def outcome(
    kind: str, model: ScriptedModel, claim: str = CLAIM, source: str = BRIDGE, question: str = ""
) -> ScoreOutcome:
    scorer = ServedScorer(kind, model)
    one = Candidate(question, claim, Claim(claim), scorer_input(question, claim), (Source(source),))
    [found] = asyncio.run(scorer.score([one]))
    return found


def value(found: ScoreOutcome) -> float:
    assert isinstance(found, Scored)
    return found.value


def test_minicheck_sums_the_yes_of_the_first_token_as_its_publisher_does() -> None:
    # LLMCheck.get_support_prob: of the five likeliest tokens those that are "yes" in lower case, without stripping.
    step = {"Yes": log(0.5), "yes": log(0.2), " Yes": log(0.1), "No": log(0.15), "Y": log(0.05)}
    model = ScriptedModel([reply("Yes", step)])
    assert value(outcome("minicheck", model)) == pytest.approx(0.7, abs=1e-5)
    [call] = model.asked
    assert [message.role for message in call.messages] == ["system", "user"]
    assert call.messages[1].content == f"Document: {BRIDGE}\nClaim: {CLAIM}"
    assert call.messages[0].content.startswith("Determine whether the provided claim is consistent with the")
    assert call.messages[0].content.endswith('by responding with either "Yes" or "No".')
    assert (call.sampling.max_tokens, call.sampling.temperature, call.sampling.logprobs) == (1, 0.0, True)
    assert call.sampling.top_logprobs == 5


def test_granite_guardian_gives_the_share_of_no_since_yes_is_a_risk() -> None:
    # softmax_yes_no: yes .3 + .02 and no .6 over all steps, any case, stripped; 1 - .32 / .92 = .6521739
    steps = ({"<score>": log(0.98), "yes": log(0.02)}, {" no": log(0.6), " Yes": log(0.3)})
    model = ScriptedModel([reply("<score> no </score>", *steps)])
    found = value(outcome("granite-guardian", model, question="When?"))
    assert found == pytest.approx(0.6 / (0.6 + 0.32), abs=1e-5)
    [call] = model.asked
    assert [(message.role, message.content) for message in call.messages] == [("user", "When?"), ("assistant", CLAIM)]
    fields: Any = call.sampling.extra["chat_template_kwargs"]
    assert fields["documents"] == [{"doc_id": "0", "text": BRIDGE}]
    assert (fields["guardian_config"], fields["think"]) == ({"criteria_id": "groundedness"}, False)


def test_lynx_and_faithlens_give_a_label_with_a_reason_and_say_that_it_is_no_probability() -> None:
    lynx = ScriptedModel(['{"REASONING": ["The year differs.", "1973."], "SCORE": "FAIL"}'])
    found = outcome("lynx", lynx, question="When did it open?")
    assert isinstance(found, Scored)
    assert (found.value, found.reason) == (0.0, "The year differs. 1973.")
    assert [warning.kind for warning in found.warnings] == ["uncalibrated"]
    asked = lynx.asked[0].last
    assert (
        f"QUESTION (THIS DOES NOT COUNT AS BACKGROUND INFORMATION):\nWhen did it open?\n\n--\nDOCUMENT:\n{BRIDGE}"
        in asked
    )
    assert asked.endswith('{"REASONING": <your reasoning as bullet points>, "SCORE": <your final score>}\n')


def test_faithlens_asks_for_each_sentence_and_the_lowest_counts() -> None:
    # score(): the minimum over the sentences of the maximum over the windows.
    replies = [
        "<think>x</think><reason>It says so.</reason><answer> Yes </answer>",
        "<think>y</think><reason>It does not.</reason><answer>No</answer>",
    ]
    model = ScriptedModel(replies)
    found = outcome("faithlens", model, claim="It opened in 1973. It has towers.")
    assert isinstance(found, Scored)
    assert (found.value, found.reason) == (0.0, "It does not.")
    assert [call.last.rpartition("Claim: ")[2] for call in model.asked] == ["It opened in 1973.\n", "It has towers.\n"]
    assert model.asked[0].sampling.temperature == 0.6


def test_the_best_window_of_a_long_document_counts() -> None:
    window = FORMS["lynx"].window
    long = "The old city is on a river. " * (window // 26) + "The bridge opened in 1937."
    model = ScriptedModel(['{"SCORE": "FAIL"}', '{"SCORE": "PASS"}'])
    assert value(outcome("lynx", model, source=long)) == 1.0
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("kind", "text"), [("minicheck", "Maybe"), ("granite-guardian", "none"), ("lynx", "PASS"), ("faithlens", "Yes")]
)
def test_a_reply_without_a_verdict_is_unverified_and_no_score(kind: str, text: str) -> None:
    found = outcome(kind, ScriptedModel([text]))
    assert isinstance(found, Unverified)
    assert found.reason == "unparsable"
    assert "gave no verdict: expected" in found.message


def test_an_empty_source_is_no_evidence_and_nothing_is_asked() -> None:
    model = ScriptedModel([])
    found = outcome("minicheck", model, source=" ")
    assert isinstance(found, Unverified)
    assert (found.reason, model.asked) == ("no_evidence", [])


def test_without_alternatives_the_probability_is_that_of_the_word_or_the_label() -> None:
    no = Completion("No", "length", Usage(), (log(0.9),))
    assert value(outcome("minicheck", ScriptedModel([no]))) == pytest.approx(1 - exp(log(0.9)))
    found = outcome("minicheck", ScriptedModel(["Yes"]))
    assert isinstance(found, Scored)
    assert (found.value, found.warnings[0].kind) == (1.0, "uncalibrated")


def test_the_record_has_the_models_reason_beside_those_of_the_rules() -> None:
    scorer = ServedScorer("lynx", ScriptedModel(['{"REASONING": "The year differs.", "SCORE": "FAIL"}'] * 2))
    [verdict] = asyncio.run(DiscriminativeVerifier(ClaimScorer(scorer)).verify([Claim(CLAIM)], [Source(BRIDGE)]))
    assert isinstance(verdict, Verdict)
    assert verdict.reasoning_chain[-1].explanation == "lynx:scripted: The year differs."
    assert (verdict.error_type, verdict.provenance.explained_by) == ("temporal_shift", "embedded:rules")


def test_a_name_with_a_server_opens_the_served_form() -> None:
    checker = Checker("minicheck:http://localhost:8000/v1#Bespoke-MiniCheck-7B")
    assert checker.verifier.scorer.scorer.name == "minicheck:http://localhost:8000/v1#Bespoke-MiniCheck-7B"
    checker.close()
