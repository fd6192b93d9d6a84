"""Starts the trial of every recipe as its README writes it, in a clean clone and without the network.

    python benchmarks/recipe_trials.py            # all, some minutes
    python benchmarks/recipe_trials.py rank       # one

A trial is a block of commands of which one names ``tiny.toml``. Each command has to end with status 0 and without a
traceback. Not supported: the commands of full size, which need GPUs, judges or data; tests/recipes reads their options,
files and settings.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def trials(readme: str) -> list[str]:
    r"""The commands of the trial of a README, in order; empty if it has none.

    >>> trials("```console\n$ python -m make runs\n$ vouch train rank recipes/rank/tiny.toml --out runs/x\n```")
    ['python -m make runs', 'vouch train rank recipes/rank/tiny.toml --out runs/x']
    """
    blocks = re.findall(r"^```console\n(.*?)^```", readme + "\n", re.MULTILINE | re.DOTALL)
    return [line for block in blocks if "tiny.toml" in block for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE)]


def run(command: str, clone: Path) -> str:
    """Run a command in the clone. Returns what is wrong, or nothing."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": f"{clone / 'src'}{os.pathsep}{clone}",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode or "Traceback" in done.stderr:
        return f"status {done.returncode}: {done.stderr.strip()[-600:]}"
    return ""


def main() -> None:
    """Run the trials of the recipes that are named, or of all."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(clone)], check=True)
        done: set[str] = set()
        for readme in sorted(clone.glob("recipes/*/README.md")):
            if sys.argv[1:] and readme.parent.name not in sys.argv[1:]:
                continue
            for command in trials(readme.read_text(encoding="utf-8")):
                if command in done:
                    continue
                done.add(command)
                started = time.monotonic()
                fault = run(command, clone)
                failed += bool(fault)
                print(
                    f"{readme.parent.name}: {command}: {fault or 'ok'} ({time.monotonic() - started:.0f} s)", flush=True
                )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
