"""What decision models cost: the routes of ``vouch serve`` beside /v1/check, and a cascade at several thresholds.

    vouch serve --model embedded:rules --address 127.0.0.1:8400
    python benchmarks/decisions.py http://127.0.0.1:8400 [--requests 200] [--claims 1 20]
    vouch serve --model embedded:small --address 127.0.0.1:8401
    python benchmarks/decisions.py http://127.0.0.1:8400 --cascade "decision:http://127.0.0.1:8401/v1#default"

Routes: one client sends one request after another, in turn to each route and each first in turn, so that all bear the
same load of the machine. Cascade: ``embedded:rules`` judges claims of the contrast corpus's part dev; those below a
confidence are passed on to the decision model, all of a document in one request. The cost is its time, and the tokens
that its replies report, which is none for a server of Vouch. Writes benchmarks/results/decisions.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import time
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

from vouching import Checker
from vouching.types import Verdict

ROOT = Path(__file__).parents[1]
CORPUS, RESULTS = ROOT / "tests/data/contrast/dev", ROOT / "benchmarks/results/decisions.json"
CONFIDENCES = (0.0, 0.55, 0.6, 0.65, 0.7, 1.01)
"""A claim below it is passed on: none, some, all."""
SOURCES = [" ".join(f"Bridge {number} opened in {1900 + number}." for number in range(40))]


def bodies(claims: int, turn: int) -> dict[str, dict[str, Any]]:
    """The body for each route; the claims differ from turn to turn."""
    texts = [f"Bridge {n % 40} opened in {1900 + n % 40 + turn % 3}." for n in range(turn, turn + claims)]
    return {
        "/v1/check": {"claim": texts, "sources": SOURCES},
        "/v1/systemone": {
            "model": "vouch",
            "state": {"sources": SOURCES},
            "questions": {f"c{n}": {"type": "noul", "instructions": {"claim": one}} for n, one in enumerate(texts)},
        },
        "/v1/decisions": {
            "model": "vouch",
            "input": SOURCES[0],
            "questions": [
                {"type": "predicate", "name": f"c{n}", "instructions": f"Claim: {one}"} for n, one in enumerate(texts)
            ],
        },
    }


def routes(url: str, requests: int, numbers: list[int]) -> list[dict[str, Any]]:
    """Claims a second and p95 in ms of each route, for each number of claims."""
    found: list[dict[str, Any]] = []
    with httpx2.Client(base_url=url, timeout=120) as client:
        for claims in numbers:
            seconds: dict[str, list[float]] = {}
            for turn in range(requests + 5):
                sent = [*bodies(claims, turn).items()]
                for path, body in sent[turn % 3 :] + sent[: turn % 3]:
                    started = time.perf_counter()
                    client.post(path, json=body).raise_for_status()
                    if turn >= 5:  # the first ones start processes
                        seconds.setdefault(path, []).append(time.perf_counter() - started)
            found += [
                {
                    "route": path,
                    "claims": claims,
                    "requests": len(taken),
                    "claims_per_second": round(claims * len(taken) / sum(taken), 1),
                    "p95_ms": round(1000 * float(np.percentile(taken, 95)), 1),
                }
                for path, taken in seconds.items()
            ]
    return found


def cascade(model: str, number: int) -> list[dict[str, Any]]:
    """Share passed on, accuracy and cost of ``number`` claims at each confidence."""
    rows = [json.loads(line) for line in (CORPUS / "claims.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if not row.get("question") and not row.get("before")][:: max(1, len(rows) // number)]
    about: dict[str, list[Any]] = {}
    for row in rows:
        about.setdefault(row["document"], []).append(row)
    rules, second = Checker("embedded:rules"), Checker(model)
    found: list[dict[str, Any]] = []
    for least in CONFIDENCES:
        right = passed = tokens = calls = 0
        seconds = 0.0
        for name, claims in about.items():
            source = next((CORPUS / "documents").glob(f"{name}.*")).read_text("utf-8")
            verdicts = rules.check([row["claim"] for row in claims], source)
            open_ = [n for n, one in enumerate(verdicts) if isinstance(one, Verdict) and one.confidence < least]
            started = time.perf_counter()
            asked = second.check([claims[n]["claim"] for n in open_], source) if open_ else []
            seconds += time.perf_counter() - started
            verdicts = [dict(zip(open_, asked, strict=True)).get(n, one) for n, one in enumerate(verdicts)]
            right += sum(one.label == row["label"] for one, row in zip(verdicts, claims, strict=True))
            passed += len(open_)
            tokens += sum(one.usage.prompt_tokens for one in asked)
            calls += bool(open_)
        found.append(
            {
                "confidence": least,
                "claims": len(rows),
                "passed_on": round(passed / len(rows), 3),
                "requests": calls,
                "accuracy": round(right / len(rows), 3),
                "tokens": tokens,
                "seconds": round(seconds, 1),
            }
        )
    second.close()
    return found


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--claims", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--cascade", help="a decision model after embedded:rules")
    parser.add_argument("--rows", type=int, default=300, help="claims of the cascade")
    options = parser.parse_args()
    kept: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    kept |= {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
    }
    if options.cascade:
        kept["cascade"] = {"second": options.cascade, "at": cascade(options.cascade, options.rows)}
    else:
        kept["routes"] = routes(options.url, options.requests, options.claims)
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    print(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
