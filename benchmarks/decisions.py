"""Throughput and 95th percentile of the decision routes of ``vouch serve`` beside /v1/check, with the same claims.

    vouch serve --model embedded:rules --address 127.0.0.1:8400
    python benchmarks/decisions.py http://127.0.0.1:8400 [--requests 200] [--claims 1 20]

One client sends one request after another, in turn to each route and each first in turn, so that all bear the same load
of the machine.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import httpx2
import numpy as np

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


def main() -> None:
    """Send the requests and print a line for each route and number of claims."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--claims", type=int, nargs="+", default=[1, 20])
    options = parser.parse_args()
    with httpx2.Client(base_url=options.url, timeout=120) as client:
        for claims in options.claims:
            seconds: dict[str, list[float]] = {}
            for turn in range(options.requests + 5):
                sent = [*bodies(claims, turn).items()]
                for path, body in sent[turn % 3 :] + sent[: turn % 3]:
                    started = time.perf_counter()
                    client.post(path, json=body).raise_for_status()
                    if turn >= 5:  # the first ones start processes
                        seconds.setdefault(path, []).append(time.perf_counter() - started)
            for path, taken in seconds.items():
                rate, slow = claims * len(taken) / sum(taken), 1000 * np.percentile(taken, 95)
                print(f"{path} with {claims} claims: {rate:.0f} claims/s, p95 {slow:.0f} ms")


if __name__ == "__main__":
    main()
