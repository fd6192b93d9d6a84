"""The checklist games by a script: Soft-RLVR's with a judge, and Algorithm 1 of Soft-SVeRL line by line."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from vouching.errors import ConfigError, InputError
from vouching.methods.base import Play, Processes, Row, ScriptedSampler
from vouching.methods.checklist.game import ChecklistGame, Labelled, Replay
from vouching.methods.checklist.reward import ChecklistRules
from vouching.methods.checklist.self_game import SelfVerification, SelfVerifyGame
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier
from vouching.models import ScriptedModel
from vouching.models.base import Message
from vouching.train.advantages import filled
from vouching.train.engine_batch import amounts_of, role_factors, to_arrays
from vouching.types import Unverified

RESPONSES = {"Write A.": ["a0", "a1"], "Write B.": ["b0", "b1"]}
VOTES = {
    "Write A.|a0|c1": ["yes", "yes", "yes", "yes"],  # p = 1
    "Write A.|a0|c2": ["yes", "no", "yes", "no"],  # p = .5
    "Write A.|a1|c1": ["yes", "hm", "yes", "yes"],  # p = .75: what cannot be read is no yes, and J stays 4
    "Write A.|a1|c2": ["yes", "yes", "yes", "yes"],  # p = 1
    "Write B.|b0|c1": ["no", "no", "no", "yes"],  # p = .25
    "Write B.|b1|c1": ["no", "unclear", "no", "no"],  # p = 0
    "gold|said|c": ["yes", "no"],
}
ROWS = [
    {"id": "a", "prompt": "Write A.", "checklist": ["c1", "c2"]},
    {"id": "b", "prompt": "Write B.", "checklist": ["c1"]},
]
GOLD = [Labelled("gold", "said", "c", False)]


def ask(x: str, y: str, c: str) -> list[Message]:
    return [Message("user", f"{x}|{y}|{c}")]


def script(prompt: Sequence[Message], role: str, number: int) -> str:
    return (RESPONSES if role == "generator" else VOTES)[prompt[-1].content][number]


def game(gold_share: float = 1.0, **settings: Any) -> SelfVerifyGame:
    """G = 2, J = 4, lambda_v = .5, lambda_p = .1, all examples to learn from gold."""
    setting = SelfVerification(**{"votes": 4, "lambda_v": 0.5, "lambda_p": 0.1} | settings)
    return SelfVerifyGame(2, setting, Replay(GOLD, 100, gold_share) if setting.lambda_v else None, ask)


def played(which: Any, rows: Sequence[Row] = ROWS) -> Play:
    return asyncio.run(which.play(ScriptedSampler(script), rows))


def of(play: Play, role: str) -> list[list[float]]:
    return [[one.reward.total for one in group.rollouts if one.reward] for group in play.groups if group.role == role]


# Algorithm 1.


def test_responses_earn_what_lines_7_to_12_say() -> None:
    # tau = .75: a0 passes c1 alone, s = 1/2, R = .5 * 1/2. a1 passes both, R = 1. b0 and b1 pass nothing.
    play = played(game())
    assert of(play, "generator") == [[0.25, 1.0], [0.0, 0.0]]
    assert [one.reward and one.reward.parts["s"] for one in play.groups[0].rollouts] == [0.5, 1.0]


def test_items_that_the_votes_agree_on_are_replayed_by_lines_13_to_19() -> None:
    which = game()
    played(which)
    # .5 lies between the thresholds .375 and .75, so c2 of a0 is not used.
    assert [(one["y"], one["c"], one["l"]) for one in which.state_dict()["replay"]] == [
        ("a0", "c1", True),
        ("a1", "c1", True),
        ("a1", "c2", True),
        ("b0", "c1", False),
        ("b1", "c1", False),
    ]


def test_the_verifier_is_taught_by_lines_21_to_25_with_its_weight() -> None:
    # The gold answer is no: "yes" earns 0, "no" 1. One labelled item for each of the two instructions.
    play = played(game())
    assert of(play, "verifier") == [[0.0, 1.0], [0.0, 1.0]]
    assert {one.weight for group in play.groups if group.role == "verifier" for one in group.rollouts} == {0.5}
    assert play.measures["yes/gold_negative"] == (1.0, 0.0, 1.0, 0.0)
    assert "yes/gold_positive" not in play.measures


def test_s_has_items_with_a_yes_in_failed_responses_by_lines_20_and_26_to_30() -> None:
    # a0 failed: c1, on which all say yes, and c2. a1 passed. b0 has one yes, b1 none.
    play = played(game())
    assert of(play, "partition") == [[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1]]
    penalised = [group for group in play.groups if group.role == "partition"]
    assert {one.weight for group in penalised for one in group.rollouts} == {-0.1}
    assert [one.text for one in penalised[1].rollouts] == VOTES["Write A.|a0|c2"]  # the very answers that were counted


def test_the_update_is_the_weighted_sum_of_a_mean_per_role() -> None:
    # Rows: 4 of the generator, 4 of the verifier, 12 of the partition; a mean over 20 rows becomes three means by the
    # factors 20/4, 20/4 and 20/12. Advantages: generator of a -1 and 1, of b 0 (flat); verifier -1 and 1, times .5; a
    # yes of the partition 1, times -.1.
    groups = filled(played(game()).groups, "population", 0.0)
    rollouts = [one for group in groups for one in group.rollouts]
    factors = role_factors([amounts_of(rollouts, "grpo")])
    assert factors == pytest.approx({"generator": 5, "verifier": 5, "partition": 5 / 3})
    generator, verifier = [-5, 5, 0, 0], [-2.5, 2.5, -2.5, 2.5]
    yes = -0.1 * 5 / 3
    partition = [yes] * 4 + [yes, 0, yes, 0] + [0, 0, 0, yes]
    given = to_arrays(rollouts, 20, 0, factors)["advantages"]
    assert given == pytest.approx([*generator, *verifier, *partition])


def test_without_lambda_p_nothing_is_penalised_and_without_lambda_v_nothing_taught() -> None:
    play = played(game(lambda_p=0.0, lambda_v=0.0))
    assert {group.role for group in play.groups} == {"generator"}


# Replay, and several processes.


def test_replayed_items_are_drawn_as_soon_as_they_are_there() -> None:
    # Line 21 comes after line 15, in the same step.
    play = played(game(gold_share=0.0))
    drawn = {
        bytes(one.prompt_ids).decode() for group in play.groups if group.role == "verifier" for one in group.rollouts
    }
    assert drawn <= {"Write A.|a0|c1", "Write A.|a1|c1", "Write A.|a1|c2", "Write B.|b0|c1", "Write B.|b1|c1"}
    assert "yes/gold_negative" not in play.measures


def test_gold_and_replayed_items_are_drawn_alike_from_their_union() -> None:
    # One gold item and three replayed: a quarter of the draws is gold; of 2,000, with a standard error of .0097.
    replay = Replay(GOLD, 100, None)
    assert {replay.draw(1, place)[1] for place in range(20)} == {"gold"}
    replay.add(Labelled(f"x{number}", "y", "c", True) for number in range(3))
    drawn = [replay.draw(1, place)[1] for place in range(2000)]
    assert drawn.count("gold") / 2000 == pytest.approx(0.25, abs=0.03)


def test_two_processes_play_what_one_does() -> None:
    # Tagged items are put together before the draw; here by hand, in the order of the processes.
    alone = game(gold_share=0.5)
    whole = [group for _ in range(3) for group in played(alone).groups]
    tags = {row["id"]: tagged([row]) for row in ROWS}
    pair = [game(gold_share=0.5), game(gold_share=0.5)]
    for index, which in enumerate(pair):
        which.join(Processes(lambda mine: tags["a"] + tags["b"], index, 2))
    shared = [
        group for _ in range(3) for which, row in zip(pair, ROWS, strict=True) for group in played(which, [row]).groups
    ]
    assert sorted((g.role, [r.text for r in g.rollouts]) for g in shared) == sorted(
        (g.role, [r.text for r in g.rollouts]) for g in whole
    )
    assert pair[0].state_dict() == pair[1].state_dict() == alone.state_dict()


def tagged(rows: Sequence[Row]) -> list[Labelled]:
    which = game()
    played(which, rows)
    return [Labelled(**one) for one in which.state_dict()["replay"]]


def test_a_game_that_is_gone_on_with_draws_what_it_would_have_drawn() -> None:
    whole = game(gold_share=0.3)
    steps = [[one.text for group in played(whole).groups for one in group.rollouts] for _ in range(6)]
    first, second = game(gold_share=0.3), game(gold_share=0.3)
    for _ in range(3):
        played(first)
    second.load_state_dict(first.state_dict())
    again = [[one.text for group in played(second).groups for one in group.rollouts] for _ in range(3)]
    assert again == steps[3:]


def test_the_newest_examples_are_kept() -> None:
    replay = Replay(GOLD, 2, 0.0)
    replay.add([Labelled("x", str(number), "c", True) for number in range(5)])
    assert [one["y"] for one in replay.state_dict()] == ["3", "4"]
    assert {replay.draw(step, 0)[0].y for step in range(40)} == {"3", "4"}


def test_gold_is_drawn_by_its_share() -> None:
    replay = Replay(GOLD, 10, 0.25)
    replay.add([Labelled("x", "y", "c", True)])
    found = [replay.draw(step, place)[1] for step in range(50) for place in range(40)]
    assert found.count("gold") / 2000 == pytest.approx(0.25, abs=0.03)  # three standard errors of .0097


# Rules, unclear votes, single items.


def test_an_item_that_names_a_rule_has_no_votes_and_is_neither_replayed_nor_penalised() -> None:
    # a0 and a1 have no comma: the rule passes, so s = 2/3 and 1.
    row = {"id": "a", "prompt": "Write A.", "checklist": ["c1", "c2", {"rule": "punctuation:no_comma"}]}
    which = game()
    play = played(which, [row])
    assert [one.reward and one.reward.parts["s"] for one in play.groups[0].rollouts] == pytest.approx([2 / 3, 1])
    assert len(which.state_dict()["replay"]) == 3
    assert of(play, "partition") == [[1, 1, 1, 1], [1, 0, 1, 0]]


def test_rules_anchor_the_judge_on_the_policys_own_responses_without_gold() -> None:
    said = {"generator": ["Yes, it is.", "It is."], "verifier": ["yes", "yes"]}
    sampler = ScriptedSampler(lambda prompt, role, number: said[role][number])
    row = {"id": "a", "prompt": "Is it?", "checklist": ["c1", {"text": "No comma?", "rule": "punctuation:no_comma"}]}
    which = SelfVerifyGame(2, SelfVerification(votes=2), Replay(None, 10, gold_share=1.0))
    play = asyncio.run(which.play(sampler, [row]))
    # The rule fails for the first response, which has a comma, and passes for the second.
    exact = [(one["y"], one["c"], one["l"]) for one in which.state_dict()["exact"]]
    assert exact == [("Yes, it is.", "No comma?", False), ("It is.", "No comma?", True)]
    [taught] = [group for group in play.groups if group.role == "verifier"]
    rewards = {one.reward.total for one in taught.rollouts if one.reward}
    assert rewards in ({0.0}, {1.0})  # both say yes, to one of the two
    again = SelfVerifyGame(2, SelfVerification(votes=2), Replay(None, 10, gold_share=1.0))
    again.load_state_dict(which.state_dict())
    assert again.state_dict() == which.state_dict()


def test_without_a_rule_an_anchored_judge_is_not_taught() -> None:
    sampler = ScriptedSampler(lambda prompt, role, number: "yes")
    which = SelfVerifyGame(2, SelfVerification(votes=2), Replay(None, 10))
    play = asyncio.run(which.play(sampler, [{"id": "a", "prompt": "Is it?", "checklist": ["c1"]}]))
    assert "verifier" not in {group.role for group in play.groups}


def test_votes_that_are_all_unclear_are_no_yes_and_earn_nothing() -> None:
    def unclear(prompt: Sequence[Message], role: str, number: int) -> str:
        return "unclear" if role == "verifier" else "a0"

    play = asyncio.run(game().play(ScriptedSampler(unclear), ROWS))
    assert of(play, "generator") == [[0.0, 0.0], [0.0, 0.0]]
    assert of(play, "partition") == []
    assert play.groups[0].rollouts[0].reward is not None
    assert play.groups[0].rollouts[0].reward.parts["unclear"] == 1.0


def test_a_reply_that_was_cut_off_is_no_vote() -> None:
    from dataclasses import replace

    class Cut(ScriptedSampler):
        async def sample(self, prompts: Any, role: str, n: int, policy: str = "default") -> Any:
            said = await super().sample(prompts, role, n, policy)
            return [[replace(one, finish_reason="length") for one in group] for group in said]

    assert of(asyncio.run(game().play(Cut(script), ROWS)), "generator") == [[0.0, 0.0], [0.0, 0.0]]


def test_rules_of_a_row_are_watched_and_not_rewarded() -> None:
    row = {
        "id": "a",
        "prompt": "Write A.",
        "checklist": ["c1", "c2"],
        "kwargs": [{"keywords": ["a0"]}],
        "instruction_id_list": ["keywords:existence"],
    }
    play = played(game(), [row])
    assert play.measures["oracle/rules"] == (1.0, 0.0)  # only a0 has the word
    assert play.measures["gap/rules"] == (-0.5, 1.0)  # s = .5 and 1
    assert of(play, "generator") == [[0.25, 1.0]]


def test_yes_to_a_rule_in_words_that_is_not_followed_is_watched() -> None:
    # Without a checklist of its own, the row's rules in words are the items; a1 lacks the word.
    row = {
        "id": "a",
        "prompt": "Write A.",
        "kwargs": [{"keywords": ["a0"]}],
        "instruction_id_list": ["keywords:existence"],
    }

    def always(prompt: Sequence[Message], role: str, number: int) -> str:
        return "yes" if role == "verifier" else ("a0", "a1")[number]

    play = asyncio.run(game(lambda_v=0.0).play(ScriptedSampler(always), [row]))
    assert play.measures["yes/rule_negative"] == (1.0, 1.0, 1.0, 1.0)  # J = 4 votes on a1


def test_a_blank_response_passes_nothing_by_rule_and_is_not_put_to_the_policy() -> None:
    # A lenient policy: it says yes to whatever it is asked. The second response to each instruction is blank.
    asked: list[str] = []

    def lenient(prompt: Sequence[Message], role: str, number: int) -> str:
        if role == "generator":
            return ("a0", "<think>and?</think> ")[number]
        asked.append(prompt[-1].content)
        return "yes"

    which = game()
    play = asyncio.run(which.play(ScriptedSampler(lenient), ROWS))
    # Both items of A and the one of B pass on a0, and none on nothing: no vote is asked for, none is replayed or taxed.
    assert of(play, "generator") == [[1.0, 0.0], [1.0, 0.0]]
    assert {question for question in asked if "gold" not in question} == {
        "Write A.|a0|c1",
        "Write A.|a0|c2",
        "Write B.|a0|c1",
    }
    assert {one["y"] for one in which.state_dict()["replay"]} == {"a0"}
    assert of(play, "partition") == []
    assert play.measures["blank"] == (0.0, 1.0, 0.0, 1.0)


# An outside judge.


def judged(model: ScriptedModel, **settings: Any) -> Play:
    verifier = ChecklistVerifier(model, ChecklistConfig(**settings))
    return played(ChecklistGame(verifier, 2, ChecklistRules(beta=0.5)))


def test_an_outside_judge_goes_item_by_item() -> None:
    # The question stands last in a prompt: c1 passes and c2 fails, so s = 1/2 for A and 1 for B.
    play = judged(ScriptedModel({"c1": "yes", "c2": "no"}))
    assert of(play, "generator") == [[0.25, 0.25], [1.0, 1.0]]
    assert {group.role for group in play.groups} == {"generator"}


def test_an_outside_judge_may_be_asked_about_the_whole() -> None:
    assert of(judged(ScriptedModel({"a0": "yes", "": "no"}), holistic=True), "generator") == [[1.0, 0.0], [0.0, 0.0]]


def test_a_judge_that_gives_no_answer_takes_responses_out_and_is_counted() -> None:
    # Asked once more it is no clearer. Both responses to A are out, so that their group is dropped.
    play = judged(ScriptedModel({"Write A": "who knows", "no answer that can be used": "who knows", "": "yes"}))
    assert [failure.reason for failure in play.failures] == ["unparsable"] * 2
    assert all(isinstance(failure, Unverified) for failure in play.failures)
    assert (play.dropped, of(play, "generator")) == (1, [[1.0, 1.0]])


def test_a_blank_response_passes_nothing_and_is_shown_to_no_judge() -> None:
    verifier = ChecklistVerifier(ScriptedModel({"": "yes"}))
    blank = ScriptedSampler(lambda prompt, role, number: ("  ", "<think>and?</think>")[number])
    play = asyncio.run(ChecklistGame(verifier, 2).play(blank, ROWS))
    assert of(play, "generator") == [[0.0, 0.0], [0.0, 0.0]]
    assert play.measures["blank"] == (1.0,) * 4


# What cannot be played.


def test_a_verifier_without_gold_is_refused() -> None:
    with pytest.raises(ConfigError, match="no gold examples, so the verifier would learn from its own answers alone"):
        Replay([], 10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SelfVerifyGame(1, SelfVerification(lambda_v=0.0)), "samples must be at least 2, got 1"),
        (lambda: SelfVerifyGame(2), "a replay buffer is required if lambda_v is above 0"),
        (lambda: SelfVerification(votes=0), "votes must be at least 1, got 0"),
        (lambda: SelfVerification(lambda_p=-0.1), "lambda_p must be at least 0, got -0.1"),
        (lambda: ChecklistGame(ChecklistVerifier(ScriptedModel({})), samples=1), "samples must be at least 2, got 1"),
        (lambda: Replay(GOLD, -1), "capacity must be at least 0"),
    ],
)
def test_settings_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "x", "checklist": ["c1"]}, 'has no value for "instruction", "prompt" or "messages"'),
        ({"id": "x", "prompt": "Write."}, "row 'x' has no item that the policy could judge"),
        (
            {"id": "x", "prompt": "Write.", "checklist": [{"rule": "punctuation:no_comma"}]},
            "has no item that the policy",
        ),
        ({"id": "x", "prompt": "Write.", "checklist": []}, "the checklist has no items"),
    ],
)
def test_a_row_that_cannot_be_played_is_told_before_a_run(row: Row, message: str) -> None:
    with pytest.raises(InputError, match=message):
        game().opening(row)


def test_a_row_without_a_checklist_can_only_be_judged_as_a_whole() -> None:
    row = {"id": "x", "prompt": "Write."}
    with pytest.raises(InputError, match="row 'x' has no checklist"):
        ChecklistGame(ChecklistVerifier(ScriptedModel({})), 2).opening(row)
    whole = ChecklistVerifier(ScriptedModel({}), ChecklistConfig(holistic=True))
    assert ChecklistGame(whole, 2).opening(row) == (Message("user", "Write."),)


def test_a_conversation_is_put_to_the_policy_turn_by_turn() -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Write."}]
    assert game().opening({"messages": turns, "checklist": ["c1"]}) == (
        Message("system", "Be brief."),
        Message("user", "Write."),
    )
