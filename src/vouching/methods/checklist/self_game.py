"""Soft-SVeRL's game (section 4, Algorithm 1): one policy responds, judges its own responses, and learns to judge.

    line 3         G responses to each instruction                          role "generator"
    lines 4 to 6   J answers of the policy to each item of each response    role "verifier"
    lines 7 to 12  votes to rewards                                         reward.report_reward
    lines 13 to 19 items on which the votes agree go to replay              gathered over processes
    line 20        S: items with a yes in a response that failed
    lines 21 to 25 G answers to a labelled item for each instruction        role "verifier", weight lambda_v
    lines 26 to 30 the answers of lines 4 to 6 to items of S                role "partition", weight -lambda_p

Each role has its own mean, so that their sum is Eq. 24. The rewards of a partition are used without comparison within
the group: compared as in GRPO, items that got only yes votes, which S includes on purpose, would cost nothing. An item
that names a rule is decided by it; it has no answers and goes neither to replay nor to S. An unreadable answer counts
as "not yes": the policy wrote it, so it is data and not a failure of the judge.

Departures: one labelled item per instruction, a fixed share of them gold (``Replay``); and a blank response passes no
item, so that a policy that judges itself cannot earn with empty text. The paper publishes neither beta nor lambda_v; .5
and 1 are ours.

Not supported: an outside judge beside the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from vouching.errors import ConfigError, InputError
from vouching.judging.votes import Votes, vote_share
from vouching.methods.base import Measures, Play, Processes, Row, Sampler, build_group, gathered_measures
from vouching.methods.checklist.game import GENERATOR, Labelled, Replay, Task, task_of, watched
from vouching.methods.checklist.prompt import item_messages
from vouching.methods.checklist.reply import ItemAnswer, read_answer
from vouching.methods.checklist.reward import (
    PAPER,
    ChecklistRules,
    partition,
    partition_rewards,
    replay_label,
    report_reward,
    verifier_reward,
)
from vouching.methods.checklist.verify import ChecklistVerifier, ItemQuestion, Voted, voted_items
from vouching.models.base import Message, spoken
from vouching.rules.verify import item_result, rule_on
from vouching.types import Group, ItemResult, Report, Reward, Rollout, Unverified

VERIFIER, PARTITION = "verifier", "partition"
Ask: TypeAlias = Callable[[str, str, str], Sequence[Message]]
"""Messages that ask about an item, from instruction, response and item."""


@dataclass(frozen=True, slots=True)
class SelfVerification:
    """How a policy judges itself and learns to. Raises ConfigError for a value out of range."""

    votes: int = 3
    """J: answers to each item."""
    lambda_v: float = 1.0
    """Weight of the verifier's loss, at least 0; the paper's is not published."""
    lambda_p: float = 0.1
    """Weight of the penalty on yes for failed responses, at least 0."""
    rules: ChecklistRules = PAPER

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise ConfigError(f"votes must be at least 1, got {self.votes}")
        for name in ("lambda_v", "lambda_p"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")


class PolicyVoter:
    """The policy as its own judge; an unreadable answer is not a yes.

    Args:
        sampler: samples from the policy.
        votes: J.
        ask: builds the question about an item.
    """

    def __init__(self, sampler: Sampler, votes: int, ask: Ask) -> None:
        self._sampler, self._votes, self._ask = sampler, votes, ask
        self.rollouts: list[list[Rollout]] = []
        """The answers to each question of the last call."""

    async def vote(self, questions: Sequence[ItemQuestion]) -> list[Voted]:
        """The answers to each question, from one call of the sampler."""
        prompts = [self._ask(one.instruction, one.response, one.question or "") for one in questions]
        self.rollouts = await self._sampler.sample(prompts, VERIFIER, self._votes)
        return [Voted(tuple(map(_answer, several))) for several in self.rollouts]

    async def aclose(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A response with the policy's own judgment."""

    task: Task
    place: str
    """Key of its group."""
    rollout: Rollout
    """The response."""
    report: Report
    answers: Mapping[int, Sequence[Rollout]]
    """The policy's answers to each item that no rule decides, by position; empty for a blank response."""

    @property
    def votes_KJ(self) -> list[Votes]:
        """Votes on every item."""
        return [one.votes for one in self.report.findings if isinstance(one, ItemResult)]


class SelfVerifyGame:
    """A policy that answers each instruction ``samples`` times and judges its answers item by item.

    Args:
        samples: G, responses to an instruction, and answers to a labelled item.
        setting: how it judges and learns to.
        replay: labelled items; required with lambda_v > 0, else None.
        ask: builds the question about an item.

    >>> import asyncio
    >>> from vouching.methods.base import ScriptedSampler
    >>> script = {"generator": ["The Akashi bridge.", "Tower Bridge."], "verifier": ["yes", "no"]}
    >>> answers = ScriptedSampler(lambda prompt, role, number: script[role][number])
    >>> game = SelfVerifyGame(2, SelfVerification(votes=2, lambda_v=0.0))
    >>> row = {"id": "r1", "prompt": "Name a bridge in Japan.", "checklist": ["Is it in Japan?"]}
    >>> play = asyncio.run(game.play(answers, [row]))  # one yes of two is .5, below tau: both fail, and are in S
    >>> [(group.role, len(group.rollouts)) for group in play.groups]
    [('generator', 2), ('partition', 2), ('partition', 2)]
    """

    def __init__(
        self,
        samples: int = 8,
        setting: SelfVerification | None = None,
        replay: Replay | None = None,
        ask: Ask = item_messages,
    ) -> None:
        if samples < 2:
            raise ConfigError(f"samples must be at least 2, got {samples}: responses are compared with each other")
        self.samples = samples
        self._setting, self._replay, self._ask = setting or SelfVerification(), replay, ask
        if bool(self._setting.lambda_v) != (replay is not None):
            buffer = "a replay buffer" if replay else "no replay buffer"
            raise ConfigError(
                f"a replay buffer is required if lambda_v is above 0 and not allowed otherwise, "
                f"got {self._setting.lambda_v} and {buffer}"
            )
        self._processes, self._played = Processes(), 0

    @property
    def top(self) -> float:
        """The highest reward, of responses and of judgments."""
        return 1.0

    def join(self, processes: Processes) -> None:
        """Set the processes that share each step."""
        self._processes = processes

    def state_dict(self) -> dict[str, Any]:
        """The number of steps played, and the replay buffer."""
        kept = self._replay
        return {
            "played": self._played,
            "replay": [] if kept is None else kept.state_dict(),
            "exact": [] if kept is None else kept.exact,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._played = state["played"]
        if self._replay is not None:
            self._replay.load_state_dict(state["replay"], state.get("exact", ()))

    def opening(self, row: Row) -> tuple[Message, ...]:
        """The prompt of a row. Raises InputError without an instruction, or without an item for the policy to judge."""
        task = task_of(row)
        if not voted_items(task.items):
            raise InputError(
                f"row {task.name!r} has no item that the policy could judge: create checklists with  vouch data "
                "checklist"
            )
        return task.prompt

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Algorithm 1 for a batch of instructions, up to the update."""
        setting, rules = self._setting, self._setting.rules
        judged = await self.audit(sampler, rows)  # lines 2 to 6
        votes = [one.votes_KJ for one in judged]
        rewards = [_reward(one.report, rules) for one in judged]  # lines 7 to 12
        groups = [
            build_group(
                one.place,
                [each.rollout for each in judged[at : at + self.samples]],
                rewards[at : at + self.samples],
                self.samples,
            )[0]
            for at, one in enumerate(judged)
            if at % self.samples == 0
        ]
        found = [watched(one.task, one.report.response, reward) for one, reward in zip(judged, rewards, strict=True)]
        if self._replay is not None:
            tagged = [example for one, cast in zip(judged, votes, strict=True) for example in _tagged(one, cast, rules)]
            self._replay.add(self._processes.gather(tagged))  # lines 13 to 19
            if self._replay.anchored:
                self._replay.anchor(self._processes.gather([one for each in judged for one in _exact(each)]))
            learned, measures = await self._learn(sampler, self._replay, len(rows))  # lines 21 to 25
            groups += learned
            found += [*measures, {"replay/size": float(len(self._replay))}]
        if setting.lambda_p:
            for number, (one, cast, reward) in enumerate(zip(judged, votes, rewards, strict=True)):
                groups += _penalised(one, number, cast, reward.parts["s"], setting.lambda_p)  # lines 20, 26 to 30
        self._played += 1
        found += [
            {"yes/rule_negative": float(vote is True)}
            for one, cast in zip(judged, votes, strict=True)
            for vote in _against_the_rule(one, cast)
        ]
        return Play(tuple(group for group in groups if group is not None), measures=gathered_measures(found))

    async def audit(self, sampler: Sampler, rows: Sequence[Row]) -> list[Judged]:
        """Responses to each row, each with the policy's own judgment."""
        tasks = [task_of(row) for row in rows]
        replies = await sampler.sample([task.prompt for task in tasks], GENERATOR, self.samples)
        responses = [(f"{at}:{task.name}", task, one) for at, task in enumerate(tasks) for one in replies[at]]
        voter = PolicyVoter(sampler, self._setting.votes, self._ask)
        reports = await ChecklistVerifier(voter).verify_all(
            [(task.instruction, spoken(one.text).strip(), task.items) for _, task, one in responses]
        )
        answers = iter(voter.rollouts)
        return [
            Judged(
                task,
                place,
                one,
                report,
                {
                    k: [replace(vote, turn=1) for vote in next(answers)]
                    for k, item in enumerate(task.items)
                    if report.response and item.rule is None
                },
            )
            for (place, task, one), report in zip(responses, reports, strict=True)
        ]

    async def _learn(self, sampler: Sampler, replay: Replay, rows: int) -> tuple[list[Group | None], list[Measures]]:
        """G answers to a labelled item for each row, and the rates of yes on gold items."""
        first = self._processes.index * rows
        ready = not replay.anchored or bool(replay.exact)
        drawn = [replay.draw(self._played, first + place) for place in range(rows if ready else 0)]
        answers = await sampler.sample([self._ask(one.x, one.y, one.c) for one, _ in drawn], VERIFIER, self.samples)
        groups: list[Group | None] = []
        measures: list[Measures] = []
        for place, ((one, source), several) in enumerate(zip(drawn, answers, strict=True)):
            weighted = [replace(answer, turn=2, weight=self._setting.lambda_v) for answer in several]
            outcomes = [Reward(verifier_reward(_vote(answer), one.l)) for answer in several]
            groups.append(build_group(f"{place}:verifier", weighted, outcomes, self.samples)[0])
            if source == "gold":
                name = "yes/gold_positive" if one.l else "yes/gold_negative"
                measures += [{name: float(_vote(answer) is True)} for answer in several]
        return groups, measures


def _answer(rollout: Rollout) -> ItemAnswer | None:
    """The answer of a completion; None if it is cut off or unreadable."""
    return None if rollout.finish_reason in ("length", "thought") else read_answer(rollout.text)


def _vote(rollout: Rollout) -> bool | None:
    found = _answer(rollout)
    return None if found is None else found.vote


def _reward(report: Report, rules: ChecklistRules) -> Reward:
    reward = report_reward(report, rules)
    if isinstance(reward, Unverified):
        raise TypeError("a policy's votes are never Unverified")
    return reward


def _tagged(one: Judged, votes_KJ: Sequence[Votes], rules: ChecklistRules) -> Iterator[Labelled]:
    """The items on which enough answers agree (lines 14 to 18)."""
    for k in one.answers:
        label = replay_label(vote_share(votes_KJ[k]), rules)
        if label is not None:
            yield Labelled(one.task.instruction, one.report.response, one.task.items[k].text, label)


def _exact(one: Judged) -> Iterator[Labelled]:
    """The items that a rule decides, with its label: exact, and on a response of the policy as it is."""
    if one.report.response:
        for item in one.task.items:
            if item.rule is not None:
                passed = rule_on(item, one.report.response).passed
                yield Labelled(one.task.instruction, one.report.response, item.text, passed)


def _penalised(one: Judged, number: int, votes_KJ: Sequence[Votes], score: float, weight: float) -> Iterator[Group]:
    """The answers on the items of S, one group for each item (lines 20 and 26 to 30)."""
    for k in partition([vote_share(votes) for votes in votes_KJ], score):
        if k not in one.answers:
            continue
        key = f"{one.place}:{number}:{k}"
        yield Group(
            key,
            PARTITION,
            "plain",
            tuple(
                replace(answer, role=PARTITION, group=key, estimator="plain", weight=-weight, reward=Reward(yes))
                for answer, yes in zip(one.answers[k], partition_rewards(votes_KJ[k]), strict=True)
            ),
        )


def _against_the_rule(one: Judged, votes_KJ: Sequence[Votes]) -> Iterator[bool | None]:
    """The votes on items that state a rule in words which the response breaks: a yes is wrong there."""
    words = {rule.text: rule for rule in one.task.rules}
    for k in one.answers:
        rule = words.get(one.task.items[k].text)
        if rule is not None and not item_result(rule, one.report.response).passed:
            yield from votes_KJ[k]
