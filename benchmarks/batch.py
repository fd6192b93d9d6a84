"""Speed and memory of ``vouch check --input`` in one process and in two, by number of rows.

    python benchmarks/batch.py [--rows 100000] [--jobs 1 2] [--output benchmarks/results/batch.json]

Each run is the real command on a generated file of distinct short rows. Memory is the peak of each process (VmHWM) when
10,000, 100,000 and 1,000,000 rows are written and at the end. A million rows take half an hour in one process. Not
supported: systems other than Linux; other formats.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vouching

MODEL = "embedded:rules"
MARKS = (10_000, 100_000, 1_000_000)
POLL_SECONDS = 0.2
PLACES = ("Tarnwick", "Ellerby", "Harrowgate", "Osmotherley", "Whitcombe", "Saltburn", "Ravenglass")
THINGS = ("bridge", "viaduct", "station", "harbour", "museum", "library", "theatre")


def write_rows(path: Path, rows: int) -> None:
    """Write rows: a third right, a third wrong and a third about something that the source does not mention."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            # A word that no other row has: caches of words must not grow with the rows.
            thing, place = THINGS[number % 7], f"{PLACES[number // 7 % 7]}-{to_letters(number)}"
            opened, visitors = 1800 + number % 200, 1_000 + number
            source = f"The {thing} of {place} was opened in {opened}. Some {visitors:,} people visit it every year."
            claims = (
                f"The {thing} of {place} opened in {opened}.",
                f"About {visitors + 500:,} people visit the {thing} of {place} every year.",
                f"The {thing} of {place} was designed by Ann Marsh.",
            )
            row = {"id": f"row {number}", "claim": claims[number % 3], "source": source}
            file.write(json.dumps(row) + "\n")


def to_letters(number: int) -> str:
    """A made-up word for a number.

    >>> to_letters(3)
    'Babababafo'
    """
    syllables = [f"{'bcdfghjklm'[digit]}{'aeiou'[digit % 5]}" for digit in map(int, f"{number:05}")]
    return "".join(syllables).capitalize()


def measure(rows: Path, count: int, jobs: int) -> dict[str, Any]:
    """Run the command once: rows per second over all of it, and the peak memory of its processes."""
    output = rows.with_name(f"verdicts-{jobs}.jsonl")
    command = [sys.executable, "-m", "vouching", "check", "--model", MODEL]
    command += ["--input", str(rows), "--output", str(output)]
    peaks: dict[str, dict[str, Any]] = {}
    memory: dict[str, Any] = {}
    start = time.perf_counter()
    with subprocess.Popen([*command, "--jobs", str(jobs)], stderr=subprocess.PIPE, text=True) as program:
        written = newlines(output)
        marks = [mark for mark in MARKS if mark < count]
        while program.poll() is None:
            time.sleep(POLL_SECONDS)
            seen = peak_megabytes(program.pid)
            # At the end the workers go first; what was last seen of all of them stands.
            if seen and len(seen["workers"]) >= len(memory.get("workers", [])):
                memory = seen
            if marks and next(written) >= marks[0]:
                peaks[f"{marks.pop(0):,} rows"] = memory
        seconds = time.perf_counter() - start
        report = program.stderr.read().splitlines()[-1] if program.stderr else ""
    if f"{count:,} rows" not in report:
        raise RuntimeError(f"the command ended with {program.returncode}: {report}")
    peaks[f"{count:,} rows"] = memory
    output.unlink()
    result = {"jobs": jobs, "seconds": round(seconds, 1), "rows_per_second": round(count / seconds)}
    return {**result, "told": report.removeprefix("vouch: "), "peak_megabytes": peaks}


def newlines(path: Path) -> Iterator[int]:
    """How many lines a growing file has, each time it is asked; what was counted is not read again."""
    while not path.exists():
        yield 0
    lines = 0
    with path.open("rb") as file:
        while True:
            while block := file.read(1 << 20):
                lines += block.count(b"\n")
            yield lines


def peak_megabytes(pid: int) -> dict[str, Any]:
    """Peak memory of a process and of its children so far; empty if it has ended."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        return {"parent": _peak(pid), "workers": [_peak(int(child)) for child in children]}
    except (FileNotFoundError, ProcessLookupError, TypeError):
        return {}


def _peak(pid: int) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    return round(int(found[1]) * 1024 / 1e6)  # type: ignore[index]  # a process that has ended has no such line


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/batch.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        write_rows(rows, options.rows)
        runs = [measure(rows, options.rows, jobs) for jobs in options.jobs]
        size = rows.stat().st_size
    record = {
        "command": f"python benchmarks/batch.py --rows {options.rows} --jobs {' '.join(map(str, options.jobs))}",
        "model": MODEL,
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "rows": options.rows,
        "megabytes": round(size / 1e6, 1),
        "runs": runs,
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
