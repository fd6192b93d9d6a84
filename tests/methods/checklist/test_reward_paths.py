"""One way from votes to a reward: both games, the command and every adapter give the same number."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from vouching.cli.app import app
from vouching.integrations.trl import trl_checklist_reward
from vouching.integrations.verifiers import judged_reward
from vouching.integrations.verl import checklist_score
from vouching.methods.base import Play, ScriptedSampler
from vouching.methods.checklist.game import ChecklistGame, Labelled, Replay, task_of
from vouching.methods.checklist.prompt import item_messages
from vouching.methods.checklist.reward import ChecklistRules, reply_report, reward_of_row
from vouching.methods.checklist.self_game import Judged, PolicyVoter, SelfVerification, SelfVerifyGame
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.types import Report
from vouching.types.serial import to_json

RULES = ChecklistRules(beta=0.4)
SAID = ("yes", "no", "Yes.", "Answer: no", "unclear", "", "yes and no", "It may be so.")
REPLIES = ("The old mill.", "A bridge, and a tower.", "", "  ", "<think>Yes, commas, all over.</think>Rome.", "Rome")
WORDS = ("old", "short", "a place", "true", "far away")


def rows(seed: int, count: int) -> list[dict[str, Any]]:
    """Instructions with items in words, and items that a rule decides."""
    dice, made = Random(seed), list[dict[str, Any]]()
    for at in range(count):
        items: list[Any] = [f"Is it {word}?" for word in dice.sample(WORDS, dice.randint(1, 4))]
        if dice.random() < 0.3:
            items.append({"rule": "punctuation:no_comma"})
        made.append({"id": f"r{at}", "prompt": f"Name a place of size {at}.", "checklist": items})
    return made


def line(prompt: Sequence[Message], role: str, number: int) -> str:
    """What a policy says: responses of all sorts, answers of all sorts, the same whenever it is asked the same."""
    dice = Random(f"{role} {number} {prompt[-1].content}")
    return dice.choice(REPLIES if role == "generator" else SAID)


def reply_of(place: str, number: int) -> str:
    """The ``number``-th response to an instruction of :func:`rows`."""
    return line([Message("user", f"Name a place of size {place}.")], "generator", number)


def judge(holistic: bool = False) -> ChecklistVerifier:
    """A model that answers readably, by a script that its prompt decides."""
    script = ScriptedModel(lambda messages, _: Random(messages[-1].content).choice(("yes", "no", "yes", "unclear")))
    return ChecklistVerifier(script, ChecklistConfig(votes=1, holistic=holistic))


def by_command(reports: Sequence[Report], folder: Path) -> list[dict[str, Any]]:
    """What ``vouch reward checklist`` writes for reports."""
    given = folder / "reports.jsonl"
    given.write_text("".join(f"{to_json(one)}\n" for one in reports), encoding="utf-8")
    result = CliRunner().invoke(app, ["reward", "checklist", "--input", str(given), "--output", "-", "--beta", "0.4"])
    return [json.loads(line) for line in result.stdout.splitlines()]


def by_adapters(
    verifier: ChecklistVerifier, asked: Sequence[dict[str, Any]], replies: Sequence[str]
) -> list[tuple[float | None, float, float]]:
    """What TRL, verl and verifiers get."""
    prompts, lists = [row["prompt"] for row in asked], [row["checklist"] for row in asked]
    trl = trl_checklist_reward(verifier, RULES)(prompts=prompts, completions=replies, checklist=lists)
    options: dict[str, Any] = {"judge": verifier, "beta": 0.4, "holistic": verifier.config.holistic}
    found: list[tuple[float | None, float, float]] = []
    for number, row, reply in zip(trl, asked, replies, strict=True):
        verl = asyncio.run(checklist_score("", reply, "", row, **options))["score"]
        trace = SimpleNamespace(last_reply=reply, record_metrics=lambda parts: None)
        found.append((number, verl, asyncio.run(judged_reward(**options)(SimpleNamespace(**row), trace))))
    return found


def generated(play: Play) -> list[float]:
    """What the game pays the generator, response by response."""
    return [
        one.reward.total
        for group in play.groups
        if group.role == "generator"
        for one in group.rollouts
        if one.reward is not None
    ]


@pytest.mark.parametrize("holistic", [False, True])
def test_an_outside_judge_pays_the_same_everywhere(holistic: bool, tmp_path: Path) -> None:
    asked, verifier = rows(3 + holistic, 50), judge(holistic)
    paid = generated(asyncio.run(ChecklistGame(verifier, 2, RULES).play(ScriptedSampler(line), asked)))
    twice = [row for row in asked for _ in range(2)]
    replies = [reply_of(row["id"][1:], number) for row in asked for number in range(2)]
    reports = [
        asyncio.run(reply_report(verifier, row["prompt"], reply, task_of(row).items))
        for row, reply in zip(twice, replies, strict=True)
    ]
    assert len(paid) == 100
    assert len({*paid}) == 2 if holistic else len({*paid}) > 3
    assert [one["total"] for one in by_command(reports, tmp_path)] == paid
    assert by_adapters(verifier, twice, replies) == [(total,) * 3 for total in paid]


def self_played(seed: int) -> tuple[SelfVerifyGame, list[dict[str, Any]], list[Judged], Play]:
    """A policy that judges itself: what it did, and what came of it."""
    gold = [Labelled("Name one.", word, "Is it old?", word != "sea") for word in ("mill", "sea", "road")]
    game = SelfVerifyGame(2, SelfVerification(3, 0.7, 0.3, RULES), Replay(gold, 64, 0.4, seed=seed))
    asked, says = rows(seed, 75), ScriptedSampler(line)
    return game, asked, asyncio.run(game.audit(says, asked)), asyncio.run(game.play(says, asked))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_policy_that_judges_itself_is_paid_the_same_everywhere(seed: int, tmp_path: Path) -> None:
    _, asked, judged, play = self_played(seed)
    paid = generated(play)
    assert len(judged) == len(paid) == 150
    assert [one["total"] for one in by_command([one.report for one in judged], tmp_path)] == paid
    adapted = by_adapters(
        ChecklistVerifier(PolicyVoter(ScriptedSampler(line), 3, item_messages)),
        [row for row in asked for _ in range(2)],
        [one.rollout.text for one in judged],
    )
    assert adapted == [(total,) * 3 for total in paid]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_command_names_the_rows_of_the_partition_and_of_replay_as_the_game_takes_them(seed: int) -> None:
    game, _, judged, play = self_played(seed)
    groups = {group.key: group for group in play.groups if group.role == "partition"}
    kept: list[tuple[str, str, bool]] = []
    for number, one in enumerate(judged):
        parts = reward_of_row(json.loads(to_json(one.report)), beta=0.4)["parts"]
        rows = {k for k in parts["S"] if k in one.answers}  # a rule gives no answers to train on
        assert rows == {k for k in range(len(one.task.items)) if f"{one.place}:{number}:{k}" in groups}
        for k in rows:
            votes = [rollout.reward.total for rollout in groups[f"{one.place}:{number}:{k}"].rollouts if rollout.reward]
            assert sum(votes) / len(votes) == pytest.approx(parts["p"][k])
        kept += [
            (one.report.response, one.task.items[k].text, bool(label))
            for k, label in enumerate(parts["replay"])
            if label is not None and k in one.answers
        ]
    assert groups
    replayed = [(one["y"], one["c"], one["l"]) for one in game.state_dict()["replay"]]
    assert replayed == kept[-64:]


def test_the_verifier_earns_one_for_the_label_and_nothing_else() -> None:
    _, _, _, play = self_played(1)
    groups = [group for group in play.groups if group.role == "verifier"]
    right = {"yes": True, "Yes.": True, "no": False, "Answer: no": False}
    for group in groups:
        numbers = {one.text: one.reward.total for one in group.rollouts if one.reward}
        assert all(number == 0.0 for text, number in numbers.items() if text not in right)
        said = {right[text]: number for text, number in numbers.items() if text in right}
        assert len(said) < 2 or sum(said.values()) == 1.0
    assert len(groups) > 50
