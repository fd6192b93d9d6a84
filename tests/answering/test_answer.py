"""An answer from sources: drafts, their audits one by one, the majority, repair; scripted models throughout."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from vouching.answering.answer import AnswerConfig, Answered, Answerer, Audit, majority, same_short
from vouching.answering.prompt import read_shots
from vouching.errors import ConfigError, InputError, ModelAnswerError
from vouching.judging.votes import majority_of
from vouching.methods.blinded.model import ModelChecker, ModelProposer
from vouching.methods.blinded.verify import BlindedVerifier
from vouching.models import ScriptedModel
from vouching.models.base import Completion
from vouching.shortcuts import open_audit
from vouching.types import Claim, PairResult, Report, Source, Totals, Unverified, Usage

SOURCE = "The Sarn bridge opened in 1973. It is 64 metres long."
RIGHT = "Response: The Sarn bridge opened in 1973.\nAnswer: 1973"
WRONG = "Response: The Sarn bridge opened in 1937.\nAnswer: 1937"
NOTHING = "Answer: not in the sources"
QUESTION = "When did the bridge open?"
RULES = open_audit("embedded:rules", "embedded")


def answered(drafts: Sequence[str | Completion], audit: Audit = RULES, rest: str | None = None) -> Answered:
    answerer = Answerer(ScriptedModel(drafts), audit, AnswerConfig(generations=len(drafts)))
    return answerer.answer(QUESTION, SOURCE, rest)  # type: ignore[arg-type]


def test_one_right_draft_is_the_answer() -> None:
    found = answered([RIGHT])
    assert (found.answer, found.text, found.faithful, found.votes) == (
        "1973",
        "The Sarn bridge opened in 1973.",
        True,
        1,
    )
    assert found.report is not None
    assert found.report.question == QUESTION


def test_the_answer_of_most_drafts_wins_even_if_it_is_wrong() -> None:
    found = answered([WRONG, RIGHT, WRONG])
    assert (found.answer, found.votes, found.faithful) == ("1937", 2, False)
    assert [draft.passed for draft in found.drafts] == [False, True, False]


def test_of_groups_as_large_the_one_that_its_audits_find_better_wins() -> None:
    assert answered([WRONG, RIGHT]).answer == "1973"


def test_half_of_the_drafts_is_no_majority_for_faithfulness() -> None:
    assert answered([WRONG, RIGHT]).faithful is False
    assert answered([RIGHT, RIGHT, WRONG]).faithful is True


def test_of_the_drafts_with_one_answer_the_faithful_one_is_shown() -> None:
    careless = "Response: The Sarn bridge opened in 1973. It is 46 metres long.\nAnswer: 1973"
    found = answered([careless, RIGHT])
    assert found.votes == 2
    assert found.text == "The Sarn bridge opened in 1973."


def test_a_draft_is_repaired_by_what_the_sources_say() -> None:
    found = answered([WRONG], rest="mark")
    assert found.response == "The Sarn bridge opened in 1937."
    assert found.text == "The Sarn bridge opened in 1973."


def test_a_model_that_finds_no_answer_is_believed_without_an_audit() -> None:
    async def never(*_: object) -> Report:
        raise AssertionError("audited")

    found = answered([NOTHING, NOTHING], never)
    assert (found.abstained, found.text, found.faithful, found.votes) == (True, "", None, 2)


def test_equal_responses_are_audited_once() -> None:
    seen: list[str] = []

    async def audit(question: str, response: str, sources: Sequence[Source]) -> Report:
        seen.append(response)
        return Report(response, tuple(sources), (), usage=Usage(calls=1))

    found = answered([RIGHT, RIGHT, WRONG], audit)
    assert len(seen) == 2
    # One call for the drafts and one for each audit.
    assert found.usage.calls == 3


def test_a_draft_that_was_cut_off_has_no_vote() -> None:
    cut = Completion(WRONG, "length", Usage())
    found = answered([cut, RIGHT, cut])
    assert (found.answer, found.votes, found.unusable, len(found.drafts)) == ("1973", 1, 2, 1)


@pytest.mark.parametrize(
    ("drafts", "message"),
    [
        ([Completion(RIGHT, "length", Usage())], "max_tokens"),
        (["", "  "], r"empty \(2 gen"),
    ],
)
def test_no_usable_draft_is_an_error_that_says_why(drafts: list[str | Completion], message: str) -> None:
    with pytest.raises(ModelAnswerError, match=message):
        answered(drafts)


def test_several_drafts_are_sampled_and_one_is_greedy() -> None:
    model = ScriptedModel([RIGHT] * 9)
    for generations in (1, 8):
        Answerer(model, RULES, AnswerConfig(generations=generations, seed=7)).answer(QUESTION, SOURCE)
    one, eight = (asked.sampling for asked in model.asked)
    assert (one.n, one.temperature, one.top_p) == (1, 0.0, 1.0)
    # The paper's evaluation.
    assert (eight.n, eight.temperature, eight.top_p, eight.seed) == (8, 0.6, 0.95, 7)


def blinded(asks: str, answers: str) -> Audit:
    return BlindedVerifier(ModelProposer(ScriptedModel([asks] * 9)), ModelChecker(ScriptedModel([answers] * 9))).verify


def test_a_blinded_audit_faults_and_mends_an_answer() -> None:
    audit = blinded("- Question: When did it open? [Answer: 1937]", '1. Evidence: "opened in 1973" [Answer: 1973]')
    found = answered([WRONG], audit, rest="keep")
    assert found.faithful is False
    assert found.text == "The Sarn bridge opened in 1973."


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ((PairResult("Q", "1", "same"),), True),
        ((PairResult("Q", "1", "same"), PairResult("Q", "1", "not_found")), False),
        ((PairResult("Q", "1", "contradictory"),), False),
        ((PairResult("Q", "1", "leaked"),), None),
        ((PairResult("Q", "1", "same"), Unverified(Claim("7"), "unasked", "nobody asked")), None),
        ((PairResult("Q", "1", "different"), Unverified(Claim("7"), "backend", "gone")), False),
        ((), None),
    ],
)
def test_an_audit_passes_only_if_everything_was_asked_and_agrees(
    findings: tuple[PairResult | Unverified, ...], expected: bool | None
) -> None:
    assert Report("It has 1.", (), findings, totals=Totals()).passed is expected


def test_what_cannot_be_asked_is_refused() -> None:
    answerer = Answerer(ScriptedModel([RIGHT]), RULES)
    with pytest.raises(InputError, match="the question must not be empty"):
        answerer.answer("  ", SOURCE)
    with pytest.raises(InputError):
        answerer.answer(QUESTION, [])
    with pytest.raises(ConfigError, match="generations must be at least 1"):
        AnswerConfig(generations=0)
    with pytest.raises(ConfigError, match="examples require the style few-shot, got plain"):
        AnswerConfig(shots=read_shots([{"question": "Q?", "source": "S.", "answer": "a"}]))


def test_majority_and_most_count_as_they_say() -> None:
    assert majority(["a", "b", "b", "a", "b"], same_short) == [1, 2, 4]
    assert majority(["10k", "ten thousand", "10"], same_short) == [0, 1]
    votes = [True] * 4 + [False] * 4, [True] * 5 + [False] * 3, list[bool]()
    assert [majority_of(one) for one in votes] == [False, True, None]


def test_it_works_inside_an_event_loop_and_lets_the_model_go() -> None:
    model = ScriptedModel([RIGHT])

    async def ask() -> str:
        answerer = Answerer(model, RULES)
        found = await answerer.aanswer(QUESTION, SOURCE)
        await answerer.aclose()
        return found.answer

    assert asyncio.run(ask()) == "1973"
    assert model.closed
