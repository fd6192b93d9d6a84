"""What MARCH's game can go wrong by: questions that shrink, checkers that give up; silence on runs that do neither."""

from __future__ import annotations

import numpy as np
import pytest

from vouching.train.monitor import WINDOW, alarms
from vouching.train.run_folder import Columns

STEPS = 200


def columns(seed: int, asked: tuple[float, float], cannot: tuple[float, float]) -> Columns:
    """A run of 200 steps whose questions per answer and share of "cannot answer" go from one number to another."""
    noise = np.random.default_rng(seed)
    part = np.linspace(0, 1, STEPS)
    return {
        "step": np.arange(1.0, STEPS + 1),
        "questions/asked": asked[0] + (asked[1] - asked[0]) * part + 0.3 * noise.standard_normal(STEPS),
        "cannot_answer": cannot[0] + (cannot[1] - cannot[0]) * part + 0.05 * noise.standard_normal(STEPS),
    }


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("asked", [(4.0, 4.0), (4.0, 6.0), (4.0, 3.0)], ids=["as many", "more", "a quarter fewer"])
def test_a_run_that_goes_well_raises_no_alarm(seed: int, asked: tuple[float, float]) -> None:
    assert alarms(columns(seed, asked, (0.3, 0.1))) == []


def test_questions_that_shrink_to_less_than_half_are_noticed_when_they_do() -> None:
    # From 4 to 1 over 200 steps: the mean of the last 20 is below 2, half of about 3.86 at first, from step 147 or so.
    [alarm] = alarms(columns(0, (4.0, 1.0), (0.3, 0.3)))
    assert (alarm.kind, alarm.about) == ("question_shrinkage", "questions/asked")
    assert 135 < alarm.step < 160
    assert "questions per answer, down from 3.8 at the start" in alarm.message


def test_checkers_that_give_up_are_noticed_and_ones_that_always_did_are_not() -> None:
    [alarm] = alarms(columns(0, (4.0, 4.0), (0.1, 0.6)))
    assert alarm.kind == "cannot_answer_drift"
    assert 2 * WINDOW <= alarm.step < 120
    assert alarms(columns(0, (4.0, 4.0), (0.8, 0.8))) == []
