"""How long the requests of others take beside one caller who sends the costliest texts that the server accepts.

    python benchmarks/attacker.py      # 64 clients, 10,000 requests: docs/results/attacker.json
    python benchmarks/attacker.py --requests 200 --clients 8 --output /tmp/attacker.json

The requests are those of benchmarks/load.py, in turns alone and beside the attacker, who sends the next text as soon as
the last was answered or refused. The aim is that p99 at most doubles. Not supported: attackers on several connections,
whom ``requests_per_minute`` of a key limits.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import itertools
import json
import os
import platform
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from load import WARM, ledger_of  # noqa: E402
from serve import requests_of, send, server  # noqa: E402

COSTLY: tuple[dict[str, Any], ...] = tuple(
    {"response": piece * (200_000 // len(piece)), "sources": ["The bridge opened in 1973."]}
    for piece in ("A B ", "1, ", "5 May 1973 ", "and ", "It opened in 1937. ")
)
"""Bodies of /v1/check-response."""


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Milliseconds of the middle and of the slowest requests."""
    ordered = sorted(seconds)
    return {f"p{share}": round(1000 * ordered[len(ordered) * share // 100], 1) for share in (50, 95, 99)}


async def attacked(url: str, bodies: list[tuple[str, bytes]], clients: int) -> tuple[list[float], Counter[str], int]:
    """The seconds and outcomes of requests beside the attacker, and how many requests the attacker sent."""
    costly = itertools.cycle([("/v1/check-response", json.dumps(body).encode()) for body in COSTLY])
    sent = 0

    async def attack() -> None:
        nonlocal sent
        while True:
            sent += 1
            await send(url, [next(costly)], 1)

    attacker = asyncio.ensure_future(attack())
    await asyncio.sleep(1)
    _, seconds, outcomes = await send(url, bodies, clients)
    attacker.cancel()
    return seconds, outcomes, sent


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The times without and with the attacker, in turn, so that what else the machine does is the same for both."""
    bodies = [(path, json.dumps(body).encode()) for path, body in requests_of(options.requests)]
    alone, beside = list[float](), list[float]()
    outcomes, others, sent = Counter[str](), Counter[str](), 0
    with ledger_of(options.kind) as ledger, server(options.workers, ledger) as (url, _):
        asyncio.run(send(url, bodies[:WARM], options.clients))
        for turn in range(options.turns):
            part = bodies[turn :: options.turns]
            _, seconds, found = asyncio.run(send(url, part, options.clients))
            alone, outcomes = alone + seconds, outcomes + found
            seconds, found, attacks = asyncio.run(attacked(url, part, options.clients))
            beside, others, sent = beside + seconds, others + found, sent + attacks
    before, after = percentiles(alone), percentiles(beside)
    return {
        "requests": options.requests,
        "clients": options.clients,
        "workers": options.workers,
        "ledger": options.kind,
        "turns": options.turns,
        "judge": "embedded:rules",
        "alone": {**before, "outcomes": dict(outcomes)},
        "beside_attacker": {**after, "outcomes": dict(others), "attacks": sent},
        "p99_ratio": round(after["p99"] / before["p99"], 2),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f} at the end",
    }


def main() -> None:
    """Measure and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--turns", type=int, default=10, help="of each kind, with a share of the requests each")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kind", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/results/attacker.json")
    options = parser.parse_args()
    text = json.dumps(measure(options), indent=1) + "\n"
    options.output.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
