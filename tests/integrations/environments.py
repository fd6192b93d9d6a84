"""Runs the tests of the adapters, each in an environment of its own with the real package, and writes the table.

    python -m tests.integrations.environments [NAMES] [--folder PATH]

Packages that cannot be installed together do not meet: each environment, made by uv, has one of them beside Vouch.
Where a package limits a dependency to versions older than Vouch needs, the newer version is installed nevertheless
(``relaxed``); its tests say whether it works. Of engines that need a GPU the client of rewards is tested alone: they
are installed without their dependencies (``bare``). An environment whose packages are not those of this file any more
is made anew. Writes docs/results/integrations.json and the table of docs/integrations.md after each environment, with
the versions that it has; those that do not run keep their lines and dates. The exit status is 1 if an environment could
not be made, or if a test failed or none passed in one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from uv import find_uv_bin

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results" / "integrations.json"
PAGE = ROOT / "docs" / "integrations.md"

NO_TELEMETRY = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "RAGAS_DO_NOT_TRACK": "true",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "GUARDRAILS_RUN_SYNC": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


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


GATEWAY = (
    "backoff",
    "orjson",
    "apscheduler",
    "fastapi-sso",
    "pyjwt",
    "python-multipart",
    "cryptography",
    "pynacl",
    "websockets",
    "rq",
    "uvloop",
    "gunicorn",
    "semver",
    "restrictedpython",
    "expression",
    "soundfile",
    "litellm-proxy-extras",
)
"""What LiteLLM's gateway imports; its extra "proxy" limits rich, and names packages that are not needed."""
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
        "validator", ("guardrails-ai==0.11.0",), ("test_guardrails.py",), "guardrails_validator", ("typer",)
    ),
    "ragas": Environment("metric", ("ragas==0.4.3", "langchain-community<0.4"), ("test_ragas.py",), "ragas_metric"),
    "deepeval": Environment("metric", ("deepeval==4.3.1",), ("test_deepeval.py",), "deepeval_metric"),
    "inspect-ai": Environment("scorer", ("inspect-ai==0.3.285",), ("test_inspect_ai.py",), "inspect_ai_scorer"),
    "evaluate": Environment(
        "metric, columns", ("evaluate==0.4.6", "datasets==5.2.0"), ("test_evaluate.py",), "evaluate_metric"
    ),
    "lm-eval": Environment("task", ("lm-eval==0.4.13",), ("test_lm_eval.py",)),
    "promptfoo": Environment(  # it needs a newer Node than some systems have
        "webhook of the proxy, decisions of the server",
        ("promptfoo@0.123.1", "node@22.23.3"),
        ("test_promptfoo.py",),
        extras="serve",
        kind="npm",
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
        ("test_verifiers.py", "test_verl_checklist.py", "test_verifiers_environment.py"),
    ),
    "label-studio": Environment(
        "review tasks",
        ("label-studio-sdk==2.1.2",),
        ("test_label_studio.py",),
        relaxed=("numpy",),
        extras="ledger",
    ),
    "argilla": Environment(  # it imports requests, but does not require it
        "review records", ("argilla==2.8.0", "requests"), ("test_argilla.py",), extras="ledger"
    ),
    "openrlhf": Environment("remote reward", ("openrlhf==0.11.2",), ("test_openrlhf.py",), extras="serve", kind="bare"),
    "verl": Environment(
        "reward functions",
        ("verl==0.9.1",),
        ("test_verl.py", "test_verl_checklist.py"),
        "verl_reward",
        kind="bare",
    ),
    "litellm": Environment(
        "guardrail of the proxy", ("litellm==1.110.2", *GATEWAY), ("test_litellm.py",), extras="serve"
    ),
    "decision-models": Environment(
        "clients of a decision model, conformance",
        ("typesafe-sdk==0.7.5", "jevcompat==0.1.1", "litellm==1.110.2", "deepeval==4.3.1"),
        ("test_decision_clients.py",),
        extras="serve",
    ),
    "trl": Environment(
        "rewards",
        ("trl==1.16.0", "torch==2.13.0", "transformers==5.23.0"),
        ("test_trl.py",),
        "trl_grpo",
        extras="train",
    ),
    "transformers": Environment(
        "server behind the proxy",
        ("transformers==5.23.0", "torch==2.13.0", "accelerate", "openai"),
        ("test_transformers_serve.py",),
        extras="serve",
    ),
    "pydantic-evals": Environment("evaluator (example)", ("pydantic-evals==2.62.0",), (), "pydantic_evals_evaluator"),
    "dspy": Environment("metric (example)", ("dspy==3.4.1",), (), "dspy_metric"),
    "langgraph": Environment("node (example)", ("langgraph==1.2.24",), (), "langgraph_node"),
    "mlflow": Environment("scorer (example)", ("mlflow==3.17.2",), (), "mlflow_scorer"),
    "opik": Environment("metric (example)", ("opik==2.2.122",), (), "opik_metric"),
    "weave": Environment("scorer (example)", ("weave==0.54.0",), (), "weave_scorer"),
    "ai-sdk": Environment(
        "npm package: client, middleware, tool",
        ("ai@7.0.173", "typescript@7.0.2", "node@22.23.3"),
        ("test_ai_sdk.py",),
        extras="serve",
        kind="npm",
    ),
    "anthropic": Environment("answers with citations", ("anthropic==2.14.0", "openai"), ("test_api_citations.py",)),
    "langfuse": Environment("evaluator (example)", ("langfuse==5.0.4",), (), "langfuse_evaluator"),
}


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an environment."""

    name: str
    adapter: str
    versions: dict[str, str]
    """Packages and their versions, as the environment has them; the first is the one that is tested."""
    relaxed: tuple[str, ...]
    """Those of them that are newer than it allows."""
    passed: int
    failed: int
    skipped: int
    python: str
    date: str


def run(name: str, folder: Path) -> Result:
    """Make the environment if it does not exist or has other packages, run the tests, and count.

    Raises RuntimeError if it cannot be made, or its tests leave no report.
    """
    wanted = ENVIRONMENTS[name]
    place = folder / f"int-{name}"
    stamp, recipe = place / "made-from.txt", recipe_of(wanted)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != recipe:
        install(place, wanted)
        stamp.write_text(recipe, encoding="utf-8")
    found = versions(place, wanted)
    tests = [f"tests/integrations/{file}" for file in wanted.tests]
    if wanted.example:
        tests.append(f"tests/integrations/test_examples.py::test_an_example_prints_what_it_says[{wanted.example}]")
    environment = {**os.environ, **NO_TELEMETRY, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    environment["PATH"] = f"{place / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}"
    command = [str(place / "bin" / "python"), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *tests]
    counts = reported(command, folder / f"{name}.xml", environment)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    return Result(name, wanted.adapter, found, wanted.relaxed, *counts, platform.python_version(), today)


def recipe_of(wanted: Environment) -> str:
    """What an environment is made from: its packages, and the requirements of Vouch."""
    own = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    return json.dumps([wanted.kind, wanted.packages, wanted.relaxed, wanted.extras, own])


def versions(place: Path, wanted: Environment) -> dict[str, str]:
    """The versions that an environment has. Raises RuntimeError for another one than is wanted."""
    pins = dict(re.fullmatch(r"([\w-]+)(?:\[.*\])?(?:==|@)?(.*)", package).groups() for package in wanted.packages)
    if wanted.kind == "npm":
        files = {name: place / "node_modules" / name / "package.json" for name in pins}
        found = {name: json.loads(file.read_text())["version"] for name, file in files.items() if file.exists()}
    else:
        code = "import json, sys; from importlib.metadata import version; names = sys.argv[1:]\n"
        code += "print(json.dumps({name: version(name) for name in names}))"
        command = [str(place / "bin" / "python"), "-c", code, *pins, *wanted.relaxed]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for name, pin in pins.items():
        got = found.get(name, "nothing").partition("+")[0]
        if re.fullmatch(r"[\d.]+", pin) and got != pin:
            raise RuntimeError(f"the environment {place.name} has {name} {got}, not {pin}")
    return found


def reported(command: Sequence[str], report: Path, environment: dict[str, str] | None = None) -> tuple[int, int, int]:
    """Run tests, which write a report in JUnit XML: how many passed, failed and were skipped.

    Raises RuntimeError if there is no report; one of an earlier run does not count.
    """
    report.unlink(missing_ok=True)
    subprocess.run([*command, f"--junitxml={report}"], cwd=ROOT, env=environment, check=False)
    if not report.exists():
        raise RuntimeError(f"no report was written by {' '.join(command)}")
    return counted(report)


def install(place: Path, wanted: Environment) -> None:
    """Install Vouch, the package and what the tests need. Raises RuntimeError if that fails."""
    uv = find_uv_bin()
    get = [uv, "pip", "install", "--quiet", "--python", str(place / "bin" / "python")]
    own = ("-e", f"{ROOT}[{wanted.extras}]" if wanted.extras else str(ROOT), "pytest", "hypothesis", "pyyaml")
    step([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(place)])
    overrides = place / "newer.txt"
    overrides.write_text("\n".join(newer(wanted)), encoding="utf-8")
    if wanted.kind == "pip":
        step([*get, *wanted.packages, *own, "--override", str(overrides)])
        return
    step([*get, *own])
    if wanted.kind == "bare":
        step([*get, "--no-deps", *wanted.packages])
    else:
        step(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), *wanted.packages])


def step(command: Sequence[str]) -> None:
    """Run a step of an installation. Raises RuntimeError if it fails."""
    if shutil.which(command[0]) is None or subprocess.run(command, check=False).returncode:
        raise RuntimeError(f"could not install: {' '.join(command)}")


def newer(wanted: Environment) -> list[str]:
    """What Vouch requires of the dependencies that a package limits to older versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[^\w-]", one)[0]: one for one in project["dependencies"]}
    return [named[name] for name in wanted.relaxed]


def counted(report: Path) -> tuple[int, int, int]:
    """Tests that passed, failed and were skipped, of a report in JUnit XML."""
    from xml.etree import ElementTree

    [suite] = ElementTree.parse(report).getroot().iter("testsuite")
    failed, skipped = int(suite.get("failures", 0)) + int(suite.get("errors", 0)), int(suite.get("skipped", 0))
    return int(suite.get("tests", 0)) - failed - skipped, failed, skipped


def table(results: Sequence[Result]) -> str:
    """The results as a Markdown table."""
    lines = ["| package | adapter | tests | dependencies beyond the limits of the package |", "|---|---|---|---|"]
    for one in results:
        count = f"{one.passed} passed" + (f", {one.failed} failed" if one.failed else "")
        count += f", {one.skipped} skipped" if one.skipped else ""
        package, *_ = (f"`{name}` {version}" for name, version in one.versions.items())
        beyond = ", ".join(f"{name} {one.versions[name]}" for name in one.relaxed)
        lines.append(f"| {package} | {one.adapter} | {count} | {beyond or '-'} |")
    return "\n".join(lines)


def main() -> int:
    """Run the environments that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ENVIRONMENTS, []])
    parser.add_argument("--folder", type=Path, default=ROOT / ".integrations")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    good = True
    for name in given.names or ENVIRONMENTS:
        try:
            done = run(name, given.folder)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"{name}: {error}", file=sys.stderr)  # noqa: T201
            good = False
            continue
        write(done)
        good = good and is_good(done)
    return int(not good)


def is_good(done: Result) -> bool:
    """Whether tests ran, and none failed."""
    return done.passed > 0 and not done.failed


def write(done: Result) -> None:
    """Write a result and the table; the lines of other environments stay as they are."""
    record = json.loads(RESULTS.read_text(encoding="utf-8"))
    lines = {one["name"]: one for one in record["results"]} | {done.name: asdict(done)}
    kept = [lines[name] for name in ENVIRONMENTS if name in lines]
    RESULTS.write_text(json.dumps({"results": kept}, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    start, end = page.index("| package |"), page.index("\n\n", page.index("| package |"))
    PAGE.write_text(page[:start] + table([Result(**one) for one in kept]) + page[end:], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
