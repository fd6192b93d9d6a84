"""Weights of SEVA's process reward: Algorithm 1, the splits of Table 21, and three forms of the calibration term.

Table 21 gives only the totals of process and outcome. Within them, the weights keep Algorithm 1's ratios, format :
alignment : chain = 1 : 3 : 3 and label : diagnosis = 1 : 1, and the calibration term is kept. The paper equates 0/100
with the binary reward; by the formula, half of it is diagnosis, so the binary reward is a separate function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from vouching.errors import ConfigError, InputError
from vouching.types import Label, Reward

Variant: TypeAlias = Literal["paper", "released", "grounded"]
"""The rules that score the parts."""
Rules: TypeAlias = Literal[Variant, "binary"]
"""The rules of the process reward, or the binary reward."""
Split: TypeAlias = Literal["90/10", "70/30", "50/50", "30/70", "0/100"]
"""Shares of process and outcome, as in Table 21."""
Calibration: TypeAlias = Literal["on", "off", "symmetric"]
"""Which calibration term is added."""


@dataclass(frozen=True, slots=True)
class StructuredWeights:
    """The weights of the parts R_f to R_d; the defaults are Algorithm 1's. Raises ConfigError for one out of range."""

    format: float = 0.10
    alignment: float = 0.30
    chain: float = 0.30
    label: float = 0.15
    diagnosis: float = 0.15
    right: float = 0.15
    """Bonus for a right label at confidence 1."""
    wrong: float = 0.10
    """Penalty for a wrong label at confidence 1."""
    diagnosis_floor: float = 0.3
    """R_d if an error is claimed for an Attributable claim; for other claims the minimum is 0."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise ConfigError(f"the weight {name!r} must be a finite number of at least 0, got {value!r}")
        if self.diagnosis_floor > 1:
            raise ConfigError(f"diagnosis_floor must be at most 1, got {self.diagnosis_floor!r}")


PAPER = StructuredWeights()
"""Algorithm 1, from line 10."""
_CONFIDENCE: dict[Calibration, tuple[float, float]] = {
    "on": (0.15, 0.10), "off": (0.0, 0.0), "symmetric": (0.125, 0.125),
}  # fmt: skip
"""Bonus and penalty. The symmetric form keeps their sum, .25."""


def structured_weights(
    split: Split = "70/30", calibration: Calibration = "on", diagnosis_floor: float = 0.3
) -> StructuredWeights:
    """The weights of one arm of an experiment. Raises ConfigError for an unknown split or calibration.

    The calibration term is the paper's ("on"), none, or symmetric. All are linear in the stated confidence, so the
    optimal statement is 1 or 0, never the true belief. ``diagnosis_floor`` is R_d if an error is claimed for an
    Attributable claim.

    >>> structured_weights() == PAPER
    True
    >>> half = structured_weights("50/50", calibration="off")
    >>> round(half.format, 4), round(half.chain, 4), half.label, half.right
    (0.0714, 0.2143, 0.25, 0.0)
    """
    if split not in get_args(Split):
        raise ConfigError(f"unknown split {split!r}; expected one of {', '.join(get_args(Split))}")
    if calibration not in _CONFIDENCE:
        raise ConfigError(f"unknown calibration {calibration!r}; expected one of {', '.join(_CONFIDENCE)}")
    process, outcome = (int(share) / 100 for share in split.split("/"))
    right, wrong = _CONFIDENCE[calibration]
    # Rounded so that 70/30 gives exactly .3.
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
    """The weights for these rules. Raises ConfigError for the binary reward with a split or calibration."""
    if variant == "binary" and (split, calibration) != ("70/30", "on"):
        raise ConfigError("the binary reward has neither split nor calibration term: omit both options")
    return structured_weights(split, calibration)


def reward_bounds(
    gold: Label | None = None, variant: Variant = "paper", weights: StructuredWeights = PAPER
) -> tuple[float, float]:
    """The minimum and the maximum reward of a reply; both are reached. ``gold`` None means either label.

    Minimum: a readable reply has R_f >= .2, every other part >= 0 (R_d >= the floor on gold Attributable), and a
    calibration term >= -wrong; ``{"confidence": 1}`` reaches all of these at once. An unreadable reply has 0. Maximum:
    every part is at most 1 and the calibration term at most ``right``, reached by a complete and right record with
    confidence 1. The released code raises negative totals to 0. The grounded rules only lower parts within the same
    limits, and a reply with correct quotes loses nothing. The paper prints [-.10, 1.28] for its own rules and weights.

    >>> reward_bounds(), reward_bounds("Attributable"), reward_bounds(variant="released")
    ((-0.08, 1.15), (-0.035, 1.15), (0.0, 1.15))
    """
    found = weights.diagnosis_floor * weights.diagnosis if gold == "Attributable" else 0.0
    least = min(0.0, 0.2 * weights.format + found - weights.wrong)
    parts = weights.format + weights.alignment + weights.chain + weights.label + weights.diagnosis
    return 0.0 if variant == "released" else round(least, 9), round(parts + weights.right, 9)


Equal: TypeAlias = Literal["range", "mean"]
"""What of the part ``diagnosis`` is equal under both gold labels after normalisation."""


def equal_by_label(
    rewards: Sequence[Reward], golds: Sequence[Label], by: Equal = "range", weights: StructuredWeights = PAPER
) -> list[Reward]:
    """Normalise the diagnosis part of rewards across gold labels.

    R_d is in [.3, 1] for Attributable claims and in [0, 1] for the others, so within a group a false alarm costs less
    than a missed error. "range" maps the minimum under a label to 0 and the maximum to 1. "mean" is the control arm,
    which multiplies by the mean of both labels' means over the label's own: gold is constant within a group, and at the
    paper's operating point both means are about .75 (.641 + .359 * .3 and .746). Unreadable replies (``format`` is 0)
    and labels without any difference stay unchanged.

    In training, the rewards are those of one process in one step, so with few rows the range and the means are
    estimated from a small sample.

    Raises:
        InputError: rewards without these parts.
    """
    seen: dict[Label, list[float]] = {}
    for reward, gold in zip(rewards, golds, strict=True):
        if not {"format", "diagnosis"} <= reward.parts.keys():
            raise InputError(
                f"a reward has the parts {', '.join(reward.parts)}; expected the parts of structured_reward"
            )
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
