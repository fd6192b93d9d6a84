"""Server-sent events: read by the parser of the HTTP client, and written in one form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

from httpx2 import EventSource, Request, Response, SSEError

from vouching.serve.proxy_messages import parsed_object

LARGEST_EVENT = 8_000_000
"""Bytes of an event."""


async def events_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The events of a stream in one form, each with its blank line; comments are dropped.

    The text is UTF-8, whatever a header says, with or without a byte order mark. An event at the end needs no blank
    line. The stream ends at an event of more than ``LARGEST_EVENT`` bytes.
    """

    async def ended() -> AsyncIterator[bytes]:
        async for chunk in chunks:
            yield chunk
        yield b"\n\n"

    headers = {"content-type": "text/event-stream"}
    answer = Response(200, headers=headers, content=ended(), request=Request("GET", ""), default_encoding="utf-8-sig")
    with suppress(SSEError):
        async for event in EventSource(answer, LARGEST_EVENT):
            if event.data:
                head = f"event: {event.event}\n" if event.event != "message" else ""
                yield (head + "".join(f"data: {part}\n" for part in event.data.split("\n")) + "\n").encode()


async def kept_alive(events: AsyncGenerator[bytes], every: float = 15.0) -> AsyncGenerator[bytes]:
    """The events, and a comment after ``every`` seconds without one, so that nothing on the way gives up."""
    waiting: asyncio.Task[bytes | None] | None = None
    async with aclosing(events):
        try:
            while True:
                waiting = waiting or asyncio.ensure_future(anext(events, None))
                if not (await asyncio.wait({waiting}, timeout=every))[0]:
                    yield b": still checking\n\n"
                    continue
                event, waiting = waiting.result(), None
                if event is None:
                    return
                yield event
        finally:
            if waiting is not None:
                waiting.cancel()
                while not waiting.done():  # whoever cancels this may do so again at each wait
                    with suppress(asyncio.CancelledError):
                        await asyncio.wait({waiting})


def payload_of(event: bytes) -> bytes:
    r"""The data of an event, of one that :func:`events_of` gave.

    >>> payload_of(b"event: a\ndata: 1\ndata: 2\n\n")
    b'1\n2'
    """
    return b"\n".join(line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:"))


def data_of(event: bytes) -> dict[str, Any] | None:
    """The JSON object of an event; None for another."""
    return parsed_object(payload_of(event))


def event_with(data: dict[str, Any], name: str = "") -> bytes:
    """An event with a JSON object, in ASCII: a text may hold half of a character, which UTF-8 cannot."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()
