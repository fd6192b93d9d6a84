"""pydantic-evals: the share of supported claims as an evaluator; a judge that fails is an evaluator's failure.

Needs pydantic-evals. Prints:
    q1 0.0 -> The bridge opened in 1973.
    q2 1.0 1 claim: 1 attributable, 0 not attributable
"""

from dataclasses import dataclass

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from vouching.integrations.judged_text import judge_text

ANSWERS = {"q1": "The bridge opened in 1937.", "q2": "The bridge opened in 1973."}


@dataclass
class Attributable(Evaluator):
    """The share of the claims of an output that the sources of its case support."""

    def evaluate(self, ctx: EvaluatorContext) -> EvaluationReason:
        """The share, and why it is not 1."""
        judged = judge_text(ctx.output, ctx.metadata["sources"])
        if judged.value is None:
            raise RuntimeError(judged.reason)  # reported as a failure of the evaluator, never as 0
        return EvaluationReason(judged.value, judged.reason)


sources = ["The bridge opened in 1973."]
cases = [Case(name=name, inputs=name, metadata={"sources": sources}) for name in ANSWERS]
report = Dataset(name="bridge", cases=cases, evaluators=[Attributable()]).evaluate_sync(
    lambda name: ANSWERS[name], progress=False
)
for case in report.cases:
    result = case.scores["Attributable"]
    print(case.name, result.value, result.reason.splitlines()[-1].strip())
