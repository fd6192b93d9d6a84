"""The planner on verifiers whose rates are known: it names what the theory says, and says when it cannot tell."""

from __future__ import annotations

import math

import pytest

from recipes.theory.planning import plan_verification
from recipes.theory.quality import VerifierQuality
from recipes.theory.rates import JudgedCompletion
from tests.recipes.judged_completions import simulated

FAIR_ITEMS = VerifierQuality(p=0.6, q=0.6, p_item=0.95, q_item=0.9)
LENIENT_ITEMS = VerifierQuality(p=0.9, q=0.9, p_item=0.9, q_item=0.3)


def test_a_noisy_judge_of_the_whole_loses_against_items() -> None:
    plan = plan_verification(simulated(FAIR_ITEMS, 600))
    assert plan.choice == "checklist"
    # 1 - p on the successes and 1 - q on the others, both .4.
    assert plan.measured["single"].low is not None
    assert plan.measured["single"].low <= 0.4 <= (plan.measured["single"].high or 0)
    assert plan.items_needed == 1


def test_lenient_items_lose_and_no_number_of_them_helps() -> None:
    # Successes: 1 - p' = .1, so .01 + .09 / K. Failures with half of the items: .7 + .2 * .5 = .8, squared .64 > .1.
    plan = plan_verification(simulated(LENIENT_ITEMS, 600))
    assert plan.choice == "holistic"
    assert plan.items_needed == math.inf
    assert plan.promised < 0.6  # the successes, where p' >= p, or none of them


def test_what_was_measured_and_what_the_theory_says_agree_where_its_assumptions_hold() -> None:
    for quality in (FAIR_ITEMS, LENIENT_ITEMS):
        plan = plan_verification(simulated(quality, 1_500, items=4, seed=3))
        for name, predicted in zip(("single", "checklist"), plan.predicted, strict=True):
            found = plan.measured[name]
            assert found.low is not None
            assert found.low <= predicted <= (found.high or 0)


def test_shared_errors_are_found_and_flatten_the_curve() -> None:
    plan = plan_verification(simulated(FAIR_ITEMS, 2_000, items=5, correlation=0.5, seed=1))
    assert plan.correlation.low is not None
    assert plan.correlation.low > 0.2
    last = plan.curve[-1]
    assert last.checklist > last.independent
    assert plan.curve[0].checklist == plan.curve[0].independent  # one item has nobody to share with


def test_more_votes_on_a_question_are_worth_their_calls_or_not() -> None:
    # Votes drawn alone: three of them make .8 to .896, so more are better. Items that are always right need one.
    quality = VerifierQuality(p=0.8, q=0.8, p_item=1.0, q_item=1.0)
    plan = plan_verification(simulated(quality, 600, votes=5))
    single = [line.single for line in plan.by_votes]
    assert single[0] is not None
    assert single[0] == pytest.approx(0.2, abs=0.03)
    assert plan.votes == (5, 1)


def test_equal_verifications_are_not_told_apart() -> None:
    rows = [
        JudgedCompletion(str(n), str(n), n % 2 == 0, (n % 5 > 0,), (n % 2 == 0,), ((n % 5 > 0,),)) for n in range(40)
    ]
    assert plan_verification(rows).choice == "undecided"


def test_few_prompts_decide_nothing() -> None:
    plan = plan_verification(simulated(FAIR_ITEMS, 12))
    assert plan.groups == 6
    assert plan.choice == "undecided"
    assert plan.measured["difference"].why_not == "an interval needs at least 10 groups of rows, got 6"


def test_rewards_that_differ_by_scale_and_offset_alone_are_associated_alike() -> None:
    # The judge of the whole says what one item says; the share of the two items passed is half of it plus a half.
    rows = [
        JudgedCompletion(str(n), str(n), n % 2 == 0, (n % 3 > 0,), (n % 2 == 0, True), ((n % 3 > 0,), (True,)))
        for n in range(60)
    ]
    plan = plan_verification(rows)
    assert plan.association[0] == pytest.approx(plan.association[1])
    assert plan.measured["single"].estimate != pytest.approx(plan.measured["checklist"].estimate)


def test_checklists_that_do_not_fit_the_gold_labels_are_counted() -> None:
    rows = simulated(FAIR_ITEMS, 40)
    rows.append(JudgedCompletion("s", "s", True, (True,), (True, False), ((True,), (None,))))
    rows.append(JudgedCompletion("m", "m", False, (None,), (True, True), ((True,), (True,))))
    plan = plan_verification(rows)
    assert (plan.spurious, plan.missing) == (1, 1)
    # One of 42 votes on wholes, one of 40 * 3 + 4 on items.
    assert plan.unclear == pytest.approx((1 / 42, 1 / 124))


def test_the_bias_condition_is_counted_on_the_completions() -> None:
    # FAIR_ITEMS: p' > p, so every success meets it; a failure does if .85 Delta <= .3, with three items Delta <= 1 / 3.
    rows = simulated(FAIR_ITEMS, 400)
    plan = plan_verification(rows)
    won = sum(row.gold for row in rows)
    low = sum(not row.gold and sum(row.labels) <= 1 for row in rows)
    assert plan.condition == {
        "success, met": won,
        "success, not met": 0,
        "failure, met": low,
        "failure, not met": 400 - won - low,
    }
    assert plan.condition_share == pytest.approx((won + low) / 400)
