"""Server-sent events: read by the parser of the OpenAI client, and written in one form."""

from __future__ import annotations

import codecs
import json
from collections.abc import AsyncIterator
from io import IncrementalNewlineDecoder
from typing import Any

from openai._streaming import SSEDecoder

from vouching.serve.proxy_messages import parsed_object


async def events_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The events of a stream in one form, each with its blank line; comments too."""
    decoder = SSEDecoder()
    async for line in _lines_of(chunks):
        if line.startswith(":"):
            yield f"{line}\n\n".encode()
        elif (event := decoder.decode(line)) is not None and event.data:
            head = f"event: {event.event}\n" if event.event else ""
            yield (head + "".join(f"data: {part}\n" for part in event.data.split("\n")) + "\n").encode()


async def _lines_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The lines of a stream, whatever ends them, and a blank one at the end."""
    text = codecs.getincrementaldecoder("utf-8-sig")("replace")
    ends = IncrementalNewlineDecoder(None, translate=True)
    rest = ""
    async for chunk in chunks:
        *lines, rest = (rest + ends.decode(text.decode(chunk))).split("\n")
        for line in lines:
            yield line
    for line in (rest + ends.decode(text.decode(b"", final=True), final=True)).split("\n"):
        yield line
    yield ""


def payload_of(event: bytes) -> bytes:
    r"""The data of an event, of one that :func:`events_of` gave; empty for a comment.

    >>> payload_of(b"data:[DONE]\n\n"), payload_of(b": still here\n\n")
    (b'[DONE]', b'')
    """
    return b"\n".join(line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:"))


def data_of(event: bytes) -> dict[str, Any] | None:
    """The JSON object of an event; None for another."""
    return parsed_object(payload_of(event))


def event_with(data: dict[str, Any], name: str = "") -> bytes:
    """An event with a JSON object."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
