"""The files of multi-hop sets in ``multihop`` below the data folder; all paragraphs form a corpus for search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from vouching.bench.multihop import MultihopRow, multihop_row
from vouching.bench.rows import Fault, Split, converted
from vouching.errors import InputError
from vouching.types import Source

MultihopSet: TypeAlias = Literal["hotpotqa", "musique", "2wiki"]
FILES: dict[tuple[MultihopSet, Split], str] = {
    ("2wiki", "train"): "2wiki_train500",
    ("hotpotqa", "train"): "hotpotqa_train100",
    ("musique", "train"): "musique_train100",
    ("hotpotqa", "dev"): "hotpotqa_dev",
    ("2wiki", "test"): "wikihop_test200",
    ("hotpotqa", "test"): "hotpot_test200",
    ("musique", "test"): "musique_test200",
}
"""The file of each split, without its ending; one is named after another set."""


def multihop_rows(folder: Path, name: MultihopSet, split: Split) -> Iterator[MultihopRow | Fault]:
    """The questions of a split, and faults in place of unusable ones. Raises InputError if the split is missing."""
    if (name, split) not in FILES:
        parts = ", ".join(part for one, part in FILES if one == name)
        raise InputError(f"{name} has no {split} split with paragraphs; available splits: {parts or 'none'}")
    path = folder / "multihop" / f"{FILES[name, split]}.jsonl.gz"
    if not path.exists():
        raise InputError(f"missing file {path}: save the authors' rows of {name} there, one per line with paragraphs")
    yield from converted(path, lambda record, _: [multihop_row(record)])


def corpus(rows: Iterable[MultihopRow]) -> list[Source]:
    """Every paragraph of the questions once, in the order of first sight."""
    return [*{source.id: source for row in rows for source in row.passages}.values()]


def recall(row: MultihopRow, found: Iterable[str]) -> float:
    """Share of a question's supporting paragraphs that are among those found, in [0, 1]."""
    return len(row.supporting.intersection(found)) / len(row.supporting)
