"""Requests to servers that answer in JSON, through httpx2.

Cookies are not kept: a cookie of a load balancer would send all calls to one of its servers. Redirects are not
followed, so that keys go nowhere else. Not supported: HTTP/2, and bodies in encodings other than gzip and deflate,
which no request accepts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, Self

import httpx2

from vouching.errors import ModelAnswerError
from vouching.models.connections import (
    CONNECT_TIMEOUT,
    EXCERPT,
    KEY,
    certificates,
    error_of_status,
    error_of_transport,
    excerpt,
    read_object,
)
from vouching.version import __version__

MAX_ANSWER = 64 << 20
"""Bytes of an answer with status 2xx, decompressed; a longer one is an error."""
MAX_ERROR = 64 << 10
"""Bytes of any other answer, decompressed; the rest is not read, and the connection is closed."""
_IDLE_SECONDS = 15.0
"""Seconds for which a connection that is not used is kept."""
_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "user-agent": f"vouching/{__version__}",
}


class Connections:
    """Connections to one server, for one event loop: as many as there are requests at once, kept for the next ones.

    Each has a transport of its own: a pool of httpx2 examines all of its idle connections at the beginning and at the
    end of every request, which takes longer than the request where there are many.

    Args:
        proxy: from ``proxy_of``.
        silence: seconds without a byte after which a request is given up.
        connect: seconds to open a connection.
        headers: of every request.
    """

    def __init__(
        self,
        proxy: str | None,
        silence: float,
        connect: float = CONNECT_TIMEOUT,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._proxy = proxy
        self._headers = _HEADERS | dict(headers or {})
        self._timeout = httpx2.Timeout(silence, connect=connect, pool=None).as_dict()
        self._all: list[httpx2.AsyncHTTPTransport] = []
        self._idle: list[httpx2.AsyncHTTPTransport] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._all:
            await self._all.pop().aclose()

    async def ask(
        self,
        method: str,
        url: str,
        where: str,
        *,
        advice: str | None = None,
        key: str = KEY,
        strict: bool = False,
        headers: Mapping[str, str] | None = None,
        **what: Any,
    ) -> dict[str, Any]:
        """The JSON object that answers a request.

        Args:
            method: GET or POST.
            url: where it is sent.
            where: the server, for messages.
            advice: see ``error_of_status``.
            key: likewise.
            strict: refuse an object in which a key occurs twice, and deep nesting.
            headers: of this request.
            what: any other argument of ``httpx2.Request``.

        Raises:
            ModelError, ConfigError: see ``connections``.
        """
        try:
            what |= {"headers": {**self._headers, **(headers or {})}, "extensions": {"timeout": self._timeout}}
            request = httpx2.Request(method, url, **what)
            response, content = await self._exchange(request, where)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise error_of_transport(error, f"{where} through a proxy" if self._proxy else where) from error
        if wrong := error_of_status(response, content, where, advice, key):
            raise wrong
        return read_object(response, content, where, strict)

    async def _exchange(self, request: httpx2.Request, where: str) -> tuple[httpx2.Response, bytes]:
        if self._idle:
            transport = self._idle.pop()
        else:
            transport = one_connection(self._proxy)
            self._all.append(transport)
        try:
            async with sent(transport, request) as response:
                return response, await _read(response, where)
        finally:
            self._idle.append(transport)


def one_connection(proxy: str | None = None) -> httpx2.AsyncHTTPTransport:
    """A transport of one connection, to be closed by the caller."""
    limits = httpx2.Limits(max_connections=1, keepalive_expiry=_IDLE_SECONDS)
    return httpx2.AsyncHTTPTransport(verify=certificates(), trust_env=False, proxy=proxy, limits=limits)


@asynccontextmanager
async def sent(transport: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> AsyncGenerator[httpx2.Response]:
    """The response to a request, its body not yet read. At the end, a connection with some of it left is closed."""
    try:
        response = await transport.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()
    except httpx2.RequestError as error:
        error.request = request
        raise


async def _read(response: httpx2.Response, where: str) -> bytes:
    """The body of a response, as far as ``MAX_ANSWER`` and ``MAX_ERROR`` allow."""
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as parts:
        async for part in parts:
            body += part
            if not response.is_success and len(body) >= MAX_ERROR:
                break
            if len(body) > MAX_ANSWER:
                begun = body[: 4 * EXCERPT].decode(errors="replace")
                raise ModelAnswerError(f"{where} returned more than {MAX_ANSWER:,} bytes: {excerpt(begun)}")
    return bytes(body)
