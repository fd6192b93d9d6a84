"""The resources server for NeMo Gym in examples/, asked over HTTP as an agent asks it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("nemo_gym.base_resources_server", reason="nemo-gym is not installed", exc_type=ImportError)

from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import ServerClient
from omegaconf import DictConfig
from starlette.testclient import TestClient

from tests.cli.chat_server import chat_server
from tests.house.source_tree import ROOT

FOLDER = ROOT / "examples" / "integrations" / "nemo_gym_grounded"
ROWS = [json.loads(line) for line in (FOLDER / "data" / "example.jsonl").read_text(encoding="utf-8").splitlines()]
RIGHT, WRONG = "The bridge opened in 1973.", "The bridge opened in 1937."


@pytest.fixture(scope="module")
def app() -> Iterator[Any]:
    """The module of the server."""
    sys.path.insert(0, str(FOLDER))
    import app

    yield app
    sys.path.remove(str(FOLDER))


def client(app: Any, model: str = "embedded:rules") -> TestClient:
    config = app.GroundedConfig(host="127.0.0.1", port=1, entrypoint="app.py", name="grounded", model=model)
    head = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=2), global_config_dict=DictConfig({})
    )
    return TestClient(app.GroundedServer(config=config, server_client=head).setup_webserver())


def message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def scored(asked: TestClient, row: dict[str, Any], *output: dict[str, Any]) -> dict[str, Any]:
    """What the server answers to a rollout."""
    response = {
        "id": "resp_1",
        "created_at": 1.0,
        "model": "tiny",
        "object": "response",
        "output": [*output],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    answered = asked.post("/verify", json={**row, "response": response})
    assert answered.status_code == 200, answered.text
    return answered.json()


@pytest.mark.parametrize(
    ("answer", "reward"), [(RIGHT, 1.0), (WRONG, 0.0), (f"{WRONG} It has two towers.", 0.5), ("Hello!", 0.0)]
)
def test_the_reward_is_the_share_of_supported_claims(app: Any, answer: str, reward: float) -> None:
    found = scored(client(app), ROWS[0], message(answer))
    assert (found["reward"], found["mask_sample"]) == (reward, False)
    assert (WRONG in answer) == any("Change 1937 to 1973." in reason for reason in found["reasons"])


def test_what_a_tool_returned_is_evidence(app: Any) -> None:
    row = {"responses_create_params": {"input": "When did it open?"}}
    call = {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": RIGHT}
    assert scored(client(app), row, call, result, message(RIGHT))["reward"] == 1.0
    unknown = scored(client(app), row, message(RIGHT))
    assert (unknown["mask_sample"], unknown["failure_kind"]) == (True, "judge_failed")


def test_a_judge_that_fails_masks_the_sample(app: Any) -> None:
    with chat_server(lambda prompt: "who knows") as name:
        unread = scored(client(app, name), ROWS[0], message(RIGHT))
    with chat_server(lambda prompt: 503) as name:
        busy = scored(client(app, name), ROWS[0], message(RIGHT))
    for found in (unread, busy):
        assert (found["mask_sample"], found["failure_kind"]) == (True, "judge_failed")
        assert found["failure_reason"]
