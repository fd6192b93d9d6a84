"""Rewards for tasks of PrimeIntellect's ``verifiers``, plugged in by name or called by a task's own ``@vf.reward``.

    [env.taskset.task.rewards]
    process = { fn = "vouching.integrations.verifiers:structured" }

The task's data has a field for each that the scoring function takes; for ``structured`` that is ``gold``. Where the
judge failed the reward raises, so that the trace bears an error and no reward. Tried with verifiers 0.4 (its ``v1``).
Left out: releases before it, which had rubrics instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from vouching.errors import BackendError
from vouching.integrations.scoring import RowScore, Score
from vouching.rewards.structured import structured_reward
from vouching.types import Unverified

TraceReward: TypeAlias = Callable[[Any, Any], Awaitable[float]]
"""Takes the task's data and the trace, by the names ``task`` and ``trace``."""


def trace_reward(score: Score, **settings: Any) -> TraceReward:
    """A reward of a trace: ``score`` of its last reply, with the parts recorded as metrics ``NAME/PART``.

    Args:
        score: takes the reply and fields of the task's data by name.
        settings: arguments of ``score`` that are the same for all tasks.

    Raises:
        ConfigError: a setting that ``score`` does not take; from the function made, a field that it needs and the data
            lacks.
        BackendError: from the function made: the judge failed.

    >>> import asyncio
    >>> from types import SimpleNamespace
    >>> metrics = {}
    >>> trace = SimpleNamespace(last_reply='{"label": "yes"}', record_metrics=metrics.update)
    >>> asyncio.run(trace_reward(structured_reward)(SimpleNamespace(gold="Attributable"), trace))
    0.395
    >>> metrics["structured_reward/label"]
    1.0
    """
    row_score = RowScore(score, settings)
    name = row_score.name

    async def reward(task: Any, trace: Any) -> float:
        row = {field: getattr(task, field) for field in row_score.fields if hasattr(task, field)}
        outcome = row_score(trace.last_reply, row)
        if isinstance(outcome, Unverified):
            raise BackendError(f"{name} could not score the reply ({outcome.reason}): {outcome.message}")
        trace.record_metrics({f"{name}/{part}": value for part, value in outcome.parts.items()})
        return outcome.total

    reward.__name__ = name
    return reward


structured: TraceReward = trace_reward(structured_reward)
"""The process reward by the paper's rules; a module of yours may call :func:`trace_reward` with others."""
