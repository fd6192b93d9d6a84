"""Soft-RLVR's game: G responses to an instruction, judged item by item by another model (sections 2 and 3).

The judge is a verifier with its own model, or rules; it gets all responses at the same time. A response earns
R = 1[s = 1] + beta s 1[s < 1], where s is the share of items passed or the answer to one question about the whole
response (Eq. 3). A blank response passes nothing and is not judged. Where a row names IFEval's rules, the game also
logs how many of them a response follows (``oracle/rules``, ``oracle/all``) and by how much its score exceeds that
(``gap/rules``).

A verifier that is trained beside its generator learns from labelled items (``Replay``): gold examples, which stay, and
the newest ones of the run, since older ones come from an outdated generator. Which example a step draws depends only on
the step, the row and the seed, not on the number of processes.

Departures: the paper draws from the union of gold and replayed examples and publishes neither size; here a fixed share
of the draws is gold, because a step of the paper's size adds thousands of replayed examples.

Not supported: balancing labels in the draws, and making checklists during a run (make them first with ``vouch data
checklist``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from vouching.errors import ConfigError, InputError
from vouching.methods.base import Measures, Play, Row, Sampler, build_group, gathered_measures, outcome_of
from vouching.methods.checklist.items import INSTRUCTION_KEYS, instruction_of, row_items
from vouching.methods.checklist.reward import PAPER, ChecklistRules, reply_reward
from vouching.methods.checklist.verify import ChecklistVerifier, ItemQuestion, Voted
from vouching.models.base import Message, spoken
from vouching.models.running import all_of
from vouching.rules.verify import named_items, rule_on
from vouching.types import ChecklistItem, Reward


@dataclass(frozen=True, slots=True)
class Labelled:
    """An item of a checklist, a response, and whether the response passes: (x, y, c, l)."""

    x: str
    """Instruction."""
    y: str
    """Response."""
    c: str
    """Question."""
    l: bool  # noqa: E741  (the letter of the paper and of the files)


class Replay:
    """Buffer of gold examples and the newest replayed ones.

    Args:
        gold: examples that stay; None for the exact labels of rules on the policy's own responses (:meth:`anchor`).
        capacity: maximum number of replayed examples, and of exact ones; 0 for none.
        gold_share: share of draws from the gold, in [0, 1]; None draws from both alike (Algorithm 1, line 21).
        seed: of the draws.
    """

    def __init__(
        self, gold: Sequence[Labelled] | None, capacity: int, gold_share: float | None = 0.5, seed: int = 0
    ) -> None:
        self.anchored = gold is None
        if not (gold or self.anchored):
            raise ConfigError(
                "there are no gold examples, so the verifier would learn from its own answers alone: add examples to "
                "checklist.gold (vouch data gold), or set checklist.lambda_v=0"
            )
        if capacity < 0 or not 0 <= (gold_share or 0) <= 1:
            raise ConfigError(f"capacity must be at least 0 and gold_share in [0, 1], got {capacity} and {gold_share}")
        self._gold: deque[Labelled] = deque(gold or (), capacity if self.anchored else None)
        self._share, self._seed = gold_share, seed
        self._replayed: deque[Labelled] = deque(maxlen=capacity)

    def __len__(self) -> int:
        return len(self._replayed)

    def add(self, examples: Iterable[Labelled]) -> None:
        """Keep examples; the oldest are dropped first."""
        self._replayed.extend(examples)

    def anchor(self, examples: Iterable[Labelled]) -> None:
        """Keep examples that a rule has labelled in the place of gold; the oldest are dropped first."""
        self._gold.extend(examples)

    def draw(self, step: int, place: int) -> tuple[Labelled, str]:
        """An example for a row of a step, and its source: "gold" or "replay"; there must be gold or exact ones."""
        dice = np.random.default_rng([self._seed, step, place])
        golds, replayed = len(self._gold), len(self._replayed)
        golden = dice.random() * (golds + replayed) < golds if self._share is None else dice.random() < self._share
        golden = golden or not replayed
        source: Sequence[Labelled] = self._gold if golden else self._replayed
        return source[int(dice.integers(len(source)))], "gold" if golden else "replay"

    @property
    def exact(self) -> list[dict[str, Any]]:
        """The exact examples as JSON."""
        return [asdict(one) for one in self._gold] if self.anchored else []

    def state_dict(self) -> list[dict[str, Any]]:
        """The replayed examples as JSON."""
        return [asdict(one) for one in self._replayed]

    def load_state_dict(self, state: Iterable[Mapping[str, Any]], exact: Iterable[Mapping[str, Any]] = ()) -> None:
        """Resume from :meth:`state_dict` and :attr:`exact`."""
        self._replayed = deque((Labelled(**one) for one in state), maxlen=self._replayed.maxlen)
        self._gold.extend(Labelled(**one) for one in exact)


GENERATOR = "generator"


@dataclass(frozen=True, slots=True)
class Task:
    """A row of the game."""

    name: str
    prompt: tuple[Message, ...]
    instruction: str
    """The prompt as one text, as judges read it."""
    items: tuple[ChecklistItem, ...]
    """The checklist; may be empty."""
    rules: tuple[ChecklistItem, ...]
    """The row's rules, which are logged and not rewarded; often empty."""


def task_of(row: Row) -> Task:
    """A row as a task: ``instruction``, ``prompt`` or ``messages``, ``checklist``, and IFEval's lists of rules.

    Raises InputError for a field that is missing or of the wrong type.
    """
    instruction = instruction_of(row)
    given: object = next(row[key] for key in INSTRUCTION_KEYS if row.get(key) is not None)
    turns = cast("list[Mapping[str, Any]]", given) if isinstance(given, list) else []
    return Task(
        name=str(row.get("id", "")),
        prompt=tuple(Message(turn["role"], turn["content"]) for turn in turns) or (Message("user", instruction),),
        instruction=instruction,
        items=row_items(row) or (),
        rules=named_items(row) if row.get("instruction_id_list") else (),
    )


def watched(task: Task, response: str, reward: Reward) -> Measures:
    """What is logged of a response beside its reward."""
    return {**against_rules(task, response, reward.parts["s"]), "blank": float(not response)}


def against_rules(task: Task, response: str, score: float) -> Measures:
    """Compare a response with the rules of its row; empty where the row has none.

    Args:
        task: the row.
        response: text of the response.
        score: s, the share of items that passed.

    Returns:
        ``oracle/rules``: share of rules followed; ``oracle/all``: whether all are; ``gap/rules``: score minus share of
        rules followed, positive where the judge is too lenient.
    """
    if not task.rules:
        return {}
    passed = [rule_on(rule, response).passed for rule in task.rules]
    share = sum(passed) / len(passed)
    return {"oracle/rules": share, "oracle/all": float(all(passed)), "gap/rules": score - share}


class RulesAlone:
    """In the place of a judge where a rule decides every item (exact rewards, Soft-RLVR's Table 1)."""

    async def vote(self, questions: Sequence[ItemQuestion]) -> list[Voted]:
        """Nothing to vote on. Raises InputError for an item without a rule."""
        if questions:
            raise InputError(
                f"the item {questions[0].question!r} has no rule, and there is no judge: set checklist.judge"
            )
        return []

    async def aclose(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, slots=True)
class ChecklistGame:
    """A generator that answers each instruction ``samples`` times, and a judge that is not trained.

    >>> import asyncio
    >>> from vouching.methods.base import ScriptedSampler
    >>> from vouching.models import ScriptedModel
    >>> judge = ChecklistVerifier(ScriptedModel({"The Akashi bridge.": "yes", "Tower Bridge.": "no"}))
    >>> answers = ScriptedSampler(lambda prompt, role, number: ("The Akashi bridge.", "Tower Bridge.")[number])
    >>> row = {"id": "r1", "prompt": "Name a bridge in Japan.", "checklist": ["Is it in Japan?"]}
    >>> [group] = asyncio.run(ChecklistGame(judge, samples=2).play(answers, [row])).groups
    >>> [rollout.reward.total for rollout in group.rollouts]
    [1.0, 0.0]
    """

    verifier: ChecklistVerifier
    """The judge; ``config.holistic`` sets whether it is asked about the whole response."""
    samples: int = 8
    """G: responses to one instruction."""
    rules: ChecklistRules = PAPER

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise ConfigError(f"samples must be at least 2, got {self.samples}: responses are compared with each other")

    @property
    def top(self) -> float:
        """The highest reward."""
        return 1.0

    def opening(self, row: Row) -> tuple[Message, ...]:
        """The prompt of a row. Raises InputError without an instruction, or without a checklist to ask about."""
        task = task_of(row)
        if not task.items and not self.verifier.config.holistic:
            raise InputError(
                f"row {task.name!r} has no checklist: create checklists with  vouch data checklist,  or judge the "
                "whole response with checklist.holistic=true"
            )
        return task.prompt

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Sample responses to every instruction and judge them."""
        tasks = [task_of(row) for row in rows]
        answers = await sampler.sample([task.prompt for task in tasks], GENERATOR, self.samples)
        replies = [(task, one.text) for task, group in zip(tasks, answers, strict=True) for one in group]
        outcomes = await all_of(
            outcome_of(
                reply_reward(self.verifier, task.instruction, reply, task.items or None, self.rules), task.instruction
            )
            for task, reply in replies
        )
        built = [
            build_group(f"{place}:{task.name}", group, outcomes[at : at + self.samples], self.samples)
            for place, (task, group) in enumerate(zip(tasks, answers, strict=True))
            for at in [place * self.samples]
        ]
        return Play(
            groups=tuple(group for group, _ in built if group is not None),
            failures=tuple(failure for _, failed in built for failure in failed),
            dropped=sum(group is None for group, _ in built),
            measures=gathered_measures(
                watched(task, spoken(reply).strip(), outcome)
                for (task, reply), outcome in zip(replies, outcomes, strict=True)
                if isinstance(outcome, Reward)
            ),
        )
