"""Weights of SEVA's process reward: Algorithm 1, the splits of Table 21, and four forms of the calibration term.

Table 21 gives only the totals of process and outcome. Within them, the weights keep Algorithm 1's ratios, format :
alignment : chain = 1 : 3 : 3 and label : diagnosis = 1 : 1, and the calibration term is kept. The paper equates 0/100
with the binary reward; by the formula, half of it is diagnosis, so the binary reward is a separate function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vouching.errors import ConfigError
from vouching.types import Label

Variant: TypeAlias = Literal["paper", "released", "grounded"]
"""The rules that score the parts."""
Rules: TypeAlias = Literal[Variant, "binary", "binary-format"]
"""The rules of the process reward, the binary reward, or the binary reward with format shaping."""
Split: TypeAlias = str
"""Percentages of process and outcome, such as those of Table 21: 90/10, 70/30, 50/50, 30/70 and 0/100."""
Calibration: TypeAlias = Literal["on", "off", "symmetric", "brier"]
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
    proper: bool = False
    """Whether the calibration term is the Brier score, over the same range, and not linear."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise ConfigError(f"the weight {name!r} must be a finite number of at least 0, got {value!r}")
        if self.diagnosis_floor > 1:
            raise ConfigError(f"diagnosis_floor must be at most 1, got {self.diagnosis_floor!r}")

    def calibration(self, right: bool, confidence: float) -> float:
        """R_cal for a right or wrong label (eq. 11), or the Brier score.

        With c the confidence, at least .5, and y 1 for a right label and 0 for a wrong one, the Brier score is
        ``(right + wrong) * (.25 - (c - y)^2)``: 0 for a guess at .5, and highest in expectation at the true belief.

        >>> PAPER.calibration(True, 0.8), PAPER.calibration(False, 0.8)
        (0.12, -0.08)
        >>> brier = structured_weights(calibration="brier")  # .25 * (.25 - .04) and .25 * (.25 - .64)
        >>> brier.calibration(True, 0.8), brier.calibration(False, 0.8), brier.calibration(False, 0.5)
        (0.0525, -0.0975, 0.0)
        """
        if not self.proper:
            return round((self.right if right else -self.wrong) * confidence, 9)
        return round((self.right + self.wrong) * (0.25 - (max(0.5, confidence) - right) ** 2), 9)


PAPER = StructuredWeights()
"""Algorithm 1, from line 10."""
_CONFIDENCE: dict[Calibration, tuple[float, float]] = {
    "on": (0.15, 0.10),
    "off": (0.0, 0.0),
    "symmetric": (0.125, 0.125),
    "brier": (0.15, 0.10),
}
"""Bonus and penalty. The symmetric form and the Brier score keep their sum, .25."""


def structured_weights(
    split: Split = "70/30", calibration: Calibration = "on", diagnosis_floor: float = 0.3
) -> StructuredWeights:
    """The weights of one arm of an experiment. Raises ConfigError for an unknown split or calibration.

    The calibration term is the paper's ("on"), none, symmetric, or the Brier score. The first three are linear in the
    stated confidence, so the optimal statement is 1 or 0, never the true belief; of the Brier score it is the belief.
    ``diagnosis_floor`` is R_d if an error is claimed for an Attributable claim.

    >>> structured_weights() == PAPER
    True
    >>> half = structured_weights("50/50", calibration="off")
    >>> round(half.format, 4), round(half.chain, 4), half.label, half.right
    (0.0714, 0.2143, 0.25, 0.0)
    """
    shares = [int(share) for share in split.split("/")] if re.fullmatch(r"\d{1,3}/\d{1,3}", split) else []
    if sum(shares) != 100:
        raise ConfigError(f"the split must be two percentages of process and outcome, such as 70/30, got {split!r}")
    if calibration not in _CONFIDENCE:
        raise ConfigError(f"unknown calibration {calibration!r}; expected one of {', '.join(_CONFIDENCE)}")
    process, outcome = (share / 100 for share in shares)
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
        proper=calibration == "brier",
    )


def reward_bounds(
    gold: Label | None = None, variant: Variant = "paper", weights: StructuredWeights = PAPER
) -> tuple[float, float]:
    """The minimum and the maximum reward of a reply; both are reached. ``gold`` None means either label.

    Minimum: a readable reply has R_f >= .2, every other part >= 0 (R_d >= the floor on gold Attributable), and a
    calibration term not below that of a sure wrong label; ``{"confidence": 1}`` reaches all of these at once. An
    unreadable reply has 0. Maximum: every part is at most 1 and the calibration term that of a sure right label,
    reached by a complete and right record with confidence 1. The released code raises negative totals to 0. The
    grounded rules only lower parts within the same limits, and a complete record with correct quotes loses nothing. The
    paper prints [-.10, 1.28] for its own rules and weights.

    >>> reward_bounds(), reward_bounds("Attributable"), reward_bounds(variant="released")
    ((-0.08, 1.15), (-0.035, 1.15), (0.0, 1.15))
    """
    found = weights.diagnosis_floor * weights.diagnosis if gold == "Attributable" else 0.0
    sure = weights.calibration(False, 1.0)
    least = min(0.0, 0.2 * weights.format + found + sure)
    parts = weights.format + weights.alignment + weights.chain + weights.label + weights.diagnosis
    return 0.0 if variant == "released" else round(least, 9), round(parts + weights.calibration(True, 1.0), 9)
