"""How many rows and probes give a training example that the rules write, by label.

    VOUCH_DATA=... python recipes/evolve/example_yield.py

Reads 120 rows of each of six sets of ``attribution/train``, drawn with a fixed seed, and makes up to two probes of each
Attributable one. Not supported: judging the reasons that the rules give; that takes a reader.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter

from vouching.bench.catalog import data_folder
from vouching.evolve.records import Row
from vouching.evolve.structured_examples import reply_of
from vouching.judging.windows import ScreenedSources
from vouching.methods.structured.reading import read_reply
from vouching.methods.structured.reply import Reply
from vouching.perturb import perturb_rows
from vouching.types import Claim, Source, Unverified

SETS = ("wice", "faithdial", "bump", "fool_me_twice", "begin", "med")
ROWS, PER_ROW, SEED = 120, 2, 0


def rows_of(name: str) -> list[Row]:
    """A sample of the rows of a set."""
    with gzip.open(data_folder() / f"attribution/train/{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    random.Random(SEED).shuffle(records)
    return [Row(one["id"], one["claim"], one["source"], one["label"], name) for one in records[:ROWS]]


def main() -> None:
    """Read, make probes, write records, count."""
    asked, written, refused = Counter[str](), Counter[str](), 0
    quotes: list[float] = []
    for name in SETS:
        rows = rows_of(name)
        cases: list[tuple[str, Row, str | None]] = [("row", row, None) for row in rows]
        for made in perturb_rows([row.example for row in rows], per_row=PER_ROW, seed=SEED):
            probe = Row(made.id, made.claim, made.source, made.label, name, made.group, made.error_type, made.spans)
            cases.append(("probe", probe, made.original))
        for kind, row, original in cases:
            asked[f"{kind}, {row.label}"] += 1
            reply = reply_of(row, original)
            if isinstance(reply, Reply):
                written[f"{kind}, {row.label}"] += 1
                reading = read_reply(reply, Claim(row.claim), ScreenedSources([Source(row.source)]))
                if isinstance(reading, Unverified):
                    refused += 1
                else:
                    quotes.append(reading.grounded)
    for kind in sorted(asked):
        print(f"{kind}: {written[kind]} of {asked[kind]} ({100 * written[kind] / asked[kind]:.0f} %)")
    real = 100 * sum(quotes) / len(quotes)
    print(f"{refused} records that are not a valid verdict; {real:.2f} % of quotes are in the text")


if __name__ == "__main__":
    main()
