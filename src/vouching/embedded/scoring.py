"""From features to a calibrated probability: a logistic model in a readable file.

    z = intercept + sum_k weight_k * (feature_k - mean_k) / scale_k
    P(Attributable) = 1 / (1 + exp(-(slope * z + shift)))

``slope`` and ``shift`` were fitted on groups of documents that the weights had not seen (Platt scaling). Two files
ship: ``rules.json`` weighs the features of the rules, ``combined.json`` those of the encoder and the differences that
the rules find. ``recipes/embedded/fit_rules.py`` and ``recipes/reader/fit.py`` write them. Not supported: interactions
of features.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from vouching.errors import WeightsError
from vouching.models.json_fields import json_number
from vouching.reading.evidence import shipped_table
from vouching.text.json_values import parse_json
from vouching.types.visible import shown_json

WEIGHTS_FORMAT = 1
ORDER_KEPT = 0.3
"""Share of a ceiling that depends on the features."""


@dataclass(frozen=True, slots=True)
class Term:
    """One feature of the model."""

    name: str
    weight: float
    """Change of z for one ``scale`` of the feature."""
    mean: float
    scale: float
    """Standard deviation in the training data."""


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """A calibrated logistic model; ``slope`` and ``shift`` are Platt's."""

    intercept: float
    """z where every feature has its mean."""
    terms: tuple[Term, ...]
    slope: float
    shift: float
    ceilings: Mapping[str, float]
    """Highest probability by kind of decisive difference, below one half."""
    verbatim_floor: float
    """Lowest probability of a claim that is copied word for word."""
    digest: str
    """First 12 hexadecimal digits of the file's SHA-256."""
    encoder: str | None = None
    """First digits of the SHA-256 of the encoder it was fitted on; None for the rules alone."""

    def logit(self, features: Mapping[str, float]) -> float:
        """Z of the features, before calibration."""
        return self.intercept + sum(t.weight * (features[t.name] - t.mean) / t.scale for t in self.terms)

    def ceiling(self, decisive: Iterable[str]) -> float:
        """Highest probability given the ``decisive`` differences; 1 for kinds without a ceiling."""
        return min((self.ceilings.get(kind, 1.0) for kind in decisive), default=1.0)

    def probability(self, features: Mapping[str, float], decisive: Iterable[str] = (), verbatim: bool = False) -> float:
        """Calibrated P(Attributable), in (0, 1), below the ceilings of the ``decisive`` differences.

        >>> model = ScoreModel(0.0, (Term("coverage", 2.0, 0.5, 0.25),), 1.0, 0.0, {"negated": 0.3}, 0.9, digest="")
        >>> round(model.probability({"coverage": 0.75}), 4)  # z = 2, 1 / (1 + exp(-2))
        0.8808
        >>> round(model.probability({"coverage": 0.75}, ["negated"]), 4)  # 0.3 * (0.7 + 0.3 * 0.8808)
        0.2893
        """
        free = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, self.slope * self.logit(features) + self.shift))))
        ceiling = self.ceiling(decisive)
        if ceiling == 1.0 and verbatim:
            return max(free, self.verbatim_floor)
        # Below the ceiling a better covered claim still scores higher.
        return min(free, ceiling * (1.0 - ORDER_KEPT + ORDER_KEPT * free)) if ceiling < 1.0 else free


@cache
def load_score_model(name: Literal["rules", "small", "combined"] = "rules") -> ScoreModel:
    """A shipped model. Raises WeightsError if the file is missing, altered or of another version."""
    return score_model_of(shipped_table(f"{name}.json"))


def score_model_of(raw: bytes) -> ScoreModel:
    """Read a model from the contents of a file. Raises WeightsError if they are invalid."""
    try:
        record = parse_json(raw)
        if record["format"] != WEIGHTS_FORMAT:
            raise WeightsError(
                f"the score model has format {record['format']}, expected {WEIGHTS_FORMAT}: reinstall vouching"
            )
        platt = record["calibration"]
        return ScoreModel(
            intercept=_number(record["intercept"]),
            terms=tuple(
                Term(t["name"], *(_number(t[key]) for key in ("weight", "mean", "scale"))) for t in record["terms"]
            ),
            slope=_number(platt["slope"]),
            shift=_number(platt["shift"]),
            ceilings={kind: _number(ceiling) for kind, ceiling in record["ceilings"].items()},
            verbatim_floor=_number(record["verbatim_floor"]),
            digest=hashlib.sha256(raw).hexdigest()[:12],
            encoder=record.get("encoder"),
        )
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        if isinstance(error, WeightsError):
            raise
        raise WeightsError(f"the score model cannot be read ({error!r}): reinstall vouching") from error


def _number(value: object) -> float:
    if (number := json_number(value)) is None:
        raise ValueError(f"{shown_json(value)} is not a finite number")
    return number
