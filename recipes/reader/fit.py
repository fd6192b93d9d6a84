"""Fits the score of an exported reader, over its readings and z of the rules, on the groups that were held out.

    python recipes/reader/fit.py runs/reader/packs --export runs/reader/export --output runs/reader/combined.json

Reads ``SET.held-out.jsonl`` of ``packs.py``, at most --rows claims of each set, and fits as
``recipes/embedded/fit_combined.py`` does: an intercept per set, a fixed sign per weight, Platt's calibration and the
ceilings of decisive differences on folds of documents. Then ``--model embedded:runs/reader`` judges with it.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import cache, partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "embedded"))

from combined_rows import COMBINED
from fit_rules import fit_model, record_of
from training_rows import Row, measure_row, tabulate

from vouching.encoder.reading import HEAD_FEATURES, features_of
from vouching.methods.embedded.scoring import load_score_model
from vouching.methods.embedded.soft_reading import read_large
from vouching.reading.evidence import index_sources
from vouching.reading.reader import LargeReader
from vouching.reading.text_encoder import TextEncoder
from vouching.types import Source

NATURAL = str.split(
    """corpus contrast tabfact_train infotabs_train mnli_dev_matched mnli_dev_mismatched sam_nli fever_nli_dev
    fool_me_twice faithdial begin factcheck_gpt wice bump cg2c_doc defacto_fib gap condaqa_train drop_numeric"""
)
FEATURES = ("rules", *HEAD_FEATURES, "match", "lowest_match", "weak_matches")
Entry = tuple[str, str, int, int]
"""Claim, source, whether it is supported, group."""


@cache
def _reader(folder: Path) -> LargeReader:
    return LargeReader(TextEncoder(folder))


def measure(export: Path, entry: Entry) -> Row | None:
    """A row with the features of the score; None if there is nothing to compare."""
    claim, source, supported, group = entry
    row = measure_row(claim, source, "Attributable" if supported else "", group)
    if row is None:
        return None
    index = index_sources([Source(source)])
    [soft] = read_large(_reader(export), [claim], index)
    found = features_of(soft)
    found["rules"] = load_score_model().logit(row.features)
    return replace(row, features={name: found[name] for name in FEATURES})


def entries(path: Path, most: int, first_group: int) -> list[Entry]:
    """The claims of a file of packs; claims with a question are skipped, the rules read them otherwise."""
    found: list[Entry] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        pack: dict[str, Any] = json.loads(line)
        for claim, y, notes, *_ in pack["claims"]:
            if len(found) < most and not any(note.startswith(("question", "before")) for note in notes):
                found.append((claim, pack["source"], int(y == 0), first_group + number))
    return found


def main() -> None:
    """Measure, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packs", type=Path)
    parser.add_argument("--export", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=300, help="claims of a set")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    sets: dict[str, list[Row]] = {}
    with Pool(options.jobs) as pool:
        for number, name in enumerate(NATURAL):
            path = options.packs / f"{name}.held-out.jsonl"
            if not path.exists():
                continue
            found = pool.map(
                partial(measure, options.export), entries(path, options.rows, number * 100_000), chunksize=8
            )
            rows = [row for row in found if row]
            if len({row.label for row in rows}) == 2:
                sets[f"train/{name}"] = rows
            print(f"{name}: {len(rows)} claims", file=sys.stderr, flush=True)
    supporting = tuple(name for name in FEATURES if name != "contradicted")
    how = replace(COMBINED, supporting=supporting)
    table = tabulate(sets)
    record = record_of(table, *fit_model(table, how), how)
    record["encoder"] = _reader(options.export).digest
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    shown = ("terms", "calibration", "ceilings", "verbatim_floor", "fitted")
    print(json.dumps({key: record[key] for key in shown}, indent=1))


if __name__ == "__main__":
    main()
