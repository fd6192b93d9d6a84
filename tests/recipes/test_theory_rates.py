"""p, q, p', q' and the correlation of errors, by hand and from verifiers whose rates are known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from recipes.theory.quality import VerifierQuality
from recipes.theory.rates import JudgedCompletion, judged, pass_chance
from tests.recipes.judged_completions import simulated
from vouching.errors import InputError

TABLE_2 = VerifierQuality(p=0.477, q=0.662, p_item=0.873, q_item=0.717)
YES, NO, UNCLEAR = True, False, None
ROWS = [
    JudgedCompletion("a", "x", True, (YES, YES, NO), (True, True), ((YES, YES, YES), (YES, NO, NO))),
    JudgedCompletion("b", "x", True, (NO, NO, YES), (True,), ((YES, UNCLEAR, YES),)),
    JudgedCompletion("c", "y", False, (NO, UNCLEAR, YES), (True, False), ((NO, NO, NO), (YES, YES, NO))),
]


def test_rates_by_hand() -> None:
    quality = judged(ROWS).quality()
    # By two of three votes: a is found to succeed, b is not: p = 1 / 2. c is found to fail: q = 1.
    assert (quality.p, quality.q) == (0.5, 1)
    # Items that hold: yes, no, yes, no; the one that does not: yes.
    assert (quality.p_item, quality.q_item) == (0.5, 0)


def test_rates_by_one_vote_are_the_shares_of_yes() -> None:
    quality = judged(ROWS, whole=1, item=1).quality()
    # p: mean of 2/3 and 1/3; q: 1 - 1/3, as unclear counts as no; p': mean of 1, 1/3, 2/3, 0; q': 1 - 2/3.
    assert (quality.p, quality.q) == pytest.approx((0.5, 2 / 3))
    assert (quality.p_item, quality.q_item) == pytest.approx((0.5, 1 / 3))


def test_squared_distances_by_hand() -> None:
    found = judged(ROWS)
    assert found.errors_single_N.tolist() == [0, 1, 0]
    # Shares passed: 1/2 of a, 1 of b, 1/2 of c.
    assert found.errors_checklist_N == pytest.approx([0.25, 0, 0.25])
    # One vote: a passes 1 + 1/3 of 2 in the mean, (2/3 - 1)² + (1/3 * 2/3) / 4 = 1/9 + 1/18.
    assert judged(ROWS, item=1).errors_checklist_N[0] == pytest.approx(1 / 6)


@pytest.mark.parametrize("drawn", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.75, 1.0])
def test_fewer_votes_are_the_mean_over_all_choices(drawn: int, threshold: float) -> None:
    votes = (YES, NO, YES, UNCLEAR, YES)
    choices = [sum(v is True for v in chosen) / drawn >= threshold for chosen in combinations(votes, drawn)]
    assert pass_chance(votes, drawn, threshold) == pytest.approx(np.mean(choices))


def test_the_rates_of_a_simulated_verifier_are_found() -> None:
    found = judged(simulated(TABLE_2, 4_000))
    quality = found.quality()
    for name, (_, of) in found.counts().items():
        true = getattr(TABLE_2, name)
        error = np.sqrt(true * (1 - true) / of.sum())
        assert abs(getattr(quality, name) - true) <= 3 * error, name


def test_errors_that_were_drawn_alone_do_not_correlate_and_those_drawn_together_do() -> None:
    # In the limit the errors of items that share one number correlate by less than 1, as yes on what holds and on what
    # does not have different means; those of successes, with equal means, by the chance of sharing.
    alone = judged(simulated(TABLE_2, 4_000))
    products, squares = alone.error_products()
    spread = 3 * np.std(products) * np.sqrt(len(products)) / squares.sum()
    assert abs(products.sum() / squares.sum()) <= spread
    rows = [row for row in simulated(TABLE_2, 8_000, correlation=0.4, seed=1) if row.gold]
    failing = JudgedCompletion("f", "f", False, (NO,), (False,), ((NO,),))
    together = judged([*rows, failing])
    products, squares = together.error_products()
    spread = 3 * np.std(products) * np.sqrt(len(products)) / squares.sum()
    assert abs(products.sum() / squares.sum() - 0.4) <= spread


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no judged responses"),
        (ROWS[:2], "q cannot be estimated: there is no failure"),
        (ROWS[2:], "p cannot be estimated: there is no strict success"),
    ],
)
def test_what_nothing_can_be_estimated_from_is_refused(rows: list[JudgedCompletion], message: str) -> None:
    with pytest.raises(InputError, match=message):
        judged(rows).quality()


def test_a_failed_judge_is_no_vote() -> None:
    with pytest.raises(InputError, match="omit responses that could not be verified"):
        JudgedCompletion("a", "x", True, (), (True,), ((YES,),))
    with pytest.raises(InputError, match="got 2 labels and votes on 1 items"):
        JudgedCompletion("a", "x", True, (YES,), (True, True), ((YES,),))
    with pytest.raises(InputError, match="3 votes were cast, so 4"):
        judged(ROWS, whole=4)
    with pytest.raises(InputError, match="threshold"):
        judged(ROWS, threshold=0)
