"""How the claims of a response become one score: writes ``response_score.json`` beside this file.

    VOUCH_DATA=... python recipes/embedded/response_score.py [--jobs 2] [--limit N]

Several ways are compared by AUROC on texts of several sentences, all from ``attribution/train``: the sets whose claims
have several sentences, and responses composed of three to eight claims with all their sources, half of them with one
unsupported claim. Sets count by their shares. ``Report.score`` is "mean_and_support": it ranks as well as any
("mean_and_whole" is level with it), and of the two it is the one that a false alarm, whose chance grows with the length
of a response, pulls down only once. Left out: fitting a model of these ways, which was no better on sets left out; all
test sets.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import math
import os
import platform
import random
from collections.abc import Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from training_rows import SEED, SHARES

from vouching.checker import Checker
from vouching.embedded.verify import EmbeddedVerifier
from vouching.types import Claim, Source, Verdict

TARGET = Path(__file__).parent / "response_score.json"
NATURAL = (
    "begin",
    "bump",
    "faithdial",
    "summedits_ectsum",
    "summedits_podcast",
    "summedits_qmsumm",
    "summedits_sales_call",
    "summedits_sales_email",
)
COMPOSED = ("begin", "factcheck_gpt", "faithdial", "fever_symmetric", "fool_me_twice", "wice", "wice_full")
COMPOSED_SHARE = 0.5
MAX_ROWS, MIN_CLAIMS, MAX_CLAIMS = 600, 3, 8


def read(name: str) -> list[dict[str, Any]]:
    """Rows of a training set, shuffled. Claims of factcheck_gpt whose source is about something else are left out."""
    path = Path(os.environ["VOUCH_DATA"]) / "attribution/train" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for line in lines if (row := json.loads(line)).get("fine_label") != "irrelevant"]
    random.Random(SEED).shuffle(rows)
    return rows


def compose(name: str, limit: int) -> list[dict[str, Any]]:
    """Responses of several claims of one set; every second one has an unsupported claim in it."""
    draw, rows = random.Random(SEED), read(name)
    supported = [row for row in rows if row["label"] == "Attributable"]
    unsupported = [row for row in rows if row["label"] != "Attributable"]
    composed: list[dict[str, Any]] = []
    for number in range(limit):
        wrong = number % 2
        parts = draw.sample(supported, draw.randint(MIN_CLAIMS, MAX_CLAIMS) - wrong)
        parts += draw.sample(unsupported, wrong)
        draw.shuffle(parts)
        claim = " ".join(part["claim"].rstrip(". ") + "." for part in parts)
        source = "\n\n".join(part["source"] for part in parts)
        composed.append({"claim": claim, "source": source, "label": "Not Attributable" if wrong else "Attributable"})
    return composed


def ways(row: dict[str, Any]) -> dict[str, float] | None:
    """One score by each way, and the gold label; None if the response makes no claim."""
    report = Checker().check_response(row["claim"], row["source"])
    verdicts = [finding for finding in report.findings if isinstance(finding, Verdict)]
    if not verdicts or report.score is None:
        return None
    scores = np.array([verdict.score for verdict in verdicts])
    mean = float(scores.mean())
    whole = EmbeddedVerifier().judge(Claim(row["claim"]), [Source(row["source"])]).score
    support = 2 * report.score - mean
    return {
        "gold": float(row["label"] == "Attributable"),
        "mean": mean,
        "mean_by_length": float(np.average(scores, weights=[len(v.claim.text) for v in verdicts])),
        "geometric_mean": math.exp(float(np.log(np.maximum(scores, 1e-6)).mean())),
        "weakest": float(scores.min()),
        "product": float(np.log(np.maximum(scores, 1e-6)).sum()),
        "share_attributable": float((scores >= 0.5).mean()),
        "whole": whole,
        "support": support,
        "mean_and_whole": (mean + whole) / 2,
        "mean_and_support": (mean + support) / 2,
    }


def areas(found: Sequence[dict[str, float]]) -> dict[str, float]:
    """AUROC of each way."""
    gold = [row["gold"] for row in found]
    names = [name for name in found[0] if name != "gold"]
    return {name: round(float(roc_auc_score(gold, [row[name] for row in found])), 3) for name in names}


def main() -> None:
    """Score every set by every way, print a table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=MAX_ROWS, help="rows of a set, at most")
    options = parser.parse_args()
    material = [(f"{name}, composed", COMPOSED_SHARE, compose(name, options.limit)) for name in COMPOSED]
    material += [(name, SHARES.get(name, 1.0), read(name)[: options.limit]) for name in NATURAL]
    sets: dict[str, dict[str, Any]] = {}
    with Pool(options.jobs) as pool:
        for name, share, rows in material:
            found = [row for row in pool.map(ways, rows, chunksize=10) if row]
            sets[name] = {"rows": len(found), "share": share, "auroc": areas(found)}
            print(name, sets[name], flush=True)
    shares = [figures["share"] for figures in sets.values()]
    means = {
        way: round(float(np.average([figures["auroc"][way] for figures in sets.values()], weights=shares)), 4)
        for way in next(iter(sets.values()))["auroc"]
    }
    print(json.dumps(dict(sorted(means.items(), key=lambda item: -item[1])), indent=1))
    record = {
        "command": "python recipes/embedded/response_score.py",
        "settings": {"seed": SEED, "max_rows": options.limit, "claims": [MIN_CLAIMS, MAX_CLAIMS]},
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "mean_auroc": means,
        "sets": sets,
    }
    TARGET.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
