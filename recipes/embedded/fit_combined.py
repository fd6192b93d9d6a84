"""Fit and calibrate the score model of ``embedded``, over rules and encoder; writes ``weights/combined.json``.

    VOUCH_DATA=... python recipes/embedded/fit_combined.py --encoder runs/attribution/export [--jobs 2] [--output PATH]

Reads ``attribution/train`` only: the groups that the encoder's run held out. As in ``fit_rules.py`` every set has an
intercept of its own and every weight a sign fixed beforehand, so a contradicted number never raises the score. Left
out: interactions; ``recipes/encoder/ablation.py`` shows what each group of features adds.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from combined_rows import COMBINED, combined, read_material, read_unseen, z_of
from fit_rules import fit_model, hold_out, record_of
from training_rows import tabulate
from weight_sums import WEIGHTS, write_sums

from vouching.encoder.encoder import load_encoder
from vouching.encoder.reading import HEAD_FEATURES, LATE_INTERACTION_FEATURES

TARGET = WEIGHTS / "combined.json"


def main() -> None:
    """Measure, read, fit, calibrate, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, required=True, help="folder of the exported encoder")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--output", type=Path, default=TARGET)
    options = parser.parse_args()
    material = read_material([options.encoder], options.jobs, ["train"])
    rules = tabulate(material.rows)
    soft = read_unseen(material, options.encoder, options.jobs)
    names = ("rules", *HEAD_FEATURES, *LATE_INTERACTION_FEATURES)
    table = tabulate(combined(material.rows, z_of(rules, hold_out(rules)), soft, names))
    record = record_of(table, *fit_model(table, COMBINED), COMBINED)
    record["encoder"] = load_encoder(options.encoder).weights.digest
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if options.output == TARGET:
        write_sums(WEIGHTS)
    shown = ("terms", "calibration", "ceilings", "verbatim_floor", "fitted")
    print(json.dumps({key: record[key] for key in shown}, indent=1))


if __name__ == "__main__":
    main()
