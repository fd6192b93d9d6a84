"""Rows for the evolution of the embedded verifier: training rows, and held-out rows as dev.

    VOUCH_DATA=... python recipes/evolve/rows.py --out runs/evolve-rows [--split-of EXPORT]

``held_out.json`` names the rows of attribution/train that the shipped encoder's run held out, by set. Some of each set
go into ``dev.jsonl``, with perturbed claims of known error type made from Attributable ones. ``train.jsonl`` has the
rows with a short source that share no claim, source or document with a held-out one: long sources take an encoder on a
CPU ten times as long, so some sets give no probes. ``--split-of`` rewrites the list from the record of an export, which
needs the perturbations that its run was trained on. Not supported: test sets; entailment; med, conjnli and
breaking_nli, which were written by templates.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.encoder.train import split_of_export
from vouching.bench.catalog import data_folder
from vouching.errors import ConfigError, VouchError
from vouching.evolve.probe import typed_rows
from vouching.evolve.records import Row, write_records
from vouching.evolve.rows import keys_of
from vouching.metrics import document_numbers

LIST = Path(__file__).parent / "held_out.json"
SEED, MAX_OF_A_SET, MAX_OF_LONG, OF_A_TYPE = 0, 100, 40, 30
LONG, LONGEST = 1_500, 800
"""Characters: mean length of sources from which a set counts as long; maximum length of a training source."""
TOGETHER = {"summedits": "summedits", "wice_full": "wice"}
"""Sets that are reported as one, by the prefix of their names."""
EXCLUDED = ("med", "breaking_nli", "conjnli", "wice_spans")
"""Written by templates, or the same rows with other labels."""


def read_rows() -> dict[str, list[Row]]:
    """The rows of attribution/train by set. Raises ConfigError if there are none."""
    sets: dict[str, list[Row]] = {}
    folder = data_folder() / "attribution/train"
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        if name in EXCLUDED:
            continue
        shown = next((new for start, new in TOGETHER.items() if name.startswith(start)), name)
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        sets[name] = [
            Row(one["id"], one["claim"], one["source"], one["label"], shown, _text(one.get("group"))) for one in records
        ]
    if not sets:
        raise ConfigError(
            f"{folder} has no .jsonl.gz files: add your own rows there, with claim, source, label and set, one per line"
        )
    return sets


def some(rows: Sequence[Row]) -> list[Row]:
    """The dev rows of a set, from as many groups as possible and of both labels."""
    limit = MAX_OF_LONG if sum(len(row.source) for row in rows) > LONG * len(rows) else MAX_OF_A_SET
    drawn = random.Random(SEED).sample(rows, len(rows))
    numbers = document_numbers(row.keys for row in drawn).tolist()
    taken: Counter[tuple[int, str]] = Counter()
    place: dict[str, int] = {}
    for number, row in zip(numbers, drawn, strict=True):
        place[row.id] = taken[number, row.label]
        taken[number, row.label] += 1
    drawn.sort(key=lambda row: place[row.id])
    supported = [row for row in drawn if row.attributable][: limit // 2]
    return supported + [row for row in drawn if not row.attributable][: limit - len(supported)]


def held_out_of(export: Path, sets: dict[str, list[Row]]) -> dict[str, list[str]]:
    """Ids of the rows that the run of an export held out."""
    held = {(row.claim, row.source) for unit in split_of_export(export).held for row in unit}
    return {name: sorted(row.id for row in rows if (row.claim, row.source) in held) for name, rows in sets.items()}


def main() -> None:
    """Read, split, perturb, write, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for dev.jsonl and train.jsonl")
    parser.add_argument("--split-of", type=Path, help="exported encoder whose split is used")
    options = parser.parse_args()
    sets = read_rows()
    if options.split_of:
        LIST.write_text(json.dumps(held_out_of(options.split_of, sets), indent=0) + "\n", encoding="utf-8")
    named: dict[str, list[str]] = json.loads(LIST.read_text(encoding="utf-8"))
    held = [row for name, rows in sets.items() for row in rows if row.id in set(named[name])]
    shown = sorted({row.data_set for row in held})
    natural = [row for name in shown for row in some([row for row in held if row.data_set == name])]
    dev = [*natural, *typed_rows([row for row in held if len(row.source) <= LONGEST], OF_A_TYPE, SEED)]
    taken = keys_of(held)
    train = [row for rows in sets.values() for row in rows if len(row.source) <= LONGEST and taken.isdisjoint(row.keys)]
    random.Random(SEED).shuffle(train)
    for name, rows in (("dev", dev), ("train", train)):
        write_records(options.out / f"{name}.jsonl", rows)
        print(name, len(rows), dict(sorted(Counter((row.data_set, row.label) for row in rows).items())))
    print("typed", dict(Counter(row.error_type for row in dev if row.error_type)))


def _text(group: object) -> str | None:
    return None if group is None else str(group)


if __name__ == "__main__":
    try:
        main()
    except VouchError as error:
        raise SystemExit(f"rows: {error}") from None
