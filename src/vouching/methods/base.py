"""The protocols of a method's training: games and samplers; and verifiers that do not belong to a method.

A game asks a sampler for completions, scores them, and returns groups whose members are compared with each
other. Groups have explicit keys and a checked size. A member whose judge failed is removed and counted, never scored 0;
a group with fewer than two members left is dropped and counted. Advantages and weights are computed elsewhere. A
scripted sampler plays every game without a model.

Not supported: games in which the prompts of one role depend on samples of another row; log-probabilities of a script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

from vouching.errors import BackendError, ConfigError
from vouching.judging.verifier import ClaimVerifier
from vouching.models.base import Message
from vouching.plugins import load_plugin, plugins
from vouching.types import Claim, Group, Reward, Rollout, Unverified


@dataclass(frozen=True, slots=True)
class OwnConfig:
    """The settings of a verifier that was passed as an object: none, for it has its own."""


def open_own(verifier: ClaimVerifier, config: OwnConfig) -> ClaimVerifier:
    """A verifier that was passed as an object, as it is."""
    return verifier


def open_plugin(model: str, config: OwnConfig) -> ClaimVerifier:
    """The judge that a package adds for a name "KIND" or "KIND:REST": what its entry point returns for REST."""
    kind, _, rest = model.partition(":")
    verifier = load_plugin(plugins("vouching.judges")[kind])(rest)
    if not isinstance(verifier, ClaimVerifier):
        raise ConfigError(
            f"the judge {kind!r} is a {type(verifier).__name__}, expected an object with "
            "async verify(claims, sources), async aclose() and a name"
        )
    return verifier


Row: TypeAlias = Mapping[str, Any]
"""A row of data; each game defines its fields."""
Measures: TypeAlias = Mapping[str, float]
"""What is logged of one rollout and not trained on, by name; single values, since means are taken over processes."""
Gather: TypeAlias = Callable[[Sequence[Any]], list[Any]]
"""Concatenates the lists of all processes, in their order. All must call it."""
MIN_GROUP = 2
"""Rollouts needed for a comparison."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a training run."""

    gather: Gather = list
    """Concatenates their lists."""
    index: int = 0
    """Which of them this is."""
    count: int = 1


class Sampler(Protocol):
    """Completes the prompts of the roles: a policy that is trained, or a script."""

    async def sample(
        self,
        prompts: Sequence[Sequence[Message]],
        role: str,
        n: int,
        policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:
        """``n`` completions of each prompt, in the order of the prompts, without reward or group.

        One call per turn with all prompts of all rows: if several processes train together, all must make the same
        calls, since a call may move weights. ``policy`` names the adapter; a ``temperature`` of None is that of the
        run, at which everything trained on is sampled.
        """
        ...

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """A completion that was not sampled: ``text`` as the role's answer."""
        ...


@dataclass(frozen=True, slots=True)
class Play:
    """The result of a game on some rows."""

    groups: tuple[Group, ...]
    """Advantages are not filled in."""
    failures: tuple[Unverified, ...] = ()
    """One for each rollout whose judge failed; those rollouts are in no group."""
    dropped: int = 0
    """Groups with fewer than two rollouts left."""
    measures: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, "tuple[float, ...]"])
    """Logged figures by name: one number for each rollout that has it, e.g. 1.0 where an oracle agrees."""
    occasions: Mapping[str, int] = field(default_factory=dict[str, int])
    """For a role that speaks only sometimes, how often it could have: the divisor of its part of the update."""

    def __post_init__(self) -> None:
        twice = [key for key, count in Counter(group.key for group in self.groups).items() if count > 1]
        if twice:
            raise ValueError(f"several groups have the key {twice[0]!r}: give each group its own key")


class Game(Protocol):
    """Rows in, groups of scored rollouts out."""

    @property
    def samples(self) -> int:
        """Rollouts of one row that are compared with each other."""
        ...

    def opening(self, row: Row) -> Sequence[Message]:
        """The first prompt of a row, to find prompts that are too long before a run.

        Raises InputError if the row lacks what the game needs.
        """
        ...

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Play each row once."""
        ...


@runtime_checkable
class Stateful(Protocol):
    """A game with state from earlier steps, which is the same on all processes."""

    def join(self, processes: Processes) -> None:
        """Called before the first step; what one process adds to the state, all must."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """The state as JSON, saved with every checkpoint."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        ...


async def outcome_of(judged: Awaitable[Reward | Unverified], claim: str) -> Reward | Unverified:
    """The judge's reward, or Unverified if its endpoint failed."""
    try:
        return await judged
    except BackendError as error:
        return Unverified(Claim(claim), "backend", str(error))


def build_group(
    key: str, rollouts: Sequence[Rollout], outcomes: Sequence[Reward | Unverified], size: int
) -> tuple[Group | None, tuple[Unverified, ...]]:
    """The group of the rollouts with a reward, and the failures of the others; None with fewer than two rewards.

    ``size`` is the expected number of rollouts, including those without a reward; another number is a bug in the game
    or its sampler and raises ValueError.
    """
    if not len(rollouts) == len(outcomes) == size:
        raise ValueError(
            f"group {key!r} has {len(rollouts)} rollouts and {len(outcomes)} outcomes, expected {size} of each"
        )
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, Unverified))
    members = tuple(
        replace(rollout, group=key, reward=outcome)
        for rollout, outcome in zip(rollouts, outcomes, strict=True)
        if isinstance(outcome, Reward)
    )
    if len(members) < MIN_GROUP:
        return None, failures
    return Group(key, members[0].role, members[0].estimator, members), failures


def gathered_measures(found: Iterable[Measures]) -> dict[str, tuple[float, ...]]:
    """The measures of several rollouts by name."""
    measures: dict[str, list[float]] = {}
    for one in found:
        for name, value in one.items():
            measures.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in measures.items()}


Line: TypeAlias = Callable[[Sequence[Message], str, int], str]
"""From a prompt, a role and the number of the completion, from 0, to its text."""


def _bytes(text: str) -> list[int]:
    return list(text.encode())


@dataclass(frozen=True, slots=True)
class ScriptedSampler:
    """A sampler that follows a script.

    >>> import asyncio
    >>> sampler = ScriptedSampler(lambda prompt, role, number: f"{role} {number}: {prompt[-1].content}!")
    >>> [[first, second]] = asyncio.run(sampler.sample([[Message("user", "yes")]], "verifier", 2))
    >>> second.text, second.completion_ids[-1], second.finish_reason
    ('verifier 1: yes!', 33, 'stop')
    """

    script: Line
    encode: Callable[[str], Sequence[int]] = _bytes
    """Tokens of a text; its bytes by default."""
    end: tuple[int, ...] = ()
    """Tokens appended to those of each completion."""

    async def sample(
        self,
        prompts: Sequence[Sequence[Message]],
        role: str,
        n: int,
        policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:
        """Completions from the script."""
        return [
            [self._rollout(prompt, self.script(prompt, role, number), role, policy, "stop") for number in range(n)]
            for prompt in prompts
        ]

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """``text`` as a rollout."""
        return self._rollout(prompt, text, role, policy, "teacher_forced")

    def _rollout(self, prompt: Sequence[Message], text: str, role: str, policy: str, reason: str) -> Rollout:
        asked = "\n".join(message.content for message in prompt)
        ids = (*self.encode(text), *self.end)
        return Rollout(role, (*self.encode(asked),), ids, (1,) * len(ids), None, reason, text=text, policy=policy)
