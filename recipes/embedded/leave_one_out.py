"""AUROC on data sets that the weights have not seen: writes ``leave_one_out.json`` beside this file.

    VOUCH_DATA=... python recipes/embedded/leave_one_out.py [--jobs 2] [--limit N]

For each training set and each dev set, the model is fitted with the settings of ``fit_rules.py`` on the other training
sets and compared with word overlap. Sets whose names start alike (wice, wice_full; all summedits) are left out
together, and so is every row that shares a document, a claim or evidence with them. This, and not any test set, is
what settings are chosen by. Left out: intervals; sets have a few hundred rows, so differences under .02 say little.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from fit_rules import FOLDS, OVERLAP_WEIGHT, RULES, fit_model, probabilities
from sklearn.metrics import roc_auc_score
from training_rows import SEED, Row, load, share_of, tabulate

TARGET = Path(__file__).parent / "leave_one_out.json"
MAX_ROWS = 600  # of a set: as many as a set counts for in the fit


def family(place: str) -> str:
    """First word of the name of a "part/set": sets of one family are left out together.

    >>> family("train/wice_full"), family("dev/conjnli")
    ('wice', 'conjnli')
    """
    return place.partition("/")[2].partition("_")[0]


def others(sets: Mapping[str, Sequence[Row]], excluded: str) -> dict[str, list[Row]]:
    """Rows of the training sets of other families that share nothing with the family left out."""
    unseen = {row.group for place, rows in sets.items() if family(place) == excluded for row in rows}
    return {
        place: [row for row in rows if row.group not in unseen]
        for place, rows in sets.items()
        if place.startswith("train/") and family(place) != excluded
    }


def evaluate(excluded: str, sets: Mapping[str, Sequence[Row]]) -> dict[str, dict[str, float]]:
    """AUROC of the model and of word overlap, for each set of the family left out."""
    model, _ = fit_model(tabulate(others(sets, excluded)))
    found: dict[str, dict[str, float]] = {}
    for place, rows in sets.items():
        if family(place) == excluded:
            labels = [row.label for row in rows]
            ours = float(roc_auc_score(labels, probabilities(model, rows)))
            overlap = float(roc_auc_score(labels, [row.features["word_overlap"] for row in rows]))
            found[place] = {
                "rows": len(rows),
                "auroc": round(ours, 3),
                "overlap": round(overlap, 3),
                "difference": round(ours - overlap, 3),
            }
    return found


def main() -> None:
    """Leave out each family in turn, print a table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=MAX_ROWS, help="rows of a set, at most")
    parser.add_argument("--output", type=Path, default=TARGET)
    options = parser.parse_args()
    sets = load(["train", "dev"], options.jobs, options.limit)
    figures: dict[str, dict[str, float]] = {}
    with Pool(options.jobs) as pool:
        for found in pool.imap(partial(evaluate, sets=sets), dict.fromkeys(map(family, sets))):
            figures |= found
    ordered = dict(sorted(figures.items(), key=lambda item: (item[0].startswith("train/"), -share_of(item[0]), item)))
    print("| excluded | rows | embedded:rules | overlap | difference |\n|---|--:|--:|--:|--:|")
    for place, found in ordered.items():
        print("| {} | {rows} | {auroc:.3f} | {overlap:.3f} | {difference:+.3f} |".format(place, **found))
    differences = np.array([found["difference"] for found in ordered.values()])
    record = {
        "command": "python recipes/embedded/leave_one_out.py",
        "settings": {
            "seed": SEED,
            "folds": FOLDS,
            "ridge": RULES.ridge,
            "overlap_weight": OVERLAP_WEIGHT,
            "max_rows": options.limit,
        },
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "mean_difference": round(float(differences.mean()), 3),
        "sets": ordered,
    }
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
