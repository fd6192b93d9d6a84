"""The guard proxy before ``transformers serve``: a real server with a tiny model that learnt one wrong answer.

The client is OpenAI's: sync, async and streaming.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("transformers", reason="needs the extra train")

from tests.serve.upstream import proxy_before

DOCUMENTS = {"documents": [{"doc_id": "bridge.txt", "text": "The bridge opened in 1973."}]}
ASKED: list[Any] = [{"role": "user", "content": "When did it open?"}]
WRONG, RIGHT = "The bridge opened in 1937.", "The bridge opened in 1973."
TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
SECONDS = 900.0
"""How long a busy machine may take to load the server."""


def taught_model(folder: Path) -> Path:
    """A Llama of some thousand parameters, which answers the question with ``WRONG``."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = sorted({*f"{ASKED[0]['content']}\n{WRONG}".replace(" ", "Ġ")})
    vocabulary = {word: number for number, word in enumerate(["<eos>", "<pad>", "Ċ", *words])}
    plain = Tokenizer(models.BPE(vocabulary, [], unk_token="<pad>"))
    plain.pre_tokenizer, plain.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<eos>", pad_token="<pad>")
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=256,
        eos_token_id=0,
        pad_token_id=1,
        bos_token_id=0,
    )
    model = LlamaForCausalLM(config)
    prompt = tokenizer(f"{ASKED[0]['content']}\n")["input_ids"]
    answer = [*tokenizer(WRONG)["input_ids"], 0]
    tokens = torch.tensor([[*prompt, *answer]])
    labels = torch.tensor([[*[-100] * len(prompt), *answer]])
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(150):
        loss = model(input_ids=tokens, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.01:
            break
    model.generation_config.do_sample = False
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The base URL of ``transformers serve``, and the name of its model."""
    folder = taught_model(tmp_path_factory.mktemp("model"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("transformers")
    command = [str(program), "serve", str(folder), "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with (folder / "server.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + SECONDS
            while not is_healthy(port):
                log.seek(0)
                assert process.poll() is None, log.read()[-3000:]
                assert time.monotonic() < end, "transformers serve did not start in time"
                time.sleep(1)
            yield f"http://127.0.0.1:{port}/v1", str(folder)
        finally:
            process.kill()
            process.wait()


def is_healthy(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/health", timeout=10).status_code == 200
    except httpx2.HTTPError:
        return False


def request(name: str, **more: Any) -> dict[str, Any]:
    return {"model": name, "messages": ASKED, "max_tokens": 40, "temperature": 0, "extra_body": DOCUMENTS, **more}


def streamed(chunks: list[Any]) -> tuple[str, Any]:
    """The text and the last verdict of a stream."""
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    verdicts = [chunk.model_extra["vouch"] for chunk in chunks if "vouch" in (chunk.model_extra or {})]
    return text, verdicts[-1] if verdicts else None


@pytest.mark.parametrize(("action", "text"), [("annotate", WRONG), ("repair", RIGHT)])
def test_an_answer_of_a_real_server_is_checked_sync_and_async(server: Any, action: Any, text: str) -> None:
    upstream, name = server

    async def asked(url: str) -> Any:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", timeout=SECONDS) as client:
            return await client.chat.completions.create(**request(name))

    with proxy_before(upstream, action=action) as url:
        with openai.OpenAI(base_url=url, api_key="none", timeout=SECONDS) as client:
            answer = client.chat.completions.create(**request(name))
        for given in (answer, asyncio.run(asked(url))):
            assert given.choices[0].message.content == text
            assert given.vouch["outcome"] == "failed"
            assert given.vouch["answers"][0]["findings"][0]["fix_suggestion"] == "Change 1937 to 1973."


@pytest.mark.parametrize(("settings", "text"), [({}, WRONG), ({"stream": "held", "action": "repair"}, RIGHT)])
def test_a_stream_of_a_real_server_passes_or_is_held(server: Any, settings: dict[str, Any], text: str) -> None:
    upstream, name = server

    async def asked(url: str) -> list[Any]:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", timeout=SECONDS) as client:
            return [chunk async for chunk in await client.chat.completions.create(**request(name, stream=True))]

    with proxy_before(upstream, **settings) as url:
        with openai.OpenAI(base_url=url, api_key="none", timeout=SECONDS) as client:
            chunks = [*client.chat.completions.create(**request(name, stream=True))]
        for given in (chunks, asyncio.run(asked(url))):
            said, verdict = streamed(given)
            assert (said.strip(), verdict["outcome"]) == (text, "failed")


def test_a_response_of_a_real_server_is_repaired_whole_and_streamed(server: Any) -> None:
    upstream, name = server
    asked: dict[str, Any] = {"model": name, "input": ASKED[0]["content"], "max_output_tokens": 40, "temperature": 0}
    with (
        proxy_before(upstream, action="repair", stream="held") as url,
        openai.OpenAI(base_url=url, api_key="none", timeout=SECONDS) as client,
    ):
        whole = client.responses.create(**asked, extra_body=DOCUMENTS, stream=False)  # its default is a stream
        events: list[Any] = [*client.responses.create(**asked, extra_body=DOCUMENTS, stream=True)]
    assert whole.output_text.strip() == RIGHT
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    [final] = [event.response for event in events if event.type == "response.completed"]
    assert (text.strip(), final.output_text.strip(), events[-1].vouch["outcome"]) == (RIGHT, RIGHT, "failed")
