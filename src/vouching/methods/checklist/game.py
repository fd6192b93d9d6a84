"""Soft-RLVR's game: G responses to an instruction, judged item by item by somebody else (sections 2 and 3).

The judge is a verifier with a model of its own, or with rules; all responses are put to it at the same time. A response
earns R = 1[s = 1] + beta s 1[s < 1] of the share s of items passed, or what one question about the whole came to (eq.
3). A blank response passes nothing and is shown to no judge. Beside the reward the game watches what the reward does
not promise: where a row names IFEval's rules, which of them a response follows (``oracle/rules``, ``oracle/all``), and
how much more it earned than that (``gap/rules``).

A verifier that is trained beside its generator learns from labelled items, of a file and of the run itself
(``Replay``). Gold examples stay; replayed ones are the newest so many, since the generator that they are of moves on.
Which example a step takes depends on its number, its row and the seed alone, and not on how many processes share the
step. The paper draws from the union of both and says neither how large they are nor in which shares; here a share of
the draws is gold's, or gold would drown: a step of the paper's size adds thousands of examples.

Not supported: drawing labels evenly, and checklists that are made during a run; the paper keeps them fixed, and ``vouch
data checklist`` makes them before.
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
from vouching.methods.checklist.verify import ChecklistVerifier
from vouching.methods.rules.verify import named_items, rule_on
from vouching.models.base import Message, spoken
from vouching.models.running import all_of
from vouching.types import ChecklistItem, Reward


@dataclass(frozen=True, slots=True)
class Labelled:
    """An item of a checklist, a response, and whether the response passes: (x, y, c, l)."""

    x: str
    """The instruction."""
    y: str
    """The response."""
    c: str
    """The question."""
    l: bool  # noqa: E741  (the paper's letter, and that of the files)
    """The answer."""


class Replay:
    """Gold examples and the newest replayed ones.

    Args:
        gold: examples that stay.
        capacity: replayed examples that are kept; 0 for none.
        gold_share: share of the draws that are gold's, in [0, 1].
        seed: of the draws.

    Raises:
        ConfigError: no gold example, or a number out of range.

    >>> replay = Replay([Labelled("x", "y", "c", True)], capacity=1, gold_share=0.0)
    >>> replay.draw(step=0, place=0)[1]  # nothing is replayed yet
    'gold'
    >>> replay.add([Labelled("x", "y1", "c", True), Labelled("x", "y2", "c", False)])
    >>> replay.draw(step=0, place=0)
    (Labelled(x='x', y='y2', c='c', l=False), 'replay')
    """

    def __init__(self, gold: Sequence[Labelled], capacity: int, gold_share: float = 0.5, seed: int = 0) -> None:
        if not gold:
            raise ConfigError(
                "the verifier has no gold example: without one it would learn from its own answers alone. Give some in "
                "checklist.gold (vouch data gold), or set checklist.lambda_v=0"
            )
        if capacity < 0 or not 0 <= gold_share <= 1:
            raise ConfigError(f"wanted a capacity of at least 0 and a share in [0, 1], got {capacity} and {gold_share}")
        self._gold, self._share, self._seed = tuple(gold), gold_share, seed
        self._replayed: deque[Labelled] = deque(maxlen=capacity)

    def __len__(self) -> int:
        return len(self._replayed)

    def add(self, examples: Iterable[Labelled]) -> None:
        """Keep examples, the newest for longest."""
        self._replayed.extend(examples)

    def draw(self, step: int, place: int) -> tuple[Labelled, str]:
        """An example for a row of a step, and where it is from: "gold" or "replay"."""
        dice = np.random.default_rng([self._seed, step, place])
        golden = dice.random() < self._share or not self._replayed
        source: Sequence[Labelled] = self._gold if golden else self._replayed
        return source[int(dice.integers(len(source)))], "gold" if golden else "replay"

    def state_dict(self) -> list[dict[str, Any]]:
        """The replayed examples, as JSON has them."""
        return [asdict(one) for one in self._replayed]

    def load_state_dict(self, state: Iterable[Mapping[str, Any]]) -> None:
        """Go on from :meth:`state_dict`."""
        self._replayed = deque((Labelled(**one) for one in state), maxlen=self._replayed.maxlen)


GENERATOR = "generator"
"""Who responds."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a row asks for."""

    name: str
    """Of the row."""
    prompt: tuple[Message, ...]
    """What the generator is asked."""
    instruction: str
    """The same as one text, as judges read it."""
    items: tuple[ChecklistItem, ...]
    """The checklist; none if the row brings none."""
    rules: tuple[ChecklistItem, ...]
    """The rules that it names, by which the game watches and does not reward; often none."""


def task_of(row: Row) -> Task:
    """A row as a task: ``instruction``, ``prompt`` or ``messages``, ``checklist``, and IFEval's lists of rules.

    Raises:
        InputError: a field is missing, or of another kind.

    >>> task = task_of({"id": "r1", "prompt": "Name a bridge.", "checklist": ["Is a bridge named?"]})
    >>> task.prompt[0].content, task.items[0].text, task.rules
    ('Name a bridge.', 'Is a bridge named?', ())
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
    """What is measured of a response beside its reward."""
    return {**against_rules(task, response, reward.parts["s"]), "blank": float(not response)}


def against_rules(task: Task, response: str, score: float) -> Measures:
    """Measures of a response beside the rules that its row names; none where it names none.

    Args:
        task: what was asked.
        response: what was said.
        score: s, the share of items that the judge let pass.

    Returns:
        ``oracle/rules``: share of rules followed; ``oracle/all``: whether all are; ``gap/rules``: how much more of the
        checklist the judge let pass, positive where it is too lenient.

    >>> row = {"prompt": "No commas.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    >>> against_rules(task_of(row), "One, two.", score=1.0)
    {'oracle/rules': 0.0, 'oracle/all': 0.0, 'gap/rules': 1.0}
    """
    if not task.rules:
        return {}
    passed = [rule_on(rule, response).passed for rule in task.rules]
    share = sum(passed) / len(passed)
    return {"oracle/rules": share, "oracle/all": float(all(passed)), "gap/rules": score - share}


@dataclass(frozen=True, slots=True)
class ChecklistGame:
    """One generator that responds to each instruction ``samples`` times, and a judge that is not trained.

    Raises:
        ConfigError: fewer than two samples.

    >>> import asyncio
    >>> from vouching.methods.base import ScriptedSampler
    >>> from vouching.models import ScriptedModel
    >>> judge = ChecklistVerifier(ScriptedModel({"The Akashi bridge.": "yes", "Tower Bridge.": "no"}))
    >>> says = ScriptedSampler(lambda prompt, role, number: ("The Akashi bridge.", "Tower Bridge.")[number])
    >>> row = {"id": "r1", "prompt": "Name a bridge in Japan.", "checklist": ["Is it in Japan?"]}
    >>> [group] = asyncio.run(ChecklistGame(judge, samples=2).play(says, [row])).groups
    >>> [rollout.reward.total for rollout in group.rollouts]
    [1.0, 0.0]
    """

    verifier: ChecklistVerifier
    """The judge; ``config.holistic`` says whether it is asked about the whole."""
    samples: int = 8
    """G: responses to one instruction."""
    rules: ChecklistRules = PAPER
    """How votes become rewards."""

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise ConfigError(f"samples must be at least 2, got {self.samples}: one has nothing to compare with")

    @property
    def top(self) -> float:
        """The highest reward."""
        return 1.0

    def opening(self, row: Row) -> tuple[Message, ...]:
        """The prompt of a row.

        Raises:
            InputError: it has no instruction, or no checklist and the judge is asked about items.
        """
        task = task_of(row)
        if not task.items and not self.verifier.config.holistic:
            raise InputError(
                f"row {task.name!r} has no checklist: make checklists first, with  vouch data checklist,  or ask about "
                "the whole, with checklist.holistic=true"
            )
        return task.prompt

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Respond to every instruction, have every response judged."""
        tasks = [task_of(row) for row in rows]
        answers = await sampler.sample([task.prompt for task in tasks], GENERATOR, self.samples)
        replies = [(task, one.text) for task, said in zip(tasks, answers, strict=True) for one in said]
        outcomes = await all_of(
            outcome_of(
                reply_reward(self.verifier, task.instruction, reply, task.items or None, self.rules), task.instruction
            )
            for task, reply in replies
        )
        built = [
            build_group(f"{place}:{task.name}", said, outcomes[at : at + self.samples], self.samples)
            for place, (task, said) in enumerate(zip(tasks, answers, strict=True))
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
