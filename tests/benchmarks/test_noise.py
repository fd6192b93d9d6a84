"""The noise study against numbers derived by hand, and its control."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.noise import (
    GROUP,
    JUDGES,
    OUTPUT,
    Rates,
    Responses,
    advantage_errors,
    estimated,
    gradient_errors,
    judgments,
    learnt,
    normalised,
    responses,
    scored,
    study,
    true_rates,
    updated,
)
from recipes.theory.quality import VerifierQuality
from vouching.train.advantages import group_advantages

QUALITY = VerifierQuality(p=0.9, q=0.7, p_item=0.9, q_item=0.8)
HALF_RIGHT = Responses(np.array([[[True, False], [True, False]]]), np.array([[0, 1]]))
"""One instruction with two responses, each of which has one of two items."""


def test_the_error_of_a_gradient_is_the_one_derived_by_hand() -> None:
    found = gradient_errors(HALF_RIGHT, QUALITY, draws=4_000, seed=0)
    # |s|^2 = |(1, 0) - (.5, .5)|^2 = .5. One judgment of a failure: E (J - 0)^2 = 1 - q = .3.
    assert found["single"] == {"measured": pytest.approx(0.15, abs=0.006), "formula": pytest.approx(0.15)}
    # Items: means .9 and .2, so the share has mean .55 and variance (.09 + .16) / 4 = .0625: .3025 + .0625 = .365.
    assert found["checklist"] == {"measured": pytest.approx(0.1825, abs=0.006), "formula": pytest.approx(0.1825)}
    # Theorem 1, S = 0: (.2 + .7 * .5)^2 + 1/8 = .4275 > .3, and the error is larger indeed.
    assert (found["guaranteed"], found["smaller"]) == (0.0, 0.0)


def test_the_advantage_of_a_pair_is_alpha_times_the_right_one() -> None:
    """Of a right and a wrong response, A = (1, -1) with p q and (-1, 1) with (1 - p)(1 - q), else 0."""
    draw = np.random.default_rng(0)
    seen = normalised(judgments(np.array([[True, False]] * 20_000), 0.9, 0.7, draw))
    assert seen.mean(axis=0) == pytest.approx([0.6, -0.6], abs=0.02)  # .63 - .03 = p + q - 1
    assert seen.var(axis=0) == pytest.approx([0.3, 0.3], abs=0.02)  # .63 + .03 - .36


def test_a_right_judge_of_the_whole_has_no_error_and_one_that_guesses_no_direction() -> None:
    given = responses(3, prompts=20, seed=0)
    right = advantage_errors(given, VerifierQuality(1, 1, 1, 1), holistic=True, draws=30, seed=0)
    assert (right["bias"], right["variance"]) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert right["mean"] > 0.8
    guess = advantage_errors(given, VerifierQuality(0.5, 0.5, 0.5, 0.5), holistic=False, draws=30, seed=0)
    assert abs(guess["mean"]) < 0.2
    assert guess["bias"] > 0.3


def test_advantages_and_updates_are_those_of_training() -> None:
    rewards = np.array([[0.0, 0.0, 3.0], [1.0, 1.0, 1.0]])
    assert normalised(rewards) == pytest.approx(np.array([group_advantages(one) for one in rewards]), abs=1e-9)
    # A = (1, -1) for responses 0 and 2 of three at 1/3 each: (e_0 - e_2) / 2; the policy's part cancels.
    update = updated(np.array([[1.0, -1.0]]), np.array([[0, 2]]), np.full((1, 3), 1 / 3))
    assert update.tolist() == [[0.5, 0.0, -0.5]]


def test_a_score_that_is_affine_in_the_share_changes_no_advantage_and_rates_by_kind_do() -> None:
    draw, kinds = np.random.default_rng(0), np.array([[[0, 1]]])
    votes = draw.integers(2, size=(5, GROUP, 2)).astype(float)
    plain = normalised(votes.mean(axis=-1))
    for score in ("debiased", "posterior"):
        equal = scored(votes, kinds, score, Rates(*np.full((3, 2), 0.8)))
        assert normalised(equal) == pytest.approx(plain, abs=2e-3)  # but for the 1e-4 beside the standard deviation
        other = scored(votes, kinds, score, Rates(np.array([0.9, 0.6]), np.array([0.9, 0.6]), np.full(2, 0.5)))
        assert np.abs(normalised(other) - plain).max() > 0.1


def test_in_the_control_with_known_rates_a_debiased_score_teaches_the_same() -> None:
    given = responses(3, prompts=10, seed=0)
    judge = true_rates("equal", given)
    share, debiased = (learnt(given, judge, score, judge, steps=10, seed=0) for score in ("share", "debiased"))
    assert debiased == pytest.approx(share, abs=1e-2)
    assert share.mean() > given.success_PM.mean()


def test_rates_are_estimated_from_labelled_items_and_shrunk_where_these_are_few() -> None:
    rates = Rates(np.array([0.9, 0.9, 0.9, 0.9, 0.5]), np.full(5, 0.7), np.full(5, 0.6))
    many = estimated(rates, 200_000, np.random.default_rng(0))
    assert many.p == pytest.approx(rates.p, abs=0.02)
    assert many.held == pytest.approx(rates.held, abs=0.02)
    few = estimated(rates, 10, np.random.default_rng(0))
    assert np.ptp(few.p) < 0.2  # of some two items per kind, against 20 of the mean


def test_the_study_has_every_figure_of_the_page_at_a_tiny_size() -> None:
    found = study(prompts=5, draws=3, steps=2, seeds=2)
    assert {name: len(lines) for name, lines in found.items()} == {"gradients": 18, "advantages": 24, "scores": 21}


def test_the_committed_figures_are_those_of_the_world_as_it_is() -> None:
    committed = json.loads(OUTPUT.read_text(encoding="utf-8"))
    given = responses(4, committed["prompts"], committed["seed"])
    for line in committed["gradients"]:
        if line["items"] == 4:
            found = gradient_errors(given, JUDGES[line["judge"]], committed["draws"], committed["seed"])
            for way in ("single", "checklist"):
                assert line[way] == pytest.approx(found[way], abs=1e-4)
            assert line["guaranteed"] == pytest.approx(found["guaranteed"], abs=1e-4)
