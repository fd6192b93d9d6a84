"""The whole load measurement of ``vouch serve``, in parts that are kept as they end: docs/results/load.json.

    python benchmarks/load.py [--minutes 20] [--only sqlite-full] [--again]
    python benchmarks/load.py --render    # only writes the table in docs/operations.md, as each part does

For SQLite and for a PostgreSQL of its own: "full" sends 10,000 requests of realistic lengths by 64 clients and compares
with the library in as many processes (see benchmarks/serve.py); "half" sends half of that rate for ``--minutes`` and
samples the memory every half minute. A part that docs/results/load.json has is not run again unless asked; "half" needs
its "full". Both databases wait for the disk at each commit. Not supported: going on within a part.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from serve import half_load, ledger_state, measure, requests_of, send, server  # noqa: E402

from tests.ledger.server import NoPostgres, PostgresServer  # noqa: E402

RESULTS = ROOT / "docs/results/load.json"
PAGE = ROOT / "docs/operations.md"
BEGIN, END = "<!-- load: made by benchmarks/load.py -->\n", "<!-- end of load -->\n"
PARTS = ("sqlite-full", "postgresql-full", "sqlite-half", "postgresql-half")
WARM = 200
"""Requests before the measurement."""


@contextmanager
def ledger_of(kind: str) -> Iterator[str]:
    """An empty ledger; PostgreSQL runs for as long as it is used."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(dir=ROOT) as folder:
            yield f"{folder}/verdicts.db"
        return
    database = PostgresServer(durable=True)
    try:
        yield database.database()
    finally:
        database.remove()


def half(options: Namespace, rate: float) -> dict[str, Any]:
    """Half of the rate for some minutes: outcomes, memory and lost rows."""
    bodies = [(path, json.dumps(body).encode()) for path, body in requests_of(options.requests)]
    with server(options.workers, options.ledger) as (url, process):
        asyncio.run(send(url, bodies[:WARM], options.clients))
        found, sent = half_load(url, process.pid, bodies, rate, options)
    state = ledger_state(options.ledger)
    samples = found["megabytes"]
    middle = len(samples) // 2
    return {
        **found,
        "requests_per_second": round(rate / 2, 1),
        "lost_rows": WARM + sent - state["rows"],
        "intact": state["intact"],
        "growth_in_second_half_megabytes": round(samples[-1] - samples[middle], 1),
    }


def run(part: str, options: Namespace, done: dict[str, Any]) -> dict[str, Any]:
    """The figures of a part."""
    kind, what = part.split("-")
    before = os.getloadavg()[0]
    with ledger_of(kind) as target:
        options.ledger = target
        if what == "full":
            found = measure(Namespace(**{**vars(options), "minutes": 0.0}))
        else:
            found = half(options, done[f"{kind}-full"]["requests_per_second"])
    return {
        **found,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "load_average_before": round(before, 1),
    }


def table(done: dict[str, Any]) -> str:
    """The figures as a table."""
    kinds = [kind for kind in ("sqlite", "postgresql") if f"{kind}-full" in done]
    full = [done[f"{kind}-full"] for kind in kinds]
    rest = [done.get(f"{kind}-half") for kind in kinds]

    def times(found: dict[str, Any]) -> str:
        return "; ".join(f"{found['milliseconds'][name]:,.0f}" for name in ("p50", "p95", "p99"))

    def memory(found: dict[str, Any] | None) -> str:
        if found is None:
            return "not measured"
        samples = found["megabytes"]
        return f"{samples[0]:.0f} MB, {samples[len(samples) // 2]:.0f} MB, {samples[-1]:.0f} MB"

    rows = [
        ("what", [f"ledger in {'SQLite' if kind == 'sqlite' else 'PostgreSQL'}" for kind in kinds]),
        ("---", ["---"] * len(kinds)),
        (
            "answered; lost rows of the ledger; chain",
            [
                f"{one['outcomes'].get('200', 0):,} of {one['requests']:,}; {one['ledger']['lost_rows']}; "
                f"{'intact' if one['ledger']['intact'] else 'broken'}"
                for one in full
            ],
        ),
        ("requests per second", [f"{one['requests_per_second']:.0f}" for one in full]),
        ("milliseconds at p50, p95, p99", [times(one) for one in full]),
        ("ratio to the library, by the clock", [f"{one['ratio_to_library']['by_clock']:.2f}" for one in full]),
        (
            "ratio to the library, by processor time",
            [f"{one['ratio_to_library']['by_processor_time']:.2f}" for one in full],
        ),
        (
            "ratio to the library with the same ledger, by processor time",
            [f"{one['ratio_to_library_with_ledger']['by_processor_time']:.2f}" for one in full],
        ),
        ("processor time of a request", [f"{one['cpu_milliseconds_per_request']:.1f} ms" for one in full]),
        ("memory at half load: at first, in the middle, at the end", [memory(one) for one in rest]),
        (
            "requests at half load; minutes; lost rows",
            [f"{one['requests']:,}; {one['minutes']:g}; {one['lost_rows']}" if one else "not measured" for one in rest],
        ),
    ]
    return "".join(f"| {name} | {' | '.join(values)} |\n" for name, values in rows)


def render(done: dict[str, Any]) -> None:
    """Write the table into docs/operations.md, between its two comments."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}{table(done)}{END}{after}", encoding="utf-8")


def main() -> None:
    """Run the parts that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--only", choices=PARTS, help="run this part")
    parser.add_argument("--again", action="store_true", help="run parts that were run before")
    parser.add_argument("--render", action="store_true", help="run nothing")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    done: dict[str, Any] = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
    for part in () if options.render else PARTS:
        if (options.only and part != options.only) or (part in done and not options.again):
            continue
        if part.endswith("-half") and part.replace("half", "full") not in done:
            print(f"{part} needs {part.replace('half', 'full')}: run it first", file=sys.stderr)
            continue
        try:
            done[part] = run(part, options, done)
        except NoPostgres as reason:
            print(f"{part}: {reason}", file=sys.stderr)
            continue
        options.output.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        print(part, json.dumps(done[part]), flush=True)
    if any(part.endswith("full") for part in done):
        render(done)


if __name__ == "__main__":
    main()
