"""The metric for DeepEval, run by its own assertion."""

from __future__ import annotations

import asyncio
import math

import pytest

pytest.importorskip("deepeval", reason="deepeval is not installed")

from deepeval import assert_test
from deepeval.test_case import LLMTestCase

from tests.cli.chat_server import chat_server
from vouching.integrations.deepeval import AttributableMetric


def case(output: str) -> LLMTestCase:
    return LLMTestCase(input="When?", actual_output=output, retrieval_context=["The bridge opened in 1973."])


@pytest.mark.parametrize("run_async", [True, False])
def test_deepeval_asserts_with_it(run_async: bool) -> None:
    assert_test(case("The bridge opened in 1973."), [AttributableMetric()], run_async=run_async)
    with pytest.raises(AssertionError, match="Change 1937 to 1973"):
        assert_test(case("The bridge opened in 1937."), [AttributableMetric()], run_async=run_async)


def test_an_output_that_could_not_be_judged_has_no_score() -> None:
    with chat_server(lambda prompt: "who knows") as name:
        for measured in (lambda one: one.measure, lambda one: lambda c: asyncio.run(one.a_measure(c))):
            metric = AttributableMetric(model=name)
            assert math.isnan(measured(metric)(case("The bridge opened in 1973.")))
            assert (metric.score, metric.is_successful()) == (None, False)
            assert metric.error
