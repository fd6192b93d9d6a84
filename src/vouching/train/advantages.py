"""Rewards to advantages: how much better a completion is than those it is compared with.

Four estimators, named by the group: ``group`` compares G samples of one prompt (GRPO; SEVA, eq. 2), ``pair`` compares
two that differ in one action, ``gae`` compares each token with a critic's value (Schulman et al., 2016), ``plain``
takes the reward as it is (Soft-SVeRL's penalty, a mean of votes). Rewards that are compared and all equal give exactly
0, whatever the rounding. The standard deviation is always stated: papers divide by n, TRL and verl by n - 1, under
which a pair has +-.707 and not +-1. Not supported: normalisation over a whole batch, which mixes prompts of different
difficulty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vouching.errors import ConfigError
from vouching.methods.training import Spread
from vouching.types import Group

Floats: TypeAlias = NDArray[np.float64]
EPSILON = 1e-4
"""Added to a standard deviation, as in TRL."""
PAIR_EPSILON = 1e-8
"""Added to the variance of a pair, as in DPA-GRPO; its paper does not give the number."""


def group_advantages(rewards_G: ArrayLike, spread: Spread = "population", epsilon: float = EPSILON) -> Floats:
    """``A_i = (r_i - mean r) / (std r + epsilon)`` within one group (SEVA, eq. 2); 0 where all rewards are equal.

    Args:
        rewards_G: (G,) rewards, at least one.
        spread: which standard deviation; "none" does not divide.
        epsilon: added to the standard deviation.

    >>> group_advantages([0.0, 0.0, 3.0], epsilon=0.0).round(4).tolist()  # mean 1, std sqrt((1 + 1 + 4) / 3)
    [-0.7071, -0.7071, 1.4142]
    >>> group_advantages([0.0, 0.0, 3.0], "unbiased", epsilon=0.0).round(4).tolist()  # std sqrt((1 + 1 + 4) / 2)
    [-0.5774, -0.5774, 1.1547]
    """
    rewards = _finite(rewards_G, "rewards")
    if rewards.min() == rewards.max():
        return np.zeros_like(rewards)
    differences = rewards - rewards.mean()
    return differences if spread == "none" else differences / (_standard_deviation(rewards, spread) + epsilon)


def pair_advantages(rewards_2: ArrayLike, epsilon: float = PAIR_EPSILON) -> Floats:
    """``A_i = (r_i - mean r) / sqrt(var r + epsilon)`` within a pair (DPA-GRPO, section 2.3).

    The variance is the population's, so two counterfactuals have about +1 and -1, and 0 and 0 if they are equal.

    Raises:
        ValueError: not two rewards.

    >>> pair_advantages([0.25, 0.75], epsilon=0.0).tolist(), pair_advantages([0.2, 0.2]).tolist()
    ([-1.0, 1.0], [0.0, 0.0])
    """
    if np.shape(rewards_2) != (2,):
        raise ValueError(f"expected two rewards for a pair, got an array of shape {np.shape(rewards_2)}")
    differences = group_advantages(rewards_2, "none")
    return differences / np.sqrt((differences**2).mean() + epsilon) if differences.any() else differences


def gae(rewards_T: ArrayLike, values_T: ArrayLike, discount: float = 1.0, trace: float = 1.0) -> tuple[Floats, Floats]:
    """Generalised advantage estimation (Schulman et al., 2016, eq. 16) over the tokens of one finished episode.

    ``delta_t = r_t + discount * V_(t+1) - V_t`` and ``A_t = delta_t + discount * trace * A_(t+1)``, with V = A = 0
    after the last token.

    Args:
        rewards_T: (T,) reward at each token.
        values_T: (T,) the critic's value before each token.
        discount: gamma, in [0, 1].
        trace: lambda, in [0, 1]; 1 is the return minus the value.

    Returns:
        (T,) advantages, and (T,) returns ``A + V``, the critic's targets.

    >>> advantages, returns = gae([0.0, 1.0], [0.5, 0.25], discount=1.0, trace=0.5)
    >>> advantages.tolist(), returns.tolist()  # deltas -.25 and .75; A_0 = -.25 + .5 * .75
    ([0.125, 0.75], [0.625, 1.0])
    """
    rewards, values = _finite(rewards_T, "rewards"), _finite(values_T, "values")
    if rewards.shape != values.shape:
        raise ValueError(f"expected one value per reward, got {len(values)} values and {len(rewards)} rewards")
    for name, share in (("discount", discount), ("trace", trace)):
        if not 0 <= share <= 1:
            raise ConfigError(f"{name} must be between 0 and 1, got {share}")
    deltas = rewards + discount * np.append(values[1:], 0.0) - values
    advantages = np.empty_like(deltas)
    ahead = 0.0
    for place in range(len(deltas) - 1, -1, -1):
        ahead = float(deltas[place]) + discount * trace * ahead
        advantages[place] = ahead
    return advantages, advantages + values


def whiten(values: ArrayLike, mask: ArrayLike, spread: Spread = "unbiased", epsilon: float = 1e-8) -> Floats:
    """Values with mean 0 and variance 1 over what the mask keeps; 0 elsewhere.

    Args:
        values: of any shape.
        mask: of the same shape; not 0 where a value counts.
        spread: which variance. verl, and so MARCH, takes the unbiased one; "none" only shifts the mean.
        epsilon: added to the variance.

    >>> whiten([1.0, 3.0, 9.0], [1, 1, 0], "population").round(6).tolist()
    [-1.0, 1.0, 0.0]
    """
    kept = np.asarray(mask, dtype=bool)
    given = np.where(kept, np.asarray(values, dtype=np.float64), 0.0)
    inside = _finite(given[kept], "values")
    scale = 1.0 if spread == "none" else float(np.sqrt(_standard_deviation(inside, spread) ** 2 + epsilon))
    return np.where(kept, (given - inside.mean()) / scale, 0.0)


def stream_factors(amounts: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """Factors for the advantages of each role that turn a mean over all roles into a weighted sum of means per role.

    An objective such as ``J_gen + lambda_v J_ver`` has one mean per term; a loss that divides by all tokens, or by all
    rows, would weigh a role by how much it wrote. The factor is ``lambda * N_total / N_role``.

    Args:
        amounts: the loss's denominator per role: tokens or rows, over all processes.
        weights: lambda per role; 1 for a role that is not named.

    >>> stream_factors({"generator": 300.0, "verifier": 100.0}, {"verifier": 0.5})
    {'generator': 1.3333333333333333, 'verifier': 2.0}
    """
    total = sum(amounts.values())
    return {role: weights.get(role, 1.0) * (total / amount) for role, amount in amounts.items() if amount}


def filled(groups: Iterable[Group], spread: Spread = "population", epsilon: float | None = None) -> tuple[Group, ...]:
    """The groups with the advantage of every rollout, by the estimator of each group.

    Args:
        groups: scored; those of "gae" already have their advantages, which need a critic.
        spread: for "group"; a pair always has the population's.
        epsilon: None for ``EPSILON`` (groups) and ``PAIR_EPSILON`` (pairs).

    Raises:
        ValueError: a rollout without a reward, or one of "gae" without an advantage.
    """
    return tuple(_filled(group, spread, epsilon) for group in groups)


def is_flat(group: Group) -> bool:
    """Whether a group gives no gradient: its rewards are all equal, or all 0 for the estimator "plain".

    A group of "gae" never is flat: its tokens are compared with a critic's values.
    """
    if group.estimator == "gae":
        return False
    rewards = set(_rewards(group))
    return rewards == {0.0} if group.estimator == "plain" else len(rewards) == 1


def _filled(group: Group, spread: Spread, epsilon: float | None) -> Group:
    if group.estimator == "gae":
        if any(rollout.advantage is None for rollout in group.rollouts):
            raise ValueError(f"group {group.key!r} uses GAE but has no advantages: compute them with a critic")
        return group
    rewards = _rewards(group)
    if group.estimator == "plain":
        found = _finite(rewards, "rewards")
    elif group.estimator == "pair":
        found = pair_advantages(rewards, PAIR_EPSILON if epsilon is None else epsilon)
    else:
        found = group_advantages(rewards, spread, EPSILON if epsilon is None else epsilon)
    pairs = zip(group.rollouts, cast("list[float]", found.tolist()), strict=True)
    return replace(group, rollouts=tuple(replace(rollout, advantage=value) for rollout, value in pairs))


def _rewards(group: Group) -> Sequence[float]:
    rewards = [rollout.reward.total for rollout in group.rollouts if rollout.reward is not None]
    if len(rewards) < len(group.rollouts):
        raise ValueError(f"group {group.key!r} has a rollout without a reward: drop rollouts that were not judged")
    return rewards


def _standard_deviation(values: Floats, spread: Spread) -> float:
    if spread == "unbiased" and len(values) < 2:
        raise ValueError("the unbiased standard deviation requires at least two values, got 1: use spread='population'")
    return float(values.std(ddof=spread == "unbiased"))


def _finite(given: ArrayLike, name: str) -> Floats:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must be a non-empty list of finite numbers, got {np.array2string(values, threshold=8)}"
        )
    return values
