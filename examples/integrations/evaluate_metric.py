"""Hugging Face evaluate and datasets: a metric, and columns of a data set.

Needs evaluate and datasets. Prints:
    {'attributable': 0.5, 'unverified': 0.0}
    [0.0, 1.0]
"""

import datasets

from vouching.integrations.evaluate import attributable_metric, judged_columns

datasets.disable_progress_bars()
answers = ["The bridge opened in 1937.", "The bridge opened in 1973."]
sources = [["The bridge opened in 1973."]] * 2

print(attributable_metric().compute(predictions=answers, references=sources))

rows = datasets.Dataset.from_dict({"response": answers, "contexts": sources})
print(rows.map(judged_columns, batched=True)["attributable"][:])
