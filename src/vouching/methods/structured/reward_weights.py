"""Weights of SEVA's process reward: Algorithm 1's own, the splits of Table 21, and the calibration term's three forms.

Table 21 gives process and outcome only as a whole. Inside them stand Algorithm 1's ratios, format : alignment : chain =
1 : 3 : 3 and label : diagnosis = 1 : 1, and the calibration term is kept. The paper calls 0/100 equal to the binary
reward; by the formula it is half diagnosis, so the binary reward is a function of its own. Left out: a search for
better weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from vouching.errors import ConfigError, InputError
from vouching.types import Label, Reward

Variant: TypeAlias = Literal["paper", "released", "grounded"]
"""Which rules score the parts."""
Rules: TypeAlias = Literal[Variant, "binary"]
"""The rules of the process reward, or the binary one."""
Split: TypeAlias = Literal["90/10", "70/30", "50/50", "30/70", "0/100"]
"""Share of process and of outcome, as Table 21 writes it."""
Calibration: TypeAlias = Literal["on", "off", "symmetric"]
"""Which calibration term is added."""


@dataclass(frozen=True, slots=True)
class StructuredWeights:
    """What each part of the reward counts. The defaults are Algorithm 1's.

    Raises:
        ConfigError: a negative number, or a floor above 1.
    """

    format: float = 0.10
    """Weight of R_f."""
    alignment: float = 0.30
    """Weight of R_a."""
    chain: float = 0.30
    """Weight of R_c."""
    label: float = 0.15
    """Weight of R_l."""
    diagnosis: float = 0.15
    """Weight of R_d."""
    right: float = 0.15
    """What a stated confidence of 1 adds to a right label."""
    wrong: float = 0.10
    """What a stated confidence of 1 costs with a wrong label."""
    diagnosis_floor: float = 0.3
    """R_d of an error found in a claim that is Attributable. On a claim that is not, the least is 0 by the rules."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise ConfigError(f"the weight {name!r} is {value!r}, wanted a number from 0 up")
        if self.diagnosis_floor > 1:
            raise ConfigError(f"diagnosis_floor is {self.diagnosis_floor!r}, wanted at most 1")


PAPER = StructuredWeights()
"""Algorithm 1, line 10 and the following."""
_CONFIDENCE: dict[Calibration, tuple[float, float]] = {
    "on": (0.15, 0.10),
    "off": (0.0, 0.0),
    "symmetric": (0.125, 0.125),
}
"""What confidence adds and costs. The symmetric form keeps the distance between right and wrong, .25."""


def structured_weights(
    split: Split = "70/30", calibration: Calibration = "on", diagnosis_floor: float = 0.3
) -> StructuredWeights:
    """The weights of one arm of an experiment.

    Args:
        split: share of process and of outcome.
        calibration: the paper's term ("on"), none, or one that costs as much as it gives. All three grow linearly with
            the stated confidence: whoever wants most states 1 or 0, never what they believe.
        diagnosis_floor: R_d of an error found in an Attributable claim, .3 in the paper.

    Raises:
        ConfigError: another split or calibration.

    >>> structured_weights() == PAPER
    True
    >>> half = structured_weights("50/50", calibration="off")
    >>> round(half.format, 4), round(half.chain, 4), half.label, half.right
    (0.0714, 0.2143, 0.25, 0.0)
    """
    if split not in get_args(Split):
        raise ConfigError(f"the split is {split!r}, wanted one of {', '.join(get_args(Split))}")
    if calibration not in _CONFIDENCE:
        raise ConfigError(f"the calibration is {calibration!r}, wanted one of {', '.join(_CONFIDENCE)}")
    process, outcome = (int(share) / 100 for share in split.split("/"))
    right, wrong = _CONFIDENCE[calibration]
    # Ten decimals, so that 70/30 gives .3 and not .30000000000000004.
    return StructuredWeights(
        format=round(process / 7, 10),
        alignment=round(3 * process / 7, 10),
        chain=round(3 * process / 7, 10),
        label=outcome / 2,
        diagnosis=outcome / 2,
        right=right,
        wrong=wrong,
        diagnosis_floor=diagnosis_floor,
    )


def rules_of(variant: Rules = "paper", split: Split = "70/30", calibration: Calibration = "on") -> StructuredWeights:
    """What the parts count by these rules. Raises ConfigError for the binary reward with a split or calibration."""
    if variant == "binary" and (split, calibration) != ("70/30", "on"):
        raise ConfigError("the binary reward has neither split nor calibration term: leave out both options")
    return structured_weights(split, calibration)


def reward_bounds(
    gold: Label | None = None, variant: Variant = "paper", weights: StructuredWeights = PAPER
) -> tuple[float, float]:
    """The least and the greatest reward that a reply can have; both are reached.

    Least: a reply that is read has R_f >= .2, every other part >= 0 (R_d >= the floor on gold Attributable), and a
    calibration term >= -wrong; ``{"confidence": 1}`` has all of these at once. One that cannot be read has 0. Greatest:
    every part is at most 1 and the calibration term at most ``right``; a complete and right record with confidence 1
    has that. The released code raises what is below 0 to 0. The grounded rules only take from parts that stay within
    the same limits, and a reply that quotes what is there loses nothing.

    Args:
        gold: the label of the claim; None for either.
        variant: the rules.
        weights: what the parts count.

    Returns:
        (least, greatest). The paper prints [-.10, 1.28] for its own rules and weights.

    >>> reward_bounds(), reward_bounds("Attributable"), reward_bounds(variant="released")
    ((-0.08, 1.15), (-0.035, 1.15), (0.0, 1.15))
    """
    found = weights.diagnosis_floor * weights.diagnosis if gold == "Attributable" else 0.0
    least = min(0.0, 0.2 * weights.format + found - weights.wrong)
    parts = weights.format + weights.alignment + weights.chain + weights.label + weights.diagnosis
    return 0.0 if variant == "released" else round(least, 9), round(parts + weights.right, 9)


Equal: TypeAlias = Literal["range", "mean"]
"""What of the part ``diagnosis`` is made equal under both gold labels."""


def equal_by_label(
    rewards: Sequence[Reward], golds: Sequence[Label], by: Equal = "range", weights: StructuredWeights = PAPER
) -> list[Reward]:
    """The rewards with their diagnosis on one scale under both gold labels.

    R_d lies in .3 to 1 on claims that are Attributable and in 0 to 1 on the others, so inside a group an error that is
    named for nothing costs less than one that is missed. "range" maps the least value under a label to 0 and the
    greatest to 1. "mean" is the control arm, which multiplies by the mean of both labels' means over the label's own:
    gold is constant inside a group, and at the paper's operating point both means are about .75 (.641 + .359 * .3 and
    .746). Replies that cannot be read (their ``format`` is 0), and a label under which nothing differs, are left alone.

    Only what is passed here counts. In training that is what one process plays in a step, so that with few rows the
    range and the means are those of a small sample.

    Args:
        rewards: of :func:`~vouching.methods.structured.reward.structured_reward`; all that is to be compared.
        golds: the gold label of each.
        by: what is made equal.
        weights: those that the rewards were made with.

    Raises:
        InputError: rewards without these parts.

    >>> parts = dict.fromkeys(("format", "alignment", "chain", "label", "diagnosis"), 1.0)
    >>> rewards = [Reward(1.0, parts), Reward(0.895, {**parts, "diagnosis": 0.3})]
    >>> [round(reward.total, 9) for reward in equal_by_label(rewards, ["Attributable"] * 2)]  # .895 - .15 * .3
    [1.0, 0.85]
    """
    seen: dict[Label, list[float]] = {}
    for reward, gold in zip(rewards, golds, strict=True):
        if not {"format", "diagnosis"} <= reward.parts.keys():
            raise InputError(f"a reward has the parts {[*reward.parts]}, wanted those of structured_reward")
        if reward.parts["format"]:
            seen.setdefault(gold, []).append(reward.parts["diagnosis"])
    means = {gold: sum(values) / len(values) for gold, values in seen.items()}

    def scaled(value: float, gold: Label) -> float:
        if by == "mean":
            return value * sum(means.values()) / len(means) / means[gold] if means[gold] else value
        low, high = min(seen[gold]), max(seen[gold])
        return (value - low) / (high - low) if low < high else value

    made: list[Reward] = []
    for reward, gold in zip(rewards, golds, strict=True):
        value = old = reward.parts["diagnosis"]
        if reward.parts["format"]:
            value = scaled(old, gold)
        total = round(reward.total + weights.diagnosis * (value - old), 9) if value != old else reward.total
        made.append(Reward(total, {**reward.parts, "diagnosis": value}))
    return made
