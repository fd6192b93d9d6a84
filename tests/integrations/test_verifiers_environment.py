"""The environment for verifiers in examples/, evaluated by the command of the package against a scripted server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verifiers.v1", reason="verifiers is not installed")

import verifiers.v1 as vf

from tests.house.source_tree import ROOT
from tests.integrations.scripted_chat import scripted_chat
from vouching.integrations.trl import trl_reward

FOLDER = ROOT / "examples" / "integrations" / "verifiers_claims"
ROWS = [json.loads(line) for line in (ROOT / "examples" / "claims.jsonl").read_text(encoding="utf-8").splitlines()]
SAID = [json.dumps({"label": ROWS[0]["gold"], "confidence": 1.0}), "no idea", '{"label": "yes"}']
"""Replies to the first three rows: right, unreadable, and Attributable."""


def answer(messages: list[dict[str, Any]]) -> str:
    """The scripted reply to the row that the prompt is about."""
    asked = messages[-1]["content"]
    return next(said for row, said in zip(ROWS, SAID, strict=False) if row["claim"] in asked)


def evaluated(tmp_path: Path, url: str, *options: str) -> list[dict[str, Any]]:
    """The episodes of vf-eval on the first three rows."""
    command = [
        str(Path(sys.executable).with_name("vf-eval")),
        "vouch-claims",
        "-m",
        "tiny",
        "-n",
        "3",
        "-c",
        "1",
        "--client.base-url",
        url,
        "--client.api-key-var",
        "KEY_OF_TEST",
        "--no-push",
        "--no-rich",
        "--env.agent.harness.id",
        "vouch-claims-chat",
        "--env.agent.runtime.type",
        "subprocess",
        "-o",
        str(tmp_path),
        "--run.dir",
        "run",
        *options,
    ]
    paths = os.pathsep.join([str(FOLDER), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "KEY_OF_TEST": "none", "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    lines = (tmp_path / "run" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_its_own_evaluation_gives_the_rewards_of_the_library(tmp_path: Path) -> None:
    with scripted_chat(answer) as (url, asked):
        episodes = evaluated(tmp_path, url)
    traces = [trace for episode in episodes for trace in episode["traces"]]
    found = {trace["task"]["data"]["claim"]: trace for trace in traces}
    columns = {name: [row[name] for row in ROWS[:3]] for name in ("gold", "claim", "source")}
    here = trl_reward("structured", variant="grounded")(completions=SAID, **columns)
    assert [found[row["claim"]]["rewards"]["record"]["score"] for row in ROWS[:3]] == here
    assert here[1] == 0.0  # a reply without a record earns nothing
    assert found[ROWS[0]["claim"]]["metrics"]["structured/label"] == 1.0
    assert found[ROWS[1]["claim"]]["metrics"]["words"] == 2.0
    assert all(ROWS[number]["source"][:60] in asked[number][-1]["content"] for number in range(3))
    assert asked[0][0]["role"] == "system"


def test_its_entry_point_makes_an_environment_with_the_whole_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import vouch_claims  # pyright: ignore[reportMissingImports]

    environment = vouch_claims.load_environment(wording="paper")
    tasks = [*environment.taskset]
    assert [task.data.gold for task in tasks] == [row["gold"] for row in ROWS]
    said = vf.MessageNode(message=vf.AssistantMessage(content=SAID[0]), sampled=True)
    trace = vf.Trace.model_construct(rewards={}, metrics={}, nodes=[said])
    asyncio.run(tasks[0].score(trace))
    assert trace.metrics["structured/label"] == 1.0
