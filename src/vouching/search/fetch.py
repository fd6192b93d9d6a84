"""Pages of the web, fetched as one fetches what a stranger named: only public addresses, only so much, only so long.

Every connection is made by a guard that looks the host up, checks each address and connects to the one it checked.
There is no second look-up that could answer differently, and every redirect passes the same guard. Proxies of the
environment are not used, since they would make the connection instead; no cookie is kept and no credential is sent.

Left out: robots.txt, which speaks to crawlers; pages that need JavaScript; other ports than the address names.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from ipaddress import ip_network
from typing import cast

import httpcore
import httpx

from vouching.errors import ConfigError, FetchError
from vouching.models.connections import CONNECT_TIMEOUT, certificates
from vouching.models.loops import PerLoop
from vouching.search.addresses import Network, resolve
from vouching.search.web.engine import USER_AGENT

CONTENT_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "application/pdf")
"""Kinds of pages that are read."""
_LONGEST_URL = 4096
_REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it came."""

    url: str
    """Where it was found, after redirects."""
    content_type: str
    """One of ``CONTENT_TYPES``."""
    charset: str
    """What the server says about its letters; empty if nothing."""
    body: bytes
    """Its bytes, decompressed."""


class Fetcher:
    """Fetches pages of the public web.

    Args:
        allow: networks that may be reached although they are not public, e.g. "10.1.0.0/16" for a wiki of one's own.
        most_bytes: size of a page, as sent and decompressed; a larger one is refused.
        seconds: how long a page may take, its redirects together.
        redirects: how many are followed.
        at_once: pages under way at once.

    Raises:
        ConfigError: a network that is none.

    >>> asyncio.run(Fetcher().fetch("http://[::1]:8080/admin"))
    Traceback (most recent call last):
    ...
    vouching.errors.FetchError: ::1 is at ::1, which is no address of the public internet: it is not fetched
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        *,
        most_bytes: int = 5_000_000,
        seconds: float = 20.0,
        redirects: int = 5,
        at_once: int = 8,
    ) -> None:
        try:
            self._allow: tuple[Network, ...] = tuple(ip_network(network) for network in allow)
        except ValueError as error:
            raise ConfigError(f"{error}: a network is written like 10.1.0.0/16") from None
        self._most_bytes, self._seconds, self._redirects = most_bytes, seconds, redirects
        self._slots = PerLoop(lambda: asyncio.Semaphore(at_once))

    async def fetch(self, url: str) -> Page:
        """The page at an address.

        Raises:
            FetchError: the address or one that it leads to is not allowed, the page is too large, of another kind or
                not there, or it took too long.
        """
        try:
            async with self._slots.get(), asyncio.timeout(self._seconds):
                return await self._follow(url)
        except TimeoutError:
            raise FetchError(f"{url} was not read within {self._seconds:g} seconds") from None
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            raise FetchError(f"{url} cannot be read: {type(error).__name__} {error}".rstrip()) from error

    async def _follow(self, url: str) -> Page:
        target = checked_url(url)
        for _ in range(self._redirects + 1):
            async with self._get(target) as answer:
                if answer.status not in _REDIRECTS:
                    return await self._read(target, answer)
                location = _header(answer, b"location")
            if not location:
                raise FetchError(f"{target} redirects to nowhere")
            target = checked_url(location, target)
        raise FetchError(f"{url} redirects more than {self._redirects} times")

    @asynccontextmanager
    async def _get(self, target: httpx.URL) -> AsyncGenerator[httpcore.Response]:
        """The answer of one server, its body not yet read, over a connection of its own."""
        url = httpcore.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)
        headers: list[tuple[bytes, bytes]] = [
            (b"host", target.netloc),
            (b"user-agent", USER_AGENT.encode()),
            (b"accept", ", ".join(CONTENT_TYPES).encode()),
            (b"accept-encoding", b"gzip"),
            (b"connection", b"close"),
        ]
        timeouts = {"connect": CONNECT_TIMEOUT, "read": self._seconds, "write": self._seconds}
        guard = _Guard(self._allow)
        async with (
            httpcore.AsyncConnectionPool(certificates(), max_connections=1, network_backend=guard) as pool,
            pool.stream("GET", url, headers=headers, extensions={"timeout": timeouts}) as answer,
        ):
            yield answer

    async def _read(self, target: httpx.URL, answer: httpcore.Response) -> Page:
        if answer.status != 200:
            raise FetchError(f"{target} answered {answer.status}")
        content_type, charset = _kind(_header(answer, b"content-type"))
        if content_type not in CONTENT_TYPES:
            raise FetchError(f"{target} is {content_type or 'of no kind'}, wanted {', '.join(CONTENT_TYPES)}")
        body = bytearray()
        async for chunk in self._decompressed(target, answer):
            body += chunk
            if len(body) > self._most_bytes:
                raise FetchError(f"{target} is larger than {self._most_bytes:,} bytes")
        return Page(str(target), content_type, charset, bytes(body))

    async def _decompressed(self, target: httpx.URL, answer: httpcore.Response) -> AsyncIterator[bytes]:
        """The body piece by piece; at no time is more of it unpacked than may be kept."""
        encoding = _header(answer, b"content-encoding").lower() or "identity"
        if encoding not in {"identity", "gzip", "x-gzip"}:
            raise FetchError(f"{target} is packed as {encoding}, asked for gzip")
        unpack = None if encoding == "identity" else zlib.decompressobj(16 + zlib.MAX_WBITS)
        async for chunk in answer.aiter_stream():
            try:
                yield chunk if unpack is None else unpack.decompress(chunk, self._most_bytes + 1)
            except zlib.error as error:
                raise FetchError(f"{target} cannot be unpacked: {error}") from error
        if unpack is not None and not unpack.eof:
            raise FetchError(f"{target} is cut off")


class _Guard(httpcore.AsyncNetworkBackend):
    """Makes the connections: to the addresses that it has just looked up and checked, and to no others."""

    def __init__(self, allow: Sequence[Network]) -> None:
        self._allow = allow
        self._inside = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first address of the host that takes one."""
        failure: Exception | None = None
        for address in await resolve(host, port, self._allow):
            try:
                return await self._inside.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError("no address")

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts; the pool makes one."""
        await self._inside.sleep(seconds)


def checked_url(url: str, base: httpx.URL | None = None) -> httpx.URL:
    """An address that may be asked for, as far as it can be told without looking it up.

    Args:
        url: the address; with ``base`` also one relative to it.
        base: the page that names it.

    Raises:
        FetchError: it is none, is not http or https, or holds a name or a password.

    >>> str(checked_url("../b", httpx.URL("https://example.org/a/c")))
    'https://example.org/b'
    >>> checked_url("file:/etc/passwd")
    Traceback (most recent call last):
    ...
    vouching.errors.FetchError: 'file:/etc/passwd' is not fetched: wanted http or https
    """
    shown = url[:200]
    if len(url) > _LONGEST_URL:
        raise FetchError(f"an address of {len(url):,} characters is not fetched: {shown!r}...")
    try:
        target = base.join(url) if base else httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:  # the latter from a port
        raise FetchError(f"{shown!r} is no address: {error}") from None
    if target.scheme not in {"http", "https"}:
        raise FetchError(f"{shown!r} is not fetched: wanted http or https")
    if not target.host or (target.port is not None and not 0 < target.port < 65536):
        raise FetchError(f"{shown!r} names no host, or no port from 1 to 65535")
    if target.userinfo:
        raise FetchError("an address with a name or a password in it is not fetched")
    return target.copy_with(fragment=None)


def _header(answer: httpcore.Response, name: bytes) -> str:
    """The value of a header; empty if there is none."""
    return next((value.decode("latin-1") for key, value in answer.headers if key.lower() == name), "").strip()


def _kind(content_type: str) -> tuple[str, str]:
    """Kind and charset that a header names."""
    parsed = Message()
    parsed["content-type"] = content_type
    return content_type.partition(";")[0].strip().lower(), parsed.get_content_charset() or ""
