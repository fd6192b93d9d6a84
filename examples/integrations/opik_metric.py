"""Opik: a metric for opik.evaluate and its online rules in Python; a judge that fails is a scoring that failed.

Needs opik. Prints:
    attributable 0.0 -> The bridge opened in 1973.
"""

import os

os.environ["OPIK_TRACK_DISABLE"] = os.environ["OPIK_SENTRY_ENABLE"] = "false"

from opik.evaluation.metrics import base_metric, score_result

from vouching.integrations.judged_text import judge_text


class Attributable(base_metric.BaseMetric):
    """The share of the claims of an output that its context supports."""

    def __init__(self, name: str = "attributable", track: bool = True) -> None:
        super().__init__(name, track)

    def score(self, output: str, context: list[str], **ignored: object) -> score_result.ScoreResult:
        """The share, and why it is not 1; ``scoring_failed`` if the judge failed."""
        judged = judge_text(output, context)
        failed = judged.value is None
        return score_result.ScoreResult(self.name, judged.value or 0.0, judged.reason, scoring_failed=failed)


result = Attributable(track=False).score("The bridge opened in 1937.", ["The bridge opened in 1973."])
print(result.name, result.value, result.reason.splitlines()[-1].strip())
