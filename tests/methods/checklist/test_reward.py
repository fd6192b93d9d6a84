"""Algorithm 1 by hand: shares, soft and strict score, the generator's reward, replay, S, the verifier's reward."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import ConfigError, InputError
from vouching.judging.votes import Votes
from vouching.methods.checklist.reward import (
    PARTS,
    ChecklistRules,
    checklist_reward,
    generator_reward,
    holistic_reward,
    partition,
    partition_rewards,
    replay_label,
    report_reward,
    reward_of_row,
    soft_score,
    verifier_reward,
)
from vouching.methods.checklist.verify import WHOLE
from vouching.types import Claim, ItemResult, PairResult, Report, Reward, Unverified
from vouching.types.serial import to_json

Y, N, U = True, False, None
FAILED = Unverified(Claim("Is it short?"), "backend", "the server is gone")
THREE: list[Votes] = [[Y, Y, Y, Y], [Y, Y, Y, U], [N, Y, N, N]]
"""p = 1, .75, .25."""


def reward_of(votes: list[Votes], **rules: float) -> Reward:
    reward = checklist_reward(votes, ChecklistRules(**rules))  # type: ignore[arg-type]
    assert isinstance(reward, Reward)
    return reward


def test_the_example_of_the_paper_earns_two_thirds_softly() -> None:
    # Section 2.3: two of three requirements are met. beta = 1 is the soft reward.
    assert reward_of([[Y], [Y], [N]], beta=1).total == pytest.approx(2 / 3)
    assert reward_of([[Y], [Y], [N]], beta=0).total == 0.0


def test_partial_credit_is_scaled_and_full_success_is_not() -> None:
    assert reward_of(THREE, beta=0.5).total == pytest.approx(0.5 * 2 / 3)
    assert reward_of(THREE[:2], beta=0.5).total == 1.0
    # With tau = 1 the second item fails as well: s = 1/3.
    assert reward_of(THREE, tau=1.0, beta=0.5).total == pytest.approx(0.5 / 3)


def test_the_parts_say_what_the_reward_is_made_of() -> None:
    parts = reward_of(THREE).parts
    assert tuple(parts) == PARTS
    # Yes: (1 + .75 + .25) / 3; one of 12 votes is unclear.
    assert parts == {"s": pytest.approx(2 / 3), "strict": 0.0, "yes": pytest.approx(2 / 3), "unclear": 1 / 12}


def test_the_aggregators_change_the_score() -> None:
    by = {
        name: checklist_reward(THREE, ChecklistRules(0.8, aggregate=name, beta=1)).total  # type: ignore[union-attr]
        for name in ("threshold", "majority", "shaped", "median")
    }
    # threshold .8: 1, 0, 0; majority: 1, 1, 0; shaped: 1, .75, .25; median: 1, 1, 0
    third = pytest.approx(1 / 3)
    assert by == {"threshold": third, "majority": 2 * third.expected, "shaped": 2 * third.expected, "median": 2 / 3}


def test_votes_that_disagree_totally_earn_nothing_under_the_thresholds_of_the_paper() -> None:
    assert reward_of([[Y, N, U]] * 3).total == 0.0
    assert reward_of([[Y, N]] * 2, tau=0.5).total == 1.0


def test_a_rule_gives_one_vote_beside_the_j_of_a_judge() -> None:
    assert reward_of([[Y], [Y, Y, Y, N], [N]], beta=1).total == pytest.approx(2 / 3)


def test_a_failed_judge_gives_no_reward_at_all() -> None:
    assert checklist_reward([[Y], FAILED, [N]]) is FAILED
    assert holistic_reward(FAILED) is FAILED
    assert report_reward(Report("Red.", (), (ItemResult("Is it red?", (Y, U), 0.5, False), FAILED))) is FAILED


def test_a_judgment_of_the_whole_is_the_reward_itself() -> None:
    # Half of the votes, shaped: as the share of items passed it would be discounted by beta.
    rules = ChecklistRules(aggregate="shaped")
    report = Report("Red.", (), (ItemResult(WHOLE, (Y, N), 0.5, False),))
    reward = report_reward(report, rules)
    assert isinstance(reward, Reward)
    assert reward.total == reward_of_row(json.loads(to_json(report)), aggregate="shaped")["total"] == 0.5


def test_a_report_of_another_method_is_refused() -> None:
    with pytest.raises(InputError, match="not items of a checklist"):
        report_reward(Report("Red.", (), (PairResult("How many?", "2", "same"),)))


@pytest.mark.parametrize(
    ("votes", "complaint"), [([], "no items"), ([[]], "no votes"), ([[Y, N], [Y, N, Y]], "have 2 and 3 votes")]
)
def test_what_is_no_checklist_of_votes_is_an_error(votes: list[Votes], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        checklist_reward(votes)


def test_votes_that_are_no_list_are_named() -> None:
    for row, told in (
        ({"id": 1}, "has no .votes.; its keys are id"),
        ({"votes": "x"}, ".votes. must be a list .* 'x'"),
    ):
        with pytest.raises(InputError, match=told):
            reward_of_row(row)


def test_five_hundred_items_count_like_five() -> None:
    assert reward_of([[Y]] * 499 + [[N]], beta=1).total == 499 / 500
    with pytest.raises(InputError, match="no items"):
        soft_score([])


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=9), st.floats(0, 1))
def test_no_incomplete_response_earns_more_than_beta(judgments: list[float], beta: float) -> None:
    score = soft_score(judgments)
    reward = generator_reward(score, beta)
    assert (reward == 1) if score == 1 else (reward <= beta * score + 1e-12)


def test_the_holistic_reward_counts_its_votes_as_an_item_does() -> None:
    reward = holistic_reward([Y, U, N, Y], ChecklistRules(tau=0.5))
    assert reward == Reward(1.0, {"s": 1.0, "strict": 1.0, "yes": 0.5, "unclear": 0.25})


def test_replay_takes_what_is_clear_and_leaves_the_rest() -> None:
    # With J = 8, tau_plus .75 and tau_minus .375: 6 of 8 and more are yes, 3 of 8 and fewer are no.
    assert [replay_label(k / 8) for k in range(9)] == [N, N, N, N, U, U, Y, Y, Y]
    # Lines 14 and 16 are an if and an else: the first rules where thresholds cross.
    assert replay_label(0.5, ChecklistRules(tau=0.4, tau_minus=0.6)) is True


def test_s_keeps_every_item_with_a_yes_in_a_response_that_failed() -> None:
    # Line 20 keeps the unanimous item too, which "mixed-vote" in the text would leave out.
    assert partition([1.0, 0.5, 0.0, 0.125], score=0.25) == (0, 1, 3)
    assert partition([1.0, 1.0, 0.75], score=1.0) == ()
    assert partition_rewards([Y, N, U, Y]) == (1.0, 0.0, 0.0, 1.0)


def test_the_verifier_is_rewarded_for_the_label_and_never_for_an_unclear_answer() -> None:
    cases = [(vote, label, verifier_reward(vote, label)) for vote in (Y, N, U) for label in (Y, N)]
    assert [reward for *_, reward in cases] == [1, 0, 0, 1, 0, 0]


@pytest.mark.parametrize("rules", [{"tau": 0}, {"tau": 1.1}, {"beta": -0.1}, {"tau_minus": 2}, {"aggregate": "mean"}])
def test_numbers_out_of_range_are_refused(rules: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        ChecklistRules(**rules)  # type: ignore[arg-type]
