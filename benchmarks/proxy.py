"""What the proxy adds to an answer: its own time beside the check, by the rules, of the same answer.

    python benchmarks/proxy.py [--rounds 200]

A server in this process answers at once. Each round asks it directly, through the proxy without documents (nothing is
checked), and through the proxy with documents; beside them the same check is run in this process. The proxy's own time
is that of a checked answer less the direct request and the check, and that of an unchecked answer less the direct
request. Medians, in milliseconds, to docs/results/proxy.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx2

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.serve.upstream import proxy_before, upstream_server  # noqa: E402
from vouching import Checker  # noqa: E402

DOCUMENT = "The bridge opened to traffic in 1973. It has two towers. " * 3
ANSWER = "The bridge opened in 1937."


def timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    checker = Checker("embedded:rules")
    body = {"model": "tiny", "messages": [{"role": "user", "content": "When did it open?"}]}
    with upstream_server() as upstream, proxy_before(upstream.url) as proxy, httpx2.Client() as client:
        upstream.says = ANSWER

        def ask(url: str, **more: object) -> None:
            client.post(f"{url}/chat/completions", json={**body, **more}).raise_for_status()

        works: dict[str, Callable[[], object]] = {
            "direct": lambda: ask(upstream.url),
            "unchecked": lambda: ask(proxy),
            "checked": lambda: ask(proxy, documents=[DOCUMENT]),
            "check": lambda: checker.check_response(ANSWER, DOCUMENT, "When did it open?"),
        }
        times: dict[str, list[float]] = {name: [] for name in works}
        for number in range(rounds + 10):
            for name, work in works.items():
                took = timed(work)
                if number >= 10:  # the first rounds load modules
                    times[name].append(took)
    own = [c - d - k for c, d, k in zip(times["checked"], times["direct"], times["check"], strict=True)]
    bare = [u - d for u, d in zip(times["unchecked"], times["direct"], strict=True)]
    figures = {name: statistics.median(values) for name, values in {**times, "own": own, "own_unchecked": bare}.items()}
    record = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        "rounds": rounds,
        "median_ms": {name: round(value, 2) for name, value in figures.items()},
    }
    (ROOT / "docs/results/proxy.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
