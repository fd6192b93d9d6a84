"""Hugging Face evaluate and datasets, and lm-eval: the share of supported claims as a metric and as columns.

    metric = attributable_metric(); metric.compute(predictions=[...], references=[[...], ...])
    dataset.map(judged_columns, batched=True)
    process_results: !function task.process_results           # lm-eval; task.py imports it from here, and judged_mean

Rows that could not be judged do not count in a mean, and are reported as a share. Tested with evaluate 0.4, datasets
5.2 and lm-eval 0.4.13.
"""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from vouching.errors import needed
from vouching.inputs import row_sources
from vouching.integrations.judged_text import JudgedText, judge_text

__all__ = ["attributable_metric", "judged_columns", "judged_mean", "process_results"]


def attributable_metric(model: str = "embedded") -> Any:
    """A metric of ``evaluate``: ``compute(predictions=texts, references=lists of sources)``.

    Its result has "attributable", the mean share of supported claims (NaN if no text could be judged), and
    "unverified", the share of texts without a value.
    """
    evaluate = needed("evaluate", "", "the adapter for evaluate")
    datasets = needed("datasets", "train", "the adapter for evaluate")

    class Attributable(evaluate.Metric):
        def _info(self) -> Any:
            text = datasets.Value("string")
            features = datasets.Features({"predictions": text, "references": datasets.List(text)})
            return evaluate.MetricInfo(
                description="Share of the claims of a text that its sources support.",
                citation="",
                inputs_description="predictions: texts; references: for each text, its sources.",
                features=features,
            )

        def _compute(self, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float]:
            pairs = zip(predictions, references, strict=True)
            return _mean([judge_text(text, [*sources], model=model) for text, sources in pairs])

    return Attributable()


def _mean(judged: Sequence[JudgedText]) -> dict[str, float]:
    values = [one.value for one in judged if one.value is not None]
    return {
        "attributable": math.fsum(values) / len(values) if values else math.nan,
        "unverified": 1 - len(values) / len(judged) if judged else 0.0,
    }


def judged_columns(batch: Mapping[str, Sequence[Any]], model: str = "embedded") -> dict[str, list[Any]]:
    """Columns for ``datasets.map(..., batched=True)``: "attributable" (None if it could not be judged) and "reason".

    The batch has a column "response" (or "answer", "claim") and one of sources; rows without a text have None.

    >>> rows = {"response": ["It opened in 1937."], "contexts": [["It opened in 1973."]]}
    >>> judged_columns(rows, model="embedded:rules")["attributable"]
    [0.0]
    >>> judged_columns({"response": [None], "contexts": [["It opened in 1973."]]}, model="embedded:rules")
    {'attributable': [None], 'reason': ['the text is empty']}
    """
    names = [*batch]
    rows = [dict(zip(names, values, strict=True)) for values in zip(*batch.values(), strict=True)]
    judged = [judge_text(_text(row), row_sources(row), row.get("question"), model=model) for row in rows]
    return {"attributable": [one.value for one in judged], "reason": [one.reason for one in judged]}


def process_results(doc: Mapping[str, Any], results: Sequence[str], model: str = "embedded") -> dict[str, float]:
    """The metrics of a document for lm-eval: "attributable", NaN if it could not be judged, and "unverified".

    >>> process_results({"sources": ["It opened in 1973."]}, ["It opened in 1973."], "embedded:rules")
    {'attributable': 1.0, 'unverified': 0.0}
    """
    return _mean([judge_text(results[0], row_sources(doc), doc.get("question"), model=model)])


def judged_mean(values: Sequence[float]) -> float:
    """The aggregation for lm-eval: the mean of what could be judged; NaN if nothing could.

    >>> judged_mean([1.0, math.nan, 0.0])
    0.5
    """
    judged = [value for value in values if not math.isnan(value)]
    return math.fsum(judged) / len(judged) if judged else math.nan


def _text(row: Mapping[str, Any]) -> str:
    return next((str(row[key]) for key in ("response", "answer", "claim") if row.get(key) is not None), "")
