"""Monitors of two policies: one that stands still, a verifier that says always the same, cases that change places."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vouching.train.monitor import alarms

STEPS = 30
"""As many as DPA-GRPO's."""


def healthy(seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """A made-up run like the paper's (Figure 2): case 1 from 27 to 42 %, case 4 from 55 to 37 %, 6a from 9 to 17 %."""
    noise = np.random.default_rng(seed)

    def line(first: float, last: float) -> NDArray[np.float64]:
        return np.linspace(first, last, STEPS) + 0.03 * noise.standard_normal(STEPS)

    return {
        "step": np.arange(1.0, STEPS + 1),
        "case/1": line(0.274, 0.424),
        "case/4": line(0.553, 0.372),
        "case/6a": line(0.093, 0.166),
        "case/3": line(0.08, 0.04),
        "oracle/submitted": line(0.35, 0.47),
        "oracle/draft": line(0.35, 0.46),
        "said/SAC": line(0.17, 0.22),
        "gradient/default": np.abs(line(1.0, 1.0)),
        "gradient/verifier": np.abs(line(0.5, 0.5)),
    }


@pytest.mark.parametrize("seed", range(40))
def test_the_papers_run_raises_no_alarm(seed: int) -> None:
    assert alarms(healthy(seed)) == []


@pytest.mark.parametrize("nothing", [0.0, np.nan])
def test_a_policy_that_stands_still_for_five_steps_is_named(nothing: float) -> None:
    norm = np.where(np.arange(STEPS) < 10, 0.5, nothing)
    [alarm] = alarms({**healthy(), "gradient/verifier": norm})
    assert (alarm.step, alarm.kind, alarm.about) == (15, "policy_still", "verifier")  # steps 11 to 15


def test_two_policies_that_both_stand_still_are_none_of_its_business() -> None:
    still = {f"gradient/{name}": np.zeros(STEPS) for name in ("default", "verifier")}
    assert alarms({**healthy(), **still}) == []


@pytest.mark.parametrize(("share", "about"), [(0.01, "silence"), (0.99, "noise")])
def test_a_verifier_that_always_says_the_same_is_noticed(share: float, about: str) -> None:
    [alarm] = alarms({**healthy(), "said/SAC": np.full(STEPS, share)})
    assert (alarm.step, alarm.kind, alarm.about) == (20, "challenge_collapse", about)  # after two windows of ten


@pytest.mark.parametrize(("share", "right"), [(0.01, 0.95), (0.99, 0.05)])
def test_a_verifier_is_right_to_be_silent_about_right_proposals_and_to_speak_up_against_wrong_ones(
    share: float, right: float
) -> None:
    found = alarms({**healthy(), "said/SAC": np.full(STEPS, share), "oracle/draft": np.full(STEPS, right)})
    assert found == []


def test_cases_that_change_places_without_a_gain_are_noticed() -> None:
    # Case 1 loses what case 3 gains: right all the same, at the price of a case each. By .02 a step from step 11 the
    # mean over ten steps is .26 off when it lags 5.5 steps behind .26 / .02 = 13: in step 29, where it is .27 about.
    drift = np.clip(np.arange(STEPS) - 9, 0, None) * 0.02
    quiet = {name: np.full(STEPS, series[0]) for name, series in healthy().items()}
    quiet |= {"step": healthy()["step"], "case/1": 0.5 - drift, "case/3": 0.1 + drift}
    [alarm] = alarms(quiet)
    assert alarm.kind == "case_drift"
    assert 27 <= alarm.step <= 29
    assert alarms({**quiet, "oracle/submitted": quiet["oracle/submitted"] + drift}) == []
