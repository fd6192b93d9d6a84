"""DSPy: the share of supported claims as a metric with feedback, for Evaluate and for optimizers such as GEPA.

Needs dspy. Prints:
    50.0
    -> The bridge opened in 1973.
"""

import dspy

from vouching.integrations.judged_text import judge_text

ANSWERS = {"When did it open?": "The bridge opened in 1937.", "How high is it?": "The bridge is 40 m high."}


def attributable(example, prediction, trace=None, pred_name=None, pred_trace=None):
    """The score of an answer by the passages of its example. A judge that fails is an error, never a score."""
    judged = judge_text(prediction.answer, example.passages)
    if judged.value is None:
        raise RuntimeError(judged.reason)
    return dspy.Prediction(score=judged.value, feedback=judged.reason)


class Answered(dspy.Module):
    """Stands for a program that asks a language model."""

    def forward(self, question):
        """The answer to a question."""
        return dspy.Prediction(answer=ANSWERS[question])


passages = ["The bridge opened in 1973. It is 40 m high."]
rows = [dspy.Example(question=question, passages=passages).with_inputs("question") for question in ANSWERS]
# By default DSPy counts a metric that raises as failure_score; with max_errors=1 it stops instead.
evaluate = dspy.Evaluate(devset=rows, metric=attributable, num_threads=1, max_errors=1, display_progress=False)
result = evaluate(Answered())
print(result.score)
print(result.results[0][2].feedback.splitlines()[-1].strip())
