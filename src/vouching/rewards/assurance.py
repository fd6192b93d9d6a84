"""Rewards of challenge and answer: what each role would have earned by either of its two actions (DPA-GRPO, 2.2).

    R_V(SAC) = 1 - S_x - intervention cost      R_V(NS) = S_x
    R_G(KEEP) = S_x                             R_G(REVISE) = S_z - revision cost

S_x and S_z say whether the proposal and its revision are strictly correct; an oracle says so, in training only. The
paper's rewards have no costs. Without them a challenge that leads to a repair earns as much as a right proposal, and
where S_x = S_z nothing prefers keeping a wrong proposal (case 6a) to taking a wrong revision (5b): a cost decides both.
A verifier whose answer cannot be read has neither raised a case nor stayed silent: such a unit has no case here and no
reward. Left out: the advantages of a pair (``vouching.advantages``) and whose weights they move (``vouching.games``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from vouching.errors import ConfigError, InputError

Case = Literal["1", "2", "3", "4", "5a", "5b", "6a", "6b"]
Challenge = Literal["SAC", "NS"]
Choice = Literal["KEEP", "REVISE"]

CASES: Mapping[Case, str] = {
    "1": "right proposal, accepted",
    "2": "right proposal, challenged, revised",
    "3": "right proposal, challenged, kept",
    "4": "wrong proposal, not challenged",
    "5a": "wrong proposal, challenged, repaired",
    "5b": "wrong proposal, challenged, revised wrongly",
    "6a": "wrong proposal, challenged, wrong revision turned down",
    "6b": "wrong proposal, challenged, right revision turned down",
}
"""The eight outcomes of a unit (section 2.1), in words."""


@dataclass(frozen=True, slots=True)
class AssuranceCosts:
    """What it costs to speak up and to revise, both in [0, 1). Raises ConfigError for a number outside.

    A cost of 1 or more would make silence about every mistake, or keeping every one, as good as anything else.
    """

    intervention: float = 0.0
    """Taken from the verifier's reward for a case."""
    revision: float = 0.0
    """Taken from the generator's reward for a revision."""

    def __post_init__(self) -> None:
        for name in ("intervention", "revision"):
            value = getattr(self, name)
            if not (isfinite(value) and 0 <= value < 1):
                raise ConfigError(f"{name}_cost is {value!r}, wanted a number from 0 up to, not including, 1")


FREE = AssuranceCosts()
"""No costs: the paper's rewards."""


@dataclass(frozen=True, slots=True)
class Transition:
    """What happened at one decision unit. Raises InputError where the four do not fit together.

    >>> Transition(s_x=False, y="SAC", a="REVISE", s_z=True).case
    '5a'
    >>> Transition(s_x=True, y="NS", a="REVISE")
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: y is NS but a is REVISE: without a case there is nothing to revise
    """

    s_x: bool
    """Whether the proposal is strictly correct."""
    y: Challenge
    """The verifier's action: a safety assurance case, or silence."""
    a: Choice | None = None
    """The generator's answer to a case; None or KEEP without one."""
    s_z: bool | None = None
    """Whether the revision is strictly correct; None where nobody knows. Without a case it is not looked at."""

    def __post_init__(self) -> None:
        for name, value, wanted in (("y", self.y, ("SAC", "NS")), ("a", self.a, ("KEEP", "REVISE", None))):
            if value not in wanted:
                raise InputError(f"{name} is {value!r}, wanted {wanted[0]} or {wanted[1]}")
        if self.y == "NS":
            if self.a == "REVISE":
                raise InputError("y is NS but a is REVISE: without a case there is nothing to revise")
        elif self.a is None:
            raise InputError("y is SAC but a is missing, wanted KEEP or REVISE")
        elif self.s_z is None and not self.s_x:
            raise InputError("y is SAC and the proposal is wrong, but S_z is missing: cases 5 and 6 need it")

    @property
    def case(self) -> Case:
        """The case of Section 2.1: exactly one for every transition."""
        if self.y == "NS":
            return "1" if self.s_x else "4"
        if self.s_x:
            return "2" if self.a == "REVISE" else "3"
        if self.a == "REVISE":
            return "5a" if self.s_z else "5b"
        return "6b" if self.s_z else "6a"


def verifier_rewards(s_x: bool, costs: AssuranceCosts = FREE) -> dict[Challenge, float]:
    """What the verifier would earn by each action on a proposal (Section 2.2).

    >>> verifier_rewards(False), verifier_rewards(True, AssuranceCosts(intervention=0.1))
    ({'SAC': 1.0, 'NS': 0.0}, {'SAC': -0.1, 'NS': 1.0})
    """
    return {"SAC": float(not s_x) - costs.intervention, "NS": float(s_x)}


def generator_rewards(s_x: bool, s_z: bool, costs: AssuranceCosts = FREE) -> dict[Choice, float]:
    """What the generator would earn by each answer to a case (Section 2.2).

    >>> generator_rewards(False, True), generator_rewards(False, False, AssuranceCosts(revision=0.1))
    ({'KEEP': 0.0, 'REVISE': 1.0}, {'KEEP': 0.0, 'REVISE': -0.1})
    """
    return {"KEEP": float(s_x), "REVISE": float(s_z) - costs.revision}
