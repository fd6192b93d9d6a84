"""Rows per second that a ledger appends and checks, on SQLite and PostgreSQL, with commits that wait for the disk.

    python benchmarks/ledger.py [--seconds 5] [--output benchmarks/results/ledger.json]

Each row has a real report on an answer with four sources (about 38 KB of JSON). Appending is measured with one row and
with 100 rows in a batch, by one process and by two on the same chain. Not supported: a PostgreSQL on another machine.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.ledger.server import NoPostgres, PostgresServer  # noqa: E402
from vouching import check_response  # noqa: E402
from vouching.ledger import Entry, open_ledger  # noqa: E402
from vouching.types.serial import to_python  # noqa: E402

KEY = "a key only for measurements"


def entry() -> Entry:
    """A report on an answer, with its sources."""
    text = (ROOT / "examples" / "source.txt").read_text(encoding="utf-8")
    answer = (ROOT / "examples" / "answer.txt").read_text(encoding="utf-8")
    report = to_python(check_response(answer, [text] * 4, model="embedded:rules"))
    return Entry("load", "check-response", {"response": answer, "sources": report["sources"]}, report, "benchmark")


def append_for(target: str, seconds: float, batch: int) -> int:
    """Append batches for so many seconds; returns the number of rows."""
    one, rows = entry(), 0
    with open_ledger(target, key=KEY) as ledger:
        ledger.append([one])
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            rows += len(ledger.append([one] * batch))
    return rows


def measured(target: str, seconds: float) -> dict[str, Any]:
    """Rows per second, by batch size and number of processes, and of a verification of all of them."""
    found: dict[str, Any] = {}
    for batch in (1, 100):
        for processes in (1, 2):
            command = [sys.executable, __file__, "--seconds", str(seconds), "--batch", str(batch), "--target", target]
            running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
            rows = sum(int(one.communicate()[0]) for one in running)
            found[f"append, batches of {batch}, {processes} process{'es' * (processes > 1)}"] = round(rows / seconds)
    with open_ledger(target, key=KEY) as ledger:
        start = time.monotonic()
        result = ledger.verify()
        assert result.intact, result.faults
        found |= {"verify": round(result.rows / (time.monotonic() - start)), "rows": result.rows}
    return found


@contextmanager
def targets() -> Iterator[dict[str, str]]:
    """The databases to measure; PostgreSQL where it is installed."""
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        found = {"sqlite": f"{folder}/ledger.db"}
        try:
            server = PostgresServer(durable=True)
        except NoPostgres as error:
            print(error, file=sys.stderr)
            yield found
            return
        try:
            yield {**found, "postgresql": server.database()}
        finally:
            server.remove()


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/ledger.json")
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.target:
        print(append_for(given.target, given.seconds, given.batch))
        return
    size = len(json.dumps([entry().inputs, entry().record]))
    with targets() as addresses:
        result = {
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "load": round(os.getloadavg()[0], 1),
            "characters per row": size,
            "rows per second": {name: measured(address, given.seconds) for name, address in addresses.items()},
        }
    given.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
