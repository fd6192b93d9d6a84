"""Advantages, each expected number by hand."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import ConfigError
from vouching.train.advantages import (
    filled,
    gae,
    group_advantages,
    is_flat,
    pair_advantages,
    stream_factors,
    whiten,
)
from vouching.types import Group, Reward, Rollout
from vouching.types.training import Estimator

REWARDS = st.lists(st.floats(-1, 2).map(lambda x: round(x, 3)), min_size=2, max_size=8)


def group(*rewards: float, estimator: Estimator = "group") -> Group:
    said = Rollout("verifier", (1,), (2,), (1,), None, "stop", group="g", estimator=estimator)
    return Group("g", "verifier", estimator, tuple(replace(said, reward=Reward(reward)) for reward in rewards))


def test_the_population_and_the_unbiased_deviation_differ_by_a_known_factor() -> None:
    # Rewards 1, 0, 0, 0: mean .25, squares .5625 + 3 * .0625 = .75; population sqrt(.75 / 4), unbiased sqrt(.75 / 3).
    assert group_advantages([1, 0, 0, 0], "population", 0.0)[0] == pytest.approx(0.75 / sqrt(0.1875))  # sqrt(3)
    assert group_advantages([1, 0, 0, 0], "unbiased", 0.0)[0] == pytest.approx(0.75 / 0.5)
    assert group_advantages([1, 0, 0, 0], "none")[0] == 0.75


def test_epsilon_stands_beside_the_deviation() -> None:
    # Rewards 0 and 2: mean 1, population deviation 1; (2 - 1) / (1 + .25).
    assert group_advantages([0, 2], "population", 0.25).tolist() == [-0.8, 0.8]


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e9])
def test_equal_rewards_give_exactly_nothing(value: float) -> None:
    # The mean of eight times .1 is not .1 in binary; the difference must not be blown up by a tiny deviation.
    assert group_advantages([value] * 7, "unbiased", 0.0).tolist() == [0.0] * 7
    assert pair_advantages([value] * 2, 0.0).tolist() == [0.0, 0.0]


def test_a_pair_is_one_above_and_one_below() -> None:
    # Deviation of .1 and .5 about .3 is .2 by the population; TRL's unbiased one would give +-.707.
    assert pair_advantages([0.5, 0.1], 0.0).tolist() == pytest.approx([1.0, -1.0])
    assert group_advantages([0.5, 0.1], "unbiased", 0.0).tolist() == pytest.approx([1 / sqrt(2), -1 / sqrt(2)])
    # Under the root: .2 / sqrt(.04 + .0225) = .8, where .2 / (.2 + .0225) would be .899.
    assert pair_advantages([0.5, 0.1], 0.0225).tolist() == pytest.approx([0.8, -0.8])
    # A small cost still makes a whole difference: .025 / sqrt(.000625 + 1e-8).
    assert pair_advantages([0.0, -0.05])[0] == pytest.approx(0.999992)
    with pytest.raises(ValueError, match="expected two rewards for a pair"):
        pair_advantages([0.1, 0.2, 0.3])


def test_epsilon_of_a_pair_stands_under_the_root() -> None:
    # Rewards 0 and 2: mean 1, population variance 1; (2 - 1) / sqrt(1 + .21) = 1 / 1.1, and not 1 / 1.21.
    assert pair_advantages([0, 2], 0.21).tolist() == pytest.approx([-1 / 1.1, 1 / 1.1])
    # Two judgements that differ by a hundredth still are one above and one below.
    [small] = filled([group(0.5, 0.51, estimator="pair")])
    assert [rollout.advantage for rollout in small.rollouts] == pytest.approx([-1, 1], abs=1e-3)


@given(rewards=REWARDS, shift=st.floats(-5, 5), scale=st.floats(0.5, 5))
def test_shifting_or_scaling_all_rewards_changes_no_advantage(rewards: list[float], shift: float, scale: float) -> None:
    moved = group_advantages([scale * reward + shift for reward in rewards], epsilon=0.0)
    assert moved == pytest.approx(group_advantages(rewards, epsilon=0.0), abs=1e-6)
    assert moved.sum() == pytest.approx(0.0, abs=1e-6)


def test_gae_by_hand() -> None:
    # gamma .9, lambda .8, rewards 1 0 2, values .5 1 .5.
    # delta_2 = 2 - .5 = 1.5; delta_1 = 0 + .9 * .5 - 1 = -.55; delta_0 = 1 + .9 * 1 - .5 = 1.4
    # A_2 = 1.5; A_1 = -.55 + .72 * 1.5 = .53; A_0 = 1.4 + .72 * .53 = 1.7816
    advantages, returns = gae([1, 0, 2], [0.5, 1, 0.5], discount=0.9, trace=0.8)
    assert advantages.tolist() == pytest.approx([1.7816, 0.53, 1.5])
    assert returns.tolist() == pytest.approx([2.2816, 1.53, 2.0])


def test_gae_with_a_trace_of_one_is_the_return_less_the_guess_and_of_zero_one_step() -> None:
    rewards, values = [0.0, 0.0, -1.0], [0.2, -0.1, -0.4]
    assert gae(rewards, values)[0].tolist() == pytest.approx([-1.2, -0.9, -0.6])
    assert gae(rewards, values, trace=0.0)[0].tolist() == pytest.approx([-0.3, -0.3, -0.6])


def test_gae_refuses_what_is_no_share_and_a_missing_value() -> None:
    with pytest.raises(ConfigError, match=r"discount must be between 0 and 1, got 1\.1"):
        gae([1.0], [0.0], discount=1.1)
    with pytest.raises(ValueError, match="1 values and 2 rewards"):
        gae([1.0, 0.0], [0.0])


def test_whitening_states_its_variance() -> None:
    # 1 and 3 have mean 2, variance 1 by the population and 2 unbiased; the 100 is masked.
    assert whiten([[1, 3, 100]], [[1, 1, 0]], "population", 0.0).tolist() == [[-1.0, 1.0, 0.0]]
    assert whiten([1, 3], [1, 1], "unbiased", 0.0).tolist() == pytest.approx([-1 / sqrt(2), 1 / sqrt(2)])
    assert whiten([1, 3], [1, 1], "none").tolist() == [-1.0, 1.0]


def test_a_stream_counts_by_its_weight_and_not_by_its_length() -> None:
    # Two roles with constant losses 1 and 3 over 300 and 100 tokens, weights 1 and .5: the mean over all tokens of
    # factor * loss must be 1 * 1 + .5 * 3 = 2.5.
    factors = stream_factors({"solver": 300, "checker": 100}, {"checker": 0.5})
    assert (300 * factors["solver"] * 1 + 100 * factors["checker"] * 3) / 400 == pytest.approx(2.5)


def test_one_stream_alone_keeps_its_weight_and_a_silent_one_has_none() -> None:
    assert stream_factors({"verifier": 37, "solver": 0}, {}) == {"verifier": 1.0}


def test_groups_are_filled_by_the_estimator_that_they_name() -> None:
    [first, second] = filled([group(1, 0, 0, 0), group(0.5, 0.1, estimator="pair")], "none", 0.0)
    assert [rollout.advantage for rollout in first.rollouts] == [0.75, -0.25, -0.25, -0.25]
    assert [rollout.advantage for rollout in second.rollouts] == pytest.approx([1.0, -1.0])


def test_a_group_of_gae_must_come_with_its_advantages() -> None:
    with pytest.raises(ValueError, match="compute them with a critic"):
        filled([group(1, 0, estimator="gae")])
    given = group(1, 0, estimator="gae")
    given = replace(given, rollouts=tuple(replace(rollout, advantage=(0.5,)) for rollout in given.rollouts))
    assert filled([given]) == (given,)


def test_a_rollout_without_a_reward_is_never_a_zero() -> None:
    unscored = replace(group(1, 0).rollouts[0], reward=None)
    with pytest.raises(ValueError, match="without a reward"):
        filled([replace(group(1, 0), rollouts=(unscored, unscored))])


def test_rewards_that_are_taken_as_they_are_are_compared_with_nothing() -> None:
    [taken] = filled([group(1, 1, 0, estimator="plain")])
    assert [rollout.advantage for rollout in taken.rollouts] == [1.0, 1.0, 0.0]
    assert not is_flat(group(1, 1, estimator="plain"))
    assert is_flat(group(0, 0, estimator="plain"))


def test_a_flat_group_is_told() -> None:
    assert (is_flat(group(0.1, 0.1, 0.1)), is_flat(group(0.1, 0.2))) == (True, False)


def test_a_reward_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="rewards must be a non-empty list of finite numbers"):
        group_advantages([0.0, float("nan")])
    assert np.isfinite(group_advantages([0.0, 1.0])).all()
