"""A part of a reward put on one scale under both gold labels, from what was seen of it.

SEVA's R_d lies in .3 to 1 on claims that are Attributable and in 0 to 1 on the others, so inside a group an error that
is named for nothing costs less than one that is missed. ``range`` gives both the same width. ``mean`` is the control
arm: gold is constant inside a group, so a factor per label leaves its comparisons nearly as they were, and at the
paper's operating point both means are about .75 (.641 + .359 * .3 and .746). Nor would it help to rescale the total: an
advantage that is divided by the group's standard deviation does not change with the scale of its rewards. Left out: a
sliding window; the range of a part does not drift, and the mean is there for comparison only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from vouching.errors import ConfigError, InputError
from vouching.methods.structured.reward_weights import PAPER, StructuredWeights
from vouching.types import Label, Reward

Measure: TypeAlias = Literal["range", "mean"]
"""What is made equal under both labels."""


@dataclass(slots=True)
class _Seen:
    """What was seen of the part under one gold label."""

    count: int = 0
    total: float = 0.0
    low: float = float("inf")
    high: float = float("-inf")


class LabelNormaliser:
    """Scales the part ``diagnosis`` by gold label. It has a state, to be saved with the run's.

    Replies that cannot be read (their ``format`` is 0) are neither counted nor changed.

    Args:
        by: "range" maps the least value seen under a label to 0 and the greatest to 1; "mean" multiplies by the mean of
            both labels' means and divides by the label's own. A label under which nothing differs, or the only one
            seen, is left as it is.
        weights: those that the rewards were made with.

    Raises:
        ConfigError: another ``by``.

    >>> normaliser = LabelNormaliser("range")
    >>> parts = dict.fromkeys(("format", "alignment", "chain", "label", "diagnosis"), 1.0)
    >>> rewards = [Reward(1.0, parts), Reward(0.895, {**parts, "diagnosis": 0.3})]
    >>> [round(reward.total, 9) for reward in normaliser(rewards, ["Attributable"] * 2)]  # .895 - .15 * .3
    [1.0, 0.85]
    """

    def __init__(self, by: Measure = "range", weights: StructuredWeights = PAPER) -> None:
        if by not in get_args(Measure):
            raise ConfigError(f"by is {by!r}, wanted {' or '.join(get_args(Measure))}")
        self._by: Measure = by
        self._weight = weights.diagnosis
        self._seen: dict[str, _Seen] = {label: _Seen() for label in get_args(Label)}

    def __call__(self, rewards: Sequence[Reward], golds: Sequence[Label]) -> list[Reward]:
        """Take in a batch of whole groups, then scale it; all of a group must be scaled with one state."""
        self.observe(rewards, golds)
        return self.scaled(rewards, golds)

    def observe(self, rewards: Sequence[Reward], golds: Sequence[Label]) -> None:
        """Take in rewards without scaling them; with several processes, those of all of them.

        Raises:
            InputError: not as many labels as rewards, a label that is none, or rewards without these parts.
        """
        for reward, gold in self._pairs(rewards, golds):
            seen, value = self._seen[gold], reward.parts["diagnosis"]
            if reward.parts["format"]:
                seen.count += 1
                seen.total += value
                seen.low, seen.high = min(seen.low, value), max(seen.high, value)

    def scaled(self, rewards: Sequence[Reward], golds: Sequence[Label]) -> list[Reward]:
        """The rewards with their diagnosis scaled by what was seen, and the total by as much."""
        made: list[Reward] = []
        for reward, gold in self._pairs(rewards, golds):
            if not reward.parts["format"]:
                made.append(reward)
                continue
            value = self._scale(reward.parts["diagnosis"], gold)
            total = round(reward.total + self._weight * (value - reward.parts["diagnosis"]), 9)
            made.append(replace(reward, total=total, parts={**reward.parts, "diagnosis": value}))
        return made

    def state_dict(self) -> dict[str, Any]:
        """All that was seen, as JSON can hold it."""
        seen = {label: asdict(one) for label, one in self._seen.items() if one.count}
        return {"by": self._by, "seen": seen}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state.

        Raises:
            ConfigError: it was made by the other measure, or is none.
        """
        if state.get("by") != self._by:
            raise ConfigError(f"the state was made by {state.get('by')!r}, this normaliser goes by {self._by!r}")
        try:
            seen = {label: _Seen(**found) for label, found in state["seen"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigError(f"that is no state of a normaliser ({type(error).__name__}: {error})") from None
        if unknown := seen.keys() - self._seen.keys():
            raise ConfigError(f"the state has the labels {sorted(unknown)}, wanted {' or '.join(self._seen)}")
        self._seen = {label: seen.get(label, _Seen()) for label in self._seen}

    def _scale(self, value: float, gold: Label) -> float:
        seen = self._seen[gold]
        if self._by == "range":
            return (value - seen.low) / (seen.high - seen.low) if seen.low < seen.high else value
        means = [one.total / one.count for one in self._seen.values() if one.count]
        mean = seen.total / seen.count if seen.count else 0.0
        return value * (sum(means) / len(means)) / mean if mean else value

    def _pairs(self, rewards: Sequence[Reward], golds: Sequence[Label]) -> list[tuple[Reward, Label]]:
        if len(rewards) != len(golds):
            raise InputError(f"got {len(rewards)} rewards and {len(golds)} gold labels, wanted one for each")
        stranger = next((gold for gold in golds if gold not in self._seen), None)
        if stranger is not None:
            raise InputError(f"a gold label is {stranger!r}, wanted {' or '.join(self._seen)}")
        lacking = next((reward for reward in rewards if not {"format", "diagnosis"} <= reward.parts.keys()), None)
        if lacking is not None:
            raise InputError(f"a reward has the parts {[*lacking.parts]}, wanted those of structured_reward")
        return list(zip(rewards, golds, strict=True))
