"""Proposition 6 on tables: the gradient against finite differences, and what it does not say."""

from __future__ import annotations

import numpy as np
import pytest

from recipes.theory.partition import generator_gradient, generator_objective, gibbs_policy
from vouching.errors import InputError

PROMPTS, RESPONSES, ITEMS, PARAMETERS = 3, 4, 5, 6


def tables(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Good pairs, a reference policy, features of the verifier and its parameters."""
    random = np.random.default_rng(seed)
    good = random.random((PROMPTS, RESPONSES))
    reference = random.random((PROMPTS, RESPONSES))
    features = random.standard_normal((PROMPTS, RESPONSES, ITEMS, PARAMETERS))
    return (
        good / good.sum(),
        reference / reference.sum(axis=1, keepdims=True),
        features,
        random.standard_normal(PARAMETERS),
    )


def yes_rates(features: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """A logistic verifier."""
    return 1 / (1 + np.exp(-features @ parameters))


@pytest.mark.parametrize("beta", [0.05, 0.5, 2.0])
def test_proposition_6_agrees_with_finite_differences(beta: float) -> None:
    good, reference, features, parameters = tables()
    yes = yes_rates(features, parameters)
    slope = (yes * (1 - yes))[..., None] * features
    raised, lowered = generator_gradient(good, reference, yes, slope, beta)
    step = 1e-6
    numeric = [
        (
            generator_objective(good, reference, yes_rates(features, parameters + step * unit), beta)
            - generator_objective(good, reference, yes_rates(features, parameters - step * unit), beta)
        )
        / (2 * step)
        for unit in np.eye(PARAMETERS)
    ]
    assert raised - lowered == pytest.approx(np.array(numeric), rel=1e-5, abs=1e-7)


def test_the_second_term_is_the_mean_over_samples_of_the_policy() -> None:
    good, reference, features, parameters = tables(1)
    yes, beta, draws = yes_rates(features, parameters), 0.5, 20_000
    slope = (yes * (1 - yes))[..., None] * features
    _, lowered = generator_gradient(good, reference, yes, slope, beta)
    random = np.random.default_rng(2)
    policy = gibbs_policy(reference, yes.mean(axis=-1), beta)
    prompts = random.choice(PROMPTS, draws, p=good.sum(axis=1))
    responses = np.array([random.choice(RESPONSES, p=policy[prompt]) for prompt in prompts])
    sample = slope.mean(axis=2)[prompts, responses] / beta
    assert (np.abs(sample.mean(axis=0) - lowered) <= 3 * sample.std(axis=0) / np.sqrt(draws)).all()


def test_a_verifier_that_always_says_yes_moves_nothing() -> None:
    # Every slope the same: what good responses gain, the policy's samples lose.
    good, reference, features, _ = tables()
    yes = np.full(features.shape[:3], 0.9)
    raised, lowered = generator_gradient(good, reference, yes, np.ones_like(features), 0.5)
    assert raised == pytest.approx(np.full(PARAMETERS, 2.0))  # 1 / beta
    assert lowered == pytest.approx(raised)


def test_the_policy_keeps_to_its_reference_and_follows_great_rewards() -> None:
    policy = gibbs_policy([[0.5, 0.5, 0.0]], [[1000.0, 0.0, 2000.0]], beta=1.0)
    assert policy.tolist() == [[1.0, 0.0, 0.0]]
    assert generator_objective([[0.0, 0.0, 1.0]], [[0.5, 0.5, 0.0]], np.zeros((1, 3, 2)), 1.0) == -np.inf


@pytest.mark.parametrize(
    ("good", "reference", "beta", "message"),
    [
        ([[1.0, 1.0]], [[0.5, 0.5]], 1.0, "good pairs"),
        ([[1.0, 0.0]], [[0.5, 0.6]], 1.0, "reference policy"),
        ([[1.0, 0.0]], [[0.5, 0.5]], 0.0, "beta must be positive"),
    ],
)
def test_what_is_no_distribution_is_refused(good: list, reference: list, beta: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        generator_objective(good, reference, np.zeros((1, 2, 1)), beta)
