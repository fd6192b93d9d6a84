"""Runs the tests of the adapters, each in an environment of its own with the real package, and writes the table.

    python -m tests.integrations.environments [NAMES] [--folder PATH]

Packages that cannot be installed together do not meet: each environment has one of them beside Vouch. Where a package
limits a dependency to versions older than Vouch needs, the newer version is installed nevertheless (``relaxed``); its
tests say whether it works. Writes docs/results/integrations.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results" / "integrations.json"
PAGE = ROOT / "docs" / "integrations.md"

NO_TELEMETRY = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true", "HAYSTACK_TELEMETRY_ENABLED": "False",
    "GUARDRAILS_RUN_SYNC": "true",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Environment:
    """One adapter and its package."""

    adapter: str
    """What the package is to Vouch."""
    packages: tuple[str, ...]
    """The package with its version, and what else it needs."""
    tests: str
    """File of tests, in this folder."""
    relaxed: tuple[str, ...] = ()
    """Dependencies that are newer than the package allows."""


ENVIRONMENTS = {
    "langchain": Environment("runnable, guard, evaluator", ("langchain-core==1.8.3",), "test_langchain.py"),
    "llama-index": Environment("evaluator, node postprocessor", ("llama-index-core==0.14.25",), "test_llama_index.py"),
    "haystack": Environment("component", ("haystack-ai==3.4.1",), "test_haystack.py"),
    "guardrails": Environment(
        "validator", ("guardrails-ai==0.11.0",), "test_guardrails.py", ("openai", "rich", "typer")
    ),
    "ragas": Environment(
        "metric", ("ragas==0.4.3", "langchain-community<0.4"), "test_ragas.py", ("openai", "rich", "typer")
    ),
    "deepeval": Environment("metric", ("deepeval==4.3.1",), "test_deepeval.py", ("rich",)),
    "inspect-ai": Environment("scorer", ("inspect-ai==0.3.285",), "test_inspect_ai.py"),
    "evaluate": Environment(
        "metric, columns, lm-eval results", ("evaluate==0.4.6", "datasets==5.2.0"), "test_evaluate.py"
    ),
    "phoenix": Environment(
        "attributes of spans", ("arize-phoenix-otel==0.17.2", "opentelemetry-sdk==1.45.2"), "test_telemetry.py"
    ),
    "verifiers": Environment("rewards", ("verifiers==0.3.1",), "test_verifiers.py"),
    "label-studio": Environment(
        "review tasks", ("label-studio-sdk==2.1.2", "sqlalchemy", "alembic"), "test_label_studio.py"
    ),
    "argilla": Environment("review records", ("argilla==2.8.0", "sqlalchemy", "alembic"), "test_argilla.py"),
}


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of an environment."""

    name: str
    adapter: str
    package: str
    passed: int
    failed: int
    skipped: int
    relaxed: tuple[str, ...]


def run(name: str, folder: Path) -> Tested:
    """Make the environment if it does not exist, run the tests, and count. Raises RuntimeError if pip fails."""
    wanted = ENVIRONMENTS[name]
    place = folder / f"int-{name}"
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        install(python, wanted)
    report = folder / f"{name}.xml"
    tests = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    environment = {**os.environ, **NO_TELEMETRY, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([*tests, f"tests/integrations/{wanted.tests}"], cwd=ROOT, env=environment, check=False)
    counts = counted(report)
    return Tested(name, wanted.adapter, wanted.packages[0], *counts, wanted.relaxed)


def install(python: Path, wanted: Environment) -> None:
    """Install Vouch, the package and what the tests need; dependencies that are relaxed last, regardless of limits."""
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    tests = ("pytest", "hypothesis")
    steps = [[*wanted.packages, "-e", str(ROOT), *tests]]
    if wanted.relaxed:  # pip has no overrides, but a second step may break the limits of the first
        steps = [[*wanted.packages, *tests], ["--upgrade", "-e", str(ROOT)]]
    for step in steps:
        if subprocess.run([*pip, *step], check=False).returncode:
            raise RuntimeError(f"pip could not install {' '.join(step)}")


def counted(report: Path) -> tuple[int, int, int]:
    """Tests that passed, failed and were skipped, of a report in JUnit XML."""
    from xml.etree import ElementTree

    [suite] = ElementTree.parse(report).getroot().iter("testsuite")
    failed, skipped = int(suite.get("failures", 0)) + int(suite.get("errors", 0)), int(suite.get("skipped", 0))
    return int(suite.get("tests", 0)) - failed - skipped, failed, skipped


def table(results: Sequence[Tested]) -> str:
    """The results as a Markdown table."""
    lines = ["| package | adapter | tests | dependencies beyond the limits of the package |", "|---|---|---|---|"]
    for one in results:
        count = f"{one.passed} passed" + (f", {one.failed} failed" if one.failed else "")
        count += f", {one.skipped} skipped" if one.skipped else ""
        lines.append(f"| `{one.package}` | {one.adapter} | {count} | {', '.join(one.relaxed) or '-'} |")
    return "\n".join(lines)


def main() -> int:
    """Run the environments that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ENVIRONMENTS, []])
    parser.add_argument("--folder", type=Path, default=ROOT / ".integrations")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    results = [run(name, given.folder) for name in given.names or ENVIRONMENTS]
    if not given.names:
        record = {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "python": platform.python_version(),
            "results": [asdict(one) for one in results],
        }
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        page = PAGE.read_text(encoding="utf-8")
        start, end = page.index("| package |"), page.index("\n\n", page.index("| package |"))
        PAGE.write_text(page[:start] + table(results) + page[end:], encoding="utf-8")
    return int(any(one.failed or not one.passed for one in results))


if __name__ == "__main__":
    sys.exit(main())
