"""Rewards by a ranking: what an answer earns, and what earns nothing at all."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.discriminative.scorers import TableScorer, ranked
from vouching.errors import ConfigError, InputError
from vouching.judging.calibration import Calibration
from vouching.methods import METHODS
from vouching.methods.discriminative.rank import ScoringRanker
from vouching.methods.discriminative.reward import By, best_of, ranking_rewards, share_below
from vouching.metrics.calibrators import Calibrator
from vouching.types import Claim, Ranking, Reward, Unverified
from vouching.types.serial import to_python

NAMES = "abcdefgh"


def ranking_of(scores: list[float | None], calibrated: bool = False) -> Ranking:
    """The ranking of as many answers, of which those without a score are Unverified."""
    table = {name: score for name, score in zip(NAMES, scores, strict=False) if score is not None}
    scorer = TableScorer(table)
    known = Calibration("table", scorer.digest("none"), 1, Calibrator("platt", (1.0, 0.0))) if calibrated else None
    return ranked(ScoringRanker(scorer, "no-search", calibration=known), [*NAMES[: len(scores)]])


def totals(rewards: list[Reward | Unverified]) -> list[float | None]:
    return [reward.total if isinstance(reward, Reward) else None for reward in rewards]


def test_a_place_is_worth_the_share_of_the_others_below_it() -> None:
    # Of three others: b is above all, a above one and level with one, c likewise, d above none.
    assert totals(ranking_rewards(ranking_of([1.0, 9.0, 1.0, -4.0]))) == [0.5, 1.0, 0.5, 0.0]


def test_an_answer_without_a_score_has_no_reward_and_moves_no_other() -> None:
    with_failure = totals(ranking_rewards(ranking_of([1.0, None, 2.0])))
    assert with_failure == [0.0, None, 1.0]
    assert [total for total in with_failure if total is not None] == totals(ranking_rewards(ranking_of([1.0, 2.0])))


def test_the_score_and_the_probability_are_there_for_those_who_want_them() -> None:
    ranking = ranking_of([2.0, 0.0], calibrated=True)
    assert totals(ranking_rewards(ranking, "score")) == [2.0, 0.0]
    # 1 / (1 + exp(-2)) = .8808
    assert totals(ranking_rewards(ranking, "probability")) == [pytest.approx(0.8808, abs=1e-4), 0.5]
    first = ranking_rewards(ranking)[0]
    assert isinstance(first, Reward)
    assert first.parts.keys() == {"score", "place", "probability"}
    with pytest.raises(InputError, match="no probabilities"):
        ranking_rewards(ranking_of([2.0, 0.0]), "probability")
    with pytest.raises(ConfigError, match="by must be one of place, score, probability"):
        ranking_rewards(ranking, "rank")  # type: ignore[arg-type]


def test_a_ranking_that_was_written_down_gives_the_same_rewards() -> None:
    ranking = ranking_of([1.0, None, 2.0, 0.0], calibrated=True)
    reward_of_row = METHODS["discriminative"].load("reward_row")
    for by in get_args(By):
        told = ranking_rewards(ranking, by)
        line = reward_of_row({"id": "r1", **to_python(ranking)}, by)
        assert line["totals"] == totals(told)
        assert line["parts"] == [dict(one.parts) if isinstance(one, Reward) else None for one in told]
    with pytest.raises(InputError, match="the row is not a ranking"):
        reward_of_row({"question": "When?"})


def test_an_answer_alone_is_worth_one_half() -> None:
    assert totals(ranking_rewards(ranking_of([7.0]))) == [0.5]


def test_a_ranking_that_does_not_name_its_answers_is_refused() -> None:
    ranking = ranking_of([1.0])
    with pytest.raises(InputError, match="numbered from 1"):
        ranking_rewards(replace(ranking, answers=(replace(ranking.answers[0], number=2),)))
    with pytest.raises(InputError, match="must be answer-N"):
        ranking_rewards(replace(ranking, unverified=(Unverified(Claim("x", "x"), "backend", ""),)))


@given(st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=8), st.floats(0.1, 10), st.floats(-5, 5))
def test_places_are_worth_one_half_on_average_and_follow_order_alone(
    scores: list[float], slope: float, shift: float
) -> None:
    plain = totals(ranking_rewards(ranking_of([*scores])))
    stretched = totals(ranking_rewards(ranking_of([slope * score + shift for score in scores])))
    assert plain == stretched
    assert sum(total for total in plain if total is not None) / len(plain) == pytest.approx(0.5)


def test_of_level_best_answers_the_seed_draws_one() -> None:
    ranking = ranking_of([1.0, 3.0, 3.0, 3.0])
    drawn = [best_of(ranking, seed) for seed in range(40)]
    assert {answer.number for answer in drawn if answer} == {2, 3, 4}
    assert best_of(ranking, 5) == best_of(ranking, 5)
    assert best_of(ranking_of([None])) is None


def test_with_nobody_to_compare_with_the_share_is_one_half() -> None:
    assert share_below(3.0, []) == 0.5
