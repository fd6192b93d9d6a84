"""Effects paired by seed and prompt: intervals against the textbook's variance, and decisions by the fixed rule."""

from __future__ import annotations

import numpy as np
import pytest

from vouching.errors import InputError
from vouching.worlds.effects import Effect, decide, effect_of, resampled_means


def test_the_variance_of_the_resampled_means_is_that_of_crossed_seeds_and_prompts() -> None:
    """S^2_seed/S + S^2_prompt/P for additive effects: the unbiased variance of a mean over both (two-way, no noise)."""
    draw = np.random.default_rng(0)
    by_seed, by_prompt = draw.normal(size=5), draw.normal(size=40)
    drawn = resampled_means(by_seed[:, None] + by_prompt[None, :])
    # n - 1 draws with replacement: variance of their mean = ((n-1)/n) S^2 / (n-1) = S^2 / n, S^2 with n - 1.
    expected = by_seed.var(ddof=1) / 5 + by_prompt.var(ddof=1) / 40
    assert drawn.var() == pytest.approx(expected, rel=0.1)


def test_intervals_contain_the_true_mean_as_often_as_they_say_where_prompts_vary_and_less_often_where_seeds_do() -> (
    None
):
    draw = np.random.default_rng(1)

    def covered(seed_spread: float) -> float:
        hits = 0
        for number in range(60):
            table = draw.normal(scale=seed_spread, size=(3, 1)) + draw.normal(size=(1, 50)) + draw.normal(size=(3, 50))
            effect = effect_of(table, np.zeros((3, 50)), seed=number)
            hits += effect.low <= 0 <= effect.high
        return hits / 60

    assert covered(0.0) >= 0.85  # .95, with a standard deviation of .028
    assert 0.5 <= covered(1.0) <= 0.92  # t with 2 degrees of freedom: percentiles of two of three seeds are too narrow


def test_pairing_removes_what_seeds_and_prompts_share() -> None:
    draw = np.random.default_rng(2)
    base = draw.normal(size=(3, 30)) * 10
    effect = effect_of(base + 0.1, base)
    assert (effect.mean, effect.low, effect.high) == pytest.approx((0.1, 0.1, 0.1))
    assert effect.detectable == pytest.approx(0.0, abs=1e-9)


def test_what_is_detectable_is_2_8_standard_errors() -> None:
    draw = np.random.default_rng(3)
    table = draw.normal(size=(3, 200))
    effect = effect_of(table, np.zeros_like(table))
    # 1.960 + .842 = 2.802
    assert effect.detectable == pytest.approx(2.802 * resampled_means(table).std(ddof=1), rel=1e-3)


def test_a_swap_of_the_arms_turns_the_effect() -> None:
    draw = np.random.default_rng(4)
    first, second = draw.integers(0, 2, size=(2, 3, 40))
    there, back = effect_of(first, second), effect_of(second, first)
    assert (there.mean, there.low, there.high) == pytest.approx((-back.mean, -back.high, -back.low))


@pytest.mark.parametrize("shapes", [((3, 4), (3, 5)), ((1, 4), (1, 4)), ((3, 1), (3, 1)), ((4,), (4,))])
def test_tables_that_cannot_be_compared_are_refused(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    with pytest.raises(InputError, match="same seeds and prompts"):
        effect_of(*(np.zeros(shape) for shape in shapes))


def test_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        effect_of([[0.0, np.nan]] * 2, [[0.0, 1.0]] * 2)


def _effect(low: float, high: float, seeds: int = 3, agree: bool = True) -> Effect:
    return Effect((low + high) / 2, low, high, 0.1, seeds, 100, agree)


@pytest.mark.parametrize(
    ("effect", "more", "no_more"),
    [
        (_effect(0.01, 0.3), "holds", "does not hold here"),
        (_effect(0.01, 0.02), "in part", "in part"),  # shown, but smaller than .03
        (_effect(-0.3, -0.1), "does not hold here", "holds"),
        (_effect(-0.1, 0.1), "undecided at this size", "undecided at this size"),
        (_effect(0.01, 0.3, agree=False), "undecided at this size", "undecided at this size"),
        (_effect(0.01, 0.3, seeds=2), "undecided at this size", "undecided at this size"),
    ],
)
def test_the_decision_follows_the_rule(effect: Effect, more: str, no_more: str) -> None:
    assert decide(effect, 0.03) == more
    assert decide(effect, 0.03, expects="no more") == no_more
