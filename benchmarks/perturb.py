"""Speed of perturbation, results by strategy, and the verdicts of the embedded verifier on them.

    VOUCH_DATA=... python benchmarks/perturb.py [--output benchmarks/results/perturb.json]

Rows: the Attributable ones of attribution/train, in a random order, then those of an entailment set of encyclopedia
sentences, until there are 10,000 perturbations. Time is that of one process on one core, including the collection of
names and facts, excluding reading the files.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import random
import time
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

import vouching
from vouching.perturb import ERROR_TYPE_OF, STRATEGIES, Perturbation, Tally, perturb_rows
from vouching.types import Example, Source, Verdict

SEED, WANTED, PER_ROW, CHECKED = 0, 10_000, 8, 100
EXCLUDED = ("wice_spans", "med", "breaking_nli", "conjnli")
"""Sets of another kind: spans, and templated or automatically labelled sentences."""
THEN = "attribution/nli/fever_nli_dev.jsonl.gz"
"""Where rows come from when those of attribution/train are used up."""


def read_rows() -> list[Example]:
    """The rows of every set that is taken, in one order for all runs."""
    root = Path(os.environ["VOUCH_DATA"])
    paths = sorted((root / "attribution/train").glob("*.jsonl.gz"))
    taken = [path for path in paths if path.name.split(".")[0] not in EXCLUDED]
    return attributable(taken) + attributable([root / THEN])


def attributable(paths: list[Path]) -> list[Example]:
    """The Attributable rows of some files, shuffled."""
    rows: list[Example] = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["label"] == "Attributable":
                    rows.append(Example(row["id"], row["claim"], (Source(row["source"]),), row["label"]))
    random.Random(SEED).shuffle(rows)
    return rows


def checked(made: list[Perturbation]) -> dict[str, Any]:
    """Of some of each strategy: how often ``embedded:rules`` is right, where it passes the original."""
    by_strategy: dict[str, list[Perturbation]] = defaultdict(list)
    for one in made:
        by_strategy[one.strategy].append(one)
    checker = vouching.Checker("embedded:rules")
    found: dict[str, Any] = {}
    for strategy in STRATEGIES:
        right: list[bool] = []
        for one in by_strategy[strategy][:CHECKED]:
            original, changed = checker.check([one.original, one.claim], one.source)
            if isinstance(original, Verdict) and isinstance(changed, Verdict) and original.attributable:
                right.append(changed.label == one.label)
        found[strategy] = {"originals_passed": len(right), "right": sum(right)}
    return found


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/perturb.json")
    options = parser.parse_args()
    if "VOUCH_DATA" not in os.environ:
        parser.error("VOUCH_DATA is not set: set it to the folder with the data sets")
    rows, tally = read_rows(), Tally()
    start, cpu = time.perf_counter(), time.process_time()
    made = list(islice(perturb_rows(rows, per_row=PER_ROW, seed=SEED, tally=tally), WANTED))
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    record = {
        "command": "python benchmarks/perturb.py",
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "rows": len(rows),
        "per_row": PER_ROW,
        "perturbations": len(made),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
        "cpu_seconds_per_10000": round(10_000 * cpu_seconds / len(made), 1),
        "strategies": {
            strategy: {
                "error_type": ERROR_TYPE_OF[strategy],
                "kept": tally.kept[strategy],
                "drop_rate": round(tally.drop_rate(strategy), 3),
            }
            for strategy in STRATEGIES
        },
        "embedded_rules": checked(made),
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
