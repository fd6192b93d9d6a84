"""Records of training that cross module boundaries: rewards, rollouts, groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Estimator = Literal["group", "pair", "gae", "plain"]
"""How a group's rewards become advantages."""


@dataclass(frozen=True, slots=True)
class Reward:
    """A reward with its parts."""

    total: float
    """The number used in training."""
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    """The components by name, unweighted."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One completion of one role."""

    role: str
    """Who wrote it, e.g. "verifier"."""
    prompt_ids: tuple[int, ...]
    """Token ids of the prompt."""
    completion_ids: tuple[int, ...]
    """Token ids of the completion."""
    completion_mask: tuple[int, ...]
    """1 where a completion token is trained, 0 where it is not; as long as ``completion_ids``."""
    sampling_logprobs: tuple[float, ...] | None
    """Log-probabilities under the sampling policy, one per completion token; None if unknown."""
    finish_reason: str
    """Why generation ended: "stop", "length", "thought" (cut off before the reply began) or "teacher_forced"."""
    turn: int = 0
    """Position in the game, from 0."""
    text: str = ""
    """The completion without special tokens."""
    reward: Reward | None = None
    """None until scored; stays None if the judge failed."""
    group: str = ""
    """Key of the group whose rewards are compared; empty before grouping."""
    estimator: Estimator = "group"
    """How its advantage is computed."""
    advantage: float | tuple[float, ...] | None = None
    """Set by ``advantages``, one number or one per completion token; None before."""
    weight: float = 1.0
    """Factor on this rollout's advantage."""
    policy: str = "default"
    """Name of the adapter that generated it."""
    policy_version: int = 0
    """Update step of that adapter at the time."""

    def __post_init__(self) -> None:
        lengths = {"completion_mask": self.completion_mask, "sampling_logprobs": self.sampling_logprobs}
        if isinstance(self.advantage, tuple):
            lengths["advantage"] = self.advantage
        for name, values in lengths.items():
            if values is not None and len(values) != len(self.completion_ids):
                raise ValueError(
                    f"{name} must be as long as completion_ids, got {len(values)} and {len(self.completion_ids)}"
                )


@dataclass(frozen=True, slots=True)
class Group:
    """Rollouts whose rewards are compared with each other: of one role, under one key."""

    key: str
    """Name of the group, unique in its batch."""
    role: str
    """Role of all members."""
    estimator: Estimator
    """How advantages are computed within it."""
    rollouts: tuple[Rollout, ...]
    """The members; all carry this key, role and estimator."""

    def __post_init__(self) -> None:
        own = (self.key, self.role, self.estimator)
        strangers = {found for r in self.rollouts if (found := (r.group, r.role, r.estimator)) != own}
        if strangers:
            raise ValueError(f"group {own} contains rollouts of other groups: {sorted(strangers)}")
