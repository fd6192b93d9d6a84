"""Completions judged by a verifier whose rates are known."""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from recipes.theory.plan import main
from recipes.theory.quality import VerifierQuality
from recipes.theory.rates import JudgedCompletion


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


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command ended, and what it printed."""

    exit_code: int
    stdout: str
    stderr: str


def planned(*arguments: str | Path) -> Ended:
    """``python recipes/theory/plan.py`` with these arguments."""
    with redirect_stdout(StringIO()) as stdout, redirect_stderr(StringIO()) as stderr:
        code = main([*map(str, arguments)])
    return Ended(code, stdout.getvalue(), stderr.getvalue())
