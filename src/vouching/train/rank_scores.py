# pyright: basic
"""How well a scorer ranks the answers to questions that it does not train on.

Left out: intervals; these numbers steer a run, and ``held.jsonl`` has what is needed to compute them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vouching.methods.discriminative.config import RankConfig
from vouching.methods.discriminative.input import encode
from vouching.metrics import kendall_tau_b, precision_at_1
from vouching.train.encoder_batches import batches_by_length
from vouching.train.rank_model import imported
from vouching.train.rank_rows import RatedQuestion, input_of

_AT_ONCE = 32
"""Inputs of the most tokens that are read at once."""


def encoded(questions: Sequence[RatedQuestion], tokenizer: Any, config: RankConfig) -> list[tuple[int, ...]]:
    """Token ids of every answer of every question, in order."""
    return [
        encode(tokenizer, input_of(one.question, answer, one.history, config.shown), config.most_tokens).ids
        for one in questions
        for answer in one.answers
    ]


def values_of(model: Any, inputs: Sequence[tuple[int, ...]], pad: int, most_tokens: int) -> list[float]:
    """The raw scores of inputs, in order."""
    torch = imported("torch")
    values = [0.0] * len(inputs)
    was_training = model.training
    model.eval()
    with torch.no_grad(), torch.autocast(model.device.type, torch.bfloat16, enabled=model.device.type == "cuda"):
        for numbers in batches_by_length([len(ids) for ids in inputs], _AT_ONCE * most_tokens):
            longest = max(len(inputs[i]) for i in numbers)
            ids = torch.tensor([[*inputs[i], *[pad] * (longest - len(inputs[i]))] for i in numbers])
            mask = torch.tensor([[1] * len(inputs[i]) + [0] * (longest - len(inputs[i])) for i in numbers])
            logits = model(input_ids=ids.to(model.device), attention_mask=mask.to(model.device)).logits
            for i, value in zip(numbers, logits.squeeze(-1).float().tolist(), strict=True):
                values[i] = value
    model.train(was_training)
    return values


def by_question(questions: Sequence[RatedQuestion], values: Sequence[float]) -> Iterator[list[float]]:
    """The scores of each question, from those of all answers in order."""
    at = 0
    for one in questions:
        yield [*values[at : at + len(one.answers)]]
        at += len(one.answers)


def scores_of(questions: Sequence[RatedQuestion], values: Sequence[float]) -> dict[str, dict[str, float]]:
    """Figures by set, and over all questions ("all").

    Args:
        questions: Q questions.
        values: scores of their answers, one after the other.

    Returns:
        By set: ``questions``; ``p_at_1``, the share in which the answer on top is a best one; ``tau``, the mean of
        Kendall's tau-b, 0 where all scores are equal; ``chance``, what ``p_at_1`` is for a random order.

    >>> from vouching.train.rank_rows import RatedAnswer, RatedQuestion
    >>> answers = (RatedAnswer("1973", "correct"), RatedAnswer("1937", "incorrect"))
    >>> scores_of([RatedQuestion("", "q", "When?", answers)], [0.4, 0.1])
    {'all': {'questions': 1, 'p_at_1': 1.0, 'tau': 1.0, 'chance': 0.5}}
    """
    places: defaultdict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for one, scores in zip(questions, by_question(questions, values), strict=True):
        worth = one.worth
        tau = float(kendall_tau_b(worth, scores))
        row = (
            float(precision_at_1(worth, scores)), 0.0 if math.isnan(tau) else tau,
            worth.count(max(worth)) / len(worth),
        )  # fmt: skip
        places["all"].append(row)
        if one.set:
            places[one.set].append(row)
    found: dict[str, dict[str, float]] = {}
    for place, rows in sorted(places.items()):
        hits, taus, chances = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        found[place] = {
            "questions": len(rows), "p_at_1": round(hits, 4), "tau": round(taus, 4), "chance": round(chances, 4)
        }  # fmt: skip
    return found


def told(scores: Mapping[str, Mapping[str, float]]) -> str:
    """What is told of figures while a run goes on.

    >>> told({"all": {"questions": 9, "p_at_1": 0.75, "tau": 0.5, "chance": 0.3}})
    'P@1 / tau: all .750 / .500'
    """
    parts = (f"{place} {found['p_at_1']:.3f} / {found['tau']:.3f}" for place, found in scores.items())
    return f"P@1 / tau: {', '.join(parts)}".replace(" 0.", " .")
