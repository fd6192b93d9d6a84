"""An HTTP server on a real socket that fails in the ways servers do, as a test tells it to."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any

FOREVER = 3600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does with a request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    """Seconds before it begins."""
    send: int | None = None
    """Bytes of the body after which it closes the connection; None sends all."""
    chunks: int | None = None
    """Bytes of each chunk of a body that is sent in chunks."""
    pause: float = 0.0
    """Seconds between chunks."""
    raw: bytes | None = None
    """Sent in place of everything else; then the connection closes."""
    endless: bool = False
    """Whether a body in chunks is sent again and again until the client closes the connection."""


def says(*texts: str, finish: str = "stop", **more: Any) -> Answer:
    """Completions of a chat."""
    choices = [{"index": i, "message": {"content": text}, "finish_reason": finish} for i, text in enumerate(texts)]
    usage = {"prompt_tokens": 10, "completion_tokens": 2 * len(texts)}
    return of_json({"choices": choices, "usage": usage}, **more)


def of_json(body: Any, **more: Any) -> Answer:
    """JSON with status 200, if not told otherwise."""
    headers = {"content-type": "application/json", **more.pop("headers", {})}
    return Answer(body=json.dumps(body).encode(), headers=headers, **more)


def endless_error(status: int) -> Answer:
    """An error whose body does not end."""
    return Answer(status, b"busy " * 50_000, chunks=250_000, endless=True)


def gzip_bomb_error(status: int, size: int = 64 << 20) -> Answer:
    """An error whose body of some KiB is decompressed to ``size`` bytes."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    block = b"busy " * 200_000
    packed = b"".join(packer.compress(block) for _ in range(size // len(block) + 1)) + packer.flush()
    return Answer(status, packed, {"content-encoding": "gzip"})


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class FaultServer:
    """Gives answers in turn and then the last one again, or those of a function from a request to an answer."""

    def __init__(
        self, script: Sequence[Answer] | Callable[[Request], Answer], port: int = 0, host: str = "127.0.0.1"
    ) -> None:
        self.script = script
        self.host = host
        self.port = port
        """0 until it runs, if the machine shall choose one."""
        self.requests: list[Request] = []
        self.connections = 0
        """How many were opened."""
        self.under_way = 0
        self.max_in_flight = 0
        self.hung_up = asyncio.Event()
        """Set when a client closes a connection that still owes it an answer."""

    async def __aenter__(self) -> FaultServer:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._accept, self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{self.host}:{self.port}/v1"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.ensure_future(self._converse(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._answer(await self._read(reader), reader, writer):
                    pass
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Request:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Request(head[0].split()[1], headers, json.loads(body or b"{}"))

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection is still good."""
        self.requests.append(request)
        self.under_way += 1
        self.max_in_flight = max(self.max_in_flight, self.under_way)
        try:
            turn = len(self.requests) - 1
            script = self.script
            answer = script(request) if callable(script) else script[min(turn, len(script) - 1)]
            if answer.delay and await self._gone(reader, answer.delay):
                self.hung_up.set()
                return False
            if answer.raw is not None:
                writer.write(answer.raw)
                await writer.drain()
                return False
            lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
            length = (
                {"content-length": str(len(answer.body))} if not answer.chunks else {"transfer-encoding": "chunked"}
            )
            lines += [f"{name}: {value}" for name, value in {**length, **answer.headers}.items()]
            writer.write("\r\n".join([*lines, "", ""]).encode())
            if answer.chunks:
                try:
                    await self._send_chunks(answer, answer.chunks, writer)
                except ConnectionError:
                    self.hung_up.set()
                    raise
            else:
                writer.write(answer.body[: answer.send])
            await writer.drain()
            return answer.send is None
        finally:
            self.under_way -= 1

    @staticmethod
    async def _send_chunks(answer: Answer, size: int, writer: asyncio.StreamWriter) -> None:
        body = answer.body[: answer.send]
        for start in range(0, len(body), size):
            part = body[start : start + size]
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
            await asyncio.sleep(answer.pause)
        while answer.endless:
            writer.write(b"%x\r\n%s\r\n" % (len(body), body))
            await writer.drain()
        if answer.send is None:
            writer.write(b"0\r\n\r\n")

    @staticmethod
    async def _gone(reader: asyncio.StreamReader, seconds: float) -> bool:
        """Wait; whether the client hung up meanwhile."""
        try:
            return await asyncio.wait_for(reader.read(1), seconds) == b""
        except TimeoutError:
            return False
