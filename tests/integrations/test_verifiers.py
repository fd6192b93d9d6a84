"""The adapter for PrimeIntellect's verifiers, plugged into a real task by name and scored by it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tests.methods.structured.replies import CLAIM, SOURCE, reply
from vouching.errors import ConfigError, InputError
from vouching.integrations.verifiers import structured, trace_reward
from vouching.methods.structured.reward import PARTS


def scored(reward: Any, text: str, **fields: Any) -> tuple[float, dict[str, float]]:
    """The reward of a trace that ends in ``text``, and the metrics it recorded."""
    metrics: dict[str, float] = {}
    trace = SimpleNamespace(last_reply=text, record_metrics=metrics.update)
    return asyncio.run(reward(task=SimpleNamespace(**fields), trace=trace)), metrics


def test_the_fields_of_the_task_become_arguments_and_parts_become_metrics() -> None:
    total, metrics = scored(structured, reply(), gold="Not Attributable", prompt="...")
    assert total == 1.12
    assert [*metrics] == [f"structured/{part}" for part in PARTS]
    grounded = trace_reward("structured", variant="grounded")
    assert scored(grounded, reply(), gold="Not Attributable", claim=CLAIM, source=SOURCE)[0] == 1.12


def test_a_missing_field_and_a_wrong_setting_raise() -> None:
    with pytest.raises(ConfigError, match="no setting 'varient'"):
        trace_reward("structured", varient="paper")
    with pytest.raises(InputError, match='the row has no "gold"; its keys are'):
        scored(structured, "{}", answer="Attributable")


def test_a_real_task_scores_a_real_trace_by_the_plugged_function() -> None:
    vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed")

    class Data(vf.TaskData):
        gold: str

    class Verify(vf.Task[Data]):
        pass

    config = vf.TaskConfig(rewards={"process": {"fn": "vouching.integrations.verifiers:structured", "weight": 2.0}})
    task = Verify(Data(prompt="...", gold="Not Attributable"), config)
    said = vf.MessageNode(message=vf.AssistantMessage(content=reply()), sampled=True)
    trace = vf.Trace.model_construct(rewards={}, metrics={}, nodes=[said])
    asyncio.run(task.score(trace))
    assert (trace.rewards["process"].score, trace.reward) == (1.12, 2.24)
    assert trace.metrics["structured/chain"] == 1.0
