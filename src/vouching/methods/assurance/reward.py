"""Rewards of challenge and answer: what each role would have earned by either of its two actions (DPA-GRPO, 2.2).

    R_V(SAC) = 1 - S_x - intervention cost      R_V(NS) = S_x
    R_G(KEEP) = S_x                             R_G(REVISE) = S_z - revision cost

S_x and S_z say whether the proposal and its revision are strictly correct; an oracle says so, in training only. The
paper's rewards have no costs. Without them a challenge that leads to a repair earns as much as a right proposal, and
where S_x = S_z nothing prefers keeping a wrong proposal (case 6a) to taking a wrong revision (5b): a cost decides both.
A verifier whose answer cannot be read has neither raised a case nor stayed silent: such a unit has no case here and no
reward. Left out: the advantages of a pair (``train.advantages``) and whose weights they move (``vouching.methods``).

What one reply of a role of the assurance game earns, from the reply itself: for trainers that sample by themselves.

A draft earns S_x, a review R_V of the action it takes, a choice R_G of the action it takes (DPA-GRPO, 2.2). A reply
that cannot be read earns 0 and says so in ``readable``: the policy wrote it, so it is data. Left out: pairs, which only
a game can force (``vouching.methods.assurance.game``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from vouching.errors import ConfigError, InputError
from vouching.methods.assurance.reply import ReplyError, read_case, read_choice, read_line
from vouching.methods.assurance.task import as_task
from vouching.methods.assurance.values import read_value, same_value
from vouching.types import Reward, TaskUnit

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


UNREADABLE = Reward(0.0, {"outcome": 0.0, "readable": 0.0})
"""Of a reply that cannot be read."""


def draft_reward(reply: str, unit: Mapping[str, Any], gold: Any) -> Reward:
    """S_x of a draft, or S_z of a revision.

    Args:
        reply: what the generator wrote.
        unit: as a task file has it.
        gold: its right value.

    Raises:
        InputError: the unit is none, or the right value does not fit it.

    >>> draft_reward('{"amount": 42}', {"id": "total", "type": "amount"}, 42).total
    1.0
    """
    known = unit_of(unit)
    right = read_value(gold, known, "gold")
    try:
        outcome = float(same_value(read_line(reply, known).value, right))
    except ReplyError:
        return UNREADABLE
    return Reward(outcome, {"outcome": outcome, "readable": 1.0})


def review_reward(
    reply: str, unit: Mapping[str, Any], gold: Any, proposal: Any, intervention_cost: float = 0.0
) -> Reward:
    """R_V of the action in a review.

    Args:
        reply: what the verifier wrote.
        unit: as a task file has it.
        gold: its right value.
        proposal: the value that was proposed; None for none that can be read.
        intervention_cost: of a case.

    Raises:
        InputError: the unit is none, or a value does not fit it.
        ConfigError: the cost is not in [0, 1).

    >>> review_reward('{"verdict": "wrong"}', {"id": "total", "type": "amount"}, 42, 41).total
    1.0
    """
    known = unit_of(unit)
    try:
        action = "NS" if read_case(reply, known) is None else "SAC"
    except ReplyError:
        return UNREADABLE
    right = _is_right(proposal, gold, known)
    outcome = verifier_rewards(right)[action]
    total = verifier_rewards(right, AssuranceCosts(intervention=intervention_cost))[action]
    return Reward(total, {"outcome": outcome, "readable": 1.0})


def choice_reward(
    reply: str, unit: Mapping[str, Any], gold: Any, proposal: Any, revision: Any, revision_cost: float = 0.0
) -> Reward:
    """R_G of the action in a choice. Arguments and errors as those of :func:`review_reward`.

    >>> choice_reward("REVISE", {"id": "total", "type": "amount"}, 42, 41, 42, revision_cost=0.25).total
    0.75
    """
    known = unit_of(unit)
    try:
        action = "REVISE" if read_choice(reply)[0] else "KEEP"
    except ReplyError:
        return UNREADABLE
    states = (_is_right(proposal, gold, known), _is_right(revision, gold, known))
    outcome = generator_rewards(*states)[action]
    total = generator_rewards(*states, AssuranceCosts(revision=revision_cost))[action]
    return Reward(total, {"outcome": outcome, "readable": 1.0})


def unit_of(unit: Mapping[str, Any]) -> TaskUnit:
    """A unit from plain data, without what it depends on. Raises InputError if it is none."""
    plain = {key: value for key, value in unit.items() if key not in ("depends_on", "rules")}
    return as_task({"task": "unit", "data": {}, "units": [plain]}, "the unit").units[0]


def _is_right(given: Any, gold: Any, unit: TaskUnit) -> bool:
    return given is not None and same_value(read_value(given, unit, "the value"), read_value(gold, unit, "gold"))
