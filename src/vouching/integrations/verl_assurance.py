r"""Rewards of the assurance game for verl, a role at a time, as its configuration names a reward function.

    python -m verl.trainer.main_ppo ... \
        reward.custom_reward_function.path=pkg://vouching.integrations.verl_assurance \
        reward.custom_reward_function.name=compute_score

A row's ``extra_info`` has ``role`` ("generator", "verifier" or "approver"), ``unit`` as a task file has it, and, as far
as the role is shown them, ``proposal`` and ``revision``; ``ground_truth`` is the right value. Written for verl 0.9.
Left out: pairs and two policies in one run, which verl has no place for; ``vouch train assurance`` does both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from vouching.errors import InputError
from vouching.methods.assurance.reward import choice_reward, draft_reward, review_reward

_NEEDED = {"generator": ("unit",), "verifier": ("unit", "proposal"), "approver": ("unit", "proposal", "revision")}
"""Fields of a row, by role."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    intervention_cost: float = 0.0,
    revision_cost: float = 0.0,
) -> dict[str, float]:
    """The reward of one reply, with its parts, which verl logs.

    Args:
        data_source: name of the data set; not used.
        solution_str: the reply.
        ground_truth: the right value of the unit.
        extra_info: role, unit, proposal, revision.
        intervention_cost: of a case.
        revision_cost: of a revision.

    Returns:
        ``score``, what is trained on; ``acc``, the reward without costs; every part.

    Raises:
        InputError: no such role, no unit, a value that is none, or a field that the role is judged by is missing.
        ConfigError: a cost that is not in [0, 1).

    >>> row = {"role": "verifier", "unit": {"id": "total", "type": "amount"}, "proposal": 41}
    >>> compute_score("taxes", '{"verdict": "wrong"}', 42, row)["score"]
    1.0
    """
    row = extra_info or {}
    role = row.get("role")
    if role not in _NEEDED:
        raise InputError(f"extra_info has the role {role!r}, wanted {', '.join(_NEEDED)}")
    missing = [name for name in _NEEDED[role] if name not in row]
    if missing:
        raise InputError(f"extra_info of the {role} lacks {' and '.join(missing)}; a value that cannot be read is null")
    if not isinstance(row["unit"], Mapping):
        raise InputError(f"extra_info has the unit {row['unit']!r:.60}, wanted one as a task file has it")
    unit, proposal = cast("Mapping[str, Any]", row["unit"]), row.get("proposal")
    if role == "generator":
        reward = draft_reward(solution_str, unit, ground_truth)
    elif role == "verifier":
        reward = review_reward(solution_str, unit, ground_truth, proposal, intervention_cost)
    else:
        reward = choice_reward(solution_str, unit, ground_truth, proposal, row["revision"], revision_cost)
    return {"score": reward.total, "acc": reward.parts["outcome"], **reward.parts}
