"""How much of a server's capacity ``open_model`` uses, and what a call costs in own processor time.

    python benchmarks/models.py [--output benchmarks/results/models.json]

The server is a process of this machine that answers every request after 50 ms and works on at most 64 at once: no more
than 1,280 a second. Calls are started all at once and the model's own limit, 64, keeps them apart. The share of the
ideal rate counts the start, the end and this machine's other work against the library; ``share_of_a_core`` tells how
busy it was. The same requests are also sent by one client of httpx, 64 at a time. Left out: TLS and a real network.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import multiprocessing
import os
import platform
import statistics
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx

import vouching
from vouching.models import Message, Sampling
from vouching.models.open import open_model

CALLS, SLOTS, LATENCY, PASSES = 2_000, 64, 0.05, 3
QUESTION = (Message("system", "Answer in JSON. " * 20), Message("user", "Is the claim supported? " * 40))
BODY = json.dumps(
    {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes. " * 40}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 80},
    }
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Server(asyncio.Protocol):
    """One connection of a server that takes its time: it waits for a slot, then 50 ms."""

    slots: asyncio.Semaphore

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self.transport, self.pending = transport, b""
        self.tasks: set[asyncio.Task[None]] = set()

    def data_received(self, data: bytes) -> None:
        """Answer when a request is whole."""
        self.pending += data
        head, found, rest = self.pending.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0] or 0)
        if found and len(rest) >= length:
            self.pending = b""
            task = asyncio.ensure_future(self.answer())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def answer(self) -> None:
        """The same to everyone."""
        async with self.slots:
            await asyncio.sleep(LATENCY)
            self.transport.write(ANSWER)  # type: ignore[attr-defined]


def serve(pipe: Connection) -> None:
    """Run the server and tell its port."""

    async def main() -> None:
        Server.slots = asyncio.Semaphore(SLOTS)
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


async def with_model(url: str) -> None:
    """All calls at once through a model as ``open_model`` makes it."""
    model = open_model(f"{url}#benchmark", cache="")
    sampling = Sampling()
    await asyncio.gather(*(model.generate(QUESTION, sampling) for _ in range(CALLS)))
    await model.aclose()


async def with_httpx(url: str) -> None:
    """The same requests without the library: the client alone, 64 at once."""
    slots = asyncio.Semaphore(SLOTS)
    messages = [{"role": message.role, "content": message.content} for message in QUESTION]
    body = {"model": "benchmark", "messages": messages, "max_tokens": 1024, "temperature": 0.0}
    async with httpx.AsyncClient(limits=httpx.Limits(max_keepalive_connections=None)) as client:

        async def call() -> None:
            async with slots:
                (await client.post(f"{url}/chat/completions", json=body)).json()

        await asyncio.gather(*(call() for _ in range(CALLS)))


def measure(calls: Callable[[str], Awaitable[None]], url: str) -> dict[str, Any]:
    """Median over the passes of one way to call."""
    seconds: list[float] = []
    own: list[float] = []
    for _ in range(PASSES):
        started, used = time.perf_counter(), time.process_time()
        asyncio.run(calls(url))  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - started)
        own.append(time.process_time() - used)
    rate = CALLS / statistics.median(seconds)
    return {
        "calls_per_second": round(rate),
        "share_of_ideal": round(rate * LATENCY / SLOTS, 3),
        "own_cpu_ms_per_call": round(1000 * statistics.median(own) / CALLS, 3),
    }


def core_share() -> float:
    """How much of a core a process gets that wants all of one, in [0, 1]: below 1, other work slows the calls."""
    started, used = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < 2:
        pass
    return (time.process_time() - used) / (time.perf_counter() - started)


def main() -> None:
    """Measure both ways, print them, write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/models.json")
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}/v1"
    record = {
        "command": "python benchmarks/models.py",
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "share_of_a_core": round(core_share(), 2),
        "calls": CALLS,
        "slots": SLOTS,
        "latency_ms": round(1000 * LATENCY),
        "open_model": measure(with_model, url),
        "httpx_alone": measure(with_httpx, url),
    }
    server.terminate()
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
