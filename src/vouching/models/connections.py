"""Connections to one server: a pool for each event loop, which closes with its loop.

One answer is read to its end and let go; nothing of a server is kept but its open connections: no cookies. Proxies are
those of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY). Certificates are checked against those of the
system and of Mozilla. Left out: a limit on connections; ``Limited`` sets it.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi

from vouching.errors import ConfigError
from vouching.models.loops import PerLoop
from vouching.version import __version__

CONNECT_TIMEOUT = 10.0
"""Seconds until a connection must stand."""
LONGEST_ANSWER = 64 << 20
"""Bytes of an answer; what is longer is read no further."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    """The HTTP status."""
    reason: str
    """The status in words, if the server said them."""
    headers: Mapping[str, str]
    """By names in any case."""
    content: bytes
    """The body, decoded if it came compressed."""
    whole: bool = True
    """Whether that is all of it; False if it was longer than 64 MiB."""

    @property
    def text(self) -> str:
        """The body as UTF-8; what is none is replaced."""
        return self.content.decode(errors="replace")


class Connections:
    """Asks a server, over connections that are kept for the next question.

    Args:
        url: what is asked, or the address that everything asked begins with.
        headers: sent with every request.
        timeout: seconds without a byte after which a request is given up.

    Raises:
        ConfigError: the environment names a proxy of a kind that is not known.
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float) -> None:
        self._url = url
        self._headers = {"user-agent": f"vouching/{__version__}", **headers}
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT, sock_read=timeout)
        self._proxy = proxy_of(url)
        self._pools: PerLoop[AsyncGenerator[aiohttp.ClientSession]] = PerLoop(self._pool)

    async def post(self, content: bytes) -> Answer:
        """Send a body; see :meth:`ask`."""
        return await self.ask("POST", data=content)

    async def ask(self, method: str, path: str = "", **what: Any) -> Answer:
        """Send a request and read the answer; a redirect is an answer like any other.

        Args:
            method: of HTTP.
            path: what follows the address.
            what: "data", "json", "params" or "headers", as aiohttp takes them.

        Raises:
            aiohttp.ClientError, OSError: there is no answer; see ``http_errors``.
        """
        session = await anext(self._pools.get())
        url = f"{self._url}{path}"
        async with session.request(method, url, proxy=self._proxy, allow_redirects=False, **what) as response:
            parts: list[bytes] = []
            left = LONGEST_ANSWER
            async for part in response.content.iter_any():
                parts.append(part[:left])
                left -= len(part)
                if left < 0:
                    response.close()
                    break
            return Answer(response.status, response.reason or "", response.headers, b"".join(parts), left >= 0)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        if (pool := self._pools.drop()) is not None:
            await pool.aclose()

    async def _pool(self) -> AsyncGenerator[aiohttp.ClientSession]:
        """The session of an event loop. A loop that ends closes its generators, and so the session."""
        secure = urlsplit(self._url).scheme == "https"
        connector = aiohttp.TCPConnector(limit=0, ssl=certificates() if secure else True)
        try:
            async with aiohttp.ClientSession(
                connector=connector, headers=self._headers, timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar()
            ) as session:
                while True:
                    yield session
        finally:
            self._pools.drop()


@cache
def certificates() -> ssl.SSLContext:
    """Whom to trust. Read once: it takes longer than a call."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())  # some systems have none of their own
    return context


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for an address; None if it is asked directly.

    Raises:
        ConfigError: the proxy is of another kind than http.

    >>> import os
    >>> os.environ["NO_PROXY"] = "localhost"
    >>> proxy_of("http://localhost:8000/v1") is None
    True
    """
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy and urlsplit(proxy).scheme not in {"http", "https"}:
        raise ConfigError(f"{urlsplit(proxy).scheme} proxies are not known, for {parts.hostname}: set NO_PROXY for it")
    return proxy


def checked_address(address: str, owner: str, example: str, key_variable: str = "") -> str:
    """An address of a server, without a slash at its end.

    Args:
        address: what was given.
        owner: whose address it is, for the message.
        example: what one looks like, for the message.
        key_variable: where a key belongs, for the message.

    Raises:
        ConfigError: it is none, or it holds a password.

    >>> checked_address("http://localhost:8000/v1/", "a model", "http://host:8000/v1")
    'http://localhost:8000/v1'
    """
    try:
        parts = urlsplit(address)
        named = bool(parts.hostname and parts.hostname.encode("idna")) and not any(map(str.isspace, address))
        usable = parts.scheme in {"http", "https"} and named and (parts.port is None or parts.port > 0)
    except ValueError:
        parts, usable = None, False
    if not parts or not usable or parts.query or parts.fragment:
        raise ConfigError(f'the address of {owner} must be like "{example}", got {address!r}')
    if parts.username or parts.password:
        instead = f"put the key into {key_variable}" if key_variable else "take it out, none is sent"
        raise ConfigError(f"the address of {owner} must hold no password: {instead}")
    return address.rstrip("/")
