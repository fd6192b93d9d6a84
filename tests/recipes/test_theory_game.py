"""The tabular game of challenge and answer: DPA-GRPO, section 3 and App. D."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from recipes.theory.game import (
    Logits,
    TabularGame,
    alternating_updates,
    even_logits,
    flow,
    generator_gap,
    main,
    outlook,
    soft_best_response,
    verifier_gap,
    worse_action_bound,
)
from vouching.errors import ConfigError, InputError
from vouching.metrics.arrays import BoolArray, FloatArray

NAMES = ("proposal_M", "revise_MX", "sac_MX")


def some_logits(random: np.random.Generator, contexts: int) -> Logits:
    shapes = ((contexts,), (contexts, 2), (contexts, 2))
    return Logits(*(random.normal(0, 1, shape) for shape in shapes))


def some_game(seed: int = 0, contexts: int = 3, beta: float = 0.1) -> TabularGame:
    random = np.random.default_rng(seed)
    weights = random.dirichlet(np.ones(contexts))
    return TabularGame(weights, random.uniform(size=(contexts, 2)), some_logits(random, contexts), beta, 0.1, 0.05)


def test_the_verifier_s_best_response_is_a_case_iff_the_proposal_is_wrong() -> None:
    # Lemma 1: R_V(SAC) - R_V(NS) = c_sac - (1 - c_sac) = 1 for a wrong proposal, -1 for a right one
    assert verifier_gap([0, 1]).tolist() == [1, -1]
    # unsure: 1 - 2 * .4 - .1 = .1 > 0, so challenge; with a cost of .3 stay silent
    assert verifier_gap(0.4, 0.1) == pytest.approx(0.1)
    assert verifier_gap(0.4, 0.3) < 0


def test_the_generator_s_best_response_compares_the_proposal_with_the_mean_revision() -> None:
    # Lemma 2: right proposal, revisions right 9 times of 10: keep. Wrong one, 3 of 10: revise.
    assert generator_gap([1, 0], [0.9, 0.3]) == pytest.approx([-0.1, 0.3])
    assert generator_gap(0, 0.3, cost=0.3) == 0


def test_a_soft_best_response_multiplies_the_reference_odds_by_the_exponential_of_the_gap() -> None:
    # odds 1/4 * e^(.1 / .05) = e^2 / 4 = 1.847; p = 1.847 / 2.847 = .6488
    assert soft_best_response(0.25, 0.1, 0.05) == pytest.approx(exp(2) / 4 / (1 + exp(2) / 4))
    with pytest.raises(ConfigError, match="beta must be above 0, got 0"):
        soft_best_response(1, 1, 0)


def test_the_worse_action_keeps_a_probability_and_the_bound_names_it() -> None:
    # even reference, gap 1, beta .5: 1 / (1 + e^2) = .1192, not the zero of Theorem 2
    assert worse_action_bound(1, 1, 0.5) == pytest.approx(1 / (1 + exp(2)))
    # a larger gap only makes it smaller
    assert worse_action_bound(1, 2, 0.5) < worse_action_bound(1, 1, 0.5)


def test_the_field_is_each_player_s_own_gradient() -> None:
    game, here, step = some_game(), some_logits(np.random.default_rng(1), 3), 1e-5
    field = game.field(here)
    for name in NAMES:
        objective = game.verifier_objective if name == "sac_MX" else game.generator_objective
        for place in np.ndindex(getattr(here, name).shape):
            change = np.zeros_like(getattr(here, name))
            change[place] = step
            up, down = (replace(here, **{name: getattr(here, name) + sign * change}) for sign in (1, -1))
            slope = (objective(up) - objective(down)) / (2 * step)
            assert getattr(field, name)[place] == pytest.approx(slope, abs=1e-8)


def test_objectives_agree_with_playing_the_game() -> None:
    game, here = some_game(beta=0.0), some_logits(np.random.default_rng(1), 3)
    random, n = np.random.default_rng(2), 200_000

    def chance(logits: FloatArray) -> BoolArray:
        return random.uniform(size=n) < 1 / (1 + np.exp(-logits))

    m = random.choice(3, n, p=game.weight_M)
    x = chance(here.proposal_M[m]).astype(int)
    sac, revise = chance(here.sac_MX[m, x]), chance(here.revise_MX[m, x])
    right = random.uniform(size=n) < game.revision_MX[m, x]
    verifier = np.where(sac, 1 - x - 0.1, x)
    generator = np.where(sac & revise, right - 0.05, x)
    for mean, value in ((verifier, game.verifier_objective(here)), (generator, game.generator_objective(here))):
        assert abs(mean.mean() - value) < 3 * mean.std() / n**0.5


def test_the_field_vanishes_at_the_soft_best_responses_and_nowhere_near() -> None:
    game = some_game(beta=0.3)
    sac = soft_best_response(np.exp(game.reference.sac_MX), verifier_gap([0, 1], 0.1), 0.3)
    revise = soft_best_response(np.exp(game.reference.revise_MX), generator_gap([0, 1], game.revision_MX, 0.05), 0.3)
    here = Logits(np.zeros(3), np.log(revise / (1 - revise)), np.log(sac / (1 - sac)))
    field = game.field(here)
    assert np.abs(field.sac_MX).max() < 1e-12
    assert np.abs(field.revise_MX).max() < 1e-12
    beside = game.field(Logits(here.proposal_M, here.revise_MX + 0.1, here.sac_MX + 0.1))
    assert (beside.sac_MX < 0).all()
    assert (beside.revise_MX < 0).all()


def test_a_policy_with_mass_on_a_worse_action_has_a_profitable_deviation_and_a_best_one_has_none() -> None:
    game = some_game(beta=0.0)
    gains = game.profitable_deviations(even_logits(3))
    assert all((getattr(gains, name) > 0).all() for name in NAMES)
    # sure of the better action everywhere: a case iff wrong, a revision iff it is better, a right proposal
    best = Logits(
        np.full(3, 50.0),
        50 * np.sign(generator_gap([0, 1], game.revision_MX, 0.05)),
        np.broadcast_to([50.0, -50.0], (3, 2)),
    )
    gains = game.profitable_deviations(best)
    assert all(np.abs(getattr(gains, name)).max() < 1e-12 for name in NAMES)


def test_a_deviation_s_gain_is_reach_times_gap_times_mass_on_the_worse_action() -> None:
    # One context; P(right) = 1/2; revisions of wrong proposals always right, of right ones always wrong.
    game = TabularGame(np.ones(1), np.array([[1.0, 0.0]]), even_logits(1))
    gains = game.profitable_deviations(even_logits(1))
    assert gains.sac_MX == pytest.approx(np.array([[0.25, 0.25]]))  # 1/2 reached * gap 1 * mass 1/2
    assert gains.revise_MX == pytest.approx(np.array([[0.125, 0.125]]))  # 1/2 reached * 1/2 challenged * 1 * 1/2
    # a right proposal brings 1 - 1/2 * 1/2 = .75, a wrong one .25: gap .5, mass 1/2
    assert gains.proposal_M == pytest.approx([0.25])


def test_without_costs_a_repair_pays_as_much_as_a_right_proposal() -> None:
    """Why the paper says that favouring case 1 needs a cost."""
    always = Logits(np.zeros(1), np.full((1, 2), 50.0), np.array([[50.0, -50.0]]))  # challenge and repair all mistakes
    repaired = TabularGame(np.ones(1), np.ones((1, 2)), even_logits(1), beta=0.0)
    assert repaired.profitable_deviations(always).proposal_M == pytest.approx([0], abs=1e-9)
    costly = replace(repaired, revision_cost=0.1)
    assert costly.profitable_deviations(always).proposal_M == pytest.approx([0.05])  # half of the proposals cost .1


def furthest(game: TabularGame, rate: float, draws: tuple[np.random.Generator, int] | None = None) -> float:
    """Largest distance of the updates from the ODE over the time 0 to 20, at the times of both."""
    steps = round(20 / rate)
    exact = flow(game, even_logits(3), 20, steps)
    return max(
        a.distance(b) for a, b in zip(exact, alternating_updates(game, even_logits(3), rate, steps, draws), strict=True)
    )


def test_alternating_updates_track_the_ode_the_closer_the_smaller_the_steps() -> None:
    game = some_game()
    far, near, nearest = (furthest(game, rate) for rate in (0.4, 0.2, 0.1))
    assert near == pytest.approx(far / 2, rel=0.2)  # an Euler step errs in proportion to its size
    assert nearest == pytest.approx(near / 2, rel=0.2)


def test_sampled_updates_track_the_ode_too() -> None:
    # The noise of a random walk over a fixed time shrinks with the root of the step: 25 times smaller, 5 times nearer.
    game, random = some_game(), np.random.default_rng(3)
    errors = [furthest(game, rate, (random, 8)) for rate in (1.0, 0.04)]
    assert errors[1] < errors[0] / 3


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"revisions and reference logits must have the shape \(2, 2\)"):
        TabularGame(np.array([0.5, 0.5]), np.zeros((1, 2)), even_logits(2))
    with pytest.raises(InputError, match="sum to 1"):
        TabularGame(np.array([0.5]), np.zeros((1, 2)), even_logits(1))


def test_the_outlook_of_a_game_starts_even_and_comes_near_the_equilibrium() -> None:
    game = TabularGame(np.ones(1), np.array([[0.6, 0.9]]), even_logits(1), beta=0.2, revision_cost=0.05)
    late = outlook(game, 3000.0, 6000)
    assert {found["start"] for found in late.values()} == {0.5}
    for choice in ("right proposal", "case if wrong", "case if right"):
        assert late[choice]["time"] == pytest.approx(late[choice]["equilibrium"], abs=0.02)
    # odds e^(1 / .2) of a case against a wrong proposal, e^(-.15 / .2) of revising a right one
    assert late["case if wrong"]["equilibrium"] == pytest.approx(1 / (1 + np.exp(-5)))
    assert late["revise if right"]["equilibrium"] == pytest.approx(1 / (1 + np.exp(0.75)))
    with pytest.raises(ConfigError, match="beta must be above 0, got 0"):
        outlook(TabularGame(np.ones(1), np.zeros((1, 2)), even_logits(1), beta=0.0))


def test_the_command_prints_the_outlook_and_refuses_payoffs_out_of_range(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--revision-wrong", "0.6", "--revision-right", "0.9"]) == 0
    # without KL pressure to speak of (beta .04), a case against a wrong proposal is all but certain: e^25 to 1
    assert capsys.readouterr().out.splitlines()[2].split() == "case if wrong 0.500 0.839 1.000 0.002".split()
    assert main(["--revision-wrong", "1.6", "--revision-right", "0.9"]) == 2
    assert "revisions must be in [0, 1]" in capsys.readouterr().err
