"""Runs the tests of the adapters, each in an environment of its own with the real package, and writes the table.

    python -m tests.integrations.environments [NAMES] [--folder PATH]

Packages that cannot be installed together do not meet: each environment has one of them beside Vouch. Where a package
limits a dependency to versions older than Vouch needs, the newer version is installed nevertheless (``relaxed``); its
tests say whether it works. Of engines that need a GPU the client of rewards is tested alone: they are installed without
their dependencies (``bare``). Writes docs/results/integrations.json and the table of docs/integrations.md; environments
that are named replace their own lines.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results" / "integrations.json"
PAGE = ROOT / "docs" / "integrations.md"

NO_TELEMETRY = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true", "HAYSTACK_TELEMETRY_ENABLED": "False",
    "GUARDRAILS_RUN_SYNC": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Environment:
    """One adapter and its package."""

    adapter: str
    """What the package is to Vouch."""
    packages: tuple[str, ...]
    """The package with its version, and what else it needs."""
    tests: tuple[str, ...]
    """Files of tests, in this folder."""
    example: str = ""
    """Name of the example that runs, in examples/integrations."""
    relaxed: tuple[str, ...] = ()
    """Dependencies that are newer than the package allows."""
    extras: str = ""
    """Extras of Vouch that the tests need."""
    kind: Literal["pip", "bare", "npm"] = "pip"
    """How the packages are installed: with their dependencies, without, or by npm."""


OLDER_CLIENTS = ("openai", "rich", "typer")
ENVIRONMENTS = {
    "langchain": Environment(
        "runnable, guard, evaluator", ("langchain-core==1.8.3",), ("test_langchain.py",), "langchain_guard"
    ),
    "llama-index": Environment(
        "evaluator, node postprocessor",
        ("llama-index-core==0.14.25",),
        ("test_llama_index.py",),
        "llama_index_query",
    ),
    "haystack": Environment("component", ("haystack-ai==3.4.1",), ("test_haystack.py",), "haystack_pipeline"),
    "guardrails": Environment(
        "validator", ("guardrails-ai==0.11.0",), ("test_guardrails.py",), "guardrails_validator", OLDER_CLIENTS
    ),
    "ragas": Environment(
        "metric", ("ragas==0.4.3", "langchain-community<0.4"), ("test_ragas.py",), "ragas_metric", OLDER_CLIENTS
    ),
    "deepeval": Environment("metric", ("deepeval==4.3.1",), ("test_deepeval.py",), "deepeval_metric", ("rich",)),
    "inspect-ai": Environment("scorer", ("inspect-ai==0.3.285",), ("test_inspect_ai.py",), "inspect_ai_scorer"),
    "evaluate": Environment(
        "metric, columns", ("evaluate==0.4.6", "datasets==5.2.0"), ("test_evaluate.py",), "evaluate_metric"
    ),
    "lm-eval": Environment("task", ("lm-eval==0.4.13",), ("test_lm_eval.py",)),
    "promptfoo": Environment(
        "webhook of the proxy", ("promptfoo@0.121.20",), ("test_promptfoo.py",), extras="serve", kind="npm"
    ),
    "phoenix": Environment(
        "attributes of spans",
        ("arize-phoenix-otel==0.17.2", "opentelemetry-sdk==1.45.2"),
        ("test_telemetry.py",),
        "opentelemetry_span",
    ),
    "verifiers": Environment(
        "rewards, environment",
        ("verifiers==0.4.0",),
        ("test_verifiers.py", "test_verifiers_environment.py"),
        relaxed=("openai",),
    ),
    "label-studio": Environment(
        "review tasks", ("label-studio-sdk==2.1.2", "sqlalchemy", "alembic"), ("test_label_studio.py",)
    ),
    "argilla": Environment("review records", ("argilla==2.8.0", "sqlalchemy", "alembic"), ("test_argilla.py",)),
    "openrlhf": Environment("remote reward", ("openrlhf==0.11.2",), ("test_openrlhf.py",), extras="serve", kind="bare"),
    "verl": Environment("reward functions", ("verl==0.9.1",), ("test_verl.py",), "verl_reward", kind="bare"),
    "litellm": Environment("guardrail of the proxy", ("litellm==1.110.2",), ("test_litellm.py",), extras="serve"),
    "trl": Environment(
        "rewards",
        ("trl==1.16.0", "torch==2.13.0", "transformers==5.23.0"),
        ("test_trl.py",),
        "trl_grpo",
        extras="train",
    ),
    "transformers": Environment(
        "server behind the proxy",
        ("transformers==5.23.0", "torch==2.13.0"),
        ("test_transformers_serve.py",),
        extras="serve",
    ),
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
        install(place, wanted)
    report = folder / f"{name}.xml"
    tests = [f"tests/integrations/{file}" for file in wanted.tests]
    if wanted.example:
        tests.append(f"tests/integrations/test_examples.py::test_an_example_prints_what_it_says[{wanted.example}]")
    environment = {**os.environ, **NO_TELEMETRY, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    environment["PATH"] = f"{place / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}"
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *tests]
    subprocess.run(command, cwd=ROOT, env=environment, check=False)
    counts = counted(report)
    return Tested(name, wanted.adapter, wanted.packages[0], *counts, wanted.relaxed)


def install(place: Path, wanted: Environment) -> None:
    """Install Vouch, the package and what the tests need; dependencies that are relaxed last, regardless of limits."""
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    tests = ("pytest", "hypothesis", "pyyaml")
    own = ("-e", f"{ROOT}[{wanted.extras}]" if wanted.extras else str(ROOT))
    steps = [[*pip, *wanted.packages, *own, *tests]]
    if wanted.kind == "bare":
        steps = [[*pip, *own, *tests], [*pip, "--no-deps", *wanted.packages]]
    elif wanted.kind == "npm":
        npm = shutil.which("npm")
        get = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), *wanted.packages]
        steps = [[*pip, *own, *tests], *([get] if npm else [])]  # without npm the tests are skipped, and say so
    elif wanted.relaxed:  # pip has no overrides, but a second step may break the limits of the first
        steps = [[*pip, *wanted.packages, *tests], [*pip, "--upgrade", *own]]
    for step in steps:
        if subprocess.run(step, check=False).returncode:
            raise RuntimeError(f"could not install: {' '.join(step)}")


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
    done = [run(name, given.folder) for name in given.names or ENVIRONMENTS]
    write(done)
    return int(any(one.failed or not (one.passed or one.skipped) for one in done))


def write(done: Sequence[Tested]) -> None:
    """Write the results and the table; lines of environments that did not run stay as they are."""
    record = json.loads(RESULTS.read_text(encoding="utf-8"))
    lines = {one["name"]: {**one, "date": one.get("date", record.get("date"))} for one in record["results"]}
    lines |= {one.name: {**asdict(one), "date": f"{datetime.now(UTC):%Y-%m-%d}"} for one in done}
    kept = [lines[name] for name in ENVIRONMENTS if name in lines]
    record = {"python": platform.python_version(), "results": kept}
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    start, end = page.index("| package |"), page.index("\n\n", page.index("| package |"))
    fields = [{name: value for name, value in one.items() if name != "date"} for one in kept]
    PAGE.write_text(page[:start] + table([Tested(**one) for one in fields]) + page[end:], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
