"""Soft-RLVR's reward for verl, as its configuration names a reward function that waits for a judge.

    reward.custom_reward_function.path=pkg://vouching.integrations.verl_checklist
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.judge=http://judge:8000/v1#openai/gpt-oss-20b

A row's ``extra_info`` has the instruction as ``prompt`` and the questions as ``checklist``, or IFEval's lists of rules.
A judge that fails raises, since verl wants a number for every reply and a failure is none. Written for verl 0.9, whose
reward loop awaits such functions. Left out: Soft-SVeRL, in which the policy that verl trains would judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from vouching.errors import BackendError, ConfigError, InputError
from vouching.methods.checklist.game import judged, task_of
from vouching.methods.checklist.reward import PAPER, ChecklistRules
from vouching.methods.checklist.verify import ChecklistConfig, ChecklistVerifier, open_checklist
from vouching.models.base import spoken
from vouching.types import Unverified


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    judge: str = "",
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
        judge: name of the model that judges; there is none by default.
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
    >>> asyncio.run(compute_score("ifeval", "Yes, sir.", "", row, judge="http://localhost:1/v1#judge"))["score"]
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
    outcome = await judged(_judge(judge, votes, holistic), task, spoken(solution_str).strip(), rules)
    if isinstance(outcome, Unverified):
        raise BackendError(f"the judge could not score the reply ({outcome.reason}): {outcome.message}")
    return {"score": outcome.total, "acc": outcome.parts["strict"], **outcome.parts}


@cache
def _judge(name: str, votes: int, holistic: bool) -> ChecklistVerifier:
    return open_checklist(name, ChecklistConfig(PAPER.tau, votes, PAPER.aggregate, holistic=holistic))
