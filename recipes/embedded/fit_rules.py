"""Fit and calibrate the score model of ``embedded:rules``; writes ``weights/rules.json``.

    VOUCH_DATA=... python recipes/embedded/fit_rules.py [--jobs 2]

Reads ``attribution/train`` only. Weights: logistic regression with an intercept per data set (so that it cannot learn
how positive a data set is) and with the sign of every weight fixed beforehand (so that it cannot learn what is odd
about one). Calibration and ceilings: from folds whose documents the weights had not seen, every set and both labels
counting equally.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import random
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GroupKFold

from vouching.types import Source
from vouching.verifiers.embedded.decisive import FITTED_KINDS, OVERSTATED_CEILING, decisive
from vouching.verifiers.embedded.evidence import index_sources
from vouching.verifiers.embedded.features import compare_claim, measure
from vouching.verifiers.embedded.scoring import WEIGHTS_FORMAT

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "src/vouching/verifiers/embedded/weights/rules.json"
SEED, MOST_ROWS, FOLDS, RIDGE, MOST_CEILING, PRIOR_ROWS = 0, 1500, 5, 300.0, 0.48, 20
# Rows a set counts for, at most, times this share. Sets made by templates or by a language model's edits of a few texts
# count less: they hold one pattern many times. Decided on attribution/dev and by leaving one set out.
SHARES = {
    "breaking_nli": 0.05, "conjnli": 0.1, "med": 0.0, "summedits_ectsum": 0.3, "summedits_podcast": 0.2,
    "summedits_qmsumm": 0.2, "summedits_sales_call": 0.2, "summedits_sales_email": 0.2, "summedits_scitldr": 0.2,
}  # fmt: skip
LEFT_OUT = ("wice_spans",)  # the rows of wice_full with token labels
ROWS_PER_SET = 600
# Weight that word overlap, the plainest feature, has beforehand; the data may only add to it. Chosen so that, on
# attribution/dev and on training sets left out, no set is ranked worse than by overlap alone.
OVERLAP_WEIGHT = 0.35
SUPPORTING = ("coverage", "overlap", "resolved", "pairs", "order", "found", "_equal")
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """A training row, measured."""

    features: dict[str, float]
    """Features by name."""
    label: float
    """1 for Attributable."""
    group: str
    """Document it belongs to."""
    decisive: tuple[str, ...]
    """Kinds of decisive difference found."""


def measure_row(row: dict[str, str]) -> Row | None:
    """Measure one row; None if there is nothing to compare."""
    index = index_sources([Source(row["source"])])
    segments = compare_claim(row["claim"], index)
    if not segments or not index.sentences:
        return None
    kinds = tuple(dict.fromkeys(decisive([c for segment in segments for c in segment.comparisons])))
    group = row.get("group") or row["source"][:200]
    return Row(measure(segments, index), float(row["label"] == "Attributable"), group, kinds)


def load(jobs: int) -> dict[str, list[Row]]:
    """Measured rows by data set; rows shown in ``examples/`` are left out."""
    shown = {json.loads(line)["id"] for line in (ROOT / "examples/claims.jsonl").read_text("utf-8").splitlines()}
    sets: dict[str, list[Row]] = {}
    with Pool(jobs) as pool:
        for path in sorted((Path(os.environ["VOUCH_DATA"]) / "attribution/train").glob("*.jsonl.gz")):
            name = path.name.removesuffix(".jsonl.gz")
            if name in LEFT_OUT or SHARES.get(name) == 0.0:
                continue
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                rows = [row for line in lines if (row := json.loads(line))["id"] not in shown]
            random.Random(SEED).shuffle(rows)
            sets[name] = [row for row in pool.map(measure_row, rows[:MOST_ROWS], chunksize=25) if row]
            print(f"{name}: {len(sets[name])} rows", flush=True)
    return sets


def row_weights(labels: Array, share: float) -> Array:
    """Weights that make both labels of a set count equally."""
    positive = labels.mean()
    weights = np.where(labels == 1, 0.5 / positive, 0.5 / (1 - positive))
    return weights / weights.sum() * min(len(labels), ROWS_PER_SET) * share


def fit(x: Array, y: Array, weights: Array, sets: NDArray[np.int64], signs: Sequence[int], start: Array) -> Array:
    """Weights of standardised features ``x`` (rows, features): ``start`` plus what the data add with the given signs.

    Every set has an intercept of its own, which is not returned.
    """
    design = np.hstack([x, np.eye(sets.max() + 1)[sets]])
    width = x.shape[1]
    ridge = np.concatenate([np.full(width, RIDGE), np.full(design.shape[1] - width, 0.1)])
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


def platt(z: Array, y: Array, weights: Array) -> tuple[float, float]:
    """Slope and shift that make 1 / (1 + exp(-(slope z + shift))) a probability."""
    side = 2 * y - 1

    def loss(beta: Array) -> float:
        return float((weights * np.logaddexp(0, -side * (beta[0] * z + beta[1]))).sum())

    slope, shift = minimize(loss, np.array([1.0, 0.0])).x
    return float(slope), float(shift)


def ceiling(p: Array, y: Array, weights: Array) -> float:
    """Share of Attributable rows among those with one kind of decisive difference, at most ``MOST_CEILING``.

    It matters only where the features alone would say Attributable (p > .5); as such rows are few, the share among
    them is drawn towards the share among all by ``PRIOR_ROWS``.
    """
    likely = p > 0.5
    overall = (weights * y).sum() / weights.sum()
    among_likely = (weights * y)[likely].sum() / weights[likely].sum()
    rows = likely.sum()
    return float(min(MOST_CEILING, (rows * among_likely + PRIOR_ROWS * overall) / (rows + PRIOR_ROWS)))


def main() -> None:
    """Measure, fit, calibrate, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="processes that measure rows")
    sets = load(parser.parse_args().jobs)
    names, rows = list(sets), [row for group in sets.values() for row in group]
    features = list(rows[0].features)
    signs = [1 if any(word in name for word in SUPPORTING) else -1 for name in features]
    start = np.array([OVERLAP_WEIGHT if name == "word_overlap" else 0.0 for name in features])
    x = np.array([[row.features[name] for name in features] for row in rows])
    y = np.array([row.label for row in rows])
    set_of = np.concatenate([np.full(len(group), i) for i, group in enumerate(sets.values())])
    weights = np.concatenate([row_weights(y[set_of == i], SHARES.get(name, 1.0)) for i, name in enumerate(names)])
    even = np.concatenate([row_weights(y[set_of == i], 1.0) for i in range(len(names))])
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-6
    standard = (x - mean) / scale

    held_out = np.zeros(len(y))
    for train, test in GroupKFold(FOLDS).split(standard, y, [row.group for row in rows]):
        held_out[test] = standard[test] @ fit(standard[train], y[train], weights[train], set_of[train], signs, start)
    natural = np.isin(set_of, [i for i, name in enumerate(names) if SHARES.get(name, 1.0) == 1.0])
    slope, shift = platt(held_out[natural], y[natural], even[natural])
    beta = fit(standard, y, weights, set_of, signs, start)
    p = 1 / (1 + np.exp(-(slope * held_out + shift)))
    ceilings = {"overstated": OVERSTATED_CEILING}
    for kind in FITTED_KINDS:
        chosen = natural & np.array([kind in row.decisive for row in rows])
        ceilings[kind] = round(ceiling(p[chosen], y[chosen], even[chosen]), 3)
        print(f"{kind}: {chosen.sum()} rows, ceiling {ceilings[kind]}")
    report = {
        name: {
            "rows": int((set_of == i).sum()),
            "auroc_held_out": round(float(roc_auc_score(y[set_of == i], held_out[set_of == i])), 3),
            "share": SHARES.get(name, 1.0),
        }
        for i, name in enumerate(names)
    }
    record = {
        "format": WEIGHTS_FORMAT,
        "about": "P(Attributable) from comparison features; written by recipes/embedded/fit_rules.py",
        "intercept": 0.0,
        "terms": [
            {"name": n, "weight": round(float(b), 4), "mean": round(float(m), 4), "scale": round(float(s), 4)}
            for n, b, m, s in zip(features, beta, mean, scale, strict=True)
        ],
        "calibration": {"slope": round(slope, 4), "shift": round(shift, 4)},
        "ceilings": ceilings,
        "fitted": {
            "on": "attribution/train", "seed": SEED, "folds": FOLDS, "ridge": RIDGE, "overlap_weight": OVERLAP_WEIGHT,
            "sets": report,
            "brier_held_out": round(float(brier_score_loss(y[natural], p[natural], sample_weight=even[natural])), 4),
            "date": datetime.date.today().isoformat(), "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        },
    }  # fmt: skip
    TARGET.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({k: record[k] for k in ("calibration", "ceilings", "fitted")}, indent=1))


if __name__ == "__main__":
    main()
