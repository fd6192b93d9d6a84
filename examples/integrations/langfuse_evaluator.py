"""Langfuse: an evaluator for experiments; its comment has the reasons. A judge that fails gives no evaluation.

Needs langfuse. Prints:
    attributable 0.0 -> The bridge opened in 1973.
    attributable 1.0 1 claim: 1 attributable, 0 not attributable
"""

import logging

from langfuse import Evaluation, Langfuse

from vouching.integrations.judged_text import judge_text


def attributable(*, output, metadata, **ignored):
    """The share of the claims of an output that the sources of its item support."""
    judged = judge_text(output, metadata["sources"])
    if judged.value is None:
        raise RuntimeError(judged.reason)  # logged, and the item has no such score, never 0
    return Evaluation(name="attributable", value=judged.value, comment=judged.reason)


logging.disable()
client = Langfuse(public_key="pk", secret_key="sk", base_url="http://127.0.0.1:9", tracing_enabled=False)
sources = ["The bridge opened in 1973."]
answers = ["The bridge opened in 1937.", "The bridge opened in 1973."]
result = client.run_experiment(
    name="bridge",
    data=[{"input": answer, "metadata": {"sources": sources}} for answer in answers],
    task=lambda *, item, **ignored: item["input"],
    evaluators=[attributable],
)
found = [evaluation for item in result.item_results for evaluation in item.evaluations]
for one in sorted(found, key=lambda one: one.value):
    print(one.name, one.value, one.comment.splitlines()[-1].strip())
