"""What one reply of a role of the assurance game earns, from the reply itself: for trainers that sample by themselves.

A draft earns S_x, a review R_V of the action it takes, a choice R_G of the action it takes (DPA-GRPO, 2.2). A reply
that cannot be read earns 0 and says so in ``readable``: the policy wrote it, so it is data. Left out: pairs, which only
a game can force (``vouching.games.assurance``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vouching.rewards.assurance import AssuranceCosts, generator_rewards, verifier_rewards
from vouching.types import Reward, TaskUnit
from vouching.verifiers.assurance_json import ReplyError, read_case, read_choice, read_line
from vouching.verifiers.assurance_task import as_task
from vouching.verifiers.assurance_values import read_value, same_value

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
