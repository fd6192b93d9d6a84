"""Clients of decision models ask ``vouch serve``; a conformance suite checks it, and its server is a judge."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from tests.serve.served import policy, served
from vouching import Checker
from vouching.types import Verdict

SOURCE, FALSE, TRUE = "The bridge opened in 1973.", "The bridge opened in 1937.", "The bridge opened in 1973."
SECONDS = 300.0
SUITE = shutil.which("jevcompat", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
with_suite = pytest.mark.skipif(SUITE is None, reason="jevcompat is not installed")


@contextmanager
def reference() -> Generator[str]:
    """The address of the suite's reference server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen([str(SUITE), "mock", "--port", url.rpartition(":")[2]], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            try:
                httpx2.get(f"{url}/v1/models")
                break
            except httpx2.HTTPError:
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(policy(timeout_seconds=SECONDS)) as (address, _):
        yield address


def test_litellm_reads_the_answers(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm: Any = pytest.importorskip("litellm", reason="litellm is not installed")
    if not hasattr(litellm, "systemone"):
        pytest.skip("this litellm has no decision models")
    questions = {name: {"type": "noul", "instructions": {"claim": text}} for name, text in (("f", FALSE), ("t", TRUE))}
    found = litellm.systemone(
        model="typesafe/vouch", api_base=url, api_key="none", state={"sources": [SOURCE]}, questions=questions
    )
    assert found.answers["f"].noul < 0.5 < found.answers["t"].noul


def test_the_faithfulness_question_of_deepeval_is_answered(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TYPESAFE_BASE_URL", url), ("TYPESAFE_API_KEY", "none"), ("OPENAI_API_KEY", "none")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    typesafe: Any = pytest.importorskip(
        "deepeval.models.system_one.typesafe_model", reason="deepeval is not installed", exc_type=ImportError
    )
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.metrics.utils.qag import _system_one_request

    model = typesafe.TypeSafeModel()
    metric: Any = FaithfulnessMetric(system_one_model=model, async_mode=False)
    metric.claims, metric.truths = [FALSE, TRUE], [SOURCE]
    answers, _ = model.decide(*_system_one_request(metric._experimental_system_one_spec()))
    false, true = (answers.nouls[f"claim_{number}"].probability for number in (0, 1))
    assert false < 0.5 < true


@with_suite
def test_a_server_with_a_fallback_meets_the_written_rules_of_the_form(tmp_path: Path) -> None:
    with reference() as fallback:
        settings = policy(timeout_seconds=SECONDS, decisions_fallback=f"decision:{fallback}#jev-latest")
        with served(settings) as (address, _):
            report = tmp_path / "report.json"
            command = [str(SUITE), "test", address, "--json", str(report)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "MUST 32/32" in done.stdout
    assert json.loads(report.read_text("utf-8"))


@with_suite
def test_the_reference_server_is_a_judge() -> None:
    with reference() as address:
        checker = Checker(f"decision:{address}#jev-latest")
        outcomes = checker.check([FALSE, TRUE], SOURCE)
        checker.close()
    for outcome in outcomes:
        assert isinstance(outcome, Verdict)
        assert 0 <= outcome.score <= 1
        assert outcome.usage.calls <= 1
