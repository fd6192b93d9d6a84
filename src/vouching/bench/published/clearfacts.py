"""ClearFacts (Seo et al. 2025): claims whose labels were checked again, with the documents they were judged by.

``data/clearfacts.jsonl`` of the authors' repository: topic, statement, reference_documents (a list of texts), label
(S, NS), category (the data set it is from), additional_info. Left out: GrayFacts, whose rows have no clear label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, label_of, text_of, texts_of

LABELS = {"S": True, "NS": False}


def rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """One row per statement; its part is the data set it comes from."""
    return converted(paths[0], _row)


def _row(record: Record, name: str) -> Iterator[BenchRow]:
    yield BenchRow(
        id=name,
        text=text_of(record, "statement"),
        sources=texts_of(record, "reference_documents"),
        attributable=label_of(record, "label", LABELS),
        part=text_of(record, "category"),
    )
