"""Every example in examples/integrations prints what its first lines say, where its package is installed."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT

FOLDER = ROOT / "examples" / "integrations"
NEEDS = {
    "langchain_guard": "langchain_core",
    "llama_index_query": "llama_index",
    "haystack_pipeline": "haystack",
    "guardrails_validator": "guardrails",
    "ragas_metric": "ragas",
    "deepeval_metric": "deepeval",
    "inspect_ai_scorer": "inspect_ai",
    "evaluate_metric": "evaluate",
    "opentelemetry_span": "opentelemetry.sdk",
    "trl_grpo": "trl",
    "verl_reward": "vouching",
    "mcp_client": "mcp",
    "proxy_client": "starlette",
    "pytest_assertion": "pytest",
    "pairs": "vouching",
    "pydantic_evals_evaluator": "pydantic_evals",
    "dspy_metric": "dspy",
    "langgraph_node": "langgraph",
    "mlflow_scorer": "mlflow",
    "opik_metric": "opik",
    "weave_scorer": "weave",
    "langfuse_evaluator": "langfuse",
}
"""The package of each example; the others in the folder are configurations, which tests of their own use."""


def printed_by(path: Path) -> str:
    """What the docstring says that the example prints."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    found = re.search(r"Prints:\n((?:    .*\n?)+)", told)
    assert found, f"{path.name} does not say what it prints"
    return "\n".join(line[4:] for line in found[1].splitlines())


def installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def test_every_example_is_known() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*NEEDS}


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_prints_what_it_says(name: str, tmp_path: Path) -> None:
    if not installed(NEEDS[name]):
        pytest.skip(f"{NEEDS[name]} is not installed")
    path = FOLDER / f"{name}.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, str(path)]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip().splitlines()[-len(printed_by(path).splitlines()) :] == printed_by(path).splitlines()
