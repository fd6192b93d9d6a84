"""Writes the training rows of public sets with the premises that the encoder reads, and copies with a changed source.

    python recipes/encoder/premise_rows.py runs/premises

Every file of the folder is one set for ``pairs`` of a run. Only rows are written that the shipped encoder was trained
on, so that the rows it has not seen stay unseen. ``swapped.jsonl`` has supported claims beside a premise in which a
number or a name of the claim is exchanged for another of the same premise: the claim stays as it was, and is no longer
supported. ``held/held.jsonl.gz`` has the rows of attribution/train that the shipped encoder has not seen: a run that
names this folder in ``disjoint_from`` shares no claim or source with them. Rows of a set beyond its limit are left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from contrast_rows import premise_of

from recipes.encoder.rows import TrainingRow, Unit, read_set
from recipes.encoder.train import split_of_export
from vouching.encoder.weights import find_weights
from vouching.reading.evidence import index_sources
from vouching.types import Source
from vouching.types.spans import ERROR_TYPES

SEED, LIMIT = 2, 3000
LIMITS = {"med": 150, "breaking_nli": 150, "conjnli": 600, "perturbations": 2500}
_TERM = re.compile(r"(?<![\w.])(?:\d[\d,.]*\d|\d|[A-Z][a-z]+(?: [A-Z][a-z]+)*)(?![\w])")
Record = dict[str, Any]


def record_of(unit: Unit) -> Record:
    """A unit with its premise, as a row of a file of pairs."""
    last = unit[-1]
    index = index_sources([Source(last.source)])
    found: Record = {"claim": last.claim, "source": premise_of([row.claim for row in unit], index)}
    found["label"] = "Attributable" if last.attributable else "Not Attributable"
    if last.relations in ((1,), (2,)):
        found["fine_label"] = {1: "contradiction", 2: "neutral"}[last.relations[0]]
    if len(unit) == 2:
        found["original"] = unit[0].claim
        found["spans"] = [{"start": start, "end": end} for start, end in last.unsupported or ()]
    if last.error_type >= 0:
        found["error_type"] = ERROR_TYPES[last.error_type]
    return found


def swapped(row: Record, draw: random.Random) -> Record | None:
    """A supported row with one term of its claim exchanged in the premise; None without two terms to exchange."""
    source = row["source"]
    terms = [match[0] for match in _TERM.finditer(source)]
    shared = [term for term in dict.fromkeys(terms) if re.search(rf"\b{re.escape(term)}\b", row["claim"])]
    shared = [term for term in shared if source.find(term) > 0 and term not in ("The", "In", "A", "It", "He", "She")]
    if not shared:
        return None
    old = draw.choice(shared)
    others = [t for t in terms if t not in row["claim"] and t[0].isdigit() == old[0].isdigit() and len(t) > 1]
    if not others:
        return None
    new = draw.choice(others)
    text = re.sub(rf"\b{re.escape(old)}\b", lambda _: new, source)
    return {"claim": row["claim"], "source": text, "label": "Not Attributable"}


def by_set(units: Sequence[Unit]) -> dict[str, list[Unit]]:
    """The units of attribution/train and the perturbations, by the name of their set, shuffled and limited."""
    found: dict[str, list[Unit]] = {}
    for unit in units:
        part, _, name = unit[0].place.partition("/")
        if part in ("train", "pairs") and name != "wice_spans":
            found.setdefault(name, []).append(unit)
    folder = Path(os.environ["VOUCH_DATA"]) / "attribution/extra/cg2c_doc.jsonl.gz"
    held = {row.source for unit in units for row in unit}
    found["cg2c_doc"] = [u for u in read_set(folder, "extra/cg2c_doc", LIMIT, SEED) if u[0].source not in held]
    for name, several in found.items():
        random.Random(f"{SEED} {name}").shuffle(several)
        found[name] = several[: LIMITS.get(name, LIMIT)]
    return found


def entailment(units: Sequence[Unit]) -> Iterator[TrainingRow]:
    """Supported rows of entailment sets whose premise has a number or two names."""
    for unit in units:
        row = unit[0]
        if row.place.startswith("nli/") and row.attributable and len(_TERM.findall(row.source)) > 2:
            yield row


def write(path: Path, rows: Sequence[Record]) -> None:
    """Write one file, and say how many rows it has."""
    with path.open("w", encoding="utf-8") as lines:
        for number, row in enumerate(rows):
            lines.write(json.dumps({"id": f"{path.stem}-{number}", **row}, ensure_ascii=False) + "\n")
    print(f"{path.stem}: {len(rows)} rows", flush=True)


def write_held(folder: Path, units: Sequence[Unit]) -> None:
    """Write the held-out rows of attribution/train as a folder of sets."""
    folder.mkdir(exist_ok=True)
    rows = [row for unit in units if unit[0].place.startswith("train/") for row in unit]
    with gzip.open(folder / "held.jsonl.gz", "wt", encoding="utf-8") as lines:
        for number, row in enumerate(rows):
            label = "Attributable" if row.attributable else "Not Attributable"
            record = {"id": f"held-{number}", "claim": row.claim, "source": row.source, "label": label}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
    print(f"held: {len(rows)} rows", flush=True)


def main() -> None:
    """Write one file a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    split = split_of_export(find_weights(None).folder)
    units = split.train
    write_held(options.output / "held", split.held)
    supported: list[Record] = []
    for name, several in by_set(units).items():
        rows = [row for row in map(record_of, several) if row["source"]]
        supported += [row for row in rows if row["label"] == "Attributable"]
        write(options.output / f"{name}.jsonl", rows)
    supported += [record_of((row,)) for row in entailment(units)]
    draw = random.Random(SEED)
    changed = [pair for row in supported if (pair := swapped(row, draw))]
    draw.shuffle(changed)
    write(options.output / "swapped.jsonl", changed[:LIMIT])


if __name__ == "__main__":
    main()
