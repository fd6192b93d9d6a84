"""Rewards for verl, as its configuration names a reward function: a file and a function of it for each method.

    reward.custom_reward_function.path=pkg://vouching.integrations.verl
    reward.custom_reward_function.name=structured_score
    +reward.custom_reward_function.reward_kwargs.variant=grounded

:func:`structured_score` is SEVA's process reward: ``reward_model.ground_truth`` of a row is the gold label; the
grounded variant reads ``claim`` and ``source`` from its ``extra_info``. :func:`assurance_score` rewards one role of the
assurance game: ``extra_info`` has ``role`` ("generator", "verifier" or "approver"), ``unit`` as a task file has it,
and, as far as the role is shown them, ``proposal`` and ``revision``; ``ground_truth`` is the right value. Written for
verl 0.9. Not supported: pairs and two policies in one run, which verl has no place for; ``vouch train assurance`` has
both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from vouching.methods import METHODS
from vouching.methods.structured.reward_weights import Calibration, Split, Variant
from vouching.types import Reward

__all__ = ["assurance_score", "structured_score"]


def structured_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    variant: Variant = "paper",
    split: Split = "70/30",
    calibration: Calibration = "on",
) -> dict[str, float]:
    """The reward of one reply, with its parts, which verl logs.

    Args:
        data_source: name of the data set; not used.
        solution_str: the reply.
        ground_truth: the gold label, "Attributable" or "Not Attributable".
        extra_info: the row's other fields.
        variant: the rules, see :func:`~vouching.methods.structured.reward.structured_reward`.
        split: share of process and outcome, see :func:`~vouching.methods.structured.reward_weights.structured_weights`.
        calibration: which calibration term.

    Returns:
        ``score``, what is trained on; ``acc``, 1 for the right label, which verl shows of a validation; every part.

    Raises:
        InputError: a ground truth that is no label, or a grounded reward without claim and source.
        ConfigError: a setting that there is not.

    >>> structured_score("anli", '{"label": "yes"}', "Attributable", split="0/100")["score"]  # .5 + .5 + .15 * .5
    1.075
    """
    settings = {"variant": variant, "split": split, "calibration": calibration}
    return _scored("structured", "label", solution_str, {**(extra_info or {}), "gold": ground_truth}, settings)


def assurance_score(
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
    >>> assurance_score("taxes", '{"verdict": "wrong"}', 42, row)["score"]
    1.0
    """
    settings = {"intervention_cost": intervention_cost, "revision_cost": revision_cost}
    return _scored("assurance", "outcome", solution_str, {**(extra_info or {}), "gold": ground_truth}, settings)


def _scored(
    method: str, right: str, reply: str, row: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, float]:
    """The reward by the method's own function; ``right`` is the part that says whether the reply is right."""
    reward = cast("Reward", METHODS[method].scorer(**settings)(reply, row))
    return {"score": reward.total, "acc": reward.parts[right], **reward.parts}
