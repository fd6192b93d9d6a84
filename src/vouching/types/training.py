"""What crosses module boundaries in training: rewards, rollouts, groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Estimator = Literal["group", "pair", "gae"]
"""How a group's rewards become advantages."""


@dataclass(frozen=True, slots=True)
class Reward:
    """A reward and what it is made of."""

    total: float
    """The number that training uses."""
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    """The components by name, unweighted."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One completion of one role."""

    role: str
    """Who spoke, e.g. "verifier"."""
    prompt_ids: tuple[int, ...]
    """Token ids of the prompt."""
    completion_ids: tuple[int, ...]
    """Token ids of the completion."""
    completion_mask: tuple[int, ...]
    """1 where a completion token is trained, 0 where it is not; as long as ``completion_ids``."""
    sampling_logprobs: tuple[float, ...] | None
    """Log-probabilities under the policy that sampled, one per completion token; None for forced text."""
    finish_reason: str
    """Why generation ended: "stop", "length" or "forced"."""
    turn: int
    """Position in the game, from 0."""
    reward: Reward | None
    """None until scored; stays None if the judge failed, which is no reward at all."""
    group: str
    """Key of the group whose rewards are compared."""
    estimator: Estimator
    """How its advantage is computed."""
    advantage: float | None = None
    """Filled in by ``advantages``; None before."""
    weight: float = 1.0
    """Factor on this rollout's loss."""
    policy: str = "default"
    """Name of the adapter that spoke."""
    policy_version: int = 0
    """Update step of that adapter when it spoke."""

    def __post_init__(self) -> None:
        if len(self.completion_mask) != len(self.completion_ids):
            raise ValueError(
                f"completion_mask must be as long as completion_ids, "
                f"got {len(self.completion_mask)} and {len(self.completion_ids)}"
            )


@dataclass(frozen=True, slots=True)
class Group:
    """Rollouts whose rewards are compared with each other."""

    key: str
    """Name of the group, unique in its batch."""
    estimator: Estimator
    """How advantages are computed within it."""
    rollouts: tuple[Rollout, ...]
    """The members; all carry this key."""

    def __post_init__(self) -> None:
        strangers = [r.group for r in self.rollouts if r.group != self.key]
        if strangers:
            raise ValueError(f"group {self.key!r} holds rollouts of other groups: {sorted(set(strangers))}")
