"""Pairs of answers that are easy to rank, for tests and the trial of recipes/rank."""

from __future__ import annotations

import random
from typing import Any

PLACES = ("city", "river", "bridge", "old city", "long river", "old bridge")


def rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Three answers to each question; the facts of the best say "built", of the worst "not", which is easy to learn."""
    draw = random.Random(seed)
    made: list[dict[str, Any]] = []
    for i in range(count):
        question, place = f"What is old, {seed} {i}?", draw.choice(PLACES)
        best, middle, worst = (
            {"answer": f"The {place} {answer}.", "label": label, "facts": [f"The {place} {fact} in {i}"]}
            for answer, label, fact in (
                ("here", "correct", "was built"),
                ("there", "intermediate", "opened"),
                ("by it", "incorrect", "was not"),
            )
        )
        for number, (better, worse) in enumerate(((best, middle), (best, worst), (middle, worst))):
            about = {"id": f"{seed}/{i}/{number}", "set": f"set/{seed}", "group": f"{seed}/{i}", "question": question}
            made.append({**about, "better": better, "worse": worse, "history": f"Found: {better['facts'][0]}"})
    return made
