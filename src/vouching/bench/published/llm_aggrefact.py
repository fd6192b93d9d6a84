"""LLM-AggreFact (Tang et al. 2024): eleven sets of generated claims with their documents.

Parquet of the Hugging Face repository: dataset, doc, claim, label (1 supported, 0 not), contamination_identifier. The
authors report the mean over the sets of balanced accuracy, ``mean_balanced_accuracy`` in the results. The repository
is gated, and not to be trained on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, label_of, text_of

LABELS = {1: True, 0: False}


def rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """One row per claim; its part is the set it comes from. Ids count within a file."""
    return chain.from_iterable(converted(path, partial(_row, file=path.stem)) for path in paths)


def _row(record: Record, name: str, *, file: str) -> Iterator[BenchRow]:
    yield BenchRow(
        id=f"{file}-{name}",
        text=text_of(record, "claim"),
        sources=(text_of(record, "doc"),),
        attributable=label_of(record, "label", LABELS),
        part=text_of(record, "dataset"),
    )
