"""Rewards for tasks of PrimeIntellect's ``verifiers``, plugged in by name or called by a task's own ``@vf.reward``.

    [env.taskset.task.rewards]
    process = { fn = "vouching.integrations.verifiers:structured" }

The task's data has the fields that the reward reads: for ``structured`` ``gold``, for ``checklist`` ``prompt`` and
``checklist``, with the judge in ``VOUCH_MODEL``. If the judge fails, the reward raises, so that the trace has an error
and no reward. Tested with verifiers 0.4 (its ``v1``). Not supported: earlier releases, which had rubrics instead.
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
    """A reward of a trace's last reply, as the game of a method scores it, with its parts as metrics ``NAME/PART``.

    Args:
        method: name of a method that rewards a reply by itself: "structured", "assurance".
        settings: of its reward; for "assurance", ``role`` says whose replies they are.

    Raises:
        ConfigError: an unknown setting, or a method that needs a judge or the other replies.

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
"""The process reward by the paper's rules; call :func:`trace_reward` for others."""
assurance_draft: TraceReward = trace_reward("assurance", role="generator")
"""1 for a right value of a unit of structured work; the task's data has ``unit`` and ``gold``."""
assurance_review: TraceReward = trace_reward("assurance", role="verifier")
"""The reward of a verifier of structured work; the task's data has ``unit``, ``gold`` and ``proposal``."""


def judged_reward(judge: str | ChecklistVerifier = "", **settings: Any) -> TraceReward:
    """A reward of a trace's last reply, judged by a checklist, with its parts as metrics ``checklist/PART``.

    Without ``judge`` the model that ``VOUCH_MODEL`` names at the time of the call judges. ``settings`` are those of
    :func:`~vouching.integrations.verl.checklist_score`, which also raises the same errors.

    >>> import asyncio
    >>> from types import SimpleNamespace
    >>> trace = SimpleNamespace(last_reply="Yes, sir.", record_metrics=lambda parts: None)
    >>> rows = SimpleNamespace(prompt="Be brief.", checklist=[{"rule": "punctuation:no_comma"}])
    >>> asyncio.run(judged_reward("http://localhost:1/v1#judge")(rows, trace))  # a rule decides, no model is called
    0.0
    """

    async def reward(task: Any, trace: Any) -> float:
        judging = judge or os.environ.get("VOUCH_MODEL")
        if not judging:
            raise ConfigError(
                "the checklist requires a judge: set VOUCH_MODEL, for example to http://localhost:8000/v1#name"
            )
        row = {
            name: getattr(task, name)
            for name in ("prompt", "checklist", "instruction_id_list", "kwargs")
            if hasattr(task, name)
        }
        scored = await checklist_score("", trace.last_reply, "", row, judge=judging, **settings)
        trace.record_metrics({f"checklist/{part}": scored[part] for part in PARTS})
        return scored["score"]

    reward.__name__ = "checklist"
    return reward


checklist: TraceReward = judged_reward()
"""The soft reward of a checklist, by the judge that ``VOUCH_MODEL`` names, one answer to each item."""


def audited_reward(judge: str | BlindedVerifier = "embedded", **rules: Any) -> TraceReward:
    """A reward of a trace's last reply, audited blind, with its parts as metrics ``blinded/PART``.

    Settings and errors are those of :func:`~vouching.integrations.verl.blinded_score`.

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
