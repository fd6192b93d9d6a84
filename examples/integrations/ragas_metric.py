"""Ragas: the share of supported claims as a metric, without a language model.

Needs ragas. Prints:
    [0.0, 1.0]
"""

from ragas import EvaluationDataset, evaluate

from vouching.integrations.ragas import Attributable

rows = [
    {"user_input": "When did it open?", "response": answer, "retrieved_contexts": ["The bridge opened in 1973."]}
    for answer in ("The bridge opened in 1937.", "The bridge opened in 1973.")
]
result = evaluate(EvaluationDataset.from_list(rows), metrics=[Attributable()], show_progress=False)
print(result["attributable"])
