"""Rewards for verl, as its configuration names a reward function: a file and a function of it for each method.

    reward.custom_reward_function.path=pkg://vouching.integrations.verl
    reward.custom_reward_function.name=structured_score
    +reward.custom_reward_function.reward_kwargs.variant=grounded

What else is read stands in ``extra_info`` of a row. :func:`structured_score`, SEVA's process reward: ``claim`` and
``source`` for the grounded variant; ``reward_model.ground_truth`` is the gold label. :func:`assurance_score`, one role
of the assurance game: ``role`` ("generator", "verifier" or "approver"), ``unit`` as a task file has it, and, as far as
the role is shown them, ``proposal`` and ``revision``; the right value is the ground truth. :func:`checklist_score`,
Soft-RLVR's: the instruction as ``prompt`` and the questions as ``checklist``, or IFEval's lists of rules; wants a
judge. :func:`blinded_score`, MARCH's: ``question`` and ``sources``. A judge that fails raises, since verl wants a
number for every reply and a failure is none.

Written for verl 0.9, whose reward loop awaits functions that wait. Not supported: pairs and two policies in one run, as
``vouch train assurance`` has them, and a checklist judged by the policy that verl trains.
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
from vouching.methods.structured.reward_weights import Calibration, Split, Variant
from vouching.types import Reward, Unverified

__all__ = ["assurance_score", "blinded_score", "checklist_score", "structured_score"]


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
    """The reward of one reply, with its parts, which verl logs.

    Args:
        data_source: name of the data set; not used.
        solution_str: the reply.
        ground_truth: not used.
        extra_info: the row's other fields.
        judge: name of the model that judges; there is none by default. A verifier itself outside a configuration.
        votes: J, answers to each question.
        beta: what the soft score counts where not all items pass.
        holistic: whether one question is asked about the whole.

    Returns:
        ``score``, what is trained on; ``acc``, 1 where everything passed; every part.

    Raises:
        InputError: a row without instruction, or without a checklist where it is judged item by item.
        ConfigError: no judge is named, or a setting that there is not.
        BackendError: the judge failed.

    >>> import asyncio
    >>> row = {"prompt": "Be brief.", "checklist": [{"rule": "punctuation:no_comma"}]}  # decided by a rule
    >>> asyncio.run(checklist_score("ifeval", "Yes, sir.", "", row, judge="http://localhost:1/v1#judge"))["score"]
    0.0
    """
    if not judge:
        raise ConfigError(
            "the checklist needs a judge: name one, such as  "
            "+reward.custom_reward_function.reward_kwargs.judge=http://localhost:8000/v1#name"
        )
    rules = ChecklistRules(beta=beta)
    task = task_of(extra_info or {})
    if not task.items and not holistic:
        raise InputError(
            f"row {task.name!r} has no checklist: make checklists first, with  vouch data checklist,  or ask about the "
            "whole, with holistic=true"
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
    """The reward of one response, with its parts, which verl logs.

    Args:
        data_source: name of the data set; not used.
        solution_str: the response.
        ground_truth: not used.
        extra_info: question and sources.
        scale: how faults become a number, see :class:`~vouching.methods.blinded.reward.BlindedRules`.
        min_questions: numbers of a response that must be asked about.
        min_numbers: numbers that it must state.
        judge: who audits, "embedded" or the name of a language model; an auditor itself outside a configuration.

    Returns:
        ``score``, what is trained on; ``acc``, 1 without a fault; every part.

    Raises:
        InputError: no question or no documents.
        ConfigError: a scale that there is not.
        BackendError: the auditor failed; verl wants a number, and this is none.

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
