r"""AUROC of ``embedded:rules`` against claim-word overlap on the public test sets.

    VOUCH_DATA=... python benchmarks/public_sets.py [--jobs 2] [--most N] [--output benchmarks/results/public_sets.json]

Overlap: share of the claim's distinct lower-case words (``\w+``) that occur in the source, without the 25 words of
``IGNORED``; no stems. Of the plain definitions tried (tokens or types, letters only or ``\w+``, stop words kept or not,
stems or not) it comes closest to the figures given for this baseline: attributionbench .736, faithbench .601,
fever_symmetric .667, fool_me_twice .559, healthver .593, ragtruth .776, seva_fever .676, seva_halueval .651, wice .691
(mean absolute difference .0014). Intervals: 95 %, paired bootstrap over source documents (rows with the same
source text or the same document number are drawn together), 2,000 resamples, seed 0. Report only: nothing of the model
is chosen on these sets. RAGTruth rows are whole responses (Not Attributable if they have any hallucination span): each
is taken apart and scored by the mean of its claims.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

import vouching
from vouching.types import Verdict

SETS = (
    "attributionbench", "bump", "faithbench", "fever_symmetric", "fool_me_twice", "healthver", "ragtruth", "seva_fever",
    "seva_halueval", "seva_truthfulqa", "wice",
)  # fmt: skip
REMARKS = {"seva_truthfulqa": "broken slice: nearly every Attributable claim is a bare question"}
UNDEFINED = "AUROC undefined: one class only"
RESAMPLES, SEED = 2_000, 0
GROUP_IS_SUBSET = ("attributionbench",)  # "group" names a part of the set there, elsewhere a document
IGNORED = frozenset(
    "a an the of to in on at by for with from and or is are was were be been it its as that this".split()
)
_WORD = re.compile(r"\w+")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of one set as claim, source, label."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        row.setdefault("claim", row.get("response"))
        row.setdefault("label", "Not Attributable" if row.get("spans") else "Attributable")
    return rows


def documents(rows: Sequence[Mapping[str, Any]], *, by_group: bool) -> list[int]:
    """Number of each row's document: the same for rows with one source text or, ``by_group``, with one "group".

    >>> rows = [{"source": "x", "group": 1}, {"source": "y", "group": 1}, {"source": "y", "group": 2}]
    >>> documents(rows, by_group=True), documents(rows, by_group=False)
    ([0, 0, 0], [0, 1, 1])
    """
    number = list(range(len(rows)))

    def first_of(row: int) -> int:
        while number[row] != row:
            row = number[row]
        return row

    seen: dict[tuple[str, Any], int] = {}
    for position, row in enumerate(rows):
        for key in ("source", "group") if by_group else ("source",):
            if row.get(key) is not None:
                low, high = sorted((first_of(seen.setdefault((key, row[key]), position)), first_of(position)))
                number[high] = low
    return [first_of(position) for position in number]


def overlap(claim: str, source: str) -> float:
    """Share of the claim's words that occur in the source.

    >>> overlap("The bridge is long.", "It is a bridge.")
    0.5
    """
    words = set(_WORD.findall(claim.lower())) - IGNORED
    return len(words & set(_WORD.findall(source.lower()))) / max(1, len(words))


def score(row: dict[str, Any], model: str) -> tuple[float, float, bool, bool]:
    """Score of the model, overlap, gold, and whether the label is right."""
    if "response" in row:
        report = vouching.check_response(row["response"], row["source"], model=model)
        scores = [finding.score for finding in report.findings if isinstance(finding, Verdict)]
        likely, label = (sum(scores) / len(scores), report.attributable) if scores else (0.0, False)
    else:
        verdict = vouching.check(row["claim"], row["source"], model=model)
        if not isinstance(verdict, Verdict):
            raise RuntimeError(f"{row['id']}: {verdict}")
        likely, label = verdict.score, verdict.attributable
    gold = row["label"] == "Attributable"
    return likely, overlap(row["claim"], row["source"]), gold, label == gold


def auroc(scores: NDArray[np.float64], gold: NDArray[np.bool_]) -> float:
    """Mann-Whitney form of the area under the ROC curve; ties count half."""
    positive = int(gold.sum())
    ranks = rankdata(scores)
    return float((ranks[gold].sum() - positive * (positive + 1) / 2) / (positive * (len(gold) - positive)))


def paired_bootstrap(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], gold: NDArray[np.bool_], groups: Sequence[int]
) -> dict[str, list[float]]:
    """Intervals of both areas and of their difference, resampling groups. ``gold`` needs both classes."""
    if gold.all() or not gold.any():
        raise ValueError(UNDEFINED)
    members: dict[int, list[int]] = {}
    for position, group in enumerate(groups):
        members.setdefault(group, []).append(position)
    pools = [np.array(rows) for rows in members.values()]
    random = np.random.default_rng(SEED)
    areas: list[tuple[float, float]] = []
    while len(areas) < RESAMPLES:
        rows = np.concatenate([pools[i] for i in random.integers(len(pools), size=len(pools))])
        if 0 < gold[rows].sum() < len(rows):
            areas.append((auroc(ours[rows], gold[rows]), auroc(theirs[rows], gold[rows])))
    drawn = np.array(areas)
    bounds = partial(np.quantile, q=[0.025, 0.975])
    return {
        name: [round(float(b), 3) for b in bounds(values)]
        for name, values in (("ours", drawn[:, 0]), ("overlap", drawn[:, 1]), ("difference", drawn[:, 0] - drawn[:, 1]))
    }


def evaluate(name: str, rows: list[dict[str, Any]], model: str, pool: Any) -> dict[str, Any]:
    """One set's figures."""
    results = pool.map(partial(score, model=model), rows, chunksize=10)
    ours, theirs = np.array([r[0] for r in results]), np.array([r[1] for r in results])
    gold, right = np.array([r[2] for r in results]), np.array([r[3] for r in results])
    if gold.all() or not gold.any():
        return {"rows": len(rows), "attributable": round(float(gold.mean()), 3), "undefined": UNDEFINED}
    groups = documents(rows, by_group=name not in GROUP_IS_SUBSET)
    intervals = paired_bootstrap(ours, theirs, gold, groups)
    low, high = intervals["difference"]
    return {
        "rows": len(rows),
        "documents": len(set(groups)),
        "attributable": round(float(gold.mean()), 3),
        "auroc": round(auroc(ours, gold), 3),
        "auroc_95": intervals["ours"],
        "overlap": round(auroc(theirs, gold), 3),
        "overlap_95": intervals["overlap"],
        "difference": round(auroc(ours, gold) - auroc(theirs, gold), 3),
        "difference_95": [low, high],
        "verdict": "better" if low > 0 else "worse" if high < 0 else "no difference shown",
        "balanced_accuracy": round(float((right[gold].mean() + right[~gold].mean()) / 2), 3),
        "brier": round(float(((ours - gold) ** 2).mean()), 3),
        **({"remark": REMARKS[name]} if name in REMARKS else {}),
    }


def main() -> None:
    """Score every set, print a table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, default=None, help="rows per set, for a quick look")
    parser.add_argument("--model", default="embedded:rules")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/public_sets.json")
    options = parser.parse_args()
    data = Path(os.environ["VOUCH_DATA"]) / "attribution/test"
    figures: dict[str, Any] = {}
    print("| set | rows | embedded:rules | overlap | difference [95 %] | |\n|---|---|---|---|---|---|")
    with Pool(options.jobs) as pool:
        for name in SETS:
            found = evaluate(name, read_rows(data / f"{name}.jsonl.gz")[: options.most], options.model, pool)
            figures[name] = found
            if "undefined" in found:
                print(f"| {name} | {found['rows']} | {found['undefined']} | | | |", flush=True)
                continue
            low, high = found["difference_95"]
            print(
                f"| {name} | {found['rows']} | {found['auroc']:.3f} | {found['overlap']:.3f} | "
                f"{found['difference']:+.3f} [{low:+.3f}, {high:+.3f}] | {found['verdict']} |",
                flush=True,
            )
    record = {
        "command": "python benchmarks/public_sets.py",
        "model": options.model,
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED, "unit": "source document"},
        "sets": figures,
    }
    if options.most is None:
        options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
