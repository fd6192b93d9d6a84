"""A real server, ``transformers serve``, over a tiny model with random weights: what goes there and comes back."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

for name in ("torch", "transformers", "fastapi", "uvicorn", "openai"):
    pytest.importorskip(name, reason=f"transformers serve needs {name}")

from tests.models.tiny_llama import write_tiny_llama  # noqa: E402
from vouching.errors import ModelDeadlineError  # noqa: E402
from vouching.models import Message, Sampling, total_usage  # noqa: E402
from vouching.models.http import HttpModel  # noqa: E402
from vouching.models.open import open_model  # noqa: E402

ASK = (Message("system", "S"), Message("user", "Hi"))
PATIENCE = 300.0
SERVE = "from transformers.cli.transformers import main; main()"


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Name of the model on the server."""
    folder = write_tiny_llama(tmp_path_factory.mktemp("served"))
    log = folder / "serve.log"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-c", SERVE, "serve", *options], stdout=file, stderr=file)
        try:
            _await(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1#{folder}"
        finally:
            process.kill()
            process.wait()


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(url):
                return
        except URLError:
            time.sleep(0.5)
    raise AssertionError(f"the server did not start:\n{log.read_text(encoding='utf-8')[-3000:]}")


def test_a_chat_goes_there_and_back(spec: str) -> None:
    async def main() -> None:
        model = open_model(spec, cache="")
        [said] = await model.generate(ASK, Sampling(max_tokens=5))
        await model.aclose()
        # Two texts of one and two letters, a mark before each, an end after each, and the mark of the assistant.
        assert said.usage.prompt_tokens == 8
        assert 1 <= said.usage.completion_tokens <= 5
        assert said.finish_reason == ("length" if said.usage.completion_tokens == 5 else "stop")

    asyncio.run(main())


def test_greedy_answers_agree_with_the_same_weights_in_this_process(spec: str) -> None:
    async def main() -> tuple[str, str]:
        served, local = open_model(spec, cache=""), open_model(f"local:{spec.partition('#')[2]}", cache="")
        said = [(await model.generate(ASK, Sampling(max_tokens=8)))[0].text for model in (served, local)]
        await asyncio.gather(served.aclose(), local.aclose())
        return said[0], said[1]

    there, here = asyncio.run(main())
    assert there == here


def test_a_server_that_knows_no_n_and_no_schema_gives_all_completions(spec: str) -> None:
    async def main() -> None:
        model = open_model(spec, cache="")
        said = await model.generate(ASK, Sampling(4, 1.0, n=3, seed=1, json_schema={"type": "object"}))
        await model.aclose()
        assert len(said) == 3
        assert total_usage(said).calls == 3

    asyncio.run(main())


def test_many_calls_at_once_all_come_back(spec: str) -> None:
    async def main() -> set[str]:
        model = open_model(spec, cache="", at_once=8)
        calls = await asyncio.gather(*(model.generate(ASK, Sampling(max_tokens=4)) for _ in range(24)))
        await model.aclose()
        return {said[0].text for said in calls}

    assert len(asyncio.run(main())) == 1


def test_a_call_that_is_given_up_leaves_the_server_able_to_answer(spec: str) -> None:
    async def main() -> str:
        model = HttpModel(*spec.split("#"))
        long = asyncio.ensure_future(model.generate(ASK, Sampling(max_tokens=100, temperature=1.0)))
        await asyncio.sleep(0.05)
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        text = (await model.generate(ASK, Sampling(max_tokens=3)))[0].text
        await model.aclose()
        return text

    assert asyncio.run(main())


def test_a_call_that_takes_too_long_can_be_tried_again(spec: str) -> None:
    model = HttpModel(*spec.split("#"), timeout=0.001)
    with pytest.raises(ModelDeadlineError, match="did not answer within"):
        asyncio.run(model.generate(ASK, Sampling(max_tokens=100)))
