"""Rows to measure: made by chance, with ties on purpose, the same at every run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from vouching.metrics.arrays import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Rows:
    """What a verifier said about N claims, and what is true."""

    truth: BoolArray
    scores: FloatArray
    weights: FloatArray

    @property
    def predicted(self) -> BoolArray:
        return self.scores >= 0.5

    @property
    def right(self) -> BoolArray:
        return self.truth == self.predicted

    @property
    def confidence(self) -> FloatArray:
        return np.maximum(self.scores, 1 - self.scores)

    def repeated(self) -> Rows:
        """Each row as often as its whole weight says."""
        times = self.weights.astype(int)
        return Rows(np.repeat(self.truth, times), np.repeat(self.scores, times), np.ones(times.sum()))


def made_rows(number: int, seed: int = 0) -> Rows:
    """Rows with both classes and informative scores in steps of .05, so that many tie."""
    random = np.random.default_rng(seed)
    truth = random.random(number) < 0.6
    scores = np.clip(0.5 + 0.2 * (truth - 0.5) + 0.3 * random.standard_normal(number), 0, 1)
    return Rows(truth, np.round(20 * scores) / 20, random.integers(0, 4, number).astype(float))


@st.composite
def any_rows(draw: st.DrawFn) -> Rows:
    """1 to 15 rows with few distinct scores and whole weights, not all 0."""
    row = st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.65, 0.7, 1.0]), st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=15).filter(lambda drawn: any(weight for _, _, weight in drawn)))
    truth, scores, weights = (np.array(column) for column in zip(*rows, strict=True))
    return Rows(truth, scores, weights.astype(float))
