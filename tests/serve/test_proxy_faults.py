"""The guard proxy before servers that are silent, and behind callers that leave, are slow or send too much."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2
import openai
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.serve.test_faults import place_of, silent, until
from tests.serve.upstream import Upstream, proxy_before, upstream_server
from vouching.serve.blocking import Blocking
from vouching.serve.policy import JudgeSettings, Policy
from vouching.serve.proxy_guard import Decision, Guard
from vouching.serve.proxy_messages import Asked
from vouching.serve.proxy_settings import ProxySettings
from vouching.serve.work import Pool
from vouching.types import Source

DOCUMENTS = ["The bridge opened in 1973. It has two towers."]
BODY: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "When?"}], "documents": DOCUMENTS}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with upstream_server() as server:
        yield server


def started(url: str, body: dict[str, Any]) -> socket.socket:
    """A connection on which a request was sent."""
    link = socket.create_connection(place_of(url.removesuffix("/v1")), timeout=10)
    raw = json.dumps(body).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(raw)}\r\n\r\n"
    link.sendall(head.encode() + raw)
    return link


@pytest.mark.parametrize("stream", [False, True])
def test_a_silent_server_is_an_error_that_says_how_long_it_was_silent(stream: bool) -> None:
    with silent() as address, proxy_before(f"{address}/v1", upstream_seconds=0.3) as url:
        answered = httpx2.post(f"{url}/chat/completions", json={**BODY, "stream": stream})
        assert answered.status_code == 504
        assert answered.json()["error"]["code"] == "upstream_timeout"
        assert "was silent for 0.3 s" in answered.json()["error"]["message"]
        with pytest.raises(openai.APIStatusError) as raised:
            openai.OpenAI(base_url=url, api_key="k", max_retries=0).chat.completions.create(
                model="tiny", messages=[{"role": "user", "content": "When?"}], stream=stream
            )
    assert raised.value.status_code == 504


def test_a_stream_that_falls_silent_ends_not_verified_and_not_complete(upstream: Upstream) -> None:
    upstream.pause = 5.0
    with proxy_before(upstream.url, upstream_seconds=0.3) as url:
        raw = httpx2.post(f"{url}/chat/completions", json={**BODY, "stream": True}).text
    assert "[DONE]" not in raw
    assert json.loads(raw.strip().split("\n\n")[-1].removeprefix("data: "))["vouch"]["outcome"] == "unverified"


@pytest.mark.parametrize("stream", ["after", "held"])
def test_a_caller_who_leaves_a_stream_ends_the_request_to_the_server(upstream: Upstream, stream: str) -> None:
    upstream.pause = 0.5  # with some ten events, the whole stream takes longer than the test waits
    with proxy_before(upstream.url, stream=stream) as url:
        with started(url, {**BODY, "stream": True}) as link:
            assert link.recv(100).startswith(b"HTTP/1.1 200")
        assert upstream.left.wait(3)


def test_a_caller_who_leaves_before_a_whole_answer_ends_the_request_to_the_server(upstream: Upstream) -> None:
    upstream.pause = 20.0
    with proxy_before(upstream.url) as url:
        with started(url, BODY):
            assert until(lambda: bool(upstream.asked))
        assert upstream.left.wait(5)


def test_a_caller_who_leaves_ends_the_check_of_its_answer() -> None:
    """The same check, once to its end and once left after a fifth of that time: its thread is free soon after."""
    pool = Pool(threads=1, queue=0)
    guard = Guard(ProxySettings(), JudgeSettings("embedded:rules"), pool, Blocking(Policy()))
    long, asked = "The bridge has three towers. " * 300, Asked("When?", (Source(DOCUMENTS[0]),))

    async def seconds(limit: float | None) -> float:
        started = time.monotonic()
        with suppress(TimeoutError):
            await asyncio.wait_for(guard.decide(long, asked), limit)
        assert until(lambda: not pool.taken, 60)
        return time.monotonic() - started

    whole = asyncio.run(seconds(None))
    # Other work on the machine only ever adds time, so what took too long is tried again.
    assert any(asyncio.run(seconds(whole / 5)) < whole * 0.7 for _ in range(3))
    guard.close()


def test_an_answer_that_finds_every_thread_taken_is_not_verified() -> None:
    settings = ProxySettings(unverified="block", blocked_text="No.")
    guard = Guard(settings, JudgeSettings("embedded:rules"), Pool(threads=1, queue=0), Blocking(Policy()))
    long, asked = "The bridge has three towers. " * 100, Asked("When?", (Source(DOCUMENTS[0]),))

    async def all_at_once() -> list[Decision]:
        return await asyncio.gather(*(guard.decide(long, asked) for _ in range(3)))

    first, *others = asyncio.run(all_at_once())
    guard.close()
    assert (first.outcome, first.text) == ("failed", long)
    assert [(one.outcome, one.text) for one in others] == [("unverified", "No.")] * 2
    assert "the server is busy" in others[0].message


def test_slow_large_and_half_sent_requests_end(upstream: Upstream) -> None:
    limits = {"body_seconds": 0.3, "header_seconds": 0.3}
    with proxy_before(upstream.url, limits=limits) as url:
        place = place_of(url.removesuffix("/v1"))
        with socket.create_connection(place, timeout=5) as idle:
            assert idle.recv(10) == b""
        with socket.create_connection(place, timeout=5) as slow:
            slow.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{")
            assert b" 408 " in slow.recv(4_096)
        with socket.create_connection(place, timeout=5) as half:
            half.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{")
            half.shutdown(socket.SHUT_WR)
            assert b" 200 " not in half.recv(4_096)
        assert httpx2.get(f"{url}/models").status_code == 200
    assert upstream.asked == []


def test_keys_and_texts_are_not_logged(upstream: Upstream, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), proxy_before(upstream.url, upstream_seconds=0.3) as url:
        headers = {"authorization": "Bearer very-secret", "api-key": "very-secret"}
        httpx2.post(f"{url}/chat/completions", json=BODY, headers=headers, timeout=60)
        upstream.status = 500
        httpx2.post(f"{url}/chat/completions", json=BODY, headers=headers, timeout=60)
    own = [one.getMessage() for one in caplog.records if one.name.startswith(("vouching", "uvicorn"))]
    assert not [line for line in own if "very-secret" in line or "bridge" in line]
