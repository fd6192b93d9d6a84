"""The assurance game by a script: one batch by hand, line by line of Algorithm 1, and what can go wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import ConfigError, InputError
from vouching.methods.assurance.game import AssuranceGame
from vouching.methods.assurance.reply import challenge_text, choice_text, read_case, read_choice, read_line, read_reply
from vouching.methods.assurance.reward import CASES, AssuranceCosts
from vouching.methods.base import Play, ScriptedSampler
from vouching.models.base import Message
from vouching.train.advantages import filled
from vouching.train.engine_batch import amounts_of, role_factors, to_arrays
from vouching.types import Group, Rollout, TaskUnit

Said = Mapping[tuple[str, str, str], Sequence[str]]
"""What is said, by task, unit and role; the completions in turn."""
RIGHT = {"a": 10, "b": 20}


def row(name: str) -> dict[str, Any]:
    units = [{"id": "a", "type": "amount"}, {"id": "b", "type": "amount", "depends_on": ["a"]}]
    return {"id": name, "task": {"task": name, "data": {}, "units": units}, "gold": RIGHT}


def where(prompt: Sequence[Message]) -> tuple[str, str]:
    """The task and the unit that a prompt is about."""
    lines = prompt[-1].content.splitlines()
    work = next(lines[at + 1] for at, line in enumerate(lines) if line.startswith("<<<") and "work" in line)
    entry = next(json.loads(line) for line in lines if line.startswith('{"form"') and '"type"' in line)
    return work, entry["line"]


def value(amount: object) -> str:
    return json.dumps({"amount": amount})


SAC, NS = '{"verdict": "wrong", "claim": "It is not."}', '{"verdict": "correct"}'
BATCH: Said = {
    # A right proposal, accepted: case 1.
    ("A", "a", "generator"): [value(10), value(7)],
    ("A", "a", "verifier"): [NS],
    # A wrong one, challenged; the right revision is turned down: case 6b.
    ("A", "b", "generator"): [value(19), value(19)],
    ("A", "b", "verifier"): [SAC],
    ("A", "b", "reviser"): [value(20), "Twenty.", value(20)],
    ("A", "b", "approver"): ["KEEP"],
    # A wrong one, challenged and repaired: case 5a.
    ("B", "a", "generator"): [value(3), value(10)],
    ("B", "a", "verifier"): [SAC],
    ("B", "a", "reviser"): [value(3), value(10), value(10)],
    ("B", "a", "approver"): ['{"decision": "REVISE"}'],
    # A proposal and a review that cannot be read: neither case nor silence.
    ("B", "b", "generator"): ["Twenty.", value(20)],
    ("B", "b", "verifier"): ["It seems fine."],
}


def played(game: AssuranceGame, said: Said, *names: str) -> tuple[Play, list[tuple[str, str, str]]]:
    asked: list[tuple[str, str, str]] = []

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        task, unit = where(prompt)
        asked.append((task, unit, role))
        return said[task, unit, role][number]

    play = asyncio.run(game.play(ScriptedSampler(line), [row(name) for name in names]))
    return play, asked


def table(group: Group) -> list[tuple[str, str, float, float]]:
    """Policy, text, reward and advantage of each member."""
    [full] = filled([group], epsilon=0.0)
    return [
        (one.policy, one.text, one.reward.total, one.advantage)
        for one in full.rollouts
        if one.reward is not None and isinstance(one.advantage, float)
    ]


def test_one_batch_by_hand() -> None:
    play, asked = played(AssuranceGame(samples=2, candidates=3), BATCH, "A", "B")
    groups = {group.key: group for group in play.groups}
    forced_ns, forced_sac = (challenge_text(action, TaskUnit("b", "amount")) for action in ("NS", "SAC"))
    # Lines 4 and 19: S_x of each draft; (1 - .5) / .5 = 1. Equal rewards teach nothing.
    assert table(groups["0:A:a:generator"]) == [("default", value(10), 1.0, 1.0), ("default", value(7), 0.0, -1.0)]
    assert table(groups["0:A:b:generator"]) == [("default", value(19), 0.0, 0.0)] * 2
    assert table(groups["1:B:a:generator"]) == [("default", value(3), 0.0, -1.0), ("default", value(10), 1.0, 1.0)]
    assert table(groups["1:B:b:generator"]) == [("default", "Twenty.", 0.0, -1.0), ("default", value(20), 1.0, 1.0)]
    # Lines 5 to 7: R_V(SAC) = 1 - S_x, R_V(NS) = S_x, the reply for the action taken, a given one for the other.
    teacher_forced = challenge_text("SAC", TaskUnit("a", "amount"))
    assert table(groups["0:A:a:verifier"]) == [("verifier", teacher_forced, 0.0, -1.0), ("verifier", NS, 1.0, 1.0)]
    assert table(groups["0:A:b:verifier"]) == [("verifier", SAC, 1.0, 1.0), ("verifier", forced_ns, 0.0, -1.0)]
    # A review that cannot be read is neither, so both actions are given.
    assert table(groups["1:B:b:verifier"]) == [("verifier", forced_sac, 1.0, 1.0), ("verifier", forced_ns, 0.0, -1.0)]
    # Lines 8 to 12: on a case R_G(KEEP) = S_x, R_G(REVISE) = S_z.
    assert table(groups["0:A:b:approver"]) == [
        ("default", "KEEP", 0.0, -1.0),
        ("default", choice_text("REVISE"), 1.0, 1.0),
    ]
    assert table(groups["1:B:a:approver"]) == [
        ("default", choice_text("KEEP"), 0.0, -1.0),
        ("default", '{"decision": "REVISE"}', 1.0, 1.0),
    ]
    # Lines 13 to 15: without a case nobody revises or chooses.
    assert {key.split(":", 2)[2] for key in groups if key.endswith("approver")} == {"b:approver", "a:approver"}
    assert ("A", "a", "reviser") not in asked
    assert ("B", "b", "approver") not in asked
    assert len(groups) == 4 + 4 + 2
    # Line 16: the cases of section 2.1.
    shares = {name: play.measures[f"case/{name}"] for name in (*CASES, "none")}
    # Units in the order in which they are played: a of A and B, then b of A and B.
    assert {name: places.index(1.0) for name, places in shares.items() if any(places)} == {
        "1": 0,
        "5a": 1,
        "6b": 2,
        "none": 3,
    }
    assert play.measures["oracle/draft"] == (1.0, 0.0, 0.0, 0.0)
    assert play.measures["oracle/submitted"] == (1.0, 1.0, 0.0, 0.0)
    assert play.measures["oracle/challenge"] == (1.0, 1.0, 1.0, 0.0)
    assert play.measures["oracle/choice"] == (1.0, 0.0)
    assert play.measures["readable/verifier"] == (1.0, 1.0, 1.0, 0.0)
    assert (play.failures, play.dropped) == ((), 0)


def test_both_actions_of_a_pair_answer_the_prompt_of_their_role() -> None:
    # Counterfactuals: the same information, another action. What each role was asked is kept apart by the script.
    asked: dict[str, list[bytes]] = {}

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        asked.setdefault(role, []).append("\n".join(message.content for message in prompt).encode())
        return BATCH[(*where(prompt), role)][number]

    play = asyncio.run(AssuranceGame(samples=2, candidates=3).play(ScriptedSampler(line), [row("A"), row("B")]))
    for group in play.groups:
        [prompt] = {bytes(one.prompt_ids) for one in group.rollouts}
        assert prompt in asked[group.role], group.key
    assert {group.role for group in play.groups} == {"generator", "verifier", "approver"}


def test_each_role_counts_by_its_own_rows() -> None:
    # 8 drafts, 8 reviews, 4 choices: 20 rows. Each role has a mean of its own, so 20 / 8, 20 / 8 and 20 / 4.
    play, _ = played(AssuranceGame(samples=2, candidates=3), BATCH, "A", "B")
    rollouts = [one for group in filled(play.groups, epsilon=0.0) for one in group.rollouts]
    factors = role_factors([amounts_of(rollouts, "grpo")])
    assert factors == {"generator": 2.5, "verifier": 2.5, "approver": 5.0}
    weighed = to_arrays(rollouts, 20, 0, factors)["advantages"]
    expected = {"generator": 2.5, "verifier": 2.5, "approver": 5.0}
    assert [abs(float(x)) for x in weighed] == [expected[one.role] if one.advantage else 0.0 for one in rollouts]


def test_the_next_unit_sees_what_was_submitted_and_not_the_draft() -> None:
    seen: dict[str, str] = {}

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        task, unit = where(prompt)
        if (unit, role) == ("b", "generator"):
            seen[task] = next(one for one in prompt[-1].content.splitlines() if one.startswith("[{"))
        return BATCH[task, unit, role][number]

    asyncio.run(AssuranceGame(samples=2, candidates=3).play(ScriptedSampler(line), [row("A"), row("B")]))
    assert [json.loads(seen[task])[0]["amount"] for task in ("A", "B")] == [10, 10]  # B proposed 3 and revised


def test_a_wrong_value_that_was_submitted_is_seen_as_it_is() -> None:
    # 7 is wrong and nobody says so: what the next unit sees is 7, neither nothing nor the right value.
    said = {
        ("A", "a", "generator"): [value(7)] * 2,
        ("A", "a", "verifier"): [NS],
        ("A", "b", "generator"): [value(20)] * 2,
        ("A", "b", "verifier"): [NS],
    }
    seen: list[str] = []

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        if where(prompt)[1] == "b":
            seen.extend(one for one in prompt[-1].content.splitlines() if one.startswith("[{"))
        return said[(*where(prompt), role)][number]

    asyncio.run(AssuranceGame(samples=2).play(ScriptedSampler(line), [row("A")]))
    assert {json.loads(one)[0]["amount"] for one in seen} == {7}


def test_a_reply_that_was_cut_off_is_not_read() -> None:
    unit = TaskUnit("a", "amount")
    whole, cut = (Rollout("r", (), (), (), None, reason, text="{}") for reason in ("stop", "length"))
    readers = {
        value(3): lambda text: read_line(text, unit),
        SAC: lambda text: read_case(text, unit),
        "REVISE": read_choice,
    }
    for text, reader in readers.items():
        assert read_reply(replace(whole, text=text), reader) == (reader(text), "")
        assert read_reply(replace(cut, text=text), reader)[0] is None
        assert "the reply was cut off" in read_reply(replace(cut, text=text), reader)[1]


def test_costs_prefer_silence_and_a_kept_proposal() -> None:
    said: Said = {
        ("A", "a", "generator"): [value(7)] * 2,
        ("A", "a", "verifier"): [SAC],
        ("A", "a", "reviser"): [value(8)],
        ("A", "a", "approver"): ["REVISE"],
        ("A", "b", "generator"): [value(20)] * 2,
        ("A", "b", "verifier"): [NS],
    }
    costs = AssuranceCosts(intervention=0.25, revision=0.5)
    play, _ = played(AssuranceGame(samples=2, candidates=1, costs=costs), said, "A")
    pairs = {group.key: [one.reward for one in group.rollouts] for group in play.groups if group.estimator == "pair"}
    totals = {key: [reward and reward.total for reward in rewards] for key, rewards in pairs.items()}
    assert totals == {
        "0:A:a:verifier": [0.75, 0.0],  # 1 - S_x - cost, S_x
        "0:A:a:approver": [0.0, -0.5],  # both wrong: without a cost nothing would prefer 6a to 5b
        "0:A:b:verifier": [-0.25, 1.0],
    }
    assert [dict(reward.parts) for reward in pairs["0:A:a:verifier"] if reward] == [
        {"outcome": 1.0, "cost": 0.25},
        {"outcome": 0.0, "cost": 0.0},
    ]


@pytest.mark.parametrize(("oracle", "submitted"), [(False, 0.0), (True, 1.0)])
def test_a_revision_is_selected_by_gold_only_with_an_oracle(oracle: bool, submitted: float) -> None:
    said: Said = {
        ("A", "a", "generator"): [value(7)] * 2,
        ("A", "a", "verifier"): [SAC],
        ("A", "a", "reviser"): [value(8), value(8), value(10)],
        ("A", "a", "approver"): ["REVISE"],
        ("A", "b", "generator"): [value(20)] * 2,
        ("A", "b", "verifier"): [NS],
    }
    play, _ = played(AssuranceGame(samples=2, candidates=3, oracle=oracle), said, "A")
    assert play.measures["oracle/submitted"][0] == submitted


def test_without_a_case_in_the_whole_batch_nobody_is_asked_to_revise() -> None:
    said = {
        ("A", unit, role): [reply] * 2 for unit in "ab" for role, reply in (("generator", value(10)), ("verifier", NS))
    }
    play, asked = played(AssuranceGame(samples=2), said, "A")
    assert {role for _, _, role in asked} == {"generator", "verifier"}
    assert {group.role for group in play.groups} == {"generator", "verifier"}
    assert "said/REVISE" not in play.measures


def test_a_case_without_a_readable_revision_is_kept_and_in_none_of_the_cases() -> None:
    said: Said = {
        ("A", "a", "generator"): [value(7)] * 2,
        ("A", "a", "verifier"): [SAC],
        ("A", "a", "reviser"): ["No idea."],
        ("A", "b", "generator"): [value(20)] * 2,
        ("A", "b", "verifier"): [NS],
    }
    play, _ = played(AssuranceGame(samples=2, candidates=1), said, "A")
    assert play.measures["case/none"] == (1.0, 0.0)
    assert play.measures["readable/reviser"] == (0.0,)


def test_the_generator_alone_is_the_baseline() -> None:
    game = AssuranceGame(samples=2, alone=True)
    play, asked = played(game, BATCH, "A", "B")
    assert {role for _, _, role in asked} == {"generator"}
    assert [group.estimator for group in play.groups] == ["group"] * 4
    assert play.measures["oracle/submitted"] == play.measures["oracle/draft"]
    assert (game.policies, AssuranceGame().policies) == (("default",), ("default", "verifier"))


def test_proposals_may_be_excluded_from_the_update() -> None:
    play, asked = played(AssuranceGame(samples=2, candidates=3, proposals=False), BATCH, "A")
    assert {group.role for group in play.groups} == {"verifier", "approver"}
    assert asked.count(("A", "a", "generator")) == 1


def test_all_processes_make_the_same_calls_if_asked_to() -> None:
    calls: list[tuple[str, int, float | None]] = []
    policies: set[tuple[str, str]] = set()

    class Counting:
        async def sample(
            self,
            prompts: Sequence[Sequence[Message]],
            role: str,
            n: int,
            policy: str = "default",
            temperature: float | None = None,
        ) -> list[list[Rollout]]:
            calls.append((role, len(prompts), temperature))
            policies.add((role, policy))
            return await inner.sample(prompts, role, n, policy)

        async def teacher_forced(
            self, prompt: Sequence[Message], text: str, role: str, policy: str = "default"
        ) -> Rollout:
            return await inner.teacher_forced(prompt, text, role, policy)

    def line(prompt: Sequence[Message], role: str, number: int) -> str:
        return BATCH[(*where(prompt), role)][number]

    inner = ScriptedSampler(line)
    asyncio.run(AssuranceGame(2, 3, 0.7, turns=3).play(Counting(), [row("A")]))
    four = ["generator", "verifier", "reviser", "approver"]
    assert [role for role, _, _ in calls] == four * 3
    assert [count for _, count, _ in calls] == [1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]
    assert {temperature for role, _, temperature in calls if role == "reviser"} == {0.7}
    assert policies == {(role, "verifier" if role == "verifier" else "default") for role in four}


@given(
    st.sampled_from(["7", "10", "?"]),
    st.sampled_from([SAC, NS, "?"]),
    st.sampled_from(["8", "10", "?"]),
    st.sampled_from(["KEEP", "REVISE", "?"]),
)
def test_every_unit_is_in_one_case_or_in_none_and_pairs_are_whole(x: str, y: str, z: str, a: str) -> None:
    said: Said = {
        ("A", unit, role): [reply, reply]
        for unit in "ab"
        for role, reply in (("generator", value(x)), ("verifier", y), ("reviser", value(z)), ("approver", a))
    }
    play, _ = played(AssuranceGame(samples=2, candidates=1), said, "A")
    for at in range(2):
        assert sum(play.measures[f"case/{name}"][at] for name in (*CASES, "none")) == 1.0
    for group in play.groups:
        assert len(group.rollouts) == 2
        if group.role == "verifier":
            read = [read_case(one.text, TaskUnit(group.key[-10], "amount")) is None for one in group.rollouts]
            assert read == [False, True]
        if group.role == "approver":
            assert [read_choice(one.text)[0] for one in group.rollouts] == [False, True]


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"task": None}, "row 'A' has no object \"task\""),
        ({"gold": {"a": 1}}, "row 'A': gold: values.b is missing"),
        ({"gold": {"a": 1, "b": "many"}}, "expected an amount"),
        ({"task": {"task": "A", "data": {}, "units": []}}, "row 'A': task: \"units\" is empty"),
    ],
)
def test_a_row_that_cannot_be_played_is_named(changed: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        AssuranceGame().opening(row("A") | changed)


def test_the_opening_is_the_prompt_at_the_last_unit() -> None:
    assert where(AssuranceGame().opening(row("A"))) == ("A", "b")


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [({"samples": 1}, "samples"), ({"candidates": 0}, "candidates"), ({"alone": True, "proposals": False}, "alone")],
)
def test_settings_that_teach_nothing_are_refused(settings: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        AssuranceGame(**settings)
