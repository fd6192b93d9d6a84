"""Rewards of both actions of each role (DPA-GRPO, section 2.2).

    R_V(SAC) = 1 - S_x - intervention cost      R_V(NS) = S_x
    R_G(KEEP) = S_x                             R_G(REVISE) = S_z - revision cost

S_x and S_z are 1 if the proposal and its revision are strictly correct, by an oracle, in training only. The paper's
rewards have no costs. Without them a challenge that leads to a repair earns as much as a right proposal, and where
S_x = S_z nothing prefers keeping a wrong proposal (case 6a) to accepting a wrong revision (5b): a cost decides both.

The game (``game.py``), :func:`reward_of_row` (``vouch reward assurance``) and :func:`reward_of_reply` (trainers that
sample by themselves) all take rewards from :func:`action_rewards`. A reply that cannot be read earns 0, with
``readable`` 0: the policy wrote it, so it is data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, Literal, cast

from vouching.errors import ConfigError, InputError
from vouching.judging.ask import ReplyError
from vouching.methods.assurance.reply import read_case, read_choice, read_line
from vouching.methods.assurance.task import as_task
from vouching.methods.assurance.values import read_value, same_value
from vouching.methods.table import RewardLines
from vouching.types import Reward, TaskUnit
from vouching.types.visible import shown_json, shown_keys, value_fault

Action = Literal["SAC", "NS", "KEEP", "REVISE"]
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
    """The costs of a case and of a revision, both in [0, 1). Raises ConfigError for a number outside.

    With a cost of 1 or more, silence about every mistake, or keeping it, would be as good as anything else.
    """

    intervention: float = 0.0
    """Subtracted from the verifier's reward for a case."""
    revision: float = 0.0
    """Subtracted from the generator's reward for a revision."""

    def __post_init__(self) -> None:
        for name in ("intervention", "revision"):
            value = getattr(self, name)
            if not (isfinite(value) and 0 <= value < 1):
                raise ConfigError(f"{name}_cost must be at least 0 and below 1, got {value!r}")

    def of(self, action: Action) -> float:
        """The cost of an action."""
        return {"SAC": self.intervention, "REVISE": self.revision}.get(action, 0.0)


FREE = AssuranceCosts()
"""No costs: the paper's rewards."""


@dataclass(frozen=True, slots=True)
class Transition:
    """What happened at one decision unit. Raises InputError where the four do not fit together."""

    s_x: bool
    """Whether the proposal is strictly correct."""
    y: Challenge
    """The verifier's action: a safety assurance case, or silence."""
    a: Choice | None = None
    """The generator's answer to a case; None or KEEP if y is NS."""
    s_z: bool | None = None
    """Whether the revision is strictly correct; None if unknown. Ignored without a case."""

    def __post_init__(self) -> None:
        for name, value, expected in (("y", self.y, ("SAC", "NS")), ("a", self.a, ("KEEP", "REVISE", None))):
            if value not in expected:
                raise InputError(f'"{name}" must be {expected[0]} or {expected[1]}, got {shown_json(value)}')
        if self.y == "NS":
            if self.a == "REVISE":
                raise InputError('"y" is NS, but "a" is REVISE: without a case there is nothing to revise')
        elif self.a is None:
            raise InputError('"y" is SAC, but "a" is missing: expected KEEP or REVISE')
        elif self.s_z is None and not self.s_x:
            raise InputError('"y" is SAC and the proposal is wrong, but "S_z" is missing: cases 5 and 6 require it')

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


def action_rewards(s_x: bool, s_z: bool | None = None, costs: AssuranceCosts = FREE) -> dict[Action, Reward]:
    """The reward of each action at a unit, with the parts ``outcome``, the reward without costs, and ``cost``.

    If ``s_z``, whether the revision is right, is None, REVISE is not among the actions.

    >>> {action: reward.total for action, reward in action_rewards(False, True).items()}
    {'SAC': 1.0, 'NS': 0.0, 'KEEP': 0.0, 'REVISE': 1.0}
    >>> action_rewards(False, False, AssuranceCosts(revision=0.25))["REVISE"].total
    -0.25
    """
    outcomes: dict[Action, float] = {"SAC": float(not s_x), "NS": float(s_x), "KEEP": float(s_x)}
    if s_z is not None:
        outcomes["REVISE"] = float(s_z)
    totals = {action: outcome - costs.of(action) for action, outcome in outcomes.items()}
    return {
        action: Reward(totals[action], {"outcome": outcome, "cost": outcome - totals[action]})
        for action, outcome in outcomes.items()
    }


def reward_of_row(
    row: Mapping[str, Any], role: str | None = None, intervention_cost: float = 0.0, revision_cost: float = 0.0
) -> dict[str, Any]:
    """The rewards of a unit that was played, or of one role's reply: a line of ``vouch reward assurance``.

    The row of a unit has S_x and S_z (1 or 0: whether the proposal and the revision are right), y (SAC or NS), and a
    (KEEP or REVISE; none after NS), as in ``Decision.row``; that of a reply has ``response`` and the fields that
    :func:`reward_of_reply` reads. Raises InputError if they are missing, not valid, or contradict each other.

    Returns:
        Of a unit ``case``, and ``rewards`` and ``advantages`` over the pair, by player and action; None where there was
        no such choice or a reward is unknown. Of a reply ``total`` and ``parts``.

    >>> record = reward_of_row({"S_x": 0, "y": "SAC", "a": "KEEP", "S_z": 1})
    >>> record["case"], record["rewards"]["generator"], record["advantages"]["verifier"]
    ('6b', {'KEEP': 0.0, 'REVISE': 1.0}, {'SAC': 1.0, 'NS': -1.0})
    """
    costs = AssuranceCosts(intervention_cost, revision_cost)
    if isinstance(row.get("response"), str):
        reward = reward_of_reply(row["response"], row, role, costs)
        return {"total": reward.total, "parts": dict(reward.parts)}
    s_x, s_z = _label(row, "S_x"), _label(row, "S_z")
    if s_x is None:
        raise InputError(f'the row has no "S_x" (1 if the proposal is right, else 0); {shown_keys(row)}')
    if row.get("y") is None:
        raise InputError('"y" is missing: expected SAC or NS (an unreadable reply is neither)')
    unit = Transition(s_x, row["y"], row.get("a"), s_z)
    rewards = action_rewards(s_x, s_z, costs)
    pairs: dict[str, tuple[Action, Action] | None] = {
        "verifier": ("SAC", "NS"),
        "generator": ("KEEP", "REVISE") if unit.y == "SAC" else None,
    }
    known = {
        player: {str(one): rewards[one].total if one in rewards else None for one in actions} if actions else None
        for player, actions in pairs.items()
    }
    return {
        "case": unit.case,
        "rewards": known,
        "advantages": {player: pair and _advantages(pair) for player, pair in known.items()},
    }


REWARD_LINES = RewardLines(
    ("S_x", "response"),
    lambda line: {line["case"]: 1} if "case" in line else {},
    lambda counts: f", right proposals accepted: {counts['1']:,}, wrong proposals repaired: {counts['5a']:,}",
    ("case", "rewards", "advantages"),
)
"""How ``vouch reward assurance`` reads and counts lines."""


def _advantages(rewards: Mapping[str, float | None]) -> dict[str, float] | None:
    """Over a pair, in population standard deviations: 1 and -1, or 0 if tied; None if a reward is unknown."""
    (one, first), (other, second) = rewards.items()
    if first is None or second is None:
        return None
    mean = (first + second) / 2
    gaps = (first - mean, second - mean)
    spread = sqrt((gaps[0] * gaps[0] + gaps[1] * gaps[1]) / 2)
    return {action: gap / spread if spread else 0.0 for action, gap in zip((one, other), gaps, strict=True)}


def _label(row: Mapping[str, Any], name: str) -> bool | None:
    value: Any = row.get(name)
    if value is None:
        return None
    if not isinstance(value, bool | int | float) or value not in (0, 1):
        raise InputError(f'"{name}" must be 1 (right) or 0 (wrong), got {shown_json(value)}')
    return bool(value)


UNREADABLE = Reward(0.0, {"outcome": 0.0, "readable": 0.0})
_NEEDED: Mapping[Any, tuple[str, ...]] = {
    "generator": ("unit", "gold"),
    "verifier": ("unit", "gold", "proposal"),
    "approver": ("unit", "gold", "proposal", "revision"),
}
"""Fields of a row, by who replies."""


def reward_of_reply(reply: str, row: Mapping[str, Any], role: Any = None, costs: AssuranceCosts = FREE) -> Reward:
    """The reward of one role's reply: S_x of a draft, R_V of the action in a review, R_G of that in a choice.

    The row has ``unit`` as in a task file, ``gold``, its right value, and what the role ("generator", "verifier" or
    "approver"; None for the row's own ``role``) is shown: ``proposal``, also ``revision`` for the approver; null for a
    value that could not be read. Raises InputError if one of them is missing or not valid.

    >>> row = {"unit": {"id": "total", "type": "amount"}, "gold": 42, "proposal": 41, "revision": 42}
    >>> replies = {"generator": '{"amount": 42}', "verifier": '{"verdict": "wrong"}', "approver": "KEEP"}
    >>> [reward_of_reply(reply, row, role).total for role, reply in replies.items()]
    [1.0, 1.0, 0.0]
    """
    role = role or row.get("role")
    if role is None:
        needed = 'a reply must have "role" (generator, verifier or approver), "unit" and "gold"'
        raise InputError(f"{value_fault(row, 'role')}; {needed}")
    if role not in _NEEDED:
        raise InputError(f"unknown role {shown_json(role)}; expected one of {', '.join(_NEEDED)}")
    if missing := [f'"{name}"' for name in _NEEDED[role] if name not in row]:
        raise InputError(
            f"the row of the {role} has no {' and no '.join(missing)}; use null for a value that could not be read"
        )
    if not isinstance(row["unit"], Mapping):
        raise InputError(f'"unit" must be an object as in a task file, got {shown_json(row["unit"])}')
    unit = _unit(cast("Mapping[str, Any]", row["unit"]))
    try:
        if role == "generator":
            gold = read_value(row["gold"], unit, "gold")
            outcome = float(same_value(read_line(reply, unit).value, gold))
            return Reward(outcome, {"outcome": outcome, "readable": 1.0})
        action: Action = "REVISE" if role == "approver" and read_choice(reply)[0] else "KEEP"
        if role == "verifier":
            action = "NS" if read_case(reply, unit) is None else "SAC"
    except ReplyError:
        return UNREADABLE
    right = [_is_right(row[name], row["gold"], unit) for name in _NEEDED[role][2:]]
    reward = action_rewards(right[0], right[1] if role == "approver" else None, costs)[action]
    return Reward(reward.total, {"outcome": reward.parts["outcome"], "readable": 1.0})


def _unit(unit: Mapping[str, Any]) -> TaskUnit:
    """A unit from plain data, without its dependencies and rules."""
    plain = {key: value for key, value in unit.items() if key not in ("depends_on", "rules")}
    return as_task({"task": "unit", "data": {}, "units": [plain]}, "the unit").units[0]


def _is_right(given: Any, gold: Any, unit: TaskUnit) -> bool:
    return given is not None and same_value(read_value(given, unit, "the value"), read_value(gold, unit, "gold"))
