"""Rewards of challenge and answer: what each role would have earned by either of its two actions (DPA-GRPO, 2.2).

    R_V(SAC) = 1 - S_x - intervention cost      R_V(NS) = S_x
    R_G(KEEP) = S_x                             R_G(REVISE) = S_z - revision cost

S_x and S_z say whether the proposal and its revision are strictly correct; an oracle says so, in training only. The
paper's rewards have no costs. Without them a challenge that leads to a repair earns as much as a right proposal, and
where S_x = S_z nothing prefers keeping a wrong proposal (case 6a) to taking a wrong revision (5b): a cost decides both.
A verifier whose answer cannot be read has neither raised a case nor stayed silent: such a unit has no case here.

:func:`action_rewards` is the only place that says so: the game (``game.py``) takes both actions of a pair from it,
:func:`reward_of_row` those of a row of ``vouch reward assurance``, and for trainers that sample by themselves
:func:`reward_of_reply` that of the action in a reply. A reply that cannot be read earns 0 and says so in ``readable``:
the policy wrote it, so it is data. Not here: what stands for an action that was not taken.
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

    def of(self, action: Action) -> float:
        """What an action costs."""
        return {"SAC": self.intervention, "REVISE": self.revision}.get(action, 0.0)


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


def action_rewards(s_x: bool, s_z: bool | None = None, costs: AssuranceCosts = FREE) -> dict[Action, Reward]:
    """What each action at a unit would earn (Section 2.2): the verifier's two, and the generator's answers to a case.

    Args:
        s_x: whether the proposal is right.
        s_z: whether the revision is; None where nobody knows, and then REVISE is not among the actions.
        costs: of a case and of a revision.

    Returns:
        Rewards by action, with the parts ``outcome``, the reward without costs, and ``cost``.

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

    Args:
        row: of a unit, S_x and S_z (1 or 0: is the proposal, is the revision right), y (SAC or NS), and a (KEEP or
            REVISE; none after NS), as ``Decision.row`` of a game has them. Of a reply, ``response`` and what
            :func:`reward_of_reply` reads.
        role: who replied, where the row does not say.
        intervention_cost: of a case.
        revision_cost: of a revision.

    Returns:
        Of a unit ``case``, and ``rewards`` and ``advantages`` over the pair, each of the verifier and of the generator:
        by action, None where there was no such choice or a reward is not known. Of a reply ``total`` and ``parts``.

    Raises:
        InputError: fields that are missing, no labels or actions, or that contradict each other.
        ConfigError: a cost that is not in [0, 1).

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
        raise InputError(f"the row has the keys {[*row]}, wanted S_x, 1 if the proposal is right and 0 if not")
    if row.get("y") is None:
        raise InputError("y is missing, wanted SAC or NS: an answer that cannot be read is neither")
    unit = Transition(s_x, row["y"], row.get("a"), s_z)
    rewards = action_rewards(s_x, s_z, costs)
    pairs: dict[str, tuple[Action, Action] | None] = {
        "verifier": ("SAC", "NS"), "generator": ("KEEP", "REVISE") if unit.y == "SAC" else None,
    }  # fmt: skip
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
    lambda counts: f", {counts['1']:,} right and accepted, {counts['5a']:,} repaired",
    ("case", "rewards", "advantages"),
)
"""The lines of ``vouch reward assurance``."""


def _advantages(rewards: Mapping[str, float | None]) -> dict[str, float] | None:
    """Over a pair, in population standard deviations: 1 and -1, or 0 for equals; None where a reward is not known."""
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
        raise InputError(f"{name} is {value!r:.60}, wanted 1 (right) or 0 (wrong)")
    return bool(value)


UNREADABLE = Reward(0.0, {"outcome": 0.0, "readable": 0.0})
"""Of a reply that cannot be read."""
_NEEDED: Mapping[Any, tuple[str, ...]] = {
    "generator": ("unit", "gold"), "verifier": ("unit", "gold", "proposal"),
    "approver": ("unit", "gold", "proposal", "revision"),
}  # fmt: skip
"""Fields of a row, by who replies."""


def reward_of_reply(reply: str, row: Mapping[str, Any], role: Any = None, costs: AssuranceCosts = FREE) -> Reward:
    """What one role earns by a reply: S_x of a draft, R_V of the action in a review, R_G of that in a choice.

    Args:
        reply: all that the policy wrote.
        row: ``unit`` as a task file has it, ``gold``, its right value, and what the role is shown: ``proposal``, also
            ``revision`` for the approver; null for a value that cannot be read.
        role: "generator", "verifier" or "approver"; None for the row's own ``role``.
        costs: of a case and of a revision.

    Raises:
        InputError: no such role, no unit, a value that is none, or a field is missing by which the role is judged.

    >>> row = {"unit": {"id": "total", "type": "amount"}, "gold": 42, "proposal": 41, "revision": 42}
    >>> replies = {"generator": '{"amount": 42}', "verifier": '{"verdict": "wrong"}', "approver": "KEEP"}
    >>> [reward_of_reply(reply, row, role).total for role, reply in replies.items()]
    [1.0, 1.0, 0.0]
    """
    role = role or row.get("role")
    if role not in _NEEDED:
        raise InputError(f"the row has the role {role!r}, wanted {', '.join(_NEEDED)}")
    if missing := [name for name in _NEEDED[role] if name not in row]:
        raise InputError(f"the row of the {role} lacks {' and '.join(missing)}; a value that cannot be read is null")
    if not isinstance(row["unit"], Mapping):
        raise InputError(f"the row has the unit {row['unit']!r:.60}, wanted one as a task file has it")
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
    """A unit from plain data, without what it depends on. Raises InputError if it is none."""
    plain = {key: value for key, value in unit.items() if key not in ("depends_on", "rules")}
    return as_task({"task": "unit", "data": {}, "units": [plain]}, "the unit").units[0]


def _is_right(given: Any, gold: Any, unit: TaskUnit) -> bool:
    return given is not None and same_value(read_value(given, unit, "the value"), read_value(gold, unit, "gold"))
