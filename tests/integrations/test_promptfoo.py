"""promptfoo's own evaluation asks the webhook of ``vouch proxy``, and ``vouch serve``, as configured in examples/."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.cli.chat_server import chat_server
from tests.house.source_tree import ROOT
from tests.serve.served import policy, served
from tests.serve.upstream import proxy_before
from vouching.serve.policy import JudgeSettings

PROMPTFOO = shutil.which("promptfoo")
pytestmark = pytest.mark.skipif(PROMPTFOO is None, reason="promptfoo is not installed (npm install promptfoo@0.123.1)")
CONFIGS = ROOT / "examples" / "integrations" / "promptfoo"
NOWHERE = "http://127.0.0.1:9/v1"
"""The proxy needs an upstream server, but promptfoo's webhook does not ask it."""


def evaluated(tmp_path: Path, url: str, config: str = "promptfooconfig.yaml") -> dict[str, tuple[bool, str]]:
    """For each test of a configuration whether it passed, and why; an error of the provider instead of a reason."""
    made = tmp_path / "results.json"
    environment = {
        **os.environ,
        "VOUCH_PROXY": url.removesuffix("/v1"),
        "VOUCH_SERVER": url,
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_DISABLE_SHARING": "1",
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    }
    command = [str(PROMPTFOO), "eval", "-c", str(CONFIGS / config), "-o", str(made), "--no-cache", "--no-table"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200, check=False)
    assert made.exists(), done.stdout + done.stderr
    results = json.loads(made.read_text(encoding="utf-8"))["results"]["results"]
    return {
        one["testCase"]["description"]: (
            one["success"],
            one["gradingResult"]["componentResults"][0]["reason"] if one["gradingResult"] else one["error"],
        )
        for one in results
    }


def test_promptfoo_passes_what_is_supported_and_shows_the_fix_of_the_rest(tmp_path: Path) -> None:
    with proxy_before(NOWHERE) as url:
        found = evaluated(tmp_path, url)
    assert found["supported"][0] is True
    assert found["not supported"][0] is False
    assert "Change 1937 to 1973." in found["not supported"][1]


def test_what_could_not_be_judged_does_not_pass(tmp_path: Path) -> None:
    with chat_server(lambda prompt: "who knows") as name, proxy_before(NOWHERE, model=name) as url:
        found = evaluated(tmp_path, url)
    assert [passed for passed, _ in found.values()] == [False, False]
    assert all(reason.startswith("unverified") for _, reason in found.values())


def test_promptfoo_asks_the_server_as_a_decision_model(tmp_path: Path) -> None:
    with served(policy(timeout_seconds=300.0)) as (url, _):
        found = evaluated(tmp_path, url, "decisions.yaml")
    assert [found[name][0] for name in ("supported", "not supported")] == [True, False]
    assert found["not supported"][1].startswith("Custom function returned false")


def test_a_claim_that_the_decision_model_could_not_judge_is_an_error(tmp_path: Path) -> None:
    with chat_server(lambda prompt: "who knows") as name:
        judges = {"default": JudgeSettings(name)}
        with served(replace(policy(timeout_seconds=300.0), judges=judges)) as (url, _):
            found = evaluated(tmp_path, url, "decisions.yaml")
    assert [passed for passed, _ in found.values()] == [False, False]
    assert all("the judge has no verdict" in reason for _, reason in found.values())
