"""Ragas: a metric of single turns, the share of the response's claims that the retrieved contexts support.

    evaluate(dataset, metrics=[Attributable()])

A response that could not be judged is NaN, as Ragas writes a missing score. Tested with ragas 0.4.
"""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricType, SingleTurnMetric

from vouching.integrations.judged_text import ajudge_text

__all__ = ["Attributable"]


@dataclass
class Attributable(SingleTurnMetric):
    """Share of supported claims, in [0, 1]; NaN if one could not be judged, or there is none."""

    name: str = "attributable"
    model: str = "embedded"
    threshold: float = 0.5
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {MetricType.SINGLE_TURN: {"response", "retrieved_contexts", "user_input:optional"}}
    )

    def init(self, run_config: Any) -> None:
        """Nothing depends on the configuration of a run."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Any) -> float:
        judged = await ajudge_text(
            sample.response or "",
            sample.retrieved_contexts or [],
            sample.user_input if isinstance(sample.user_input, str) else None,
            model=self.model,
            threshold=self.threshold,
        )
        return float("nan") if judged.value is None else judged.value
