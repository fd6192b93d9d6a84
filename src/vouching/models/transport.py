"""The transport below the ``openai`` client, with a limit on the bodies of errors.

The client reads the whole body of a response whose status is not 2xx. Here at most ``MAX_ERROR`` bytes of such a body
are read and at most as many decompressed; the rest is not read, and the connection is closed. Bodies with status 2xx
pass through unchanged. Not supported: error bodies in encodings other than gzip and deflate,
which no request accepts; they stay as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import httpx2
from openai._vendor.httpx_aiohttp import AiohttpTransport

MAX_ERROR = 64 << 10
"""Bytes of the body of an error, before and after it is decompressed; the rest is ignored."""
ENCODINGS = "gzip, deflate"
"""The encodings that a request accepts."""


class ErrorLimit(AiohttpTransport):
    """Sends requests with aiohttp; the bodies of errors are limited."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, whose body is read by the caller."""
        response = await super().handle_async_request(request)
        if not response.is_success:
            encodings = response.headers.get("content-encoding", "").lower().split(",")
            response.stream = _Beginning(cast("httpx2.AsyncByteStream", response.stream), encodings)
            for header in ("content-encoding", "content-length"):
                response.headers.pop(header, None)
        return response


class _Beginning(httpx2.AsyncByteStream):
    """The beginning of a body, decompressed."""

    def __init__(self, stream: httpx2.AsyncByteStream, encodings: list[str]) -> None:
        self._stream = stream
        self._encodings = encodings

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        body = bytearray()
        async with aclosing(cast("AsyncGenerator[bytes]", aiter(self._stream))) as parts:
            async for part in parts:
                body += part
                if len(body) >= MAX_ERROR:
                    break
        found = bytes(body[:MAX_ERROR])
        for encoding in reversed(self._encodings):
            found = decompressed(found, encoding.strip())
        yield found

    async def aclose(self) -> None:
        await self._stream.aclose()


def decompressed(body: bytes, encoding: str) -> bytes:
    """At most ``MAX_ERROR`` bytes of a body, which may be cut off; other encodings than gzip and deflate are ignored.

    Raises:
        httpx2.DecodingError: the body does not match its encoding.

    >>> decompressed(zlib.compress(b"busy"), "deflate")
    b'busy'
    """
    if encoding not in {"gzip", "deflate"}:
        return body
    try:
        return _inflated(body, zlib.MAX_WBITS | 16 if encoding == "gzip" else zlib.MAX_WBITS)
    except zlib.error as error:
        if encoding == "gzip":
            raise httpx2.DecodingError(str(error)) from error
    try:
        return _inflated(body, -zlib.MAX_WBITS)  # some servers send deflate without its header
    except zlib.error as error:
        raise httpx2.DecodingError(str(error)) from error


def _inflated(body: bytes, bits: int) -> bytes:
    return zlib.decompressobj(bits).decompress(body, MAX_ERROR)
