"""Rows of the data sets, measured and grouped: what ``fit_rules.py`` and ``leave_one_out.py`` fit and score.

Rows belong together if they share a document, a claim or a longer sentence of evidence, within a set or across sets;
every split keeps them on one side. Left out: rows that only paraphrase one another.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching.embedded.diagnosis import decisive, is_verbatim
from vouching.embedded.features import compare_claim, comparisons_of, measure
from vouching.metrics import document_numbers
from vouching.reading.evidence import index_sources
from vouching.text.sentences import sentence_spans
from vouching.types import Source

ROOT = Path(__file__).parents[2]
SEED, MAX_ROWS, ROWS_PER_SET = 0, 1500, 600
# Rows a set counts for, at most, times this share. Sets made by templates or by a language model's edits of a few texts
# count less: they hold one pattern many times. Decided on attribution/dev and by leaving one set out.
SHARES = {
    "breaking_nli": 0.05,
    "conjnli": 0.1,
    "med": 0.0,
    "summedits_ectsum": 0.3,
    "summedits_podcast": 0.2,
    "summedits_qmsumm": 0.2,
    "summedits_sales_call": 0.2,
    "summedits_sales_email": 0.2,
    "summedits_scitldr": 0.2,
}
CONTRAST = {"train/contrast": ROOT / "recipes/encoder/contrast", "dev/contrast": ROOT / "tests/data/contrast/dev"}
"""Contrast corpora: the encoder was trained on the first, and has not seen the second."""
EXCLUDED = ("wice_spans",)  # the rows of wice_full with token labels
# Sets whose sources are drawn from the same pages in different cuts, and how long a sentence must be to show it.
CUT_FROM_PAGES, TELLING_SENTENCE = ("wice", "wice_full", "factcheck_gpt", "fever_symmetric"), 40
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """A row, measured."""

    features: Mapping[str, float]
    """Features by name."""
    label: float
    """1 for Attributable."""
    group: int
    """Number shared by the rows that belong together."""
    decisive: tuple[str, ...]
    """Kinds of decisive difference found."""
    verbatim: bool
    """True if the source has the claim word for word."""
    claim: str
    """The claim itself."""
    source: str
    """Its source."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of several sets, ready to be fitted. All arrays have one entry per row."""

    names: tuple[str, ...]
    """Sets, as "part/set"."""
    features: tuple[str, ...]
    """Columns of ``x``."""
    rows: tuple[Row, ...]
    """What the arrays were made of."""
    x: Array
    """Features, not standardised."""
    y: Array
    """1 for Attributable."""
    set_of: NDArray[np.int64]
    """Position of the row's set in ``names``."""
    weights: Array
    """What the row counts for in the fit."""
    even: Array
    """What it counts for in calibration, where sets have no shares; 0 outside natural sets."""


def share_of(place: str) -> float:
    """Share of the set of a "part/set"; 1 for a natural set, made neither by templates nor by a model's edits."""
    return SHARES.get(place.partition("/")[2], 1.0)


def load(
    parts: Sequence[str], jobs: int, limit: int = MAX_ROWS, also: Collection[tuple[str, str]] = ()
) -> dict[str, list[Row]]:
    """Measured rows by "part/set" of attribution/``parts`` (train, dev); rows of ``examples/`` are left out.

    Of a set the first ``limit`` of a seeded shuffle, and whichever rows have their claim and source in ``also``.
    """
    shown = {json.loads(line)["id"] for line in (ROOT / "examples/claims.jsonl").read_text("utf-8").splitlines()}
    raw: dict[str, list[dict[str, Any]]] = {}
    for name, folder in CONTRAST.items():
        rows = contrast_rows(folder)
        random.Random(SEED).shuffle(rows)
        raw[name] = rows[:limit]
    for part in parts:
        for path in sorted((Path(os.environ["VOUCH_DATA"]) / "attribution" / part).glob("*.jsonl.gz")):
            name = path.name.removesuffix(".jsonl.gz")
            if name in EXCLUDED or (part == "train" and SHARES.get(name) == 0.0):
                continue
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                rows = [row for line in lines if (row := json.loads(line))["id"] not in shown]
            random.Random(SEED).shuffle(rows)
            raw[f"{part}/{name}"] = [r for i, r in enumerate(rows) if i < limit or (r["claim"], r["source"]) in also]
    groups = iter(document_numbers(keys_of(place, row) for place, rows in raw.items() for row in rows).tolist())
    sets: dict[str, list[Row]] = {}
    with Pool(jobs) as pool:
        for place, rows in raw.items():
            work = [(row["claim"], row["source"], row["label"], next(groups)) for row in rows]
            sets[place] = [row for row in pool.starmap(measure_row, work, chunksize=25) if row]
            print(f"{place}: {len(sets[place])} rows in {len({row.group for row in sets[place]})} groups", flush=True)
            if len({row.label for row in sets[place]}) < 2:
                raise SystemExit(f"{place} has only one label: increase --limit")
    return sets


def contrast_claims(folder: Path) -> list[dict[str, Any]]:
    """The claims of a contrast corpus without answers to questions; "text" has an answer's earlier sentences too."""
    path = next(folder.glob("claims.jsonl*"))
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [json.loads(line) for line in raw.decode().splitlines()]
    for row in rows:
        row["text"] = f"{row['before']} {row['claim']}" if row.get("before") else row["claim"]
    return [row for row in rows if not row.get("question")]


def contrast_rows(folder: Path) -> list[dict[str, Any]]:
    """The claims of a contrast corpus with their documents."""
    documents = {path.stem: path.read_text("utf-8") for path in (folder / "documents").iterdir()}
    return [
        {"claim": r["text"], "source": documents[r["document"]], "label": r["label"], "group": r["document"]}
        for r in contrast_claims(folder)
    ]


def measure_row(claim: str, source: str, label: str, group: int) -> Row | None:
    """Measure one row; None if there is nothing to compare."""
    index = index_sources([Source(source)])
    segments = compare_claim(claim, index)
    if not segments or not index.sentences:
        return None
    kinds = tuple(dict.fromkeys(decisive(comparisons_of(segments))))
    return Row(
        measure(segments, index),
        float(label == "Attributable"),
        group,
        kinds,
        is_verbatim(segments, index),
        claim,
        source,
    )


def keys_of(place: str, row: Mapping[str, Any]) -> Iterator[str]:
    """Whatever marks the row as belonging with others: rows that share one of these keys are not split up."""
    name, source = place.partition("/")[2], str(row["source"])
    # In attributionbench "group" is the name of a subset, not of a document.
    if row.get("group") and name != "attributionbench":
        yield f"group {name} {row['group']}"
    yield f"source {_plain(source)}"
    yield f"claim {_plain(row['claim'])}"
    if name in CUT_FROM_PAGES:
        sentences = (_plain(source[start:end]) for start, end in sentence_spans(source))
        yield from (f"sentence {text}" for text in sentences if len(text) >= TELLING_SENTENCE)


def row_weights(labels: Array, share: float) -> Array:
    """Weights that make both labels of a set count equally."""
    positive = labels.mean()
    weights = np.where(labels == 1, 0.5 / positive, 0.5 / (1 - positive))
    return weights / weights.sum() * min(len(labels), ROWS_PER_SET) * share


def tabulate(sets: Mapping[str, Sequence[Row]]) -> Table:
    """Lay out rows by set; every set needs rows of both labels."""
    rows = tuple(row for group in sets.values() for row in group)
    labels = [np.array([row.label for row in group]) for group in sets.values()]
    features = tuple(rows[0].features)
    return Table(
        names=tuple(sets),
        features=features,
        rows=rows,
        x=np.array([[row.features[name] for name in features] for row in rows]),
        y=np.concatenate(labels),
        set_of=np.concatenate([np.full(len(group), i) for i, group in enumerate(labels)]),
        weights=np.concatenate([row_weights(y, share_of(n)) for n, y in zip(sets, labels, strict=True)]),
        even=np.concatenate([row_weights(y, float(share_of(n) == 1)) for n, y in zip(sets, labels, strict=True)]),
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
