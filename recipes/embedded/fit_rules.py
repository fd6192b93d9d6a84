"""Fit and calibrate the score model of ``embedded:rules``; writes ``weights/rules.json`` and ``weights/SHA256SUMS``.

    VOUCH_DATA=... python recipes/embedded/fit_rules.py [--jobs 2] [--limit N] [--output PATH]

Reads ``attribution/train`` only. Weights: logistic regression with an intercept per data set (so that it cannot learn
how positive a data set is) and with the sign of every weight fixed beforehand (so that it cannot learn what is odd
about one). Calibration and ceilings: from folds whose documents, claims and evidence neither the weights nor the
standardisation had seen, every natural set and both labels counting equally.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GroupKFold
from training_rows import MAX_ROWS, SEED, Array, Row, Table, load, share_of, tabulate
from weight_sums import WEIGHTS, write_sums

from vouching.embedded.diagnosis import FITTED_KINDS, OVERSTATED_CEILING
from vouching.embedded.scoring import WEIGHTS_FORMAT, ScoreModel, Term

TARGET = WEIGHTS / "rules.json"
FOLDS, MAX_CEILING, PRIOR_ROWS = 5, 0.48, 20


@dataclass(frozen=True, slots=True)
class Fit:
    """How weights are fitted."""

    ridge: float
    """Strength of the pull towards ``start``."""
    supporting: tuple[str, ...]
    """Parts of the names of the features that can only speak for a claim; all others can only speak against it."""
    start: Mapping[str, float]
    """Weights that features have beforehand; 0 for those not named."""
    overruling: tuple[str, ...]
    """Kinds of decisive difference that always have a ceiling; others only where the data say so."""


# Weight that word overlap, the plainest feature, has beforehand; the data may only add to it. Chosen so that, on
# attribution/dev and on nearly all training sets left out (leave_one_out.json), no set is ranked worse than by it.
OVERLAP_WEIGHT = 0.35
SUPPORTING = ("coverage", "overlap", "resolved", "pairs", "order", "found", "_equal")
RULES = Fit(300.0, SUPPORTING, {"word_overlap": OVERLAP_WEIGHT}, FITTED_KINDS)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Rows scored by weights that had not seen their group."""

    z: Array
    """Score before calibration."""
    fold: NDArray[np.int64]
    """Fold that held the row out."""


def fit(table: Table, chosen: NDArray[np.int64], x: Array, how: Fit) -> Array:
    """Weights of the standardised features ``x`` of the chosen rows: the start, and what the data add with its sign.

    Every set has an intercept of its own, which is not returned.
    """
    y, weights, sets = table.y[chosen], table.weights[chosen], table.set_of[chosen]
    signs = [1 if any(word in name for word in how.supporting) else -1 for name in table.features]
    start = np.array([how.start.get(name, 0.0) for name in table.features])
    design = np.hstack([x, np.eye(sets.max() + 1)[sets]])
    width = x.shape[1]
    ridge = np.concatenate([np.full(width, how.ridge), np.full(design.shape[1] - width, 0.1)])
    side = 2 * y - 1

    def loss(beta: Array) -> tuple[float, Array]:
        z = x @ start + design @ beta
        slope = -side / (1 + np.exp(side * z))
        value = (weights * np.logaddexp(0, -side * z)).sum() + 0.5 * (ridge * beta**2).sum()
        return float(value), design.T @ (weights * slope) + ridge * beta

    bounds = [(0, None) if sign > 0 else (None, 0) for sign in signs] + [(None, None)] * (design.shape[1] - width)
    result = minimize(
        loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 1000}
    )
    return start + result.x[:width]


def weigh(table: Table, chosen: NDArray[np.int64], how: Fit = RULES) -> ScoreModel:
    """Terms fitted and standardised on the ``chosen`` rows; not calibrated, without ceilings."""
    x = table.x[chosen]
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-6
    beta = fit(table, chosen, (x - mean) / scale, how)
    numbers = zip(table.features, *(np.round(v, 4).tolist() for v in (beta, mean, scale)), strict=True)
    return ScoreModel(0.0, tuple(Term(*entry) for entry in numbers), 1.0, 0.0, {}, 0.5, digest="")


def hold_out(table: Table, how: Fit = RULES) -> HeldOut:
    """Score every row by weights fitted on the other folds; groups are never split up."""
    z, fold = np.zeros(len(table.y)), np.zeros(len(table.y), dtype=np.int64)
    for number, (train, test) in enumerate(GroupKFold(FOLDS).split(table.x, groups=[r.group for r in table.rows])):
        model = weigh(table, train, how)
        z[test] = [model.logit(table.rows[i].features) for i in test]
        fold[test] = number
    return HeldOut(z, fold)


def platt(z: Array, y: Array, weights: Array) -> tuple[float, float]:
    """Slope and shift that make 1 / (1 + exp(-(slope z + shift))) a probability."""
    side = 2 * y - 1

    def loss(beta: Array) -> float:
        return float((weights * np.logaddexp(0, -side * (beta[0] * z + beta[1]))).sum())

    slope, shift = minimize(loss, np.array([1.0, 0.0])).x
    return round(float(slope), 4), round(float(shift), 4)


def ceiling(p: Array, y: Array, weights: Array) -> float:
    """Share of Attributable rows among those with one kind of decisive difference, at most ``MAX_CEILING``.

    It matters only where the features alone would say Attributable (p > .5); as such rows are few, the share among
    them is drawn towards the share among all by ``PRIOR_ROWS``. Without any row it is ``MAX_CEILING``.
    """
    if not len(p):
        return MAX_CEILING
    likely = p > 0.5
    overall = (weights * y).sum() / weights.sum()
    among_likely = (weights * y)[likely].sum() / weights[likely].sum() if likely.any() else overall
    rows = likely.sum()
    share = (rows * among_likely + PRIOR_ROWS * overall) / (rows + PRIOR_ROWS)
    return round(float(min(MAX_CEILING, share)), 3)


def calibrate(model: ScoreModel, table: Table, z: Array, chosen: NDArray[np.bool_], how: Fit = RULES) -> ScoreModel:
    """The model with slope, shift and ceilings fitted on the ``chosen`` rows' held-out scores; natural sets only."""
    chosen = chosen & (table.even > 0)
    y, weights = table.y[chosen], table.even[chosen]
    slope, shift = platt(z[chosen], y, weights)
    p = 1 / (1 + np.exp(-(slope * z[chosen] + shift)))
    rows = [row for row, taken in zip(table.rows, chosen, strict=True) if taken]
    ceilings: dict[str, float] = {"overstated": OVERSTATED_CEILING}
    for kind in FITTED_KINDS:
        has = np.array([kind in row.decisive for row in rows])
        share = ceiling(p[has], y[has], weights[has])
        if kind in how.overruling or share < MAX_CEILING:
            ceilings[kind] = share
    copied = np.array([row.verbatim and not row.decisive for row in rows])
    # Laplace's rule: nearly all copied claims are Attributable, and that is no certainty.
    floor = round(float((y[copied].sum() + 1) / (copied.sum() + 2)), 3)
    return replace(model, slope=slope, shift=shift, ceilings=ceilings, verbatim_floor=floor)


def probabilities(model: ScoreModel, rows: Sequence[Row]) -> Array:
    """What the verifier would answer, ceilings included."""
    return np.array([model.probability(row.features, row.decisive, row.verbatim) for row in rows])


def shipped_formula(z: Array, table: Table, model: ScoreModel) -> Array:
    """Scores from held-out ``z``, with the calibration and the ceilings of ``model`` and its own formula."""
    plain = replace(model, intercept=0.0, terms=(Term("z", 1.0, 0.0, 1.0),))
    return np.array(
        [plain.probability({"z": v}, row.decisive, row.verbatim) for v, row in zip(z, table.rows, strict=True)]
    )


def fit_model(table: Table, how: Fit = RULES) -> tuple[ScoreModel, HeldOut]:
    """The model of all rows, calibrated on held-out scores, and these scores."""
    held_out = hold_out(table, how)
    everything = np.arange(len(table.y))
    return calibrate(weigh(table, everything, how), table, held_out.z, everything >= 0, how), held_out


def brier(table: Table, model: ScoreModel, held_out: HeldOut, how: Fit = RULES) -> dict[str, float]:
    """Brier scores after ceilings: each fold is calibrated on the other folds. Beside it the base rate's."""
    p = np.zeros(len(table.y))
    for number in range(FOLDS):
        calibrated = calibrate(model, table, held_out.z, held_out.fold != number, how)
        p = np.where(held_out.fold == number, shipped_formula(held_out.z, table, calibrated), p)
    weighted = {"sample_weight": table.even}
    return {
        "brier_held_out": round(float(brier_score_loss(table.y, p, **weighted)), 4),
        "brier_of_one_half": round(float(brier_score_loss(table.y, np.full(len(p), 0.5), **weighted)), 4),
    }


def record_of(table: Table, model: ScoreModel, held_out: HeldOut, how: Fit = RULES) -> dict[str, Any]:
    """What is written: the model and how it was fitted."""
    p = shipped_formula(held_out.z, table, model)
    report = {
        name.partition("/")[2]: {
            "rows": int((table.set_of == i).sum()),
            "auroc_held_out": round(float(roc_auc_score(table.y[table.set_of == i], p[table.set_of == i])), 3),
            "share": share_of(name),
        }
        for i, name in enumerate(table.names)
    }
    return {
        "format": WEIGHTS_FORMAT,
        "about": f"P(Attributable); written by recipes/embedded/{Path(sys.argv[0]).name}",
        "intercept": model.intercept,
        "terms": [{"name": t.name, "weight": t.weight, "mean": t.mean, "scale": t.scale} for t in model.terms],
        "calibration": {"slope": model.slope, "shift": model.shift},
        "ceilings": dict(model.ceilings),
        "verbatim_floor": model.verbatim_floor,
        "fitted": {
            "on": "attribution/train",
            "seed": SEED,
            "folds": FOLDS,
            "ridge": how.ridge,
            "start": dict(how.start),
            "sets": report,
            **brier(table, model, held_out, how),
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        },
    }


def main() -> None:
    """Measure, fit, calibrate, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="processes that measure rows")
    parser.add_argument("--limit", type=int, default=MAX_ROWS, help="rows of a set, at most")
    parser.add_argument("--output", type=Path, default=TARGET)
    options = parser.parse_args()
    table = tabulate(load(["train"], options.jobs, options.limit))
    record = record_of(table, *fit_model(table))
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if options.output == TARGET:
        write_sums(WEIGHTS)
    print(json.dumps({k: record[k] for k in ("calibration", "ceilings", "fitted")}, indent=1))


if __name__ == "__main__":
    main()
