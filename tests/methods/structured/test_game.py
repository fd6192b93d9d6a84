"""SEVA's game by a script: groups, rewards, failed judges."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from vouching.errors import BackendError, ConfigError, InputError
from vouching.methods.base import Play, Processes, Row, ScriptedSampler, Stateful, build_group
from vouching.methods.structured.game import StructuredGame, score_by
from vouching.methods.structured.reward_scale import LabelScale, Seen
from vouching.methods.structured.reward_settings import Normalise, RewardSettings
from vouching.types import Claim, Group, Reward, Rollout, Unverified

UNDIAGNOSED = {"format": 1.0, "diagnosis": 0.3}
YES, NO = '{"label": "yes"}', '{"label": "no"}'


def row(name: str, gold: str = "Attributable") -> dict[str, object]:
    return {"id": name, "prompt": [{"role": "user", "content": f"Is {name} so?"}], "claim": name, "gold": gold}


def alternating() -> ScriptedSampler:
    """Yes, no, yes, no to every prompt."""
    return ScriptedSampler(lambda prompt, role, number: (YES, NO)[number % 2])


def played(game: StructuredGame, *rows: Row) -> Play:
    return asyncio.run(game.play(alternating(), rows))


def test_each_row_is_a_group_of_its_own_with_all_its_samples() -> None:
    play = played(StructuredGame(samples=4), row("a"), row("b"), row("a"))
    assert [(group.role, len(group.rollouts)) for group in play.groups] == [("verifier", 4)] * 3
    assert len({group.key for group in play.groups}) == 3  # the same row twice is two groups
    assert play.failures == ()
    assert play.dropped == 0


def test_the_process_reward_pays_parts_and_the_binary_reward_the_label_alone() -> None:
    # YES on gold Attributable: .1 * .2 (one field) + .15 (label) + .15 (no error claimed) + .15 * .5 (no confidence).
    [process] = played(StructuredGame(2, score_by()), row("a")).groups
    [binary] = played(StructuredGame(2, score_by(RewardSettings("binary"))), row("a")).groups
    assert [r.reward and r.reward.total for r in process.rollouts] == pytest.approx([0.395, 0.12])
    assert [r.reward and r.reward.total for r in binary.rollouts] == [1.0, 0.0]
    assert process.rollouts[0].reward is not None
    assert process.rollouts[0].reward.parts["diagnosis"] == 1.0


def diagnosed(label: str) -> tuple[str, str]:
    """A record that finds nothing, and one that names an error without a fix; both with the right label."""
    return f'{{"label": "{label}"}}', f'{{"label": "{label}", "error_type": "fabrication"}}'


def test_a_step_can_be_put_on_one_scale_under_both_gold_labels() -> None:
    says = ScriptedSampler(lambda prompt, role, number: diagnosed("no" if "b" in prompt[0].content else "yes")[number])
    rows = [row("a"), row("b", "Not Attributable")]

    def scored(normalise: Normalise) -> list[list[tuple[float, float]]]:
        play = asyncio.run(StructuredGame(2, scale=RewardSettings(normalise=normalise).scale()).play(says, rows))
        given = [[r.reward for r in group.rollouts if r.reward] for group in play.groups]
        return [[(reward.total, reward.parts["diagnosis"]) for reward in group] for group in given]

    # .1 * .2 (one field) + .15 (label) + .075 (no confidence) = .245, and .15 times the diagnosis: 1 and .3 on gold
    # Attributable, 0 and .6 on gold Not Attributable.
    expected = {
        "none": [(0.395, 1.0), (0.29, 0.3), (0.245, 0.0), (0.335, 0.6)],
        "range": [(0.395, 1.0), (0.245, 0.0), (0.245, 0.0), (0.395, 1.0)],  # both from 0 to 1
        "mean": [  # means .65 and .3, their mean .475: factors .475 / .65 and .475 / .3
            (0.245 + 0.15 * 0.475 / 0.65, 0.475 / 0.65),
            (0.245 + 0.15 * 0.3 * 0.475 / 0.65, 0.3 * 0.475 / 0.65),
            (0.245, 0.0),
            (0.245 + 0.15 * 0.95, 0.95),
        ],
    }
    for normalise, pairs in expected.items():
        found = [pair for group in scored(normalise) for pair in group]
        assert [number for pair in found for number in pair] == pytest.approx([n for pair in pairs for n in pair])


def test_a_failed_judge_neither_counts_nor_stops_the_scaling() -> None:
    async def judge(reply: str, row: Row) -> Reward | Unverified:
        if row["id"] == "b" and reply == NO:
            raise BackendError("The judge is down.")
        return Reward(0.15, {"format": 1.0, "diagnosis": 1.0}) if reply == YES else Reward(0.0, UNDIAGNOSED)

    play = played(StructuredGame(4, judge, scale=LabelScale("range")), row("a"), row("b"))
    assert [len(group.rollouts) for group in play.groups] == [4, 2]
    assert [r.reward and r.reward.total for r in play.groups[0].rollouts] == pytest.approx([0.15, -0.045] * 2)


def test_the_scale_is_that_of_the_run_of_all_processes_and_survives_a_checkpoint() -> None:
    says = ScriptedSampler(lambda prompt, role, number: diagnosed("yes")[1])  # R_d .3 alone
    other = {"Attributable": (1, 1.0, 1.0, 1.0)}  # another process has seen R_d 1

    def elsewhere(here: list[Any]) -> list[Any]:
        return [*here, {label: Seen(*seen) for label, seen in other.items()}]

    game = StructuredGame(2, scale=LabelScale("range"))
    assert isinstance(game, Stateful)
    game.join(Processes(elsewhere, 0, 2))
    first = asyncio.run(game.play(says, [row("a")]))
    assert first.groups[0].rollouts[0].reward is not None
    assert first.groups[0].rollouts[0].reward.parts["diagnosis"] == 0.0  # from .3 to 1, though all here are equal
    # Two of this process and one of the other; JSON, as a checkpoint has it.
    assert game.state_dict() == {"Attributable": [3, 1.6, 0.3, 1.0]}
    resumed = StructuredGame(2, scale=LabelScale("range"))
    resumed.load_state_dict(json.loads(json.dumps(game.state_dict())))
    again = asyncio.run(resumed.play(says, [row("a")]))
    assert [one.reward and one.reward.parts["diagnosis"] for one in again.groups[0].rollouts] == [0.0, 0.0]
    assert StructuredGame(2).state_dict() == {}


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown normalise 'median'; expected one of none, range, mean"):
        LabelScale("median")  # pyright: ignore[reportArgumentType]


def test_a_failed_judge_takes_its_rollout_out_and_is_counted() -> None:
    async def judge(reply: str, row: Row) -> Reward | Unverified:
        if reply == NO:
            raise BackendError("The judge is down.")
        return Reward(1.0)

    play = played(StructuredGame(4, judge), row("a"))
    assert [r.text for r in play.groups[0].rollouts] == [YES, YES]
    assert [(failure.claim.text, failure.reason) for failure in play.failures] == [("a", "backend")] * 2


def test_a_group_with_one_left_is_dropped_and_counted() -> None:
    async def judge(reply: str, row: Row) -> Reward | Unverified:
        return Unverified(Claim("a"), "undecided", "") if row["id"] == "a" and reply == NO else Reward(0.0)

    play = played(StructuredGame(2, judge), row("a"), row("b"))
    assert [group.key for group in play.groups] == ["1:b"]
    assert play.dropped == 1
    assert len(play.failures) == 1


def test_a_wrong_setting_of_the_judge_ends_the_game() -> None:
    async def judge(reply: str, row: Row) -> Reward:
        raise ConfigError("There is no such judge.")

    with pytest.raises(ConfigError, match="no such judge"):
        played(StructuredGame(2, judge), row("a"))


def test_the_oracle_is_recorded_beside_the_reward() -> None:
    measures = played(StructuredGame(2), row("a"), row("b", "Not Attributable")).measures
    assert measures["oracle/right"] == (1.0, 0.0, 0.0, 1.0)
    assert measures["not_attributable/said"] == (0.0, 1.0, 0.0, 1.0)
    assert measures["not_attributable/gold"] == (0.0, 0.0, 1.0, 1.0)


def test_a_reply_without_a_label_is_wrong_and_says_nothing_about_the_bias() -> None:
    silent = ScriptedSampler(lambda prompt, role, number: "I do not know.")
    play = asyncio.run(StructuredGame(2).play(silent, [row("a")]))
    assert play.measures["oracle/right"] == play.measures["readable"] == (0.0, 0.0)
    assert "not_attributable/said" not in play.measures


@pytest.mark.parametrize("prompt", [None, "Is it so?", [{"content": "Is it so?"}]])
def test_a_row_without_chat_messages_is_named(prompt: object) -> None:
    with pytest.raises(InputError, match="the prompt of row 'a' must be chat messages"):
        StructuredGame().opening({"id": "a", "prompt": prompt})


def test_one_sample_is_no_group() -> None:
    with pytest.raises(ConfigError, match="at least 2, got 1"):
        StructuredGame(samples=1)


def test_a_group_of_another_size_than_announced_is_a_fault() -> None:
    said = Rollout("verifier", (1,), (2,), (1,), None, "stop")
    with pytest.raises(ValueError, match="has 2 rollouts and 3 outcomes, expected 3 of each"):
        build_group("a", [said] * 2, [Reward(0.0)] * 3, size=3)


def test_two_groups_under_one_key_are_a_fault() -> None:
    said = Rollout("verifier", (1,), (2,), (1,), None, "stop", group="a", reward=Reward(0.0))
    group = Group("a", "verifier", "group", (said, replace(said, reward=Reward(1.0))))
    with pytest.raises(ValueError, match="several groups have the key 'a'"):
        Play((group, group))


def test_a_script_may_force_a_reply() -> None:
    teacher_forced = asyncio.run(
        alternating().teacher_forced(StructuredGame().opening(row("a")), YES, "verifier", "second")
    )
    assert (teacher_forced.text, teacher_forced.finish_reason, teacher_forced.policy) == (
        YES,
        "teacher_forced",
        "second",
    )
