"""LiteLLM asks ``vouch proxy``: its own translation of requests and answers, and its gateway with the example."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx2
import openai
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("litellm", reason="litellm is not installed")
pytest.importorskip(
    "litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api", reason="without its proxy", exc_type=ImportError
)

from litellm import ModelResponse
from litellm.llms.openai.chat.guardrail_translation.handler import OpenAIChatCompletionsHandler
from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api import generic_guardrail_api as hook

from tests.cli.chat_server import chat_server
from tests.house.source_tree import ROOT
from tests.serve.upstream import proxy_before, upstream_server

yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
WRONG, RIGHT = "The bridge opened in 1937.", "The bridge opened in 1973."
NOWHERE = "http://127.0.0.1:9/v1"
KEY = "sk-0123456789abcdef0123456789abcdef"
MESSAGES: list[Any] = [{"role": "system", "content": RIGHT}, {"role": "user", "content": "When?"}]
SECONDS = 900.0
"""How long a busy machine may take to load the gateway."""


def guarded(url: str, text: str, messages: list[Any] = MESSAGES, before: bool = True, **settings: Any) -> str:
    """The answer that LiteLLM passes on; ``before`` says whether the guardrail also runs before the call."""
    guardrail = hook.GenericGuardrailAPI(
        api_base=url.removesuffix("/v1"), guardrail_name="vouch", event_hook="post_call", default_on=True, **settings
    )
    call = SimpleNamespace(litellm_call_id=str(uuid4()), litellm_trace_id=None, model_call_details={})
    said = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    answer, handler = ModelResponse(choices=[said]), OpenAIChatCompletionsHandler()

    async def asked() -> Any:
        data = {"model": "tiny", "messages": messages}
        if before:
            await handler.process_input_messages(data, guardrail, call)
        return await handler.process_output_response(answer, guardrail, call, request_data=data)

    return asyncio.run(asked()).choices[0].message.content


def test_an_answer_passes_is_repaired_or_blocked_by_the_documents_of_its_request() -> None:
    for action, said in (("annotate", WRONG), ("repair", RIGHT)):
        with proxy_before(NOWHERE, action=action) as url:
            assert guarded(url, WRONG) == said
            assert guarded(url, RIGHT) == RIGHT
            assert guarded(url, WRONG, before=False) == WRONG  # without a document it is not checked
    with proxy_before(NOWHERE, action="block", undocumented="block") as url:
        with pytest.raises(Exception, match="Change 1937 to 1973") as raised:
            guarded(url, WRONG)
        assert guarded(url, RIGHT) == RIGHT
        with pytest.raises(Exception, match="the request has no documents"):
            guarded(url, RIGHT, before=False)
    assert "guardrail" in type(raised.value).__name__.lower()


def test_sources_may_be_parameters_of_the_guardrail_and_a_failed_judge_is_policy() -> None:
    with proxy_before(NOWHERE, action="repair") as url:
        more = {"additional_provider_specific_params": {"contexts": [{"doc_id": "a", "text": RIGHT}]}}
        assert guarded(url, WRONG, before=False, **more) == RIGHT
    with chat_server(lambda prompt: "who knows") as name:
        with proxy_before(NOWHERE, model=name) as url:
            assert guarded(url, RIGHT) == RIGHT
        with (
            proxy_before(NOWHERE, model=name, unverified="block", action="block") as url,
            pytest.raises(Exception, match=r"(?i)unparsable|verif"),
        ):
            guarded(url, RIGHT)


@contextmanager
def recorder() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A guardrail that lets everything through, and what it was sent."""
    sent: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            body = b'{"action": "NONE"}'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", sent
    server.shutdown()
    server.server_close()


@contextmanager
def gateway(folder: Path, model: str, *guardrails: str) -> Iterator[str]:
    """The base URL of LiteLLM's gateway with the configuration in examples/, with these addresses in it."""
    example = (ROOT / "examples/integrations/litellm_config.yaml").read_text(encoding="utf-8")
    config = yaml.safe_load(example)
    config["model_list"][0]["litellm_params"]["api_base"] = model
    [vouch] = config["guardrails"]
    config["guardrails"] = [
        {"guardrail_name": f"guardrail-{number}", "litellm_params": {**vouch["litellm_params"], "api_base": address}}
        for number, address in enumerate(guardrails)
    ]
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(Path(sys.executable).with_name("litellm")),
        "--config",
        "config.yaml",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--telemetry",
        "False",
    ]
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
    with (folder / "gateway.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + SECONDS
            while not is_alive(port):
                log.seek(0)
                assert process.poll() is None, log.read()[-3000:]
                assert time.monotonic() < end, "LiteLLM's gateway did not start in time"
                time.sleep(0.5)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()


def is_alive(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/health/liveliness", timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


def test_its_gateway_sends_the_messages_before_a_call_and_the_answer_after_it(tmp_path: Path) -> None:
    pytest.importorskip("apscheduler", reason="litellm's extra proxy is not installed")
    with (
        upstream_server() as upstream,
        proxy_before(NOWHERE, action="repair") as proxy,
        recorder() as (seen, sent),
        gateway(tmp_path, upstream.url, seen, proxy.removesuffix("/v1")) as url,
        openai.OpenAI(base_url=url, api_key=KEY, max_retries=0, timeout=SECONDS) as client,
    ):
        answer = client.chat.completions.create(model="tiny", messages=MESSAGES)
        assert answer.choices[0].message.content == RIGHT
        before, after = sent
        assert (before["input_type"], after["input_type"]) == ("request", "response")
        assert [one["content"] for one in before["structured_messages"]] == [RIGHT, "When?"]
        assert (after["structured_messages"], after["texts"]) == (None, [WRONG])
        assert before["litellm_call_id"]
        assert before["litellm_call_id"] == after["litellm_call_id"]
        sent.clear()
        chunks = client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True)
        assert "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices) == RIGHT
        # A stream is judged once, as a whole.
        assert [one["texts"] for one in sent if one["input_type"] == "response"] == [[WRONG]]
