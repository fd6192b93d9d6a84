"""Scored rows that have a gold label and a verdict, as arrays: what the metrics take.

Left out: rows without either; they are counted elsewhere and never become a label or a 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vouching.bench.score import Scored
from vouching.metrics import document_numbers


@dataclass(frozen=True, slots=True)
class Labelled:
    """The rows with a gold label and a verdict, as arrays of one entry per row."""

    gold: NDArray[np.bool_]
    """True for Attributable."""
    label: NDArray[np.bool_]
    """What the verifier said."""
    score: NDArray[np.float64]
    """Its probability of Attributable."""
    overlap: NDArray[np.float64]
    """Score of the overlap of words."""
    brevity: NDArray[np.float64]
    """Score of the claim's length: minus its characters, since what says less has less to get wrong."""
    group: NDArray[np.intp]
    """Number of the row's group."""
    calibrated: bool
    """Whether scores are probabilities: those of claims are, those of whole responses are not."""

    @property
    def both_classes(self) -> bool:
        """Whether there are rows of both labels, without which AUROC is undefined."""
        return bool(self.gold.any() and not self.gold.all())

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the label is the gold one."""
        return self.gold == self.label

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Probability that the label is right."""
        return np.where(self.label, self.score, 1 - self.score)


def labelled(rows: Sequence[Scored]) -> Labelled | None:
    """The rows that can be measured, as arrays; None if there are none.

    >>> row = {"attributable": True, "label": True, "score": 0.9, "overlap": 1.0, "length": 9, "keys": []}
    >>> row["is_response"] = False
    >>> labelled([row, {**row, "score": None}]).right
    array([ True])
    """
    kept = [row for row in rows if row["attributable"] is not None and row["score"] is not None]
    if not kept:
        return None
    column = {key: [row[key] for row in kept] for key in ("attributable", "label", "score", "overlap", "length")}
    return Labelled(
        np.array(column["attributable"], dtype=bool),
        np.array(column["label"], dtype=bool),
        np.array(column["score"], dtype=np.float64),
        np.array(column["overlap"], dtype=np.float64),
        -np.array(column["length"], dtype=np.float64),
        group_numbers(kept),
        not any(row["is_response"] for row in kept),
    )


def group_numbers(rows: Sequence[Scored]) -> NDArray[np.intp]:
    """The number of each row's group: rows that share a source, a document or a claim, of whichever set.

    >>> group_numbers([{"keys": ["a", "b"]}, {"keys": ["c"]}, {"keys": ["b"]}])
    array([0, 1, 0])
    """
    return document_numbers(row["keys"] for row in rows)
