"""Monitors raise an alarm on runs that go wrong, say since when, and are silent on runs that do not."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from vouching.train.advantages import filled
from vouching.train.monitor import MONITORS, WINDOW, Finding, alarms, rolling
from vouching.train.run_folder import Columns
from vouching.types import Group, Reward, Rollout

STEPS = 350
"""As many as SEVA's GRPO."""


def healthy(seed: int = 0, steps: int = STEPS) -> dict[str, NDArray[np.float64]]:
    """A made-up run like SEVA's: every part rises, advantages draw together by a quarter, entropy falls, KL grows."""
    noise = np.random.default_rng(seed)
    part = np.linspace(0, 1, steps)

    def curve(first: float, last: float, spread: float) -> NDArray[np.float64]:
        return first + (last - first) * (1 - np.exp(-3 * part)) + spread * noise.standard_normal(steps)

    return {
        "step": np.arange(1.0, steps + 1),
        "reward/verifier/total": curve(0.7, 1.0, 0.03),
        "reward/verifier/format": np.minimum(curve(0.8, 1.0, 0.02), 1.0),
        "reward/verifier/std": curve(0.25, 0.15, 0.02),
        "advantage/verifier/least": -curve(2.47, 1.6, 0.1),
        "advantage/verifier/greatest": curve(2.47, 2.05, 0.1),
        "groups/verifier/flat": np.clip(curve(0.05, 0.3, 0.05), 0, 1),
        "length/verifier/mean": curve(180, 230, 8),
        "length/verifier/cut": np.clip(curve(0.2, 0.05, 0.03), 0, 1),
        "kl": np.maximum(curve(0.0, 0.12, 0.01), 0),
        "not_attributable/said": curve(0.5, 0.52, 0.05),
        "not_attributable/gold": np.full(steps, 0.49),
        "oracle/right": curve(0.55, 0.7, 0.05),
    }


def kinds(columns: Columns) -> list[str]:
    return [alarm.kind for alarm in alarms(columns)]


@pytest.mark.parametrize("seed", range(40))
def test_a_healthy_run_raises_no_alarm(seed: int) -> None:
    assert alarms(healthy(seed)) == []


@pytest.mark.parametrize("seed", range(40))
def test_a_run_in_which_nothing_happens_raises_no_alarm(seed: int) -> None:
    noise = np.random.default_rng(seed)
    still = {
        name: np.full(STEPS, series[0]) + 0.03 * noise.standard_normal(STEPS) for name, series in healthy().items()
    }
    assert kinds({**still, "step": healthy()["step"]}) == []


def between(first: float, *later: float) -> NDArray[np.float64]:
    """The numbers of Table 18 at steps 0, 100, 200 and 350, joined by lines."""
    return np.interp(np.arange(1, 351), [0, 100, 200, 350], [first, *later])


def test_advantages_of_the_papers_binary_run_collapse_and_those_of_its_process_run_do_not() -> None:
    steps = np.arange(1.0, 351.0)
    process = {"advantage/verifier/least": between(-2.47, -2.10, -1.85, -1.60)}
    process["advantage/verifier/greatest"] = between(2.47, 2.30, 2.15, 2.05)
    binary = {"advantage/verifier/least": between(-0.15, -0.10, -0.08, -0.05)}
    binary["advantage/verifier/greatest"] = between(0.12, 0.08, 0.06, 0.04)
    assert alarms({"step": steps, **process}) == []
    [alarm] = alarms({"step": steps, **binary})
    # At first .2652 (the mean of .27 - .0009 t over 20 steps, .27 - .0009 * 10.5 = .2606); 40 % of that is .104, which
    # the last stretch, from .14 at 200 to .09 at 350, reaches at 200 + 150 * .036 / .05 = 307 and its mean 10 later.
    assert (alarm.kind, alarm.about) == ("advantage_collapse", "verifier")
    assert 300 < alarm.step < 330


def test_a_binary_group_that_is_not_flat_has_an_advantage_of_at_least_935() -> None:
    # SEVA, Eq. 2, G = 8, k ones: the unbiased variance is k (8 - k) / 56, the greatest |A| max(k, 8 - k) / 8 / std,
    # least at k = 4: .5 / sqrt(16 / 56) = sqrt(7 / 8) = .935. Table 18 has .12 and -.15 at most.
    greatest = []
    for ones in range(1, 8):
        rollouts = tuple(
            Rollout("verifier", (1,), (2,), (1,), None, "stop", group="g", reward=Reward(float(i < ones)))
            for i in range(8)
        )
        [group] = filled([Group("g", "verifier", "group", rollouts)], spread="unbiased", epsilon=0.0)
        greatest.append(max(abs(one.advantage) for one in group.rollouts))
    assert min(greatest) == pytest.approx(math.sqrt(7 / 8)) == pytest.approx(0.935, abs=1e-3)
    assert max(greatest) == pytest.approx(2.475, abs=1e-3)


def test_groups_whose_rewards_are_all_equal_are_a_collapse() -> None:
    flat = np.where(np.arange(STEPS) < 200, 0.1, 1.0)
    [alarm] = alarms({**healthy(), "groups/verifier/flat": flat})
    # Steps 201 to 200 + n have 1.0: (.1 * (20 - n) + n) / 20 > .8 from n = 16, since .1 * 4 + 16 = 16.4.
    assert (alarm.step, alarm.kind) == (216, "advantage_collapse")
    assert "82%" in alarm.message


def groups(role: str, top: tuple[float, float], stuck: tuple[float, float]) -> dict[str, NDArray[np.float64]]:
    """Shares of groups at the top, and of other flat ones, up to step 200 and after it."""
    late = np.arange(STEPS) >= 200
    high, low = np.where(late, top[1], top[0]), np.where(late, stuck[1], stuck[0])
    return {f"groups/{role}/{name}": share for name, share in (("flat", high + low), ("top", high), ("stuck", low))}


def test_a_game_that_is_nearly_solved_is_no_collapse_and_told_as_what_it_is() -> None:
    # With the last groups rewards stop to differ. As above, .1 becomes more than .8 sixteen steps after step 200.
    late = np.arange(STEPS) >= 200
    ends = {name: np.where(late, 0.0, series) for name, series in healthy().items() if "advantage" in name}
    run = {**healthy(), **ends, "reward/verifier/std": np.where(late, 0.0, 0.3)}
    [alarm] = alarms({**run, **groups("verifier", top=(0.1, 1.0), stuck=(0.0, 0.0))})
    assert (alarm.step, alarm.kind, alarm.about) == (216, "solved", "verifier")
    assert alarm.message.startswith("in 82% of the groups, all rewards are at or near the maximum: ")
    # The same numbers with equal rewards below the top are the collapse.
    found = alarms({**run, **groups("verifier", top=(0.0, 0.0), stuck=(0.1, 1.0))})
    assert {one.kind for one in found} == {"advantage_collapse"}
    assert "all rewards are equal in 82% of the groups: " in found[-1].message


def test_rows_that_are_all_learnt_or_all_hopeless_are_a_collapse() -> None:
    # n steps after 200 the means are .1 + .4 n / 20 and .5 n / 20: .025 n > .8 (.9 - .02 n) from n = 18, .45 / .54.
    [alarm] = alarms({"step": healthy()["step"], **groups("verifier", top=(0.1, 0.5), stuck=(0.0, 0.5))})
    assert (alarm.step, alarm.kind) == (218, "advantage_collapse")
    assert "equal in 83% of the groups below the highest reward (46% of all groups are there): " in alarm.message


def test_a_run_is_solved_when_all_of_its_roles_are() -> None:
    # A policy that judges gold as it should, and still learns to respond.
    judge, writer = groups("verifier", (0.5, 1.0), (0.0, 0.0)), groups("generator", (0.1, 0.3), (0.1, 0.1))
    assert alarms({"step": healthy()["step"], **judge, **writer}) == []
    both = alarms({"step": healthy()["step"], **judge, **groups("generator", (0.1, 1.0), (0.1, 0.0))})
    assert [(alarm.kind, alarm.about) for alarm in both] == [("solved", "verifier, generator")]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("confident", [False, True], ids=["binary", "in parts"])
def test_runs_that_learn_all_there_is_are_solved_and_never_collapse(seed: int, confident: bool) -> None:
    # 16 groups of 8 whose chance of a right reply goes from .5 to .9999 over 100 steps; where replies state how sure
    # they are, a right one earns up to a twentieth less. Without the shares at the top all of these were collapses.
    noise = np.random.default_rng(seed)
    chance = 1 / (1 + np.exp(-np.linspace(0, 9, 100)))[:, None, None]
    rewards = (noise.random((100, 16, 8)) < chance) * (1 - 0.04 * confident * noise.random((100, 16, 8)))
    least, greatest = rewards.min(2), rewards.max(2)
    run = {
        "step": np.arange(1.0, 101),
        "reward/verifier/std": rewards.std(2).mean(1),
        "groups/verifier/flat": (least == greatest).mean(1),
        "groups/verifier/top": (least >= 0.95).mean(1),
        "groups/verifier/stuck": ((least == greatest) & (least < 0.95)).mean(1),
    }
    assert kinds(run) == ["solved"]
    assert "advantage_collapse" in kinds({name: run[name] for name in run if "top" not in name and "stuck" not in name})


def test_a_format_that_was_learned_and_lost_again_is_noticed() -> None:
    form = np.interp(np.arange(STEPS), [0, 100, 200, 300], [0.5, 1.0, 1.0, 0.6])
    [alarm] = alarms({**healthy(), "reward/verifier/format": form})
    # The mean lags by 9.5 steps and falls by .004 a step from place 200: .1 below after 25, so at place 234.5.
    assert (alarm.step, alarm.kind) == (236, "format_regress")
    assert kinds({**healthy(), "readable": form}) == ["format_regress"]


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("length/verifier/mean", np.linspace(180, 500, STEPS)),
        ("length/verifier/cut", np.linspace(0.1, 0.9, STEPS)),
    ],
)
def test_completions_that_grow_without_end_are_noticed(name: str, series: NDArray[np.float64]) -> None:
    assert kinds({**healthy(), name: series}) == ["length_explosion"]


def test_completions_that_are_all_truncated_from_the_first_step_alarm_at_once_with_the_right_advice() -> None:
    # The log of a first step whose replies were too short to hold an answer; such a run has no gradient either.
    cut = {"step": np.array([1.0]), "length/verifier/cut": np.array([1.0]), "groups/verifier/flat": np.array([1.0])}
    [alarm] = alarms(cut)
    assert (alarm.step, alarm.kind, alarm.about) == (1, "useless_start", "verifier")
    assert alarm.message.endswith("raise sampling.completion_tokens")
    run = {**healthy(), "length/verifier/cut": np.ones(STEPS)}
    assert kinds(run) == ["useless_start"]  # told once
    assert kinds({**healthy(), "length/verifier/cut": np.linspace(0.8, 0.1, STEPS)}) == []


def test_replies_that_are_never_readable_alarm_after_five_steps() -> None:
    run = {**healthy(), "readable": np.where(np.arange(STEPS) < 7, 0.0, 0.9)}
    assert [(alarm.step, alarm.kind) for alarm in alarms(run)] == [(5, "useless_start")]
    assert kinds({**healthy(), "readable": np.where(np.arange(STEPS) < 4, 0.0, 0.9)}) == []


def test_a_policy_that_leaves_its_start_is_noticed_by_its_distance_or_its_speed() -> None:
    far = np.linspace(0, 1, STEPS)
    fast = np.where(np.arange(STEPS) < 200, 0.05, 0.3)
    assert kinds({**healthy(), "kl": far}) == ["kl_runaway"]
    assert kinds({**healthy(), "kl": fast}) == ["kl_runaway"]


def test_saying_not_attributable_too_often_is_noticed_and_too_seldom_is_not() -> None:
    assert kinds({**healthy(), "not_attributable/said": np.full(STEPS, 0.7)}) == ["negative_bias"]
    assert kinds({**healthy(), "not_attributable/said": np.full(STEPS, 0.3)}) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_reward_that_rises_while_the_oracle_falls_is_noticed(seed: int) -> None:
    run = healthy(seed)
    fall = np.interp(np.arange(STEPS), [0, 150, STEPS], [0.0, 0.0, 0.25])
    found = alarms({**run, "oracle/right": run["oracle/right"] - fall})
    assert [alarm.kind for alarm in found] == ["reward_against_oracle"]
    assert 170 < found[0].step < 330


def test_cases_that_get_harder_as_drafts_get_better_are_no_hacking() -> None:
    # What a verifier is right about falls while drafts are right more often: hard mistakes are left.
    fall = 0.8 - np.interp(np.arange(STEPS), [0, 150, STEPS], [0.0, 0.0, 0.25])
    run = {**healthy(), "reward/generator/total": healthy()["oracle/right"]}
    assert alarms({**run, "oracle/challenge": fall, "oracle/choice": fall}) == []
    assert {*kinds({**run, "oracle/submitted": fall})} == {"reward_against_oracle"}


def test_a_reward_that_falls_with_the_oracle_is_no_hacking() -> None:
    run = healthy()
    fall = np.interp(np.arange(STEPS), [0, 150, STEPS], [0.0, 0.0, 0.4])
    assert kinds({**run, "oracle/right": run["oracle/right"] - fall, "reward/verifier/total": 0.7 - fall}) == []


def test_a_fault_that_flickers_is_told_once_and_one_that_comes_back_later_again() -> None:
    kl = np.full(STEPS, 0.1)
    kl[100:160], kl[110] = 0.7, 0.0
    kl[260:300] = 0.7
    # Three times the .1 of before: .1 + n * .6 / 20 > .3 from n = 7, that is in steps 107 and 267.
    assert [alarm.step for alarm in alarms({"step": healthy()["step"], "kl": kl})] == [107, 267]


def test_what_is_told_of_a_run_does_not_depend_on_what_comes_later() -> None:
    run = {**healthy(), "kl": np.linspace(0, 1, STEPS), "length/verifier/mean": np.linspace(180, 500, STEPS)}
    whole = alarms(run)
    assert len(whole) == 2
    for end in (0, 1, WINDOW, 2 * WINDOW, 200, 349):
        part = alarms({name: series[:end] for name, series in run.items()})
        assert part == [alarm for alarm in whole if alarm.step <= end]


def test_numbers_that_are_missing_or_undefined_raise_no_alarm_and_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    run = {name: np.full(STEPS, np.nan) for name in healthy()}
    assert alarms({**run, "step": healthy()["step"]}) == []
    assert alarms({"step": healthy()["step"]}) == []
    assert alarms({}) == []
    assert [*recwarn] == []


def test_a_game_adds_a_monitor_of_its_own() -> None:
    def silence(columns: Columns) -> Iterator[Finding]:
        share = rolling(columns["share/silent"])
        yield Finding("silence", "proposer", share > 0.9, lambda at: f"{share[at]:.0%} say nothing")

    run = {**healthy(), "share/silent": np.ones(STEPS)}
    [alarm] = alarms(run, (*MONITORS, silence))
    assert (alarm.step, alarm.message) == (2 * WINDOW, "100% say nothing")


def lenient(credit: float | None) -> dict[str, NDArray[np.float64]]:
    """A run in which yes to gold negatives rises from .2 to .9, and the credit beyond the rules by ``credit``."""
    noise, part = np.random.default_rng(0), np.linspace(0, 1, STEPS)
    run = healthy() | {"yes/gold_negative": 0.2 + 0.7 * part + 0.05 * noise.standard_normal(STEPS)}
    return run if credit is None else run | {"gap/rules": credit * part + 0.02 * noise.standard_normal(STEPS)}


def test_a_policy_that_says_yes_to_everything_and_credits_itself_more_raises_an_alarm() -> None:
    # Yes passes .2 + .15 at 21 % of the run and the credit .1 at a quarter of it, at step 88; means lag by ten steps.
    alarm, beside = alarms(lenient(credit=0.4))
    assert (alarm.kind, alarm.about) == ("always_yes", "yes/gold_negative")
    assert beside.kind == "lenient_judge"
    assert 88 <= alarm.step <= 115
    assert "raise checklist.lambda_v" in alarm.message


def test_more_yes_without_more_credit_is_no_collapse_where_rules_tell() -> None:
    assert alarms(lenient(credit=0.0)) == []
    assert kinds(lenient(credit=None)) == ["always_yes"]  # nothing else is known there


def credited(seed: int, credit: float) -> dict[str, NDArray[np.float64]]:
    """A run whose judge says no to gold negatives as it should, and credits more and more that no rule bears out."""
    noise = np.random.default_rng(seed)
    gap = 0.05 + credit * np.linspace(0, 1, STEPS) + 0.05 * noise.standard_normal(STEPS)
    return healthy(seed) | {"gap/rules": gap, "yes/gold_negative": 0.05 + 0.02 * noise.standard_normal(STEPS)}


@pytest.mark.parametrize("seed", range(5))
def test_responses_that_pass_against_the_rules_are_noticed_where_gold_tells_nothing(seed: int) -> None:
    # The credit is .05 + .5 t / 350, about .06 in the first window; it passes that by .1 at t = 80, its mean ten later.
    alarm, *others = alarms(credited(seed, credit=0.5))
    assert (alarm.kind, alarm.about) == ("lenient_judge", "gap/rules")
    assert 60 <= alarm.step <= 125
    assert {one.kind for one in others} <= {"lenient_judge"}


@pytest.mark.parametrize("credit", [0.0, -0.3])
@pytest.mark.parametrize("seed", range(40))
def test_credit_that_stays_or_shrinks_raises_no_alarm(seed: int, credit: float) -> None:
    assert alarms(credited(seed, credit)) == []
