"""The seams of a method: what verifies, what is played, and who speaks.

A verifier of claims gets claims with their sources, one of responses a whole response; a verdict or an honest failure
comes out. A game asks a sampler for completions, scores them, and hands back groups whose members are compared with
each other. The group is the unit: its key is explicit, its size is asserted, and a member whose judge failed is taken
out and counted, never scored 0. A group with fewer than two left has nothing to compare and is dropped and counted too.
How rewards become advantages is not the game's business, nor is how advantages become weights. A scripted sampler plays
every game to the letter without a model.

Left out: games in which what one role says depends on samples of another row; log-probabilities of a script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

from vouching.errors import BackendError, ConfigError, ModelError
from vouching.models.base import Message
from vouching.types import Claim, Group, Reward, Rollout, Source, Unverified, Verdict

Outcome: TypeAlias = Verdict | Unverified
"""A verdict, or Unverified where the judge failed. Unverified is no label."""


class ClaimVerifier(Protocol):
    """Judges claims against sources; all sources belong to every claim."""

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One outcome per claim, in order."""
        ...

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        """How much of a longer text the sources have, in [0, 1]; None if the verifier has no such measure."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and the like; a verifier that is used again opens them again."""
        ...


@dataclass(frozen=True, slots=True)
class ThresholdConfig:
    """The settings of a verifier that has but one. Raises ConfigError for a threshold outside [0, 1]."""

    threshold: float = 0.5
    """Score from which a claim counts as Attributable, in [0, 1]."""

    def __post_init__(self) -> None:
        if not _is_share(self.threshold):
            raise ConfigError(f"threshold must lie in [0, 1], got {self.threshold!r}")


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and 0.0 <= value <= 1.0


def failed(error: ModelError, claim: Claim) -> Unverified:
    """The failure of a model as an outcome; one that may succeed later is raised, for the caller to wait.

    >>> from vouching.errors import ModelRefusedError
    >>> failed(ModelRefusedError("no such model"), Claim("It opened.")).reason
    'backend'
    """
    if error.can_retry:
        raise error
    return Unverified(claim, "backend", str(error))


Row: TypeAlias = Mapping[str, Any]
"""A row of data; which fields it has, its game says."""
Measures: TypeAlias = Mapping[str, float]
"""What is watched and not trained on, by name: for one rollout, since a mean over processes needs the single values."""
Gather: TypeAlias = Callable[[Sequence[Any]], list[Any]]
"""Puts the lists of all processes together, in their order. All must call it."""
SMALLEST_GROUP = 2
"""Rollouts that can be compared."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Who trains together."""

    gather: Gather = list
    """Puts their lists together."""
    index: int = 0
    """Which of them this is."""
    count: int = 1
    """How many they are."""


class Sampler(Protocol):
    """Speaks for the roles: a policy that is trained, or a script."""

    async def sample(
        self, prompts: Sequence[Sequence[Message]], role: str, n: int, policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:  # fmt: skip
        """``n`` completions of each prompt, in the order of the prompts, unscored and in no group yet.

        One call per turn, with all prompts of all rows: where several processes train together, every one of them must
        make the same calls, since a call may move weights.

        Args:
            prompts: what is asked.
            role: who answers.
            n: completions of each, at least 1.
            policy: name of the adapter that answers.
            temperature: of this call; None for that of the run. What is trained on is drawn at that of the run.
        """
        ...

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """A completion that was not drawn: ``text`` as if the role had said it."""
        ...


@dataclass(frozen=True, slots=True)
class Play:
    """What came of a game on some rows."""

    groups: tuple[Group, ...]
    """The groups, advantages not filled in."""
    failures: tuple[Unverified, ...] = ()
    """One for each rollout whose judge failed; those rollouts are in no group."""
    dropped: int = 0
    """Groups that had fewer than two rollouts left."""
    measures: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, "tuple[float, ...]"])
    """What is watched, by name: one number for each rollout that has it, e.g. 1.0 where an oracle agrees."""
    occasions: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often a role that speaks only now and then might have: its part of the update is a mean over these. That of
    any other role is a mean over what it said."""

    def __post_init__(self) -> None:
        twice = [key for key, count in Counter(group.key for group in self.groups).items() if count > 1]
        if twice:
            raise ValueError(f"several groups have the key {twice[0]!r}: give each group a key of its own")


class Game(Protocol):
    """Rows in, groups of scored rollouts out."""

    @property
    def samples(self) -> int:
        """Rollouts of one row that are compared with each other."""
        ...

    def opening(self, row: Row) -> Sequence[Message]:
        """The first prompt of a row, so that a prompt that is too long is found before a run and not in it.

        Raises:
            InputError: the row lacks what the game needs.
        """
        ...

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Play each row once."""
        ...


@runtime_checkable
class Stateful(Protocol):
    """What a game that remembers earlier steps has besides. Its state is the same on all processes."""

    def join(self, processes: Processes) -> None:
        """Told before the first step who else plays; what one process adds to the state, all must."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """What it remembers, as JSON has it; saved with every checkpoint."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from :meth:`state_dict`."""
        ...


async def outcome_of(judged: Awaitable[Reward | Unverified], claim: str) -> Reward | Unverified:
    """What a judge said; an endpoint's failure is no verdict.

    >>> import asyncio
    >>> async def judge():
    ...     raise BackendError("The judge is down.")
    >>> asyncio.run(outcome_of(judge(), "It opened in 1973.")).reason
    'backend'
    """
    try:
        return await judged
    except BackendError as error:
        return Unverified(Claim(claim), "backend", str(error))


def build_group(
    key: str, rollouts: Sequence[Rollout], outcomes: Sequence[Reward | Unverified], size: int
) -> tuple[Group | None, tuple[Unverified, ...]]:
    """The group of what was scored, and what could not be.

    Args:
        key: of the group.
        rollouts: its members, all of one role and estimator.
        outcomes: what each earned, in the same order.
        size: how many members there must be before those without a reward are taken out.

    Returns:
        The group, None if fewer than two have a reward; and the failures.

    Raises:
        ValueError: another number of members or outcomes than ``size``: a fault of the game or of its sampler.

    >>> said = Rollout("verifier", (1,), (2,), (1,), None, "stop")
    >>> down = Unverified(Claim("It opened."), "backend", "The judge is down.")
    >>> group, failures = build_group("row-1", [said] * 3, [Reward(1.0), down, Reward(0.0)], size=3)
    >>> [rollout.reward.total for rollout in group.rollouts], len(failures)
    ([1.0, 0.0], 1)
    >>> build_group("row-1", [said] * 2, [Reward(1.0), down], size=2)[0] is None
    True
    """
    if not len(rollouts) == len(outcomes) == size:
        raise ValueError(f"group {key!r} has {len(rollouts)} rollouts and {len(outcomes)} outcomes, wanted {size} each")
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, Unverified))
    members = tuple(
        replace(rollout, group=key, reward=outcome)
        for rollout, outcome in zip(rollouts, outcomes, strict=True)
        if isinstance(outcome, Reward)
    )
    if len(members) < SMALLEST_GROUP:
        return None, failures
    return Group(key, members[0].role, members[0].estimator, members), failures


def gathered_measures(found: Iterable[Measures]) -> dict[str, tuple[float, ...]]:
    """The measures of several rollouts by name.

    >>> gathered_measures([{"a": 1.0}, {"a": 0.0, "b": 2.0}])
    {'a': (1.0, 0.0), 'b': (2.0,)}
    """
    measures: dict[str, list[float]] = {}
    for one in found:
        for name, value in one.items():
            measures.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in measures.items()}


Line: TypeAlias = Callable[[Sequence[Message], str, int], str]
"""What is said to a prompt by a role, the how-manieth of its completions this is, from 0."""


def _bytes(text: str) -> list[int]:
    return list(text.encode())


@dataclass(frozen=True, slots=True)
class ScriptedSampler:
    """Speaks by a script.

    >>> import asyncio
    >>> sampler = ScriptedSampler(lambda prompt, role, number: f"{role} {number}: {prompt[-1].content}!")
    >>> [[first, second]] = asyncio.run(sampler.sample([[Message("user", "yes")]], "verifier", 2))
    >>> second.text, second.completion_ids[-1], second.finish_reason
    ('verifier 1: yes!', 33, 'stop')
    """

    script: Line
    """Gives each completion."""
    encode: Callable[[str], Sequence[int]] = _bytes
    """Tokens of a text; its bytes if nothing else is asked for."""
    end: tuple[int, ...] = ()
    """Tokens that end a completion, after those of its text."""

    async def sample(
        self, prompts: Sequence[Sequence[Message]], role: str, n: int, policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:  # fmt: skip
        """What the script says."""
        return [
            [self._spoken(prompt, self.script(prompt, role, number), role, policy, "stop") for number in range(n)]
            for prompt in prompts
        ]

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """What it is made to say."""
        return self._spoken(prompt, text, role, policy, "teacher_forced")

    def _spoken(self, prompt: Sequence[Message], text: str, role: str, policy: str, reason: str) -> Rollout:
        asked = "\n".join(message.content for message in prompt)
        said = (*self.encode(text), *self.end)
        return Rollout(role, (*self.encode(asked),), said, (1,) * len(said), None, reason, text=text, policy=policy)
