"""Rewards for verl: one reward function per method, for its configuration.

    reward.custom_reward_function.path=pkg://vouching.integrations.verl
    reward.custom_reward_function.name=structured_score
    +reward.custom_reward_function.reward_kwargs.variant=grounded

All functions return ``score``, which is trained on, ``acc``, which verl reports in validation, and every part of the
reward. They do not use ``data_source``. ``reward_model.ground_truth`` is the gold label or value, if there is one; the
other fields are read from ``extra_info`` of a row. A judge that fails raises BackendError, since verl needs a number
for every reply.

Written for verl 0.9, whose reward loop awaits coroutine functions. Not supported: pairs and two policies in one run, as
in ``vouch train assurance``, and a checklist judged by the policy that verl trains.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from vouching.errors import BackendError, ConfigError, InputError
from vouching.methods import METHODS
from vouching.methods.blinded.game import read_row
from vouching.methods.blinded.reward import BlindedRules, Scale, reply_reward
from vouching.methods.blinded.verify import BlindedVerifier, open_blinded
from vouching.methods.checklist.game import task_of
from vouching.methods.checklist.reward import PAPER, ChecklistRules
from vouching.methods.checklist.reward import reply_reward as checklist_reward
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier, open_checklist
from vouching.types import Reward, Unverified

__all__ = ["assurance_score", "blinded_score", "checklist_score", "structured_score"]


def structured_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    **settings: Any,
) -> dict[str, float]:
    """SEVA's process reward of a reply, or an arm of its ablations.

    ``extra_info`` has ``claim`` and ``source`` for the grounded variant; the settings are those of
    :class:`~vouching.methods.structured.reward_settings.RewardSettings`, except ``normalise``, which requires all
    replies of a step. ``acc`` is 1 for the right label.

    >>> structured_score("anli", '{"label": "yes"}', "Attributable", split="0/100")["score"]  # .5 + .5 + .15 * .5
    1.075
    """
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
    """The reward of one role's reply in the assurance game.

    ``extra_info`` has ``role`` ("generator", "verifier" or "approver"), ``unit`` as in a task file, and what the role
    is shown: ``proposal`` and ``revision``. The ground truth is the right value. ``acc`` is the reward without costs.

    >>> row = {"role": "verifier", "unit": {"id": "total", "type": "amount"}, "proposal": 41}
    >>> assurance_score("taxes", '{"verdict": "wrong"}', 42, row)["score"]
    1.0
    """
    settings = {"intervention_cost": intervention_cost, "revision_cost": revision_cost}
    return _scored("assurance", "outcome", solution_str, {**(extra_info or {}), "gold": ground_truth}, settings)


def _scored(
    method: str, right: str, reply: str, row: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, float]:
    """The reward by the method's own function; ``right`` is the part to report as ``acc``."""
    reward = cast("Reward", METHODS[method].scorer(**settings)(reply, row))
    return {"score": reward.total, "acc": reward.parts[right], **reward.parts}


async def checklist_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    judge: str | ChecklistVerifier = "",
    votes: int = 1,
    beta: float = PAPER.beta,
    holistic: bool = False,
) -> dict[str, float]:
    """Soft-RLVR's reward of a reply, judged by a checklist. The ground truth is not used.

    ``extra_info`` has the instruction as ``prompt`` and the questions as ``checklist``, or IFEval's lists of rules. The
    judge, a verifier or the name of a model, gives ``votes`` answers to each question, or with ``holistic`` to one
    about the whole reply; ``beta`` is the weight of the soft score if not all items pass. ``acc`` is 1 if all pass.
    Raises InputError for a row without instruction or checklist, BackendError if the judge failed.

    >>> import asyncio
    >>> row = {"prompt": "Be brief.", "checklist": [{"rule": "punctuation:no_comma"}]}  # decided by a rule
    >>> asyncio.run(checklist_score("ifeval", "Yes, sir.", "", row, judge="http://localhost:1/v1#judge"))["score"]
    0.0
    """
    if not judge:
        raise ConfigError(
            "the checklist requires a judge: pass one, for example "
            "+reward.custom_reward_function.reward_kwargs.judge=http://localhost:8000/v1#name"
        )
    rules = ChecklistRules(beta=beta)
    task = task_of(extra_info or {})
    if not task.items and not holistic:
        raise InputError(
            f"row {task.name!r} has no checklist: write one with vouch data checklist, or judge the whole reply with "
            "holistic=true"
        )
    verifier = _judge(judge, votes, holistic) if isinstance(judge, str) else judge
    outcome = await checklist_reward(verifier, task.instruction, solution_str, task.items or None, rules)
    if isinstance(outcome, Unverified):
        raise BackendError(f"the judge could not score the reply ({outcome.reason}): {outcome.message}")
    return {"score": outcome.total, "acc": outcome.parts["strict"], **outcome.parts}


async def blinded_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    scale: str = "-1/0",
    min_questions: int = 3,
    min_numbers: int = 0,
    judge: str | BlindedVerifier = "embedded",
) -> dict[str, float]:
    """MARCH's reward of a response, audited blind. The ground truth is not used.

    ``extra_info`` has ``question`` and ``sources``; for ``scale``, ``min_questions`` and ``min_numbers`` see
    :class:`~vouching.methods.blinded.reward.BlindedRules`. ``judge`` is "embedded", the name of a language model, or a
    verifier. ``acc`` is 1 without a fault. Raises BackendError if the auditor failed.

    >>> import asyncio
    >>> row = {"question": "How many towers?", "sources": ["It has three towers."]}
    >>> asyncio.run(blinded_score("towers", "It has 2 towers.", "", row))["score"]
    -1.0
    """
    _, sources = read_row(extra_info or {})
    verifier = _auditor(judge) if isinstance(judge, str) else judge
    rules = BlindedRules(cast("Scale", scale), verifier.config.match, min_questions, min_numbers)
    reward = await reply_reward(verifier, solution_str, sources, rules)
    if isinstance(reward, Unverified):
        raise BackendError(f"the auditor could not score the response ({reward.reason}): {reward.message}")
    right = reward.parts["questions"] == reward.parts["matches"] and not reward.parts["missing"]
    return {"score": reward.total, "acc": float(right), **reward.parts}


@cache
def _judge(name: str, votes: int, holistic: bool) -> ChecklistVerifier:
    return open_checklist(name, ChecklistConfig(PAPER.tau, votes, PAPER.aggregate, holistic=holistic))


@cache
def _auditor(judge: str) -> BlindedVerifier:
    return open_blinded(judge)
