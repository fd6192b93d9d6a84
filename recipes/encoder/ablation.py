"""What each part of the combined model adds, on rows that neither the model nor the encoder has seen.

    VOUCH_DATA=... python recipes/encoder/ablation.py --encoder runs/perturbed/export
        [--without-pairs runs/plain/export] [--jobs 2] [--output PATH]

Rules alone, then with late interaction, then with the heads of an encoder that learned from no perturbations, then with
those of one that did. For each family of sets of attribution/train and attribution/dev, rules and combined model are
fitted on the other training families, and scored on its rows that the encoders' runs held out. Test sets are not read.
Left out: intervals by set; sets have some hundred rows, so single differences under .03 say little.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "recipes/embedded"))

from combined_rows import COMBINED, Material, Text, combined, read_material, read_unseen, z_of  # noqa: E402
from fit_rules import fit_model, probabilities  # noqa: E402
from leave_one_out import family, others  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402
from training_rows import Row, tabulate  # noqa: E402

from vouching.encoder.encoder import load_encoder  # noqa: E402
from vouching.encoder.reading import HEAD_FEATURES, LATE_INTERACTION_FEATURES  # noqa: E402

MIN_ROWS = 30
Soft = Mapping[Text, Mapping[str, float]]


def evaluate(
    excluded: str, material: Material, variants: Mapping[str, tuple[Soft, Sequence[str]]]
) -> dict[str, dict[str, float]]:
    """AUROC of each variant, for each set of the family left out."""
    table = tabulate(others(material.rows, excluded))
    rules, held_out = fit_model(table)
    z = z_of(table, held_out)
    mine = {place: rows for place, rows in material.rows.items() if family(place) == excluded}
    z |= {(row.claim, row.source): rules.logit(row.features) for rows in mine.values() for row in rows}
    theirs = others(material.rows, excluded)
    found: dict[str, dict[str, float]] = {}
    for name, (soft, features) in variants.items():
        fitted, _ = fit_model(tabulate(combined(theirs, z, soft, features)), COMBINED)
        for place, rows in combined(mine, z, soft, features).items():
            if len(rows) >= MIN_ROWS:
                found.setdefault(place, first_columns(mine[place], soft))[name] = area(
                    rows, probabilities(fitted, rows)
                )
    return found


def first_columns(rows: Sequence[Row], soft: Soft) -> dict[str, float]:
    """Rows, and the AUROC of word overlap."""
    read = [row for row in rows if (row.claim, row.source) in soft]
    return {"rows": len(read), "overlap": area(read, np.array([row.features["word_overlap"] for row in read]))}


def area(rows: Sequence[Row], scores: np.ndarray) -> float:
    """AUROC."""
    return round(float(roc_auc_score([row.label for row in rows], scores)), 4)


def main() -> None:
    """Measure, read, fit with every family left out, print the table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of an exported encoder")
    parser.add_argument("--without-pairs", type=Path, help="folder of an encoder trained without perturbations")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "ablation.json")
    options = parser.parse_args()
    folders = [folder for folder in (options.without_pairs, options.encoder) if folder]
    material = read_material(folders, options.jobs, ["train", "dev"])
    readings = {folder: read_unseen(material, folder, options.jobs) for folder in folders}
    first, last = readings[folders[0]], readings[folders[-1]]
    everything = ("rules", *LATE_INTERACTION_FEATURES, *HEAD_FEATURES)
    variants: dict[str, tuple[Soft, Sequence[str]]] = {
        "rules": (first, ("rules",)),
        "+ late interaction": (first, ("rules", *LATE_INTERACTION_FEATURES)),
        "+ heads": (first, everything),
    }  # fmt: skip
    if options.without_pairs:
        variants["+ perturbations"] = (last, everything)
    variants["encoder alone"] = (last, ("supported",))
    figures: dict[str, dict[str, float]] = {}
    with Pool(options.jobs) as pool:
        work = partial(evaluate, material=material, variants=variants)
        for found in pool.imap(work, dict.fromkeys(map(family, material.rows))):
            figures |= found
    names = ["overlap", *variants]
    means = {name: round(float(np.mean([found[name] for found in figures.values()])), 4) for name in names}
    print("| excluded | rows | " + " | ".join(names) + " |\n|---|" + "--:|" * (len(names) + 1))
    for place, found in {**figures, "mean": {"rows": sum(f["rows"] for f in figures.values()), **means}}.items():
        print(f"| {place} | {found['rows']} | " + " | ".join(f"{found[name]:.3f}" for name in names) + " |")
    record = {
        "encoders": [load_encoder(folder).weights.digest for folder in folders],
        "date": datetime.date.today().isoformat(), "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "mean": means, "sets": figures,
    }  # fmt: skip
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
