"""The ``openai`` client and the transport below it, with a limit on the bodies of errors.

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

import aiohttp
import httpx2
from openai import AsyncOpenAI, Omit
from openai._vendor.httpx_aiohttp import AiohttpTransport

from vouching.models.connections import certificates, open_client
from vouching.models.limits import TimeLimits
from vouching.version import __version__

MAX_ERROR = 64 << 10
"""Bytes of the body of an error, before and after it is decompressed; the rest is ignored."""
ENCODINGS = "gzip, deflate"
"""The encodings that a request accepts."""
_HEADERS: dict[str, str | Omit] = {
    "accept": "application/json",
    "accept-encoding": ENCODINGS,
    "content-type": "application/json",
    "user-agent": f"vouching/{__version__}",
}


def openai_client(base_url: str, proxy: str | None, time: TimeLimits) -> AsyncOpenAI:
    """A client for one event loop, which sends no key and retries nothing.

    Args:
        base_url: the address of the server, including the version.
        proxy: from ``proxy_of``.
        time: the limits of the phases; the caller limits the whole reply.
    """
    through = httpx2.Proxy(proxy) if proxy else None
    transport = ErrorLimit(verify=certificates(), proxy=through, client=_session)
    return _Client(
        api_key="none",
        base_url=base_url,
        max_retries=0,
        http_client=open_client(time.first_byte, None, time.connect, transport=transport),
    )


class _Client(AsyncOpenAI):
    """Sends no headers that the environment has for OpenAI (organization, project, OPENAI_CUSTOM_HEADERS)."""

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        return dict(_HEADERS)


def _session() -> aiohttp.ClientSession:
    """Connections without a limit on their number (``Limited`` sets one) and without cookies."""
    connector = aiohttp.TCPConnector(limit=0, ssl=certificates())
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


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
