"""Inspect AI: a scorer of answers against the sources of their samples.

    Task(dataset=[Sample(input="When?", metadata={"sources": [...]})], solver=generate(), scorer=attributable())

The value is the share of supported claims; a sample whose answer could not be judged is unscored, so that it does not
count in the metrics. Tested with inspect-ai 0.3.
"""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from vouching.errors import InputError
from vouching.inputs import row_sources
from vouching.integrations.judged_text import ajudge_text

__all__ = ["attributable"]


@scorer(metrics=[mean(), stderr()])
def attributable(model: str = "embedded", threshold: float = 0.5) -> Scorer:
    """A scorer; the sources are those of the sample's metadata, else its target.

    Args:
        model: the judge.
        threshold: score from which a claim is attributable, in [0, 1].
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        sources: Any = row_sources(state.metadata, needed=False) or [text for text in target if text.strip()]
        if not sources:
            raise InputError('the sample has no sources: put them into its metadata as "sources", or into its target')
        if not answer.strip():
            return Score.unscored(reason="no_answer", answer=answer, explanation="The answer is empty.")
        judged = await ajudge_text(answer, sources, state.input_text, model=model, threshold=threshold)
        if judged.value is None:
            return Score.unscored(reason="not_judged", answer=answer, explanation=judged.reason)
        return Score(value=judged.value, answer=answer, explanation=judged.reason)

    return score
