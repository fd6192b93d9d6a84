"""The metric for evaluate, the columns for datasets, and the results for lm-eval."""

from __future__ import annotations

import math

import pytest

from tests.cli.chat_server import chat_server
from vouching.integrations.evaluate import attributable_metric, judged_columns, process_results

TEXTS = ["The bridge opened in 1937.", "The bridge opened in 1973."]
SOURCES = [["The bridge opened in 1973."]] * 2


def test_evaluate_computes_the_metric() -> None:
    pytest.importorskip("evaluate", reason="evaluate is not installed")
    result = attributable_metric("embedded:rules").compute(predictions=TEXTS, references=SOURCES)
    assert result == {"attributable": 0.5, "unverified": 0.0}


def test_datasets_maps_the_columns() -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    rows = datasets.Dataset.from_dict({"response": TEXTS, "contexts": SOURCES})
    mapped = rows.map(judged_columns, batched=True, fn_kwargs={"model": "embedded:rules"})
    assert mapped["attributable"][:] == [0.0, 1.0]
    assert "Change 1937 to 1973." in mapped["reason"][0]


def test_what_could_not_be_judged_is_nan_and_counted() -> None:
    with chat_server(lambda prompt: "who knows") as name:
        result = process_results({"sources": SOURCES[0]}, [TEXTS[1]], name)
        assert judged_columns({"claim": [TEXTS[1]], "source": SOURCES[0]}, name)["attributable"] == [None]
    assert math.isnan(result["attributable"])
    assert result["unverified"] == 1.0
