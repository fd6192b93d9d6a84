"""ANLI (Nie et al. 2020): hypotheses written to mislead models, in three rounds.

``R1``, ``R2``, ``R3`` of anli_v1.0, each with train, dev and test: uid, context, hypothesis, label (e entailment,
n neutral, c contradiction), reason, and more that is not read. Only entailment is Attributable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, label_of, text_of

LABELS = {"e": True, "n": False, "c": False}


def rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """One row per hypothesis; its part is the round."""
    return chain.from_iterable(converted(path, partial(_row, part=path.parent.name)) for path in paths)


def _row(record: Record, name: str, *, part: str) -> Iterator[BenchRow]:
    yield BenchRow(
        id=text_of(record, "uid"),
        text=text_of(record, "hypothesis"),
        sources=(text_of(record, "context"),),
        attributable=label_of(record, "label", LABELS),
        part=part,
    )
