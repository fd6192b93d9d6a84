"""Your own rows as a data set, and a threshold tuned on a part of them.

Rows have claim or response, sources and, for metrics, a label; rows of other tools are read as well (see
``vouching.rows.shapes``). ``part`` names a part that is reported separately, ``group`` the document.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vouching import metrics
from vouching.bench.rows import BenchRow, Fault, Record, Split, converted, spans_of
from vouching.bench.score import Scored, group_numbers
from vouching.bench.task import DataSet
from vouching.errors import InputError
from vouching.inputs import as_claim, as_sources, check_text, gold_of, row_sources
from vouching.rows.hub import HUB
from vouching.rows.shapes import as_row
from vouching.types.visible import value_fault

OWN = "your own file"
"""The licence and origin of a set that is a file of the user's."""


def own_set(path: str, split: Split) -> tuple[DataSet[BenchRow], Path]:
    """The data set of a file or of a name on the Hugging Face hub, named after it, and its folder.

    Raises InputError if there is no such file.
    """
    if path.startswith(HUB):
        name = re.split(r"[/:]", path.removeprefix(HUB).partition(":")[0])[-1] or "rows"
        return DataSet(name, "your own rows", OWN, OWN, {split: (path,)}, own_rows), Path()
    file = Path(path)
    if not file.is_file():
        raise InputError(f"--input {path} does not exist: pass the path of a file of rows")
    name = file.name.split(".")[0] or "rows"
    pattern = glob.escape(file.name)
    return DataSet(name, "your own rows", OWN, OWN, {split: (pattern,)}, own_rows), file.parent


def own_rows(paths: Sequence[Path], split: Split) -> Iterator[BenchRow | Fault]:
    """The rows of a file, of ours or another tool's."""
    return converted(paths[0], _own)


def _own(record: Record, name: str) -> Iterator[BenchRow]:
    fields = as_row({**record}, strict=True)
    response, claim, gold = fields.get("response"), fields.get("claim"), gold_of(fields)
    if (response is None) == (claim is None):
        raise InputError(value_fault(fields, "claim") if claim is None else 'the row has both "claim" and "response"')
    text = as_claim(str(claim)).text if response is None else check_text(response, "the response")
    part, group = (None if fields.get(key) is None else str(fields[key]) for key in ("part", "group"))
    yield BenchRow(
        id=name,
        text=text,
        sources=tuple(source.text for source in as_sources(row_sources(fields))),
        attributable=None if gold is None else gold == "Attributable",
        is_response=response is not None,
        part=part,
        document=group,
        spans=spans_of(fields, "spans", text) if fields.get("spans") is not None else None,
    )


def tuned(rows: Sequence[Scored], share: float) -> tuple[list[Scored], dict[str, Any] | None]:
    """The rows that were not tuned on, with labels by a threshold tuned on the others; and how it was tuned.

    Whole groups go to the part for tuning, in a random order with seed 0, until it has ``share`` of the rows. The
    threshold is the score of that part with the best balanced accuracy; the lowest one where several are best. None
    if the part has rows of one label only: then the rows are unchanged.

    >>> scores = [0.2] * 15 + [0.4] * 5
    >>> rows = [
    ...     {"keys": [str(n)], "score": score, "label": False, "attributable": n > 14} for n, score in enumerate(scores)
    ... ]
    >>> rest, how = tuned(rows, 0.5)
    >>> len(rest), how["rows"], sum(row["label"] == row["attributable"] for row in rest)
    (10, 10, 10)
    """
    found, how = relabelled(rows, share)
    return [row for row in found if row is not None], how


def relabelled(rows: Sequence[Scored], share: float) -> tuple[list[Scored | None], dict[str, Any] | None]:
    """As :func:`tuned`, with None in the place of each row that was tuned on."""
    groups = group_numbers(rows)
    order = np.random.default_rng(0).permutation(int(groups.max()) + 1) if len(rows) else np.array([], dtype=int)
    sizes = np.bincount(groups, minlength=len(order))[order]
    chosen = {int(group) for group in order[: int(np.searchsorted(np.cumsum(sizes), share * len(rows))) + 1]}
    is_part = [int(group) in chosen for group in groups]
    part = [row for row, inside in zip(rows, is_part, strict=True) if inside]
    known = [row for row in part if row["attributable"] is not None and row["score"] is not None]
    gold = np.array([row["attributable"] for row in known], dtype=bool)
    if len(part) == len(rows) or not gold.any() or gold.all():
        return [*rows], None
    scores = np.array([row["score"] for row in known])
    steps = np.unique(scores)
    reached = [float(metrics.balanced_accuracy(gold, scores >= step)) for step in steps]
    best = float(steps[int(np.argmax(reached))])
    how = {"share": share, "threshold": best, "rows": len(part), "balanced_accuracy": round(max(reached), 4)}
    found = [None if inside else _labelled(row, best) for row, inside in zip(rows, is_part, strict=True)]
    return found, how


def _labelled(row: Scored, threshold: float) -> Scored:
    return row if row["score"] is None else {**row, "label": row["score"] >= threshold}
