"""Whether the type of an error is named for kinds of errors that the encoder never saw.

    VOUCH_DATA=... python recipes/encoder/held_out_strategies.py [--encoder EXPORT] [--limit 100] [--jobs 2]

Perturbs Attributable rows of attribution/train that the encoder's run held out, and those of attribution/dev, with the
strategies that ``perturbations.sh`` leaves out, one for each error type; writes ``held_out_strategies.json``. A claim
that is accepted counts as wrong. Excluded: the rows of attribution/nli, which an earlier stage has seen whatever the
last one held out; the test sets, which ``vouch bench run seva_v3 bump`` reports.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import sys
from collections import Counter
from functools import partial
from itertools import islice
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import vouching
from recipes.encoder.rows import read_sets
from recipes.encoder.train import split_of_export
from vouching.bench.catalog import data_folder
from vouching.encoder.weights import find_weights
from vouching.perturb import ERROR_TYPE_OF, Perturbation, perturb_rows
from vouching.types import Example, Source, Verdict

HELD_OUT = ("unit_change", "order_flip", "opposite", "entity_graft", "intensifier_added", "presupposition")
SEED = 0


def read_rows(export: Path) -> list[Example]:
    """Attributable rows that the encoder has not seen."""
    root = data_folder() / "attribution"
    unseen = {(row.claim, row.source) for unit in split_of_export(export).held for row in unit}
    sets = read_sets([root / "train", root / "dev"], {}, 1_000_000, SEED)
    rows = {
        (row.claim, row.source): Example(f"{place}-{i}", row.claim, (Source(row.source),), "Attributable")
        for place, units in sets.items()
        for i, unit in enumerate(units)
        for row in unit
        if row.attributable and (place.startswith("dev/") or (row.claim, row.source) in unseen)
    }
    return random.Random(SEED).sample(list(rows.values()), len(rows))


def told(model: str, made: Perturbation) -> str:
    """The error type that a verifier gives, or "passed"."""
    verdict = vouching.Checker(model).check(made.claim, made.source)
    assert isinstance(verdict, Verdict)
    return verdict.error_type or "passed"


def main() -> None:
    """Perturb, judge, count, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", type=Path, default=find_weights().folder, help="take its held-out rows")
    parser.add_argument("--limit", type=int, default=100, help="number of claims per strategy")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "held_out_strategies.json")
    options = parser.parse_args()
    rows = read_rows(options.encoder)
    figures: dict[str, dict[str, object]] = {}
    for model in ("embedded:rules", "embedded"):
        right = total = 0
        for strategy in HELD_OUT:
            claims = list(islice(perturb_rows(rows, strategies=[strategy], per_row=1, seed=SEED), options.limit))
            with Pool(options.jobs) as pool:
                found = Counter(pool.map(partial(told, model), claims, chunksize=10))
            kind = ERROR_TYPE_OF[strategy]
            figures.setdefault(strategy, {"error_type": kind, "claims": len(claims)})[model] = dict(found.most_common())
            right, total = right + found[str(kind)], total + len(claims)
            print(
                f"{model:15} {strategy:18} {kind!s:24} {found[str(kind)]:3} of {len(claims)}  {dict(found)}", flush=True
            )
        figures.setdefault("all", {})[model] = {"right": right, "claims": total, "share": round(right / total, 3)}
        print(model, figures["all"][model], flush=True)
    record = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "strategies": figures,
    }
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
