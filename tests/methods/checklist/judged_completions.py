"""Completions judged by a verifier whose rates are known."""

from __future__ import annotations

import numpy as np

from vouching.methods.checklist.quality import VerifierQuality
from vouching.methods.checklist.rates import JudgedCompletion


def simulated(
    quality: VerifierQuality,
    count: int,
    items: int = 3,
    votes: int = 1,
    correlation: float = 0.0,
    seed: int = 0,
) -> list[JudgedCompletion]:
    """Half of the completions succeed, in the others half of the items hold; each vote is drawn by the rates.

    With chance ``correlation`` one number decides all first votes on a completion's items.
    """
    random = np.random.default_rng(seed)
    made: list[JudgedCompletion] = []
    for number in range(count):
        labels = random.random(items) < (1.0 if number % 2 else 0.5)
        gold = bool(labels.all())
        means = np.where(labels, quality.p_item, 1 - quality.q_item)
        draws = random.random((items, votes))
        if random.random() < correlation:
            draws[:] = random.random()
        whole = random.random(votes) < (quality.p if gold else 1 - quality.q)
        made.append(
            JudgedCompletion(
                id=str(number),
                group=str(number // 2),
                gold=gold,
                holistic=tuple(map(bool, whole)),
                labels=tuple(map(bool, labels)),
                votes=tuple(tuple(map(bool, row)) for row in draws < means[:, None]),
            )
        )
    return made
