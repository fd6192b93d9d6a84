"""The diagnosis on one scale under both gold labels (SEVA section 4.2 leaves this to future work).

R_d is in [.3, 1] for Attributable claims and in [0, 1] for the others, so within a group a false alarm costs less than
a missed error. "range" maps the minimum under a label to 0 and the maximum to 1. "mean" is the control arm, which
multiplies by the mean of both labels' means over the label's own: gold is constant within a group, and at the paper's
operating point both means are about .75 (.641 + .359 * .3 and .746).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from vouching.errors import ConfigError, InputError
from vouching.methods.base import Processes
from vouching.methods.structured.reward_weights import PAPER, StructuredWeights
from vouching.types import Label, Reward

Equal: TypeAlias = Literal["range", "mean"]
"""What of the part ``diagnosis`` is equal under both gold labels after normalisation."""


class Seen(NamedTuple):
    """The diagnoses under one label."""

    number: int
    total: float
    low: float
    high: float

    def with_other(self, other: Seen) -> Seen:
        """Both together."""
        number, total = self.number + other.number, self.total + other.total
        return Seen(number, total, min(self.low, other.low), max(self.high, other.high))


class LabelScale:
    """Ranges and means of the diagnosis by gold label, over all rewards so far, and the rewards scaled by them.

    Unreadable replies (``format`` is 0) and labels without any difference stay unchanged.

    Args:
        by: what is made equal.
        weights: those of the rewards.
    """

    def __init__(self, by: Equal = "range", weights: StructuredWeights = PAPER) -> None:
        if by not in get_args(Equal):
            raise ConfigError(f"unknown normalise {by!r}; expected one of none, {', '.join(get_args(Equal))}")
        self.by, self._weight = by, weights.diagnosis
        self._processes = Processes()
        self._seen: dict[str, Seen] = {}

    def join(self, processes: Processes) -> None:
        """Set the processes that share each step; all must call :meth:`scaled` equally often."""
        self._processes = processes

    def state_dict(self) -> dict[str, Any]:
        """What was seen under each label, as JSON."""
        return {label: [*seen] for label, seen in self._seen.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._seen = {label: Seen(*seen) for label, seen in state.items()}

    def scaled(self, rewards: Sequence[Reward], golds: Sequence[Label]) -> list[Reward]:
        """Add the rewards of a step to what was seen, and scale them. Raises InputError for rewards without the parts.

        >>> right, wrong = (Reward(0.15 * d, {"format": 1.0, "diagnosis": d}) for d in (1.0, 0.3))
        >>> [round(one.total, 3) for one in LabelScale().scaled([right, wrong], ["Attributable"] * 2)]
        [0.15, 0.0]
        """
        here: dict[str, Seen] = {}
        for reward, gold in zip(rewards, golds, strict=True):
            if not {"format", "diagnosis"} <= reward.parts.keys():
                raise InputError(
                    f"a reward has the parts {', '.join(reward.parts)}; expected the parts of structured_reward"
                )
            if reward.parts["format"]:
                value = reward.parts["diagnosis"]
                _add(here, gold, Seen(1, value, value, value))
        for found in self._processes.gather([here]):
            for label, seen in found.items():
                _add(self._seen, label, seen)
        return [self._one(reward, gold) for reward, gold in zip(rewards, golds, strict=True)]

    def _one(self, reward: Reward, gold: Label) -> Reward:
        old = reward.parts["diagnosis"]
        value = self._value(old, self._seen[gold]) if reward.parts["format"] else old
        total = round(reward.total + self._weight * (value - old), 9) if value != old else reward.total
        return Reward(total, {**reward.parts, "diagnosis": value})

    def _value(self, old: float, seen: Seen) -> float:
        if self.by == "range":
            return (old - seen.low) / (seen.high - seen.low) if seen.low < seen.high else old
        means = [one.total / one.number for one in self._seen.values()]
        own = seen.total / seen.number
        return old * sum(means) / len(means) / own if own else old


def _add(seen: dict[str, Seen], label: str, found: Seen) -> None:
    seen[label] = seen[label].with_other(found) if label in seen else found


def equal_by_label(
    rewards: Sequence[Reward], golds: Sequence[Label], by: Equal = "range", weights: StructuredWeights = PAPER
) -> list[Reward]:
    """Scale rewards by ranges or means of these rewards alone. Raises InputError for rewards without the parts."""
    return LabelScale(by, weights).scaled(rewards, golds)
