"""Derivation of the penalty on yes: the gradient of a policy's likelihood in its verifier (Soft-SVeRL, App. A.5).

Everything is a table: X prompts, Y responses to each, K items, P parameters of the verifier.

Not supported: numbers of items that differ between prompts (the paper's 1 / K does not allow them either), and the
selection of items that training uses in place of the whole expectation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import InputError
from vouching.metrics.arrays import FloatArray


def gibbs_policy(reference_XY: ArrayLike, reward_XY: ArrayLike, beta: float) -> FloatArray:
    """The policy that KL-regularised training tends to, pi_ref exp(R / beta) / Z (Eq. 27, 28): (X, Y), rows sum to 1.

    Raises InputError for a beta that is not positive, or reference rows that are not probabilities.
    """
    reference = np.asarray(reference_XY, dtype=np.float64)
    if not beta > 0:
        raise InputError(f"beta must be positive, got {beta}")
    if (reference < 0).any() or not np.allclose(reference.sum(axis=-1), 1):
        raise InputError("each row of the reference policy must contain probabilities that sum to 1")
    # Responses that the reference never writes have no weight, whatever their reward.
    tilt = np.where(reference > 0, np.asarray(reward_XY, dtype=np.float64) / beta, -np.inf)
    weight = reference * np.exp(tilt - tilt.max(axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)


def generator_objective(good_XY: ArrayLike, reference_XY: ArrayLike, yes_XYK: ArrayLike, beta: float) -> float:
    """Mean log-likelihood of good responses under the Gibbs policy of the checklist reward (Eq. 26, 29).

    Args:
        good_XY: D+, the joint distribution of prompts and good responses; sums to 1.
        reference_XY: pi_ref, rows sum to 1.
        yes_XYK: the verifier's rate of yes for each item.
        beta: strength of the KL term, positive.
    """
    reward = np.asarray(yes_XYK, dtype=np.float64).mean(axis=-1)
    good = _joint(good_XY)
    policy = gibbs_policy(reference_XY, reward, beta)
    if (good[policy == 0] > 0).any():
        return float("-inf")
    return float((good * np.log(np.where(policy > 0, policy, 1))).sum())


def generator_gradient(
    good_XY: ArrayLike, reference_XY: ArrayLike, yes_XYK: ArrayLike, slope_XYKP: ArrayLike, beta: float
) -> tuple[FloatArray, FloatArray]:
    """The two terms of the gradient of :func:`generator_objective` in the verifier's parameters (Prop. 6, Eq. 30).

    The gradient is the first term minus the second. The first raises the rate of yes on good responses; the second,
    from the log partition function, lowers it on what the policy itself writes. ``slope_XYKP`` is the gradient of
    ``yes_XYK``; both results have shape (P,). In the second term prompts follow the marginal of D+: with any other
    E_x in Eq. 30 the identity fails.
    """
    good, yes = _joint(good_XY), np.asarray(yes_XYK, dtype=np.float64)
    policy = gibbs_policy(reference_XY, yes.mean(axis=-1), beta)
    slope_XYP = np.asarray(slope_XYKP, dtype=np.float64).mean(axis=-2)
    raised = np.einsum("xy,xyp->p", good, slope_XYP) / beta
    lowered = np.einsum("x,xy,xyp->p", good.sum(axis=-1), policy, slope_XYP) / beta
    return raised, lowered


def _joint(good_XY: ArrayLike) -> FloatArray:
    good = np.asarray(good_XY, dtype=np.float64)
    if (good < 0).any() or not np.isclose(good.sum(), 1):
        raise InputError(
            f"the probabilities of the good pairs must be at least 0 and sum to 1, got a sum of {good.sum():g}"
        )
    return good
