"""One way from what happened at a unit to a reward: the game, the command and every adapter give the same number."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.integrations import verl
from vouching.integrations.trl import trl_reward
from vouching.integrations.verifiers import trace_reward
from vouching.methods import METHODS
from vouching.methods.assurance.game import AssuranceGame, Decision
from vouching.methods.assurance.reply import challenge_text, choice_text
from vouching.methods.assurance.reward import CASES, AssuranceCosts, reward_of_reply
from vouching.methods.base import Play, ScriptedSampler
from vouching.models.base import Message
from vouching.types import Group, Rollout, TaskUnit

UNIT = {"id": "total", "type": "amount"}
KNOWN = TaskUnit("total", "amount")
COSTS = {"intervention_cost": 0.125, "revision_cost": 0.25}
GOLD = 42
VALUES = (42, 41, 40)


def played(seed: int = 20, units: int = 300) -> tuple[list[Decision], Play]:
    """Units at which every role says anything, readable or not, by a script that the seed decides."""
    random = Random(seed)
    draft = [*(json.dumps({"amount": one}) for one in VALUES), "Forty, I think."]
    says = {
        "generator": draft,
        "reviser": [*draft, draft[0]],
        "verifier": [*(challenge_text(action, KNOWN) for action in ("SAC", "NS")), '{"verdict": "wrong"}', "?"],
        "approver": ["KEEP", choice_text("REVISE"), "Perhaps."],
    }
    lines = {(role, at, n): random.choice(says[role]) for role in says for at in range(units) for n in range(3)}

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        at = int(prompt[-1].content.split("task ")[1].split()[0])
        return lines[role, at, number]

    rows = [
        {"id": f"r{at}", "task": {"task": f"task {at} of many", "data": {}, "units": [UNIT]}, "gold": {"total": GOLD}}
        for at in range(units)
    ]
    game = AssuranceGame(samples=3, candidates=2, costs=AssuranceCosts(0.125, 0.25))
    decided = asyncio.run(game.decide(ScriptedSampler(line), rows))
    return decided, asyncio.run(game.play(ScriptedSampler(line), rows))


DECIDED, PLAY = played()
GROUPS = {group.key: group for group in PLAY.groups}


def number(value: object) -> float | None:
    return None if value is None else float(str(value))


def fields(one: Decision, role: str) -> dict[str, Any]:
    """The row of one role at a unit, as a data set has it."""
    row: dict[str, Any] = {"unit": UNIT, "gold": GOLD}
    if role != "generator":
        row["proposal"] = number(one.step.proposal)
    return row | ({"revision": number(one.step.revision)} if role == "approver" else {})


def rewarded() -> list[tuple[Decision, Group, Rollout]]:
    """Everything that the game rewards."""
    return [
        (one, group, said)
        for one in DECIDED
        for role in ("generator", "verifier", "approver")
        for group in [GROUPS.get(f"{one.key}:{role}")]
        if group is not None
        for said in group.rollouts
    ]


def test_the_units_are_of_every_kind() -> None:
    assert len(DECIDED) == 300
    seen = Counter(one.transition.case if one.transition else "none" for one in DECIDED)
    assert {*CASES, "none"} == {*seen}
    reasons = Counter(said.finish_reason for _, group, said in rewarded() if group.estimator == "pair")
    assert reasons["teacher_forced"] > reasons["stop"] > 100  # both are forced where a reply cannot be read
    assert {one.y for one in DECIDED} == {"SAC", "NS", None}


@pytest.mark.parametrize("role", ["generator", "verifier", "approver"])
def test_trl_verl_and_verifiers_give_what_the_game_gives(role: str) -> None:
    reward_of_row = METHODS["assurance"].load("reward_row")
    trl = trl_reward("assurance", role=role, **COSTS)
    verifiers = trace_reward("assurance", role=role, **COSTS)
    told = [(one, said) for one, group, said in rewarded() if group.role == role]
    assert len(told) > 100
    for one, said in told:
        assert said.reward is not None
        row = fields(one, role)
        [by_trl] = trl(completions=[said.text], **{name: [value] for name, value in row.items()})
        by_verl = verl.assurance_score("", said.text, GOLD, {"role": role, **row}, **COSTS)["score"]
        trace = SimpleNamespace(last_reply=said.text, record_metrics=lambda parts: None)
        by_verifiers = asyncio.run(verifiers(SimpleNamespace(**row), trace))
        by_row = reward_of_row({**row, "role": role, "response": said.text}, **COSTS)["total"]
        assert (by_trl, by_verl, by_verifiers, by_row) == (said.reward.total,) * 4


def test_a_reply_that_cannot_be_read_is_in_no_pair_and_earns_nothing_elsewhere() -> None:
    for role in ("verifier", "approver"):
        seat = "review" if role == "verifier" else "approve"
        unread = [one for one in DECIDED if seat in one.roles.replies and one.taken(seat) is None]
        assert len(unread) > 10
        for one in unread:
            [said] = one.roles.replies[seat]
            assert said not in GROUPS[f"{one.key}:{role}"].rollouts
            assert reward_of_reply(said.text, fields(one, role), role).total == 0.0


def test_the_command_gives_what_the_game_gives(tmp_path: Any) -> None:
    given, output = tmp_path / "units.jsonl", tmp_path / "rewards.jsonl"
    given.write_text("".join(f"{json.dumps(one.row)}\n" for one in DECIDED), encoding="utf-8")
    costs = ["--intervention-cost", "0.125", "--revision-cost", "0.25"]
    result = CliRunner().invoke(app, ["reward", "assurance", "--input", str(given), "--output", str(output), *costs])
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == [one.key for one in DECIDED]
    assert result.exit_code == Exit.INCOMPLETE  # units in none of the eight cases are refused, with the reason
    row_reward = METHODS["assurance"].load("reward_row")
    for one, line in zip(DECIDED, lines, strict=True):
        if one.transition is None:
            assert '"y" is missing' in line["problem"] if one.y is None else '"a" is missing' in line["problem"]
            continue
        assert line == {"id": one.key, **row_reward(one.row, **COSTS)}
        assert line["case"] == one.transition.case
        assert [*line["rewards"]["verifier"].values()] == totals(one, "verifier")
        if one.y == "SAC":
            assert [*line["rewards"]["generator"].values()] == totals(one, "approver")
        else:
            assert line["rewards"]["generator"] is None


def totals(one: Decision, role: str) -> list[float]:
    rewards = (said.reward for said in GROUPS[f"{one.key}:{role}"].rollouts)
    return [reward.total for reward in rewards if reward is not None]
