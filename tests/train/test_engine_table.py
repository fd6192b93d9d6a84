"""The table of a run: flat groups played again, figures, arrays. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.train.engine_runs import config, rows
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.base import Play, Processes, Row, ScriptedSampler
from vouching.methods.structured.game import StructuredGame
from vouching.models.base import Message
from vouching.train.engine_batch import amounts_of, importance_ratio, role_factors, to_arrays
from vouching.train.engine_table import Table, figures, observe
from vouching.types import Group, Reward, Rollout

SAID = Rollout("verifier", (7, 8), (9,), (1,), None, "stop", advantage=0.5)


async def spread_on_even(reply: str, row: Row) -> Reward:
    """Rows r0, r2, ... give unequal rewards, the others equal ones."""
    return Reward(float(reply) if int(row["id"][1:]) % 2 == 0 else 1.0)


def table(resample: int, processes: Processes | None = None) -> Table:
    settings = config(Path("model"), sampling={"resample": resample, "group_size": 2})
    sampler = ScriptedSampler(lambda prompt, role, number: str(number))
    return Table(settings, StructuredGame(2, spread_on_even), rows(), sampler, processes)


def test_without_resampling_a_flat_group_stays_and_teaches_nothing() -> None:
    played = table(0).play(rows()[:2])
    assert [one.advantage for one in played.groups[1].rollouts] == [0.0, 0.0]
    assert figures([played.observed])["groups/verifier/flat"] == 0.5
    assert figures([played.observed])["groups/resampled"] == 0.0


def test_flat_groups_are_replaced_by_others_that_are_not() -> None:
    played = table(8).play(rows()[:4])  # r1 and r3 are flat
    assert len(played.groups) == 4
    assert all(group.rollouts[0].advantage != 0.0 for group in played.groups)
    assert figures([played.observed])["groups/verifier/count"] == 4 + figures([played.observed])["groups/resampled"]


def test_trying_again_is_bounded() -> None:
    async def equal(reply: str, row: Row) -> Reward:
        return Reward(1.0)

    given = table(3)
    given.game = StructuredGame(2, equal)
    played = given.play(rows()[:2])
    assert len(played.plays) == 1 + 3
    assert [one.advantage for one in played.rollouts] == [0.0] * 4
    assert given.state_dict() == {"drawn": 3 * 2, "game": {}}


def test_a_game_with_many_groups_of_a_row_plays_rows_again_and_not_as_many_as_groups() -> None:
    # A task of five units has five groups of drafts. Units of r0 all differ in reward, those of r1 are flat: of ten
    # groups five are flat, as many as one task has.
    units = [{"id": f"u{number}", "type": "number"} for number in range(5)]
    tasks = [
        {"id": name, "task": {"task": name, "data": {}, "units": units}, "gold": {f"u{at}": 1 for at in range(5)}}
        for name in ("r0", "r1", "r2", "r3")
    ]

    def draft(prompt: Sequence[Message], role: str, number: int) -> str:
        return f'{{"amount": {number if "r0" in prompt[-1].content.splitlines() else 1}}}'

    settings = config(Path("model"), sampling={"resample": 1, "group_size": 2})
    played = Table(settings, AssuranceGame(2, alone=True), tasks, ScriptedSampler(draft)).play(tasks[:2])
    assert figures([played.observed])["groups/generator/flat"] == pytest.approx(10 / 15)
    assert figures([played.observed])["groups/resampled"] == 1.0


def test_the_stream_of_other_rows_is_state() -> None:
    first, again = table(1), table(1)
    taken = [row["id"] for _ in range(5) for row in first.other_rows(3)]
    assert sorted(taken[:8]) == sorted(row["id"] for row in rows())  # an epoch of it has every row once
    again.other_rows(3)
    gone_on = table(1)
    gone_on.load_state_dict(again.state_dict())
    assert [row["id"] for row in gone_on.other_rows(3)] == taken[3:6]


def test_two_processes_draw_different_rows_of_one_stream_and_equally_many() -> None:
    one = table(1)
    alone = [row["id"] for row in one.other_rows(4)]
    pair = [table(1, Processes(index=index, count=2)) for index in (0, 1)]
    assert [row["id"] for each in pair for row in each.other_rows(2)] == alone
    assert [each.state_dict() for each in pair] == [one.state_dict()] * 2


def test_prompts_are_padded_on_the_left_and_completions_on_the_right() -> None:
    longer = replace(SAID, prompt_ids=(4, 5, 6), completion_ids=(1, 2), completion_mask=(1, 1), advantage=-1.0)
    batch = to_arrays([SAID, longer], rows=3, pad=0)
    assert batch["prompt_ids"].tolist() == [[0, 7, 8], [4, 5, 6], [0, 0, 0]]
    assert batch["prompt_mask"].tolist() == [[0, 1, 1], [1, 1, 1], [0, 0, 1]]
    assert batch["completion_ids"].tolist() == [[9, 0], [1, 2], [0, 0]]
    assert batch["completion_mask"].tolist() == [[1, 0], [1, 1], [0, 0]]
    assert batch["advantages"].tolist() == [0.5, -1.0, 0.0]
    assert "tool_mask" not in batch


def test_advantages_may_differ_from_token_to_token() -> None:
    varied = replace(SAID, completion_ids=(1, 2), completion_mask=(1, 0), advantage=(0.25, 0.75), weight=2.0)
    batch = to_arrays([SAID, varied], rows=2, pad=0)
    assert batch["advantages"].tolist() == [[0.5, 0.0], [0.5, 1.5]]
    assert batch["tool_mask"].tolist() == [[1, 1], [1, 0]]


def test_a_rollout_that_brought_no_probabilities_has_none_and_takes_them_from_no_other() -> None:
    known = replace(SAID, sampling_logprobs=(-0.5,))
    kept = to_arrays([known, SAID], rows=3, pad=0)["sampling_per_token_logps"]
    assert np.isnan(kept).tolist() == [[False], [True], [True]]
    assert kept[0, 0] == -0.5
    assert np.isnan(to_arrays([], rows=1, pad=0)["sampling_per_token_logps"]).all()  # a process without rollouts


def test_a_process_without_rollouts_has_rows_of_padding_alone() -> None:
    batch = to_arrays([], rows=2, pad=3)
    assert batch["completion_mask"].sum() == 0
    assert batch["prompt_mask"].tolist() == [[1], [1]]


def test_a_rollout_without_an_advantage_is_refused() -> None:
    with pytest.raises(ValueError, match="a rollout of the verifier has no advantage"):
        to_arrays([replace(SAID, advantage=None)], rows=1, pad=0)


def test_roles_are_weighed_by_what_the_loss_divides_by() -> None:
    # A generator with 3 tokens and a verifier with 1: of 4 tokens, so 4 / 3 and 4; of 2 rows, so 2 and 2.
    other = replace(SAID, role="generator", completion_ids=(1, 2, 3), completion_mask=(1, 1, 1))
    tokens, counted = (role_factors([amounts_of([SAID], loss), amounts_of([other], loss)]) for loss in ("dapo", "grpo"))
    assert tokens == {"verifier": 4.0, "generator": pytest.approx(4 / 3)}
    assert counted == {"verifier": 2.0, "generator": 2.0}
    assert to_arrays([SAID], 1, 0, tokens)["advantages"].tolist() == [2.0]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("token_truncate", [[0.5, 1.0, 2.0]]),
        ("token_mask", [[0.5, 1.0, 0.0]]),
        ("sequence_truncate", [[2.0]]),  # .5 * 1 * 8 = 4
        ("sequence_mask", [[0.0]]),
    ],
)
def test_ratios_to_another_engine_are_held_within_bounds(mode: str, expected: list[Any]) -> None:
    assert importance_ratio(np.log([[0.5, 1.0, 8.0]]), mode, None, 2.0) == pytest.approx(np.array(expected))


def test_ends_are_kept_sums_summed_and_the_rest_averaged_over_processes() -> None:
    found = figures(
        [
            {"advantage/verifier/least": [-1.0], "groups/dropped": [1], "oracle/right": [1.0, 1.0, 1.0]},
            {"advantage/verifier/least": [-2.0], "groups/dropped": [2], "oracle/right": [0.0], "absent": []},
        ]
    )
    assert found == {"advantage/verifier/least": -2.0, "groups/dropped": 3.0, "oracle/right": 0.75}


def test_rewards_that_are_not_compared_have_no_deviation_inside_groups() -> None:
    # Votes that agree more and more, or a critic's only response, would look like a collapse.
    seen = {}
    for estimator in ("group", "pair", "plain", "gae"):
        two = [replace(SAID, reward=Reward(total), group="g", estimator=estimator) for total in (1.0, 0.0)]
        play = Play((Group("g", "verifier", estimator, (two[0], two[1])),))
        seen[estimator] = observe([play], play.groups).get("reward/verifier/std")
    assert seen == {"group": [0.5], "pair": [0.5], "plain": None, "gae": None}


def test_groups_at_the_top_are_told_from_those_that_are_stuck() -> None:
    # By .95 of 1.15, 1.0925: the first is at the top and not flat, the second flat and at it, the third flat below it.
    rewards = {"a": (1.1, 1.15), "b": (1.15, 1.15), "c": (1.0, 1.0), "d": (1.15, 0.0)}
    groups = tuple(
        Group(key, "verifier", "group", tuple(replace(SAID, reward=Reward(total), group=key) for total in two))
        for key, two in rewards.items()
    )
    seen = figures([observe([Play(groups)], groups, top=1.15)])
    assert [seen[f"groups/verifier/{name}"] for name in ("flat", "top", "stuck")] == [0.5, 0.5, 0.25]
    assert "groups/verifier/top" not in observe([Play(groups)], groups)


def test_a_table_asks_its_game_for_the_top() -> None:
    given = table(0)  # r0 has 0 and 1, r1 twice 1
    given.game = StructuredGame(2, spread_on_even, top=1.0)
    assert figures([given.play(rows()[:2]).observed])["groups/verifier/top"] == 0.5
