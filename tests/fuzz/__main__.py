"""Fuzz every parser until the time is over, or until one lets an undocumented error escape.

    PYTHONPATH=src python -m tests.fuzz [--minutes 60] [--only NAME] [--seed 0]

Each round gives every target fresh texts; a failure prints the smallest text that shows it and its seed.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from hypothesis import given, settings
from hypothesis import seed as seeded

from tests.fuzz.check import check
from tests.fuzz.targets import TARGETS, Target
from tests.fuzz.texts import NO_HEALTH_CHECKS, texts

_PER_ROUND = 200


def fuzz(target: Target, seed: int) -> None:
    """Try a target on fresh texts. Raises what its property raises, for the smallest text found."""

    @seeded(seed)
    @settings(
        max_examples=max(10, int(_PER_ROUND * target.share)), suppress_health_check=NO_HEALTH_CHECKS, database=None,
        deadline=None, derandomize=False, print_blob=False,
    )  # fmt: skip
    @given(texts(target.seeds, target.as_json))
    def holds(text: str) -> None:
        try:
            check(target, text)
        except AssertionError as error:
            error.add_note(f"text: {text!r}")
            raise

    holds()


def main() -> int:
    """Fuzz; the exit code is the number of targets that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ends, seed = time.monotonic() + 60 * options.minutes, options.seed
    failed: set[str] = set()
    while time.monotonic() < ends:
        for name, target in TARGETS.items():
            if time.monotonic() < ends and name not in failed and options.only in (None, name):
                try:
                    fuzz(target, seed)
                except Exception:
                    failed.add(name)
                    sys.stdout.write(f"== {name}, seed {seed}\n{traceback.format_exc(limit=-4)}\n")
        seed += 1
    sys.stdout.write(f"{seed - options.seed} rounds, {len(failed)} targets failed: {', '.join(failed) or 'none'}\n")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
