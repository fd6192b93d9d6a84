"""Writes the claims of recipes/encoder/contrast as rows to train on, each with the premise that the encoder would read.

    python recipes/encoder/contrast_rows.py runs/contrast.jsonl [--dev]

A claim that is not supported is written, in three of five cases, together with a supported one of its group: the run
then learns to rank the two, and which words decide. Answers to a question are not included. ``--dev`` writes the
claims of tests/data/contrast/dev, one row each, to score a run with.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vouching.embedded.features import Segment, compare_claim
from vouching.embedded.premise import premise_for
from vouching.reading.evidence import SourceIndex, index_sources
from vouching.types import Source

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "recipes/embedded"))

from training_rows import CONTRAST, contrast_claims  # noqa: E402

TRAINING, DEV = CONTRAST["train/contrast"], CONTRAST["dev/contrast"]
SEED, PAIRED = 1, 0.6
_FINE = {"contradicted": "contradiction", "not_found": "neutral"}
Row = dict[str, Any]


def read_documents(folder: Path) -> dict[str, SourceIndex]:
    """The documents of a corpus, indexed, by name."""
    paths = (folder / "documents").iterdir()
    return {path.stem: index_sources([Source(path.read_text("utf-8"), path.name)]) for path in paths}


def premise_of(texts: Sequence[str], index: SourceIndex) -> str:
    """One premise for several claims."""
    segments: list[Segment] = [segment for text in texts for segment in compare_claim(text, index)]
    return premise_for(segments, index).text


def alone(row: Row, index: SourceIndex) -> Row:
    """A claim as one row."""
    found = {"id": row["id"], "claim": row["text"], "source": premise_of([row["text"]], index)}
    fine = {"fine_label": _FINE[row["relation"]]} if row["label"] != "Attributable" else {}
    return {**found, "label": row["label"], **fine, "group": row["document"]}


def beside(row: Row, supported: Row, index: SourceIndex) -> Row:
    """A claim that is not supported, with a supported one of its group and the words that decide."""
    at = row["text"].rfind(row["decisive"]) if row["decisive"] else -1
    return {
        "id": row["id"],
        "claim": row["text"],
        "original": supported["text"],
        "source": premise_of([row["text"], supported["text"]], index),
        "label": row["label"],
        "spans": [{"start": at, "end": at + len(row["decisive"])}] if at >= 0 else [],
        "error_type": row["error_type"],
        "group": row["document"],
    }


def training_rows() -> Iterator[Row]:
    """The rows of the training corpus: pairs, then what is in none."""
    documents, draw = read_documents(TRAINING), random.Random(SEED)
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in contrast_claims(TRAINING):
        groups[row["group"]].append(row)
    for group in groups.values():
        index = documents[group[0]["document"]]
        supported = [row for row in group if row["label"] == "Attributable"]
        paired: list[str] = []
        for row in group:
            if row["label"] == "Attributable":
                continue
            if supported and draw.random() < PAIRED:
                partner = draw.choice(supported)
                paired.append(partner["id"])
                yield beside(row, partner, index)
            else:
                yield alone(row, index)
        yield from (alone(row, index) for row in supported if row["id"] not in paired)


def main() -> None:
    """Write the rows that have a premise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--dev", action="store_true", help="the claims of tests/data/contrast/dev instead")
    options = parser.parse_args()
    documents = read_documents(DEV)
    rows = (alone(row, documents[row["document"]]) for row in contrast_claims(DEV)) if options.dev else training_rows()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    write = gzip.open if options.output.suffix == ".gz" else open
    with write(options.output, "wt", encoding="utf-8") as lines:
        for row in rows:
            if row["source"]:
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
                written += 1
    print(f"{written} rows")


if __name__ == "__main__":
    main()
