"""SEVA's process reward for verl, as its configuration names a reward function.

    reward.custom_reward_function.path=pkg://vouching.integrations.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.variant=grounded

``reward_model.ground_truth`` of a row is the gold label; the grounded variant reads ``claim`` and ``source`` from its
``extra_info``. Written for verl 0.9. Left out: rewards whose judge can fail; verl wants a number for every reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from vouching.methods.structured.reward import structured_reward
from vouching.methods.structured.reward_weights import Calibration, Split, Variant, structured_weights
from vouching.types import Label


def compute_score(
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

    >>> compute_score("anli", '{"label": "yes"}', "Attributable", split="0/100")["score"]  # .5 + .5 + .15 * .5
    1.075
    """
    row = extra_info or {}
    reward = structured_reward(
        solution_str,
        cast("Label", ground_truth),
        claim=row.get("claim"),
        source=row.get("source"),
        variant=variant,
        weights=structured_weights(split, calibration),
    )
    return {"score": reward.total, "acc": reward.parts["label"], **reward.parts}
