"""``vouch serve`` under load, over the loopback interface: throughput, latency, errors, lost ledger rows and memory.

    python benchmarks/serve.py [--requests 10000] [--clients 64] [--workers 2] [--ledger PATH_OR_URL] [--minutes 5]
        [--output benchmarks/results/serve.json]

Requests are made once and sent by ``--clients`` connections of one asynchronous process. Three of four check a claim,
one of four a response of four sentences, each against a source of some 1,500 characters that no other request has. The
same work is then done by the library alone in as many processes, without HTTP, and with ``--ledger`` also by the
library that keeps its verdicts in the same ledger: the ratio of both rates is what serving keeps. Client and other
programs take their share of the machine, so the ratio is also given by processor time. With ``--minutes`` half of the
measured rate is sent for that long, and memory is sampled. Not supported: systems other than Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import aiohttp

MODEL = "embedded:rules"
PLACES = ("Tarnwick", "Ellerby", "Harrowgate", "Osmotherley", "Whitcombe", "Saltburn", "Ravenglass")
THINGS = ("bridge", "viaduct", "station", "harbour", "museum", "library", "theatre")
FILLERS = (
    "The council paid for the work over several years, and a private fund gave the rest.",
    "Its stone came from a quarry a few miles to the north, which closed soon after.",
    "In winter the doors stay shut until noon, except on days with a market.",
    "A guide in four languages is sold at the entrance, together with old photographs.",
    "Two storms damaged the roof, but the walls were never in danger.",
    "Most of those who come arrive by train and walk the last part along the river.",
)


def requests_of(number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Paths and bodies; a third of the claims is right, a third wrong, a third about what the source lacks."""
    for n in range(number):
        thing, place = THINGS[n % 7], f"{PLACES[n // 7 % 7]} {n:05}"
        opened, visitors = 1800 + n % 200, 1_000 + n
        said = f"The {thing} of {place} was opened in {opened}. Some {visitors:,} people visit it every year."
        source = " ".join([*FILLERS, *FILLERS, said, *FILLERS])
        claims = (
            f"The {thing} of {place} opened in {opened}.",
            f"About {visitors + 500:,} people visit the {thing} of {place} every year.",
            f"The {thing} of {place} was designed by Ann Marsh.",
        )
        if n % 4:
            yield "/v1/check", {"claim": claims[n % 3], "sources": [source]}
        else:
            yield "/v1/check-response", {"response": " ".join((*claims, FILLERS[4])), "sources": [source]}


@contextmanager
def server(workers: int, ledger: str | None) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """A running server and its address."""
    command = [sys.executable, "-m", "vouching", "serve", "--address", "127.0.0.1:0", "--model", MODEL]
    command += ["--workers", str(workers)] + (["--ledger", ledger] if ledger else [])
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"http://\S+", line)
            assert found, line
            asyncio.run(_ready(found[0]))
            yield found[0], process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


async def _ready(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(600):
            try:
                async with session.get(f"{url}/readyz") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)
    raise AssertionError("the server did not become ready within a minute")


async def send(
    url: str, bodies: list[tuple[str, bytes]], clients: int, rate: float | None = None
) -> tuple[float, list[float], Counter[str]]:
    """Seconds in all, the seconds of each request, and the outcomes by status; ``rate`` limits requests per second."""
    waiting = iter(bodies)
    seconds: list[float] = []
    outcomes: Counter[str] = Counter()
    started = time.perf_counter()
    sent = 0

    async def client(session: aiohttp.ClientSession) -> None:
        nonlocal sent
        for path, body in waiting:
            if rate is not None:
                await asyncio.sleep(max(0.0, started + sent / rate - time.perf_counter()))
            sent += 1
            began = time.perf_counter()
            try:
                async with session.post(url + path, data=body, headers={"content-type": "application/json"}) as answer:
                    await answer.read()
                    outcomes[str(answer.status)] += 1
            except (aiohttp.ClientError, TimeoutError) as error:
                outcomes[type(error).__name__] += 1
            seconds.append(time.perf_counter() - began)

    connector = aiohttp.TCPConnector(limit=clients)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(120)) as session:
        await asyncio.gather(*(client(session) for _ in range(clients)))
    return time.perf_counter() - started, seconds, outcomes


def processes_of(parent: int) -> list[int]:
    """A process and all below it."""
    below = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    return [parent, *(one for child in below for one in processes_of(int(child)))]


def megabytes(pid: int) -> float:
    """Resident memory of a process and all below it."""
    total = 0
    for one in processes_of(pid):
        status = Path(f"/proc/{one}/status").read_text(encoding="ascii", errors="replace")
        total += int((re.search(r"VmRSS:\s+(\d+)", status) or ["", "0"])[1])
    return round(total / 1024, 1)


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and all below it."""
    ticks = 0
    for one in processes_of(pid):
        fields = Path(f"/proc/{one}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def by_library(bodies: list[tuple[str, dict[str, Any]]], ledger: str | None) -> tuple[int, float]:
    """The same checks without a server, kept in a ledger if one is given: their number and their processor time."""
    began = time.process_time()
    from vouching import Checker
    from vouching.ledger import open_ledger
    from vouching.types.serial import to_json

    with nullcontext() if ledger is None else open_ledger(ledger) as kept:
        checker = Checker(MODEL, ledger=kept)
        for path, body in bodies:
            if path == "/v1/check":
                to_json(checker.check(body["claim"], body["sources"]))
            else:
                to_json(checker.check_response(body["response"], body["sources"]))
    return len(bodies), time.process_time() - began


def library_rate(number: int, workers: int, ledger: str | None = None) -> tuple[float, float]:
    """Requests per second of the library in ``workers`` processes, and the processor time of a request."""
    bodies = [*requests_of(number)]
    checked = partial(by_library, ledger=ledger)
    with get_context("spawn").Pool(workers) as pool:
        pool.map(checked, [bodies[:5]] * workers, chunksize=1)
        started = time.perf_counter()
        shares = [bodies[n :: workers * 4] for n in range(workers * 4)]
        done = [*pool.imap_unordered(checked, shares)]
        number = sum(one for one, _ in done)
        return number / (time.perf_counter() - started), sum(spent for _, spent in done) / number


def ledger_state(target: str) -> dict[str, Any]:
    """Rows of a ledger, and whether its chains are intact."""
    from vouching.ledger import open_ledger

    with open_ledger(target) as ledger:
        return {"rows": ledger.count(), "intact": ledger.verify().intact}


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that is reported."""
    bodies = [(path, json.dumps(body).encode()) for path, body in requests_of(options.requests)]
    before = ledger_state(options.ledger)["rows"] if options.ledger else 0
    with server(options.workers, options.ledger) as (url, process):
        asyncio.run(send(url, bodies[:200], options.clients))
        start = megabytes(process.pid)
        spent = cpu_seconds(process.pid)
        whole, seconds, outcomes = asyncio.run(send(url, bodies, options.clients))
        spent = cpu_seconds(process.pid) - spent
        end = megabytes(process.pid)
        cuts = statistics.quantiles(seconds, n=100)
        found: dict[str, Any] = {
            "requests": len(bodies),
            "clients": options.clients,
            "workers": options.workers,
            "outcomes": dict(outcomes),
            "requests_per_second": round(len(bodies) / whole, 1),
            "milliseconds": {"p50": cuts[49] * 1e3, "p95": cuts[94] * 1e3, "p99": cuts[98] * 1e3},
            "megabytes": {"before": start, "after": end},
            "cpu_milliseconds_per_request": round(1e3 * spent / len(bodies), 2),
        }
        found["milliseconds"] = {name: round(value, 1) for name, value in found["milliseconds"].items()}
        print(json.dumps(found), file=sys.stderr, flush=True)
        extra = 0
        if options.minutes:
            found["half_load"], extra = half_load(url, process.pid, bodies, found["requests_per_second"], options)
    if options.ledger:
        state = ledger_state(options.ledger)
        expected = 200 + len(bodies) + extra
        found["ledger"] = {
            "kind": options.ledger.partition(":")[0] if "://" in options.ledger else "sqlite",
            "lost_rows": expected - (state["rows"] - before),
            "intact": state["intact"],
        }
    for name, ledger in (("library", None), ("library_with_ledger", options.ledger)):
        if name == "library" or ledger:
            rate, spent = library_rate(min(options.requests, 2_000), options.workers, ledger)
            found[name] = {"per_second": round(rate, 1), "cpu_milliseconds_per_request": round(1e3 * spent, 2)}
            found[f"ratio_to_{name}"] = {
                "by_clock": round(found["requests_per_second"] / rate, 3),
                "by_processor_time": round(1e3 * spent / found["cpu_milliseconds_per_request"], 3),
            }
    return found


def half_load(
    url: str, pid: int, bodies: list[tuple[str, bytes]], rate: float, options: argparse.Namespace
) -> tuple[dict[str, Any], int]:
    """Memory every half minute at half the measured rate, and the number of requests sent."""
    samples = [megabytes(pid)]
    outcomes: Counter[str] = Counter()
    end = time.monotonic() + 60 * options.minutes
    sent = 0
    while time.monotonic() < end:
        part = [bodies[(sent + n) % len(bodies)] for n in range(max(1, int(rate / 2 * 30)))]
        _, _, found = asyncio.run(send(url, part, options.clients, rate / 2))
        outcomes += found
        sent += len(part)
        samples.append(megabytes(pid))
    return {"minutes": options.minutes, "requests": sent, "outcomes": dict(outcomes), "megabytes": samples}, sent


def main() -> None:
    """Measure and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ledger", help="path of a SQLite file, or an address of PostgreSQL; 'sqlite' for a new file")
    parser.add_argument("--minutes", type=float, default=0.0, help="minutes at half load")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.ledger == "sqlite":
            options.ledger = f"{folder}/verdicts.db"
        found = measure(options)
    found["machine"] = f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f} at the end"
    found["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    text = json.dumps(found, indent=1) + "\n"
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
