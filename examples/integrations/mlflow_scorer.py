"""MLflow: a scorer for mlflow.genai.evaluate, whose feedback has the reasons; a judge that fails is its error.

Needs mlflow. Prints:
    0.0 -> The bridge opened in 1973.
    1.0 1 claim: 1 attributable, 0 not attributable
"""

import logging
import os
import tempfile

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"

import mlflow
from mlflow.entities import Feedback
from mlflow.genai import evaluate, scorer

from vouching.integrations.judged_text import judge_text


@scorer
def attributable(outputs, expectations) -> Feedback:
    """The share of the claims of an output that the sources of its row support."""
    judged = judge_text(outputs, expectations["sources"])
    if judged.value is None:
        return Feedback(error=judged.reason)  # never 0
    return Feedback(value=judged.value, rationale=judged.reason)


logging.getLogger("mlflow").setLevel(logging.ERROR)
mlflow.set_tracking_uri(f"sqlite:///{tempfile.mkdtemp()}/mlflow.db")
sources = ["The bridge opened in 1973."]
rows = [
    {"inputs": {"question": "When did it open?"}, "outputs": answer, "expectations": {"sources": sources}}
    for answer in ("The bridge opened in 1937.", "The bridge opened in 1973.")
]
table = evaluate(data=rows, scorers=[attributable]).result_df
found = [one for assessments in table["assessments"] for one in assessments if one["assessment_name"] == "attributable"]
for one in sorted(found, key=lambda one: one["feedback"]["value"]):
    print(one["feedback"]["value"], one["rationale"].splitlines()[-1].strip())
