"""What servers say about themselves, as their documentation and source have it, and what becomes of their refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.models.fault_server import Answer, FaultServer, Request, of_json
from vouching.errors import ConfigError, ModelContextError, ModelRefusedError
from vouching.models import Message, Sampling, ScriptedModel
from vouching.models.limits import ServerFacts, context_of, facts_of
from vouching.models.open import open_model

OLLAMA_LIST = of_json({"data": [{"id": "m:latest", "object": "model", "owned_by": "library"}]})
"""Its names always have a tag, also if a model is asked for without one."""
ASK = (Message("user", "Is it?"),)


def told(answers: Mapping[str, Answer]) -> tuple[ServerFacts, list[str]]:
    """What a server that answers these paths is taken to say, and the paths that it was asked for."""

    async def main() -> tuple[ServerFacts, list[str]]:
        async with FaultServer(lambda request: answers.get(request.path, Answer(404))) as server:
            model = open_model(f"{server.url}#m", cache="")
            found = [await facts_of(model) for _ in range(2)]
            assert found[0] == found[1]
            await model.aclose()
            return found[0], [request.path for request in server.requests]

    return asyncio.run(main())


def test_llama_cpp_says_its_context_and_its_slots() -> None:
    props = {"default_generation_settings": {"id": 0, "n_ctx": 4096, "speculative": False}, "total_slots": 2}
    assert told({"/props": of_json(props)}) == (ServerFacts(4096, 2), ["/props"])


@pytest.mark.parametrize(
    ("listed", "context"),
    [
        ({"id": "m", "max_model_len": 32768}, 32768),  # vLLM, SGLang
        ({"id": "m", "meta": {"n_ctx_train": 8192}}, 8192),  # llama.cpp behind a proxy
        ({"id": "m", "owned_by": "openai"}, None),
        ({"id": "other", "max_model_len": 32768}, None),
        ({"id": "m", "max_model_len": "much"}, None),
        (7, None),
    ],
)
def test_a_list_of_models_may_have_the_context(listed: Any, context: int | None) -> None:
    found, asked = told({"/v1/models": of_json({"object": "list", "data": [listed]})})
    assert found == ServerFacts(context)
    assert asked == ["/props", "/v1/models"]


@pytest.mark.parametrize(
    ("shown", "context"),
    [
        ({"parameters": 'stop "<|eot|>"\nnum_ctx                        16384'}, 16384),
        ({"parameters": "temperature 0.6", "model_info": {"llama.context_length": 131072}}, 4096),
        ({"model_info": {"gemma3.context_length": 2048}}, 2048),
        ({}, None),
    ],
)
def test_ollama_says_the_context_that_its_model_is_set_to(shown: Any, context: int | None) -> None:
    found, asked = told({"/v1/models": OLLAMA_LIST, "/api/ps": of_json({"models": []}), "/api/show": of_json(shown)})
    assert (found, asked[-1]) == (ServerFacts(context), "/api/show")


def test_ollama_says_the_context_in_which_its_model_runs() -> None:
    def running(name: str, context: Any) -> dict[str, Any]:
        details = {"format": "gguf", "family": "gemma3", "parameter_size": "4.3B", "quantization_level": "Q4_K_M"}
        return {
            "name": name,
            "model": name,
            "size": 6591830464,
            "details": details,
            "size_vram": 5333539264,
            "expires_at": "2025-10-17T16:47:07.93355-07:00",
            "context_length": context,
        }

    def with_running(*models: dict[str, Any]) -> tuple[ServerFacts, list[str]]:
        shown = of_json({"model_info": {"gemma3.context_length": 131072}})
        return told({"/v1/models": OLLAMA_LIST, "/api/ps": of_json({"models": [*models]}), "/api/show": shown})

    found, asked = with_running(running("other:latest", 2048), running("m:latest", 32768))
    assert (found, asked) == (ServerFacts(32768), ["/props", "/v1/models", "/api/ps"])
    # Another model runs, or an old version says no context: what the model is set to counts.
    assert with_running(running("m:8b", 2048))[0] == ServerFacts(4096)
    assert with_running(running("m:latest", None))[0] == ServerFacts(4096)


@pytest.mark.parametrize(
    "answer",
    [Answer(404), Answer(500), Answer(body=b"<html>"), of_json([]), of_json({"data": "none"}), Answer(raw=b"")],
)
def test_a_server_that_says_nothing_of_use_is_taken_as_it_is(answer: Answer) -> None:
    assert told({"/props": answer, "/v1/models": answer})[0] == ServerFacts()


def test_a_context_that_is_given_needs_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asyncio.run(context_of(ScriptedModel([]))) is None
    monkeypatch.setenv("VOUCH_CONTEXT", "2048")
    assert asyncio.run(context_of(ScriptedModel([]))) == 2048
    monkeypatch.setenv("VOUCH_CONTEXT", "much")
    with pytest.raises(ConfigError, match="VOUCH_CONTEXT must be a whole number of at least 1"):
        asyncio.run(context_of(ScriptedModel([])))


LLAMA_CPP = {
    "code": 400,
    "message": "the request exceeds the available context size, try increasing it",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 5305,
    "n_ctx": 4096,
}
VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 5300 tokens (4276 in the messages, "
    "1024 in the completion). Please reduce the length of the messages or completion."
)
VLLM_REPLY = (
    "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens"
)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"error": LLAMA_CPP}),
        (400, {"object": "error", "message": VLLM}),
        (400, {"error": {"message": VLLM_REPLY}}),
        (400, {"error": {"message": "Your input is too long.", "code": "context_length_exceeded"}}),
        (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096"}),
        (500, {"error": {"message": "Requested tokens (5305) exceed context window of 4096"}}),
    ],
)
def test_a_refusal_for_the_context_is_one_and_is_sent_once(status: int, error: Any) -> None:
    asked: list[Request] = []

    def script(request: Request) -> Answer:
        asked.append(request)
        return of_json(error, status=status)

    async def main() -> None:
        async with FaultServer(script) as server:
            model = open_model(f"{server.url}#m", cache="")
            try:
                await model.generate(ASK, Sampling(n=3, json_schema={"type": "object"}))
            finally:
                await model.aclose()

    with pytest.raises(ModelContextError) as caught:
        asyncio.run(main())
    assert isinstance(caught.value, ModelRefusedError)
    assert len(asked) == 1
