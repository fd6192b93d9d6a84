"""Rows for the evolution of the embedded verifier: what may be learned from, and what is held out.

    VOUCH_DATA=... python recipes/evolve/rows.py --out runs/evolve-rows [--split-of EXPORT]

``held_out.json`` names the rows of attribution/train that the shipped encoder's run held out, by set. They become
``dev.jsonl``: up to 150 of a set, or 50 where sources are long, by whole groups, and claims with an error of known type that perturbations put into
Attributable ones among them. ``train.jsonl`` has every other row that shares no claim, source or document with a
held-out one. With ``--split-of`` the list is made anew from the record of an export, which needs the perturbations
that its run learned from. Left out: test sets; entailment; med and breaking_nli, which templates wrote.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from vouching.bench.catalog import data_folder
from vouching.evolve.records import Row, keys_of, write_records
from vouching.metrics import document_numbers
from vouching.perturb import ERROR_TYPE_OF, STRATEGIES, perturb_rows
from vouching.types import ERROR_TYPES

LIST = Path(__file__).parent / "held_out.json"
SEED, MOST_OF_A_SET, MOST_OF_A_TYPE, MOST_REWRITTEN = 0, 150, 40, 60
MOST_OF_LONG, LONG = 50, 1_500
"""Rows of a set with long sources, in characters on average: the encoder takes ten times as long for each."""
TOGETHER = {"summedits": "summedits", "wice_full": "wice"}
"""Sets that are one to a reader, by the beginning of their names."""
LEFT_OUT = ("med", "breaking_nli", "conjnli", "wice_spans")
"""Made by templates, or the same rows with other labels."""
PERTURBED = "perturbed"
"""Name of the set with errors of known type."""


def read_rows() -> dict[str, list[Row]]:
    """The rows of attribution/train by set."""
    sets: dict[str, list[Row]] = {}
    for path in sorted((data_folder() / "attribution/train").glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        if name in LEFT_OUT:
            continue
        shown = next((new for start, new in TOGETHER.items() if name.startswith(start)), name)
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        sets[name] = [
            Row(one["id"], one["claim"], one["source"], one["label"], shown, _text(one.get("group"))) for one in records
        ]
    return sets


def some(rows: Sequence[Row]) -> list[Row]:
    """As many rows of a set as are scored in every round, by whole groups."""
    most = MOST_OF_LONG if sum(len(row.source) for row in rows) > LONG * len(rows) else MOST_OF_A_SET
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for number, row in zip(document_numbers(row.keys for row in rows).tolist(), rows, strict=True):
        groups[number].append(row)
    drawn = list(groups.values())
    random.Random(SEED).shuffle(drawn)
    chosen: list[Row] = []
    for group in drawn:
        if len(chosen) + len(group) <= most:
            chosen += group
    return chosen


def perturbed(rows: Sequence[Row]) -> Iterator[Row]:
    """Claims of known type, made of Attributable rows; a row gives one of a type at most."""
    examples = [row.example for row in rows if row.attributable]
    random.Random(SEED).shuffle(examples)
    for error in (*ERROR_TYPES, None):
        strategies = [strategy for strategy in STRATEGIES if ERROR_TYPE_OF[strategy] == error]
        most = MOST_REWRITTEN if error is None else MOST_OF_A_TYPE
        for made in islice(perturb_rows(examples, strategies, per_row=1, seed=SEED), most):
            yield Row(made.id, made.claim, made.source, made.label, PERTURBED, made.group, made.error_type, made.spans)


def held_out_of(export: Path, sets: dict[str, list[Row]]) -> dict[str, list[str]]:
    """Ids of the rows that the run of an export held out."""
    from vouching.train.encoder import split_of_export

    held = {(row.claim, row.source) for unit in split_of_export(export).held for row in unit}
    return {name: sorted(row.id for row in rows if (row.claim, row.source) in held) for name, rows in sets.items()}


def main() -> None:
    """Read, split, perturb, write, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for dev.jsonl and train.jsonl")
    parser.add_argument("--split-of", type=Path, help="export whose split to list anew")
    options = parser.parse_args()
    sets = read_rows()
    if options.split_of:
        LIST.write_text(json.dumps(held_out_of(options.split_of, sets), indent=0) + "\n", encoding="utf-8")
    named: dict[str, list[str]] = json.loads(LIST.read_text(encoding="utf-8"))
    held = [row for name, rows in sets.items() for row in rows if row.id in set(named[name])]
    shown = sorted({row.data_set for row in held})
    natural = [row for name in shown for row in some([row for row in held if row.data_set == name])]
    dev = [*natural, *perturbed([row for row in held if len(row.source) < LONG])]
    taken = keys_of(held)
    train = [row for rows in sets.values() for row in rows if taken.isdisjoint(row.keys)]
    random.Random(SEED).shuffle(train)
    for name, rows in (("dev", dev), ("train", train)):
        write_records(options.out / f"{name}.jsonl", rows)
        print(name, len(rows), dict(sorted(Counter((row.data_set, row.label) for row in rows).items())))
    print(Counter(row.error_type for row in dev if row.data_set == PERTURBED))


def _text(group: object) -> str | None:
    return None if group is None else str(group)


if __name__ == "__main__":
    main()
