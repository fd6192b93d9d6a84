"""Fuzz every parser of text from outside, and count what comes of it.

    python -m tests.fuzz [--minutes 60] [--inputs 2000000] [--only NAME] [--seed NUMBER] [--log FILE]

Each round gives every target fresh texts, until the time is over or replies were read ``--inputs`` times. An error that
is not documented is printed with its seed, at most three per target; ``--only NAME --seed NUMBER --inputs 1`` shows it
again. The log is written every minute and at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fuzz.check import check
from tests.fuzz.replies import REPLIES
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS
from tests.fuzz.texts import text_for

_PER_ROUND = 100
_SHOWN = 3
_OTHERS = 0.1
"""How often other targets are tried, compared with replies: most of them write a file."""


@dataclass(slots=True)
class Counted:
    """What came of the texts for a target."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    slowest: float = 0.0
    """Seconds of processor time of one text."""
    escaped: list[str] = field(default_factory=list[str])
    """The first errors that are not documented, with their seeds."""

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "inputs": self.outcomes.total(),
            **dict(self.outcomes.most_common()),
            "slowest_milliseconds": round(1e3 * self.slowest, 1),
            **({"faults": self.escaped} if self.escaped else {}),
        }


def fuzz(name: str, target: Target, seeds: range, counted: Counted) -> None:
    """Try a target on the texts of some seeds."""
    for seed in seeds:
        text = text_for(target, f"{name} {seed}")
        started = time.process_time()
        try:
            outcome = check(target, text)
        except AssertionError as error:
            outcome = "escaped"
            if counted.outcomes[outcome] < _SHOWN:
                counted.escaped.append(f"seed {seed}: {error}")
                sys.stdout.write(f"== {name}, seed {seed}: {text[:500]!r}\n{traceback.format_exc(limit=-6)}\n")
                sys.stdout.flush()
        counted.outcomes[outcome] += 1
        counted.slowest = max(counted.slowest, time.process_time() - started)


def summary(counts: dict[str, Counted], first: int, rounds: int, started: float) -> dict[str, Any]:
    """The log."""
    state = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {
        "replies": sum(counts[name].outcomes.total() for name in REPLIES if name in counts),
        "inputs": sum(one.outcomes.total() for one in counts.values()),
        "undocumented_errors": sum(one.outcomes["escaped"] for one in counts.values()),
        "seeds": f"NAME and a number, from {first} on; {rounds} rounds",
        "minutes": round((time.monotonic() - started) / 60, 1),
        "processor_seconds": round(time.process_time()),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "revision": state.stdout.strip(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, one process",
        "readers": {name: one.record() for name, one in counts.items()},
    }


def main() -> int:
    """Fuzz; the exit code is the number of targets that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--inputs", type=int, default=2_000_000, help="replies to read")
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    counts = {name: Counted() for name in TARGETS if options.only in (None, name)}
    started = logged = time.monotonic()
    number, read = 0, 0
    while read < options.inputs and time.monotonic() < started + 60 * options.minutes:
        for name, one in counts.items():
            share = TARGETS[name].share * (1 if name in REPLIES else _OTHERS)
            most = min(max(1, int(_PER_ROUND * share)), options.inputs)
            seed = options.seed + number * _PER_ROUND
            fuzz(name, TARGETS[name], range(seed, seed + most), one)
            read += most * (name in REPLIES or options.only is not None)
        number += 1
        if options.log and time.monotonic() > logged + 60:
            logged = time.monotonic()
            options.log.write_text(json.dumps(summary(counts, options.seed, number, started), indent=1) + "\n")
    found = json.dumps(summary(counts, options.seed, number, started), indent=1) + "\n"
    if options.log:
        options.log.write_text(found)
    sys.stdout.write(found)
    return sum(bool(one.escaped) for one in counts.values())


if __name__ == "__main__":
    sys.exit(main())
