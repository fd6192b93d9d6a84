"""Starts the trial of every recipe as its README writes it, in a clean clone and without the network.

    python benchmarks/recipe_trials.py            # all, some minutes; writes benchmarks/results/recipe_trials.json
    python benchmarks/recipe_trials.py rank       # one; the others stay in the file as they are

A trial is a block of commands of which one names ``tiny.toml``. Each command has to end with status 0 and without a
traceback. That of recipes/encoder reads data sets from VOUCH_DATA. Not supported: the commands of full size, which need
GPUs, judges or data; tests/recipes reads their options, files and settings. The commands of recipes/taxes and
recipes/theory run in tests/house.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "benchmarks/results/recipe_trials.json"


def trials(readme: str) -> list[str]:
    r"""The commands of the trial of a README, in order; empty if it has none.

    >>> trials("```console\n$ python -m make runs\n$ vouch train sft recipes/structured/tiny-sft.toml --out x\n```")
    ['python -m make runs', 'vouch train sft recipes/structured/tiny-sft.toml --out x']
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


def run_all(clone: Path, names: list[str], revision: str) -> list[dict[str, Any]]:
    """Run the trials of the recipes that are named, or of all; what several READMEs begin with runs once."""
    found: dict[str, dict[str, Any]] = {}
    for readme in sorted(clone.glob("recipes/*/README.md")):
        if names and readme.parent.name not in names:
            continue
        for command in trials(readme.read_text(encoding="utf-8")):
            if command in found:
                continue
            before = _cpu_seconds()
            fault = run(command, clone)
            seconds = round(_cpu_seconds() - before, 1)
            found[command] = {
                "recipe": readme.parent.name,
                "command": command,
                "outcome": fault or "ok",
                "cpu_seconds": seconds,
                "revision": revision,
            }
            print(f"{readme.parent.name}: {command}: {fault or 'ok'} ({seconds} s)", flush=True)
    return [*found.values()]


def _cpu_seconds() -> float:
    """Processor time of all commands so far."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main() -> None:
    """Run the trials of the recipes that are named, or of all, and keep the record."""
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(clone)], check=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True)
        found = run_all(clone, names, head.stdout.strip()[:12])
    kept = names and OUTPUT.is_file()
    known: list[dict[str, Any]] = json.loads(OUTPUT.read_text(encoding="utf-8"))["trials"] if kept else []
    record = {
        "command": "python benchmarks/recipe_trials.py",
        "date": f"{datetime.date.today():%Y-%m-%d}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "trials": [*(one for one in known if one["recipe"] not in names), *found],
    }
    OUTPUT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(one["outcome"] != "ok" for one in found))


if __name__ == "__main__":
    main()
