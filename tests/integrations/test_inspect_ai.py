"""The scorer for Inspect AI, in a real evaluation of a task with the package's mock model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from tests.cli.chat_server import chat_server
from vouching.integrations.inspect_ai import attributable

SAMPLE = {"input": "When?", "metadata": {"sources": ["The bridge opened in 1973."]}}


def evaluated(tmp_path: Path, said: list[str], samples: list[dict[str, Any]], **settings: Any) -> Any:
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in said]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it fetches a tokenizer
    model = get_model("mockllm/model", custom_outputs=outputs)
    dataset = [Sample(id=number, **fields) for number, fields in enumerate(samples, 1)]
    task = Task(dataset=dataset, solver=generate(), scorer=attributable(**settings))
    [log] = eval(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1)
    return log


def test_the_value_is_the_share_of_supported_claims_and_the_mean_is_over_samples(tmp_path: Path) -> None:
    said = ["The bridge opened in 1937.", "The bridge opened in 1973."]
    log = evaluated(tmp_path, said, [SAMPLE, {"input": "When?", "target": "The bridge opened in 1973."}])
    assert log.status == "success", log.error
    assert [next(iter(sample.scores.values())).value for sample in log.samples] == [0.0, 1.0]
    assert log.results.scores[0].metrics["mean"].value == 0.5


def test_what_could_not_be_judged_is_unscored_and_not_in_the_mean(tmp_path: Path) -> None:
    log = evaluated(tmp_path, ["Hello!", "The bridge opened in 1973."], [SAMPLE, SAMPLE])
    assert log.results.scores[0].metrics["mean"].value == 1.0
    with chat_server(lambda prompt: "who knows") as name:
        log = evaluated(tmp_path, ["The bridge opened in 1973."], [SAMPLE], model=name)
    [score] = log.samples[0].scores.values()
    assert math.isnan(score.value)
    assert score.reason == "not_judged"
