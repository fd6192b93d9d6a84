"""Draws the probes that a person reads one by one, and counts the judgments.

    VOUCH_DATA=... python recipes/evolve/reading.py draw reading.jsonl
    python recipes/evolve/reading.py count recipes/evolve/reading.jsonl [--output benchmarks/results/probes.json]

Twenty of each strategy, from training rows, with a fixed seed. The reader adds "right" to each line: true if label and
error type are right given the source and the claim reads naturally. If not, "why" is "label" (the label is wrong),
"original" (the parent row has a wrong label) or "form" (the claim reads unnaturally). "check" is the answer of
``embedded:rules`` as the second verifier. Not supported: a second reader.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from vouching import Checker
from vouching.evolve.probe import SHORTEST_CLAIM, cross_checked, probe_of
from vouching.evolve.records import Judged, Probe, Row, judged_as, to_json
from vouching.evolve.rows import read_rows
from vouching.metrics import wilson
from vouching.perturb import ERROR_TYPE_OF, perturb_rows

SEED, EACH = 12, 20
EXCLUDED = ("wice_spans", "med", "breaking_nli", "conjnli")
"""Sets of another kind: spans, and templated or automatically labelled sentences."""
ALSO = "nli/fever_nli_dev.jsonl.gz"
"""Sentences of an encyclopedia, for strategies that apply to few rows elsewhere."""
EXCERPT = 400
"""Characters of the source that are stored with a probe, around the span most like the claim."""
KEPT = ("id", "data_set", "strategy", "error_type", "label", "claim", "original", "source", "check")


def draw(output: Path) -> None:
    """Write twenty probes of each strategy."""
    folder = Path(os.environ["VOUCH_DATA"]) / "attribution/train"
    paths = [path for path in sorted(folder.glob("*.jsonl.gz")) if path.name.partition(".")[0] not in EXCLUDED]
    rows = [row for path in [*paths, folder.parent / ALSO] for row in read_rows(path)]
    random.Random(SEED).shuffle(rows)
    usable = {row.id: row for row in rows if row.attributable and len(row.claim) >= SHORTEST_CLAIM}
    examples = [row.example for row in usable.values()]
    drawn = [
        probe_of(usable[made.id.rpartition("/")[0]], made, number)
        for strategy in ERROR_TYPE_OF
        for number, made in enumerate(islice(perturb_rows(examples, [strategy], per_row=1, seed=SEED), EACH), 1)
    ]
    checker = Checker("embedded:rules")

    def check(asked: Sequence[Row]) -> list[Judged]:
        return [judged_as(row, checker.check(row.claim, row.source)) for row in asked]

    with output.open("w", encoding="utf-8") as lines:
        for probe in cross_checked(drawn, check):
            record = {**json.loads(to_json(probe)), "source": excerpt(probe)}
            lines.write(json.dumps({key: record[key] for key in KEPT}, ensure_ascii=False) + "\n")


def excerpt(probe: Probe) -> str:
    """The span of the source that shares most words with the original."""
    words = {word.casefold() for word in probe.original.split() if len(word) > 3}
    starts = range(0, max(1, len(probe.source) - EXCERPT + 1), 40)
    best = max(starts, key=lambda at: len(words & {*probe.source[at : at + EXCERPT].casefold().split()}))
    return probe.source[best : best + EXCERPT]


def count(path: Path, output: Path | None) -> None:
    """Shares of right probes by strategy and type, and among those that the second verifier kept and dropped."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    unread = [row["id"] for row in rows if "right" not in row]
    if unread:
        raise SystemExit(f"{len(unread)} probes have no judgment, first {unread[0]}")
    by_type = {str(kind): [row for row in rows if row["error_type"] == kind] for kind in {*ERROR_TYPE_OF.values()}}
    found = {
        "command": "python recipes/evolve/reading.py count recipes/evolve/reading.jsonl",
        "date": "2026-11-22",
        "read": len(rows),
        "right": share(rows),
        "faults": faults(rows),
        "strategies": {
            strategy: {
                "error_type": kind,
                **share(several := [row for row in rows if row["strategy"] == strategy]),
                "faults": faults(several),
            }
            for strategy, kind in ERROR_TYPE_OF.items()
        },
        "types": {kind: share(several) for kind, several in sorted(by_type.items())},
        "second_verifier": {
            "model": "embedded:rules",
            **{
                part: share([row for row in rows if (row["check"] == "agreed") == agreed])
                for part, agreed in (("agreed", True), ("dropped", False))
            },
        },
    }
    text = json.dumps(found, indent=1) + "\n"
    if output is None:
        print(text)
    else:
        output.write_text(text, encoding="utf-8")


def faults(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """The faults of probes that are not right, by kind."""
    return dict(Counter(row["why"] for row in rows if not row["right"]).most_common())


def share(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The share that is right with Wilson's interval, slightly too narrow since some rows share a document."""
    judged = [bool(row["right"]) for row in rows]
    if not judged:
        return {"rows": 0}
    interval = wilson(sum(judged), len(judged))
    return {
        "rows": len(judged),
        "right": sum(judged),
        "share": round(interval.estimate, 3),
        "low": round(interval.low or 0.0, 3),
        "high": round(interval.high or 1.0, 3),
    }


def main() -> None:
    """Draw or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "count"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    draw(options.path) if options.what == "draw" else count(options.path, options.output)


if __name__ == "__main__":
    main()
