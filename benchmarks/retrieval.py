"""Retrieval questions on held-out questions of several steps: is the context enough, is a passage relevant.

    VOUCH_DATA=... python benchmarks/retrieval.py

The cases are those of recipes/retrieval/cases.py, on the test parts of HotpotQA, MuSiQue and 2WikiMultiHopQA, with the
titles of the passages and without. A context is made insufficient by taking away one supporting passage, which is
easier or harder than what a search misses; an unlabelled passage may hold the same fact. Controls: word overlap (the
share of the question's content words in a passage, or in all of them), with the threshold that has the best F1 on the
training part, and always saying yes. Intervals are Wilson's by question. Writes benchmarks/results/retrieval.json.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from recipes.retrieval.cases import SETS, Case, cases, untitled  # noqa: E402
from vouching.bench.rows import Split  # noqa: E402
from vouching.metrics import auroc, clustered_wilson, ece  # noqa: E402
from vouching.retrieval.judge import embedded_report  # noqa: E402
from vouching.text.words import find_words  # noqa: E402
from vouching.types import Source  # noqa: E402
from vouching.version import __version__  # noqa: E402

RESULTS = ROOT / "benchmarks/results/retrieval.json"
YES = 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """One question to the judge."""

    group: str
    """The question of the case, whose rows depend on each other."""
    truth: bool
    score: float


def overlap(question: str, sources: Sequence[Source]) -> float:
    """Share of the question's content words that the sources have.

    >>> overlap("When did the Elbe Bridge open?", [Source("The bridge opened.")])  # bridge, open of elbe, bridge, open
    0.6666666666666666
    """
    asked = {word.stem for word in find_words(question) if word.is_content}
    found = {word.stem for one in sources for word in find_words(f"{one.title} {one.text}")}
    return len(asked & found) / len(asked) if asked else 0.0


def overlap_rows(case: Case) -> Iterator[tuple[str, Row]]:
    """The rows of the control."""
    yield "sufficient", Row(case.question, case.sufficient, overlap(case.question, case.sources))
    for one in case.sources:
        yield "relevant", Row(case.question, one.id in case.supporting, overlap(case.question, [one]))


def judged_rows(case: Case) -> Iterator[tuple[str, Row]]:
    """The rows of the embedded judge."""
    report = embedded_report(case.question, case.sources, None)
    if report.kind == "unverified":
        raise ValueError(f"the question {case.question!r} was not judged: {report.message}")
    yield "sufficient", Row(case.question, case.sufficient, report.sufficient.probability or 0.0)
    for one, found in zip(case.sources, report.relevant, strict=True):
        yield "relevant", Row(case.question, one.id in case.supporting, found.probability or 0.0)
    for answer, truth in case.answers:
        said = embedded_report(case.question, case.sources, answer)
        if said.kind == "context" and said.addresses:
            yield "addresses", Row(case.question, truth, said.addresses.probability or 0.0)


def best_threshold(rows: Sequence[Row]) -> float:
    """The score from which saying yes has the best F1."""

    def f1(threshold: float) -> float:
        hits = sum(row.truth and row.score >= threshold for row in rows)
        return 2 * hits / (sum(row.score >= threshold for row in rows) + sum(row.truth for row in rows))

    return max(sorted({row.score for row in rows}), key=f1)


def figures(rows: Sequence[Row], threshold: float) -> dict[str, Any]:
    """Precision, recall with intervals, F1, AUROC and ECE."""

    def share(among: Sequence[Row], right: Sequence[bool]) -> dict[str, Any]:
        groups: dict[str, list[bool]] = {}
        for row, hit in zip(among, right, strict=True):
            groups.setdefault(row.group, []).append(hit)
        found = clustered_wilson([sum(one) for one in groups.values()], [len(one) for one in groups.values()])
        return {"estimate": found.estimate, "low": found.low, "high": found.high}

    said = [row for row in rows if row.score >= threshold]
    true = [row for row in rows if row.truth]
    precision = share(said, [row.truth for row in said])
    recall = share(true, [row.score >= threshold for row in true])
    p, r = precision["estimate"], recall["estimate"]
    truth, scores = np.array([row.truth for row in rows]), np.array([row.score for row in rows])
    return {
        "rows": len(rows),
        "questions": len({row.group for row in rows}),
        "yes": float(truth.mean()),
        "precision": precision,
        "recall": recall,
        "f1": 2 * p * r / (p + r) if p + r else 0.0,
        "auroc": float(auroc(truth, scores)),
        "ece": float(ece(truth, scores)),
    }


def collected(data: Path, split: Split, name: Any, rows_of: Any, bare: bool) -> dict[str, list[Row]]:
    """Rows by what is asked."""
    found: dict[str, list[Row]] = {}
    for case in cases(data, name, split):
        for kind, row in rows_of(untitled(case) if bare else case):
            found.setdefault(kind, []).append(row)
    return found


def main() -> None:
    """Measure and write."""
    data = Path(os.environ["VOUCH_DATA"])
    sets: dict[str, Any] = {}
    seconds, contexts = 0.0, 0
    for bare in (False, True):
        trained = [collected(data, "train", name, overlap_rows, bare) for name in SETS]
        thresholds = {
            kind: best_threshold([row for one in trained for row in one[kind]]) for kind in ("sufficient", "relevant")
        }
        for name in SETS:
            started = time.perf_counter()
            judged = collected(data, "test", name, judged_rows, bare)
            seconds, contexts = seconds + time.perf_counter() - started, contexts + len(judged["sufficient"])
            control = collected(data, "test", name, overlap_rows, bare)
            sets[f"{name}{', without titles' if bare else ''}"] = {
                kind: {
                    "embedded": figures(rows, YES),
                    **({"overlap": figures(control[kind], thresholds[kind])} if kind in control else {}),
                    "always yes": figures([Row(row.group, row.truth, 1.0) for row in rows], YES),
                }
                for kind, rows in judged.items()
            }
    record = {
        "command": "python benchmarks/retrieval.py",
        "model": "embedded",
        "vouching": __version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}, one core that did other work as well",
        "milliseconds_per_context": round(1000 * seconds / contexts, 1),
        "sets": sets,
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
