"""DeepEval: a metric of test cases; in a test, assert_test(case, [AttributableMetric()]).

Needs deepeval. Prints:
    0.0 False
"""

from deepeval.test_case import LLMTestCase

from vouching.integrations.deepeval import AttributableMetric

case = LLMTestCase(
    input="When did it open?",
    actual_output="The bridge opened in 1937.",
    retrieval_context=["The bridge opened in 1973."],
)
metric = AttributableMetric()
metric.measure(case)
print(metric.score, metric.is_successful())
