"""Rewards for tasks of PrimeIntellect's ``verifiers``, plugged in by name or called by a task's own ``@vf.reward``.

    [env.taskset.task.rewards]
    process = { fn = "vouching.integrations.verifiers:structured" }

The task's data has a field for each that the reward reads; for ``structured`` that is ``gold``, for
``checklist`` ``prompt`` and ``checklist``, with the judge in ``VOUCH_MODEL``. Where the judge failed the reward raises,
so that the trace bears an error and no reward. Tried with verifiers 0.4 (its ``v1``). Left out: releases before it,
which had rubrics instead.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from vouching.errors import ConfigError
from vouching.integrations.verl import blinded_score, checklist_score
from vouching.methods import METHODS
from vouching.methods.blinded.reward import PARTS as BLINDED_PARTS
from vouching.methods.blinded.verify import BlindedVerifier
from vouching.methods.checklist.reward import PARTS
from vouching.methods.checklist.verify import ChecklistVerifier
from vouching.types import Reward

__all__ = [
    "TraceReward",
    "assurance_draft",
    "assurance_review",
    "audited_reward",
    "blinded",
    "checklist",
    "judged_reward",
    "structured",
    "trace_reward",
]

TraceReward: TypeAlias = Callable[[Any, Any], Awaitable[float]]
"""Takes the task's data and the trace, by the names ``task`` and ``trace``."""


def trace_reward(method: str, **settings: Any) -> TraceReward:
    """A reward of a trace: of its last reply, as the game of a method scores it, its parts as metrics ``NAME/PART``.

    Args:
        method: name of a method that rewards a reply by itself: "structured", "assurance".
        settings: of its reward; ``role`` says whose replies they are, for "assurance".

    Raises:
        ConfigError: a setting that there is not, or a method that needs a judge or the other replies (what to use
            instead is named); from the function made, InputError for a field that the data lacks.

    >>> import asyncio
    >>> from types import SimpleNamespace
    >>> metrics = {}
    >>> trace = SimpleNamespace(last_reply='{"label": "yes"}', record_metrics=metrics.update)
    >>> asyncio.run(trace_reward("structured")(SimpleNamespace(gold="Attributable"), trace))
    0.395
    >>> metrics["structured/label"]
    1.0
    """
    score = METHODS[method].scorer(**settings)

    async def reward(task: Any, trace: Any) -> float:
        outcome = cast("Reward", score(trace.last_reply, cast("dict[str, Any]", vars(task))))
        trace.record_metrics({f"{method}/{part}": value for part, value in outcome.parts.items()})
        return outcome.total

    reward.__name__ = method
    return reward


structured: TraceReward = trace_reward("structured")
"""The process reward by the paper's rules; a module of yours may call :func:`trace_reward` with others."""
assurance_draft: TraceReward = trace_reward("assurance", role="generator")
"""Whether a unit of structured work is filled in right; the task's data has ``unit`` and ``gold``."""
assurance_review: TraceReward = trace_reward("assurance", role="verifier")
"""What a verifier of structured work earns; the task's data has ``unit``, ``gold`` and ``proposal``."""


def judged_reward(judge: str | ChecklistVerifier = "", **settings: Any) -> TraceReward:
    """A reward of a trace: its last reply judged by a checklist, with the parts recorded as ``checklist/PART``.

    Args:
        judge: who judges; "" is the model that ``VOUCH_MODEL`` names when the reward is called.
        settings: ``votes``, ``beta`` and ``holistic``, see
            :func:`~vouching.integrations.verl.checklist_score`.

    Raises:
        ConfigError: from the function made: no judge is named.
        InputError: from the function made: the task has no instruction or no checklist.
        BackendError: from the function made: the judge failed.

    >>> import asyncio
    >>> from types import SimpleNamespace
    >>> trace = SimpleNamespace(last_reply="Yes, sir.", record_metrics=lambda parts: None)
    >>> rows = SimpleNamespace(prompt="Be brief.", checklist=[{"rule": "punctuation:no_comma"}])
    >>> asyncio.run(judged_reward("http://localhost:1/v1#judge")(rows, trace))  # a rule decides, nobody is asked
    0.0
    """

    async def reward(task: Any, trace: Any) -> float:
        judging = judge or os.environ.get("VOUCH_MODEL")
        if not judging:
            raise ConfigError("the checklist needs a judge: set VOUCH_MODEL, such as http://localhost:8000/v1#name")
        row = {name: getattr(task, name) for name in ("prompt", "checklist", "instruction_id_list", "kwargs")
               if hasattr(task, name)}  # fmt: skip
        scored = await checklist_score("", trace.last_reply, "", row, judge=judging, **settings)
        trace.record_metrics({f"checklist/{part}": scored[part] for part in PARTS})
        return scored["score"]

    reward.__name__ = "checklist"
    return reward


checklist: TraceReward = judged_reward()
"""The soft reward of a checklist, by the judge that ``VOUCH_MODEL`` names, one answer to each item."""


def audited_reward(judge: str | BlindedVerifier = "embedded", **rules: Any) -> TraceReward:
    """A reward of a trace: its last reply audited blind, with the parts recorded as metrics ``blinded/PART``.

    Args:
        judge: who audits; see :func:`~vouching.integrations.verl.blinded_score`.
        rules: ``scale``, ``min_questions`` and ``min_numbers``, as there.

    Raises:
        InputError: from the function made: the task has no question or no documents.
        BackendError: from the function made: the auditor failed.

    >>> import asyncio
    >>> from types import SimpleNamespace
    >>> trace = SimpleNamespace(last_reply="It has 2 towers.", record_metrics=lambda parts: None)
    >>> asyncio.run(audited_reward()(SimpleNamespace(question="How many?", sources=["It has three towers."]), trace))
    -1.0
    """

    async def reward(task: Any, trace: Any) -> float:
        row = {name: getattr(task, name) for name in ("question", "source", "sources") if hasattr(task, name)}
        scored = await blinded_score("", trace.last_reply, "", row, judge=judge, **rules)
        trace.record_metrics({f"blinded/{part}": scored[part] for part in BLINDED_PARTS})
        return scored["score"]

    reward.__name__ = "blinded"
    return reward


blinded: TraceReward = audited_reward()
"""MARCH's zero-tolerance reward by the embedded auditor; the task's data has ``question`` and ``sources``."""
