# pyright: basic
"""How well the encoder does on rows that it does not train on: by set, and on pairs, tokens and error types.

Left out: intervals; these numbers steer a run, ``vouch bench`` reports.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching.metrics import auroc
from vouching.train.encoder_batches import EncodedUnit, batch_of, batches_by_length
from vouching.train.encoder_model import import_torch, read_batch


@dataclass(frozen=True, slots=True)
class Answers:
    """What the model says about rows, in order; R of them."""

    support: NDArray[np.float64]
    """(R,) P(supported)."""
    tokens: list[NDArray[np.float64]]
    """For each row, (C,) P(supported) of the tokens of its claim."""
    error_type: NDArray[np.int64]
    """(R,) position of the likeliest error type."""


def answers_of(model: Any, units: Sequence[EncodedUnit], pad: int, most_tokens: int, device: Any) -> Answers:
    """What the model says about the rows of the units, in order."""
    torch = import_torch()
    by_unit: dict[int, list[tuple[float, NDArray[np.float64], int]]] = {}
    model.eval()
    with torch.no_grad():
        for numbers in batches_by_length([unit.longest * unit.windows for unit in units], most_tokens):
            folded = read_batch(model, batch_of([units[i] for i in numbers], pad), device)
            supported = folded.relation[:, 0].double().exp().tolist()
            tokens = folded.support.double().sigmoid().cpu().numpy()
            answers = iter(zip(supported, tokens, folded.error_type.argmax(dim=1).tolist(), strict=True))
            by_unit |= {i: list(islice(answers, len(units[i].rows))) for i in numbers}
    model.train()
    flat = [answer for i in range(len(units)) for answer in by_unit[i]]
    lengths = [row.claim_tokens for unit in units for row in unit.rows]
    return Answers(
        np.array([supported for supported, _, _ in flat]),
        [line[:length] for (_, line, _), length in zip(flat, lengths, strict=True)],
        np.array([error for _, _, error in flat], np.int64),
    )


def scores_of(places: Sequence[str], units: Sequence[EncodedUnit], answers: Answers) -> dict[str, dict[str, float]]:
    """Figures by set, and over the sets ("all").

    Args:
        places: the set of each unit.
        units: the units.
        answers: what :func:`answers_of` found.

    Returns:
        By set: ``rows`` and ``auroc`` (left out with one class). Over all: ``auroc``, the mean of the sets; ``tokens``,
        the AUROC of marked tokens; ``pairs``, the share of pairs in which the claim with the error scores lower;
        ``errors``, the share of known error types that are told.
    """
    rows = [(place, row) for place, unit in zip(places, units, strict=True) for row in unit.rows]
    by_set: defaultdict[str, list[tuple[bool, float]]] = defaultdict(list)
    for (place, row), score in zip(rows, answers.support.tolist(), strict=True):
        by_set[place].append((bool(row.allowed[0]), score))
    found: dict[str, dict[str, float]] = {}
    for place, pairs in sorted(by_set.items()):
        truth, values = zip(*pairs, strict=True)
        found[place] = {"rows": len(pairs)}
        if not math.isnan(area := float(auroc(truth, values))):
            found[place]["auroc"] = round(area, 4)
    areas = [figures["auroc"] for figures in found.values() if "auroc" in figures]
    found["all"] = {"rows": len(rows)} | ({"auroc": round(sum(areas) / len(areas), 4)} if areas else {})
    marks = np.concatenate([np.zeros(0, np.int8), *(row.support for _, row in rows)])
    if len(set(marks.tolist()) - {-1}) == 2:
        known = marks >= 0
        found["all"]["tokens"] = round(float(auroc(marks[known] == 1, np.concatenate(answers.tokens)[known])), 4)
    order = _pairs_in_order(units, answers.support)
    if order:
        found["all"]["pairs"] = round(sum(order) / len(order), 4)
    errors = np.array([row.error_type for _, row in rows])
    if (errors >= 0).any():
        found["all"]["errors"] = round(float((answers.error_type == errors)[errors >= 0].mean()), 4)
    return found


def told(scores: Mapping[str, Mapping[str, float]]) -> str:
    """What is told of figures while a run goes on.

    >>> told({"dev/one": {"rows": 9, "auroc": 0.81}, "all": {"rows": 9, "auroc": 0.81, "pairs": 0.5}})
    'AUROC dev/one 0.810, all 0.810; pairs 0.500'
    """
    areas = ", ".join(f"{place} {found['auroc']:.3f}" for place, found in scores.items() if "auroc" in found)
    rest = [f"{name} {scores['all'][name]:.3f}" for name in ("tokens", "pairs", "errors") if name in scores["all"]]
    return "; ".join(filter(None, (f"AUROC {areas}", ", ".join(rest))))


def _pairs_in_order(units: Sequence[EncodedUnit], scores: NDArray[np.float64]) -> list[bool]:
    """For each pair, whether the claim scores above the same claim with an error."""
    order: list[bool] = []
    at = 0
    for unit in units:
        if len(unit.rows) == 2:
            order.append(bool(scores[at] > scores[at + 1]))
        at += len(unit.rows)
    return order
