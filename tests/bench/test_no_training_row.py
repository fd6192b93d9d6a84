"""No training row occurs in a development or test set: neither its claim, nor its source, nor its document.

Development sets, on which settings were chosen, share with the test sets only what is known and told.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from vouching.bench.catalog import DATA_SETS
from vouching.bench.rows import BenchRow, Split

pytestmark = pytest.mark.skipif(
    not os.environ.get("VOUCH_DATA"), reason="VOUCH_DATA does not name a folder with the data sets"
)


SHARED_BY_DEV_AND_TEST = {("healthver", "source"): 375}
"""How many claims, sources or documents of each test set are in a development set too; see docs/bench.md."""


def rows_of(*splits: Split) -> Iterator[tuple[str, BenchRow]]:
    """Rows of the sets in this project's own format, the ones that weights are fitted on, each with its set's name."""
    folder = Path(os.environ["VOUCH_DATA"])
    for name, data_set in DATA_SETS.items():
        for split in splits:
            pattern = data_set.files.get(split, ("",))[0]
            if pattern.startswith("attribution/") and data_set.paths(folder, split):
                yield from ((name, row) for row in data_set.rows(folder, split) if isinstance(row, BenchRow))


def normalised(text: str) -> str:
    """The text without case, punctuation and the kind of blanks."""
    return " ".join(re.findall(r"\w+", text.lower()))


def keys_of(name: str, row: BenchRow) -> Iterator[tuple[str, ...]]:
    """What must not be shared. The variants of a set (wice_full, summedits_*) name the same documents."""
    yield ("claim", normalised(row.text))
    yield from (("source", normalised(source)) for source in row.sources)
    if row.document is not None:
        yield ("document", name.partition("_")[0], row.document)


def test_no_training_row_occurs_in_a_dev_or_test_set() -> None:
    held_out = {key for name, row in rows_of("dev", "test") for key in keys_of(name, row)}
    assert len(held_out) > 10_000
    shared = [
        f"{name} {row.id}: {key[0]}" for name, row in rows_of("train") for key in keys_of(name, row) if key in held_out
    ]
    assert shared == []


def test_what_dev_and_test_share_is_known() -> None:
    dev = {key for name, row in rows_of("dev") for key in keys_of(name, row)}
    shared = {(name, key) for name, row in rows_of("test") for key in keys_of(name, row) if key in dev}
    assert Counter((name, key[0]) for name, key in shared) == SHARED_BY_DEV_AND_TEST
