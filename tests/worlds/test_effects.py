"""Effects paired by seed and prompt: intervals against the textbook's variance, and decisions by the fixed rule."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from recipes.worlds.effects import Effect, decide, effect_of, variance_of_mean
from vouching.errors import InputError


def test_the_variance_of_a_mean_has_the_parts_of_seeds_and_prompts_each_once() -> None:
    """S^2_seed/S + S^2_prompt/P for additive effects, and S^2/SP for a table without any."""
    draw = np.random.default_rng(0)
    by_seed, by_prompt = draw.normal(size=5), draw.normal(size=40)
    variance, _ = variance_of_mean(by_seed[:, None] + by_prompt[None, :])
    assert variance == pytest.approx(by_seed.var(ddof=1) / 5 + by_prompt.var(ddof=1) / 40)
    noise = [variance_of_mean(draw.normal(size=(3, 300)))[0] for _ in range(200)]
    # 1/900 on average, and more since the larger of three mean squares is taken; resampling both would give 3/900
    assert 1.0 <= np.mean(noise) * 900 <= 1.5


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.06, 0.2])
def test_intervals_contain_the_true_mean_as_often_as_they_say_for_seeds_of_any_spread(spread: float) -> None:
    draw = np.random.default_rng(1)
    hits = 0
    for _ in range(400):  # the spreads of outcomes of 0 and 1, paired
        table = draw.normal(0, spread, (3, 1)) + draw.normal(0, 0.2, (1, 300)) + draw.normal(0, 0.55, (3, 300))
        effect = effect_of(table, np.zeros((3, 300)))
        hits += effect.low <= 0 <= effect.high
    assert 0.90 <= hits / 400 <= 0.99  # .95, with a standard deviation of .011


def test_the_detectable_effect_is_shown_in_about_80_of_100_experiments() -> None:
    draw = np.random.default_rng(5)

    def table() -> NDArray[np.float64]:
        return draw.normal(0, 0.2, (1, 300)) + draw.normal(0, 0.55, (3, 300))

    size = np.mean([effect_of(table(), np.zeros((3, 300))).detectable for _ in range(100)])
    shown = [effect_of(table() + size, np.zeros((3, 300))).low > 0 for _ in range(400)]
    assert 0.7 <= np.mean(shown) <= 0.95  # one size for all, from a spread that varies; a standard deviation of .02


def test_pairing_removes_what_seeds_and_prompts_share() -> None:
    draw = np.random.default_rng(2)
    base = draw.normal(size=(3, 30)) * 10
    effect = effect_of(base + 0.1, base)
    assert (effect.mean, effect.low, effect.high) == pytest.approx((0.1, 0.1, 0.1))
    assert effect.detectable == pytest.approx(0.0, abs=1e-9)


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


UNDECIDED = "undecided at this size"


def _effect(low: float, high: float, seeds: int = 3, agree: bool = True) -> Effect:
    return Effect((low + high) / 2, low, high, 0.1, seeds, 100, agree)


@pytest.mark.parametrize(
    ("effect", "more", "no_more", "the_same"),
    [
        (_effect(0.01, 0.3), "holds", "does not hold here", "does not hold here"),
        (_effect(0.01, 0.02), "in part", "in part", "holds"),  # shown, but smaller than .03
        (_effect(-0.02, 0.02), "does not hold here", "holds", "holds"),
        (_effect(-0.3, -0.1), "does not hold here", "holds", "does not hold here"),
        (_effect(-0.1, 0.1), UNDECIDED, UNDECIDED, UNDECIDED),
        (_effect(-0.1, 0.02), "does not hold here", "holds", UNDECIDED),
        (_effect(0.01, 0.3, agree=False), UNDECIDED, UNDECIDED, UNDECIDED),
        (_effect(0.01, 0.3, seeds=2), UNDECIDED, UNDECIDED, UNDECIDED),
    ],
)
def test_the_decision_follows_the_rule(effect: Effect, more: str, no_more: str, the_same: str) -> None:
    assert decide(effect, 0.03) == more
    assert decide(effect, 0.03, expects="no more") == no_more
    assert decide(effect, 0.03, expects="the same") == the_same
