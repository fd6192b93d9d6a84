"""DeepEval: a metric of test cases, the share of the output's claims that the retrieval context supports.

    assert_test(LLMTestCase(input=..., actual_output=..., retrieval_context=[...]), [AttributableMetric()])

An output that could not be judged has no score, and the error says why. Tested with deepeval 4.3.
"""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from vouching.integrations.judged_text import JudgedText, ajudge_text, judge_text

__all__ = ["AttributableMetric"]


class AttributableMetric(BaseMetric):
    """Share of supported claims, in [0, 1]; successful from ``threshold``.

    Args:
        threshold: share of supported claims from which a test case passes.
        model: the judge.
    """

    def __init__(self, threshold: float = 1.0, model: str = "embedded") -> None:
        self.threshold = threshold
        self.judge = model
        self.async_mode = True
        self.include_reason = True
        self.strict_mode = False
        self.score: float | None = None
        self.reason: str | None = None
        self.success: bool | None = None
        self.error: str | None = None

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """The score of a test case; NaN if it could not be judged."""
        return self._judged(judge_text(*_parts(test_case), model=self.judge))

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """Async twin of :meth:`measure`."""
        return self._judged(await ajudge_text(*_parts(test_case), model=self.judge))

    def is_successful(self) -> bool:
        """Whether the last test case passed."""
        return self.success is True

    @property
    def __name__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "Attributable"

    def _judged(self, judged: JudgedText) -> float:
        self.score, self.reason = judged.value, judged.reason
        self.error = judged.reason if judged.value is None else None
        self.success = judged.value is not None and judged.value >= self.threshold
        return float("nan") if judged.value is None else judged.value


def _parts(case: LLMTestCase) -> tuple[str, Any, Any]:
    sources = case.retrieval_context or case.context or []
    return str(case.actual_output or ""), [*sources], case.input
