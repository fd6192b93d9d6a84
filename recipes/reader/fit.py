"""Fits the one decision of a verifier with encoders.

    python recipes/reader/fit.py runs/reader/measured [--export runs/reader/export] [--encoder FOLDER] [--output FILE]

With ``--export``, for the large encoder beside the small one: ``combined.json``, the score of ``embedded``. Without it,
for the small one alone: ``small.json``, the score of ``embedded:small``.

A logistic regression over the encoders' log-odds and the kinds of decisive difference, on groups held out of training,
with an intercept per set and the sign of each weight fixed beforehand. Slope and shift (Platt) come from models that
have not seen the set at all, and so do the figures; the sets that choose settings (``dev_*``) are never fitted on. Few
kinds of difference are vetoes: with them no claim passes, whatever the encoders say.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching.embedded.scoring import WEIGHTS_FORMAT
from vouching.embedded.soft_reading import WEIGHED
from vouching.encoder.encoder import load_encoder
from vouching.metrics import auroc, ece
from vouching.reading.text_encoder import TextEncoder

sys.path.insert(0, str(Path(__file__).parents[1] / "embedded"))
from fit_rules import MAX_CEILING, Fit, fit, platt
from weight_sums import WEIGHTS as SHIPPED
from weight_sums import write_sums

HOW = Fit(ridge=10.0, supporting=("supported", "lowest_support"), start={}, overruling=())
"""The encoders can only speak for a claim, differences only against it."""
LARGEST_SET, PRIOR_ROWS = 200, 10
VETOES = ("quantity_differs", "date_differs", "opposite", "negated", "overstated")
"""Differences with which no claim passes: numbers, dates, opposites, negations, and, as in SEVA's taxonomy (Fig. 4,
case F3), an added intensifier. On the sets of ``measure.py`` other names and dropped hedges gained nothing as vetoes,
and what the sources merely do not have lost .05 of balanced accuracy."""
VERBATIM_FLOOR = 0.9
"""Lowest score of a claim that a source has word for word."""
Array = NDArray[np.float64]


class Table:
    """Claims of all sets with the chosen features."""

    def __init__(self, folder: Path, features: tuple[str, ...]) -> None:
        self.features, self.names = features, []
        rows: list[dict[str, Any]] = []
        sets: list[int] = []
        for path in sorted(folder.glob("*.jsonl")):
            read = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            if len({row["y"] == 0 for row in read}) == 2:
                sets += [len(self.names)] * len(read)
                self.names.append(path.stem)
                rows += read
        self.set_of = np.array(sets)
        self.to_fit = np.array([not self.names[number].startswith("dev_") for number in sets])
        self.kinds = [frozenset(row["kinds"]) for row in rows]
        self.y = np.array([float(row["y"] == 0) for row in rows])
        found = [{**row["features"], **{kind: float(kind in row["kinds"]) for kind in WEIGHED}} for row in rows]
        self.x = np.array([[row[name] for name in features] for row in found])
        self.weights = np.zeros(len(rows))
        for number in range(len(self.names)):
            own = self.set_of == number
            share = self.y[own].mean()
            even = np.where(self.y[own] == 1, 0.5 / share, 0.5 / (1 - share))
            self.weights[own] = even / own.sum() * min(own.sum(), LARGEST_SET)


def weigh(table: Table, chosen: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Weights, means and scales of the features, from the chosen claims."""
    x = table.x[chosen]
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-6
    return fit(table, chosen, (x - mean) / scale, HOW), mean, scale


def of_other_sets(table: Table) -> Array:
    """Log-odds of each claim by a model that has seen no claim of its set."""
    z = np.zeros(len(table.y))
    for number in range(len(table.names)):
        own = table.set_of == number
        weights, mean, scale = weigh(table, table.to_fit & ~own)
        z[own] = ((table.x[own] - mean) / scale) @ weights
    return z


def vetoes(table: Table, p: Array) -> dict[str, float]:
    """Ceilings of the vetoes: the share of right claims among those that would pass, drawn to one half by few."""
    found: dict[str, float] = {}
    for kind in VETOES:
        passing = np.array([kind in kinds for kinds in table.kinds]) & (p >= 0.5) & table.to_fit
        share = (table.y[passing].sum() + PRIOR_ROWS * 0.5) / (passing.sum() + PRIOR_ROWS)
        found[kind] = round(float(min(MAX_CEILING, share)), 3)
    return found


def figures(table: Table, p: Array) -> dict[str, dict[str, float]]:
    """Claims, AUROC, balanced accuracy and error of calibration by set, of models that have not seen it."""
    found: dict[str, dict[str, float]] = {}
    for number, name in enumerate(table.names):
        own = table.set_of == number
        y, scores = table.y[own] == 1, p[own]
        balanced = ((scores[y] >= 0.5).mean() + (scores[~y] < 0.5).mean()) / 2
        values = (auroc(y.tolist(), scores.tolist()), balanced, ece(y.tolist(), scores.tolist()))
        found[name] = {"claims": int(own.sum())}
        found[name] |= {key: round(float(v), 3) for key, v in zip(("auroc", "balanced", "ece"), values, strict=True)}
    return found


def record_of(table: Table, encoder: str) -> dict[str, Any]:
    """The file of a score model, with the figures of other sets' models."""
    z = of_other_sets(table)
    fitted = table.to_fit
    slope, shift = platt(z[fitted], table.y[fitted], table.weights[fitted])
    p = 1 / (1 + np.exp(-(slope * z + shift)))
    ceilings = vetoes(table, p)
    lowest = np.array([min((ceilings[k] for k in kinds if k in ceilings), default=1.0) for kinds in table.kinds])
    weights, mean, scale = weigh(table, fitted)
    numbers = zip(table.features, *(np.round(v, 4).tolist() for v in (weights, mean, scale)), strict=True)
    terms = [dict(zip(("name", "weight", "mean", "scale"), entry, strict=True)) for entry in numbers]
    return {
        "format": WEIGHTS_FORMAT,
        "about": "P(Attributable); written by recipes/reader/fit.py",
        "intercept": 0.0,
        "terms": [term for term in terms if term["weight"]],
        "calibration": {"slope": slope, "shift": shift},
        "ceilings": ceilings,
        "verbatim_floor": VERBATIM_FLOOR,
        "encoder": encoder,
        "fitted": {
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "ridge": HOW.ridge,
            "sets": figures(table, np.minimum(p, lowest)),
        },
    }


def main() -> None:
    """Fit, write and print one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path)
    parser.add_argument("--export", type=Path, help="folder of the large encoder")
    parser.add_argument("--encoder", type=Path, help="folder of the small encoder; the shipped one by default")
    parser.add_argument("--output", type=Path, help="by default the shipped file")
    options = parser.parse_args()
    name, features = "small.json", ("supported", "lowest_support", *WEIGHED)
    digest = load_encoder(options.encoder).weights.digest
    if options.export:
        name, features = "combined.json", ("large_supported", "supported", *WEIGHED)
        digest = f"{TextEncoder(options.export).digest}+{digest}"
    record = record_of(Table(options.measured, features), digest)
    (options.output or SHIPPED / name).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    if not options.output:
        write_sums(SHIPPED)
    print(json.dumps({key: record[key] for key in ("terms", "calibration", "ceilings", "fitted")}, indent=1))


if __name__ == "__main__":
    main()
