"""Weave: a scorer for weave.Evaluation and for calls that are scored as they are made.

Needs weave. Prints:
    0.0 False -> The bridge opened in 1973.
"""

import os

os.environ["WEAVE_DISABLED"] = "true"

import weave

from vouching.integrations.judged_text import judge_text


class Attributable(weave.Scorer):
    """The share of the claims of an output that the sources of its row support."""

    @weave.op
    def score(self, *, output: str, sources: list[str]) -> dict:
        """Value and ``passed`` are None if the judge failed; Weave leaves None out of its means."""
        judged = judge_text(output, sources)
        return {"value": judged.value, "passed": judged.passed, "reason": judged.reason}


result = Attributable().score(output="The bridge opened in 1937.", sources=["The bridge opened in 1973."])
print(result["value"], result["passed"], result["reason"].splitlines()[-1].strip())
