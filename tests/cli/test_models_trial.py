"""``vouch models test``: what a server supports, and clear results for servers that are broken."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from math import log
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.models.fault_server import Answer, FaultServer, Request, of_json
from vouching.cli.app import app
from vouching.cli.models_trial import CLAIMS
from vouching.cli.streams import Exit

GOLD = dict(CLAIMS)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VOUCH_TIMEOUT", "VOUCH_CONTEXT", "VOUCH_CACHE", "VOUCH_EXTRA"):
        monkeypatch.setenv(name, "")


def tried(script: Sequence[Answer] | Callable[[Request], Answer], *options: str) -> tuple[Result, list[Request]]:
    """The result of the command for a server, and what that was asked."""

    async def main() -> tuple[Result, list[Request]]:
        async with FaultServer(script) as server:
            words = ["models", "test", f"{server.url}#m", *options]
            return await asyncio.to_thread(CliRunner().invoke, app, words), server.requests

    return asyncio.run(main())


def said(request: Request, text: str, finish: str = "stop", system: bool = True) -> Answer:
    """A reply with as many tokens as it and its prompt have words."""
    shown = [turn for turn in request.body["messages"] if system or turn["role"] != "system"]
    usage = {
        "prompt_tokens": sum(len(turn["content"].split()) for turn in shown),
        "completion_tokens": len(text.split()),
    }
    choice: dict[str, Any] = {"index": 0, "message": {"content": text}, "finish_reason": finish}
    if request.body.get("logprobs"):
        choice["logprobs"] = {"content": [{"logprob": -0.1}]}
    return of_json({"choices": [choice], "usage": usage})


def claim_of(request: Request) -> str | None:
    """The claim that a prompt asks about; None for another task."""
    last = request.body["messages"][-1]["content"]
    return next((claim for claim in GOLD if claim in last), None)


def labelled(request: Request, label: str) -> Answer:
    return said(request, json.dumps({"label": label, "confidence": 0.9}))


def good(request: Request) -> Answer:
    """A server of llama.cpp's kind: it says its context, enforces schemas, and its model labels every claim right."""
    if request.path == "/props":
        return of_json({"default_generation_settings": {"n_ctx": 16384}, "total_slots": 2})
    schema = request.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if {*schema.get("properties", ())} == {"answer"}:
        return said(request, '{"answer": "yes"}')
    if (claim := claim_of(request)) is not None:
        return labelled(request, "Attributable" if GOLD[claim] else "Not Attributable")
    return said(request, "Paris.")


def test_a_good_model_is_seen_to_be_one() -> None:
    result, requests = tried(good, "--json")
    assert result.exit_code == Exit.OK, result.output
    found = json.loads(result.stdout)
    assert found["server"] == {
        "context": 16384,
        "slots": 2,
        "schema": True,
        "logprobs": True,
        "system": True,
        "usage": True,
        "thinks": False,
        "refused": [],
    }
    judged = found["claims"]
    assert (judged["readable"], judged["readable_by_first_reply"], judged["right"]) == (10, 10, 10)
    assert judged["labels"] == {"Attributable": 5, "Not Attributable": 5}
    assert {*found["methods"]} == {"structured", "checklist", "holistic", "blinded", "generative", "assurance"}
    assert len([one for one in requests if one.path.endswith("completions")]) < 30


def test_the_text_names_every_result_and_what_to_set() -> None:
    result, _ = tried(good)
    for words in ("16,384 tokens", "2 at once", "enforced", "10 of 10, 10 by the first reply", "right        10 of 10"):
        assert words in result.stdout
    # It answers "Paris." where the record is asked for.
    assert "--method label: the whole record could not be read" in result.stdout


def test_a_server_that_ignores_schemas_and_system_messages_is_seen_to() -> None:
    def deaf(request: Request) -> Answer:
        if request.path != "/v1/chat/completions":
            return Answer(404)
        if (claim := claim_of(request)) is not None:
            return said(request, "Attributable" if GOLD[claim] else "Not Attributable", system=False)
        return said(request, "It is Paris.", system=False)

    found = json.loads(tried(deaf, "--json")[0].stdout)
    server = found["server"]
    assert (server["context"], server["slots"], server["schema"], server["system"]) == (None, None, False, False)
    asked = {one["set"] for one in found["advice"]}
    assert {"--context N", "a server that enforces schemas", "another chat template"} <= asked


def test_what_a_server_refuses_is_named() -> None:
    def strict(request: Request) -> Answer:
        if request.body.get("response_format") or request.body.get("logprobs"):
            return of_json({"error": {"message": "unknown field"}}, status=400)
        return good(request)

    server = json.loads(tried(strict, "--json")[0].stdout)["server"]
    assert (server["schema"], server["logprobs"]) == (False, False)
    assert server["refused"] == ["logprobs", "json_schema", "json_object"]


def test_a_model_that_thinks_is_seen_to() -> None:
    def thinking(request: Request) -> Answer:
        return said(request, "<think>France has one.</think>Paris.") if claim_of(request) is None else good(request)

    found = json.loads(tried(thinking, "--json")[0].stdout)
    assert found["server"]["thinks"]
    assert "--max-tokens 4000" in {one["set"] for one in found["advice"]}


def test_a_model_that_labels_all_claims_alike_but_finds_some_likelier_is_to_be_calibrated() -> None:
    def doubtful(request: Request) -> Answer:
        if (claim := claim_of(request)) is None:
            return good(request)
        likely = 0.3 if GOLD[claim] else 0.1
        listed = [{"token": "Not", "logprob": log(1 - likely)}, {"token": "Attrib", "logprob": log(likely)}]
        answer = json.loads(labelled(request, "Not Attributable").body)
        start = {"token": '{"label": "', "logprob": 0.0, "top_logprobs": [{"token": '{"label": "', "logprob": 0.0}]}
        answer["choices"][0]["logprobs"] = {"content": [start, {**listed[0], "top_logprobs": listed}]}
        return of_json(answer)

    result, _ = tried(doubtful)
    assert "right        5 of 10 (10 Not Attributable)" in result.stdout
    assert "ranked       AUROC 1.00" in result.stdout  # .3 of every supported claim, .1 of every other
    assert (
        "vouch calibrate --kind platt: 5 of 10 labels are right, but the scores tell supported claims from others"
        in result.stdout
    )


def test_a_model_that_labels_all_claims_alike_is_no_judge() -> None:
    result, _ = tried(lambda request: labelled(request, "Attributable"))
    assert result.exit_code == Exit.OK
    assert "right        5 of 10 (10 Attributable)" in result.stdout
    assert "a larger model: every claim was judged Attributable" in result.stdout


def as_vllm(request: Request) -> Answer:
    """vLLM: empty fields beside each text, token ids in log-probabilities, the context in its list of models."""
    if request.path == "/v1/models":
        card = {"id": "m", "object": "model", "created": 1, "owned_by": "vllm", "root": "m", "max_model_len": 32768}
        return of_json({"object": "list", "data": [{**card, "parent": None, "permission": [{"id": "p"}]}]})
    if not request.body:
        return of_json({"detail": "Not Found"}, status=404)
    reply = json.loads(good(request).body)
    [choice] = reply["choices"]
    empty: dict[str, Any] = {"role": "assistant", "reasoning_content": None, "refusal": None, "tool_calls": []}
    choice["message"] |= empty
    wanted = {"token": "P", "logprob": -0.1, "bytes": [80], "top_logprobs": []}
    choice |= {"logprobs": {"content": [wanted]} if request.body.get("logprobs") else None, "stop_reason": None}
    reply["usage"] |= {"total_tokens": 9, "prompt_tokens_details": None}
    named = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
    return of_json({**named, **reply, "prompt_logprobs": None, "kv_transfer_params": None})


def as_ollama(request: Request) -> Answer:
    """Ollama: names with a tag, no log-probabilities, the context in which a model runs in a list of its own."""
    if request.path == "/v1/models":
        return of_json({"object": "list", "data": [{"id": "m:latest", "object": "model", "owned_by": "library"}]})
    if request.path == "/api/ps":
        return of_json({"models": [{"name": "m:latest", "model": "m:latest", "context_length": 4096}]})
    if not request.body:
        return Answer(404, b"404 page not found", {"content-type": "text/plain"})
    reply = json.loads(good(request).body)
    [choice] = reply["choices"]
    choice.pop("logprobs", None)
    choice["message"]["role"] = "assistant"
    named = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "system_fingerprint": "fp_ollama",
    }
    return of_json({**named, **reply})


@pytest.mark.parametrize(
    ("server", "context", "logprobs"), [(as_vllm, 32768, True), (as_ollama, 4096, False)], ids=["vllm", "ollama"]
)
def test_replies_in_the_forms_of_vllm_and_ollama_are_read(
    server: Callable[[Request], Answer], context: int, logprobs: bool
) -> None:
    result, _ = tried(server, "--json")
    assert result.exit_code == Exit.OK, result.output
    found = json.loads(result.stdout)
    seen = {"context": context, "slots": None, "schema": True, "logprobs": logprobs, "system": True, "thinks": False}
    assert {name: found["server"][name] for name in seen} == seen
    assert (found["claims"]["readable"], found["claims"]["right"], found["server"]["refused"]) == (10, 10, [])


PAGE = Answer(200, b"<html>Welcome to nginx!</html>", {"content-type": "text/html"})


@pytest.mark.parametrize(
    ("script", "options", "words"),
    [
        ([PAGE], (), "returned 200 with text/html, expected JSON"),
        ([of_json({"choices": []})], (), "has no choices"),
        ([of_json({"error": "out of memory"}, status=500)], (), "returned 500 Internal Server Error: out of memory"),
        ([Answer(delay=30)], ("--timeout", "0.3"), "did not answer within 0.3"),
        ([Answer(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{")], (), "no answer from"),
    ],
    ids=["a web page", "no choices", "status 500", "no answer", "a broken connection"],
)
def test_a_broken_server_ends_with_the_reason(script: list[Answer], options: tuple[str, ...], words: str) -> None:
    result, requests = tried(script, *options)
    assert result.exit_code == Exit.INCOMPLETE
    assert words in result.stderr
    assert not result.stdout
    assert len([one for one in requests if one.path.endswith("completions")]) <= 2


def test_a_dead_server_ends_with_the_reason() -> None:
    result = CliRunner().invoke(app, ["models", "test", "http://127.0.0.1:9/v1#m"])
    assert result.exit_code == Exit.INCOMPLETE
    assert "cannot connect to 127.0.0.1:9" in result.stderr
    assert "check that the server is running" in result.stderr


def test_a_wrong_name_gets_those_that_the_server_has() -> None:
    def others(request: Request) -> Answer:
        if request.path == "/v1/models":
            return of_json({"data": [{"id": "qwen3"}, {"id": "gemma3"}]})
        return of_json({"error": {"message": "model 'm' not found"}}, status=404)

    result, _ = tried(others)
    assert result.exit_code == Exit.USAGE
    assert "model 'm' not found" in result.stderr
    assert "the server has qwen3, gemma3" in result.stderr


def test_a_model_that_never_ends_a_reply_is_no_success() -> None:
    result, _ = tried(lambda request: said(request, "Yes: Yes " * 9, "length"))
    assert result.exit_code == Exit.INCOMPLETE
    assert "readable     0 of 10" in result.stdout
    assert "a larger --max-tokens: a reply was cut off" in result.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("embedded", "'embedded' is not a language model"),
        ("opnai/gpt", "did you mean 'openai/gpt'?"),
        ("http://localhost:8080/v1", "names a server but no model"),
    ],
)
def test_a_name_of_no_language_model_is_refused(name: str, words: str) -> None:
    result = CliRunner().invoke(app, ["models", "test", name])
    assert result.exit_code == Exit.USAGE
    assert words in result.stderr


def test_half_of_the_claims_are_supported() -> None:
    assert len(CLAIMS) == 10
    assert sum(supported for _, supported in CLAIMS) == 5
