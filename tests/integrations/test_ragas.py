"""The metric for Ragas, run by its own evaluation."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("ragas.metrics.base", reason="ragas is not installed", exc_type=ImportError)

from ragas import EvaluationDataset, evaluate

from tests.cli.chat_server import chat_server
from vouching.integrations.ragas import Attributable

ROWS = [
    {"user_input": "When?", "response": said, "retrieved_contexts": ["The bridge opened in 1973."]}
    for said in ("The bridge opened in 1937.", "The bridge opened in 1973.")
]


def test_ragas_evaluates_a_data_set_with_it() -> None:
    result = evaluate(EvaluationDataset.from_list(ROWS), metrics=[Attributable()], show_progress=False)
    assert result["attributable"] == [0.0, 1.0]


def test_a_response_that_could_not_be_judged_is_nan() -> None:
    with chat_server(lambda prompt: "who knows") as name:
        metrics = [Attributable(model=name)]
        result = evaluate(EvaluationDataset.from_list(ROWS[:1]), metrics=metrics, show_progress=False)
    assert all(math.isnan(value) for value in result["attributable"])
