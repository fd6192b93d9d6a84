"""Fetches web pages with untrusted addresses: from public addresses only, with limits on size and time.

Every host is resolved once, each of its addresses is checked, and the connection goes to those addresses only: there is
no second lookup that could return another one. Redirects are checked in the same way. Proxies of the environment are
not used, since they would resolve the host themselves. No cookies are kept and no credentials are sent.

Not supported: robots.txt, which is for crawlers; pages that need JavaScript; data after the end of a compressed page;
local rules for public addresses, such as a NAT64 prefix of your own network.
"""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx2
from httpx2 import URL

from vouching.errors import ConfigError, FetchError
from vouching.models.connections import CONNECT_TIMEOUT, transport_reason
from vouching.models.running import PerLoop
from vouching.models.transport import one_connection, sent
from vouching.search.web import USER_AGENT

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_UNICAST = IPv6Network("2000::/3")
"""The only part of IPv6 that is assigned for use on the internet."""
_NAT64 = IPv6Network("64:ff9b::/96")
_HOST_AGENT = IPv4Address("168.63.129.16")
"""A public address that on every Azure machine reaches the host."""


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet.

    An IPv6 address that contains an IPv4 address (mapped, or with the well-known NAT64 prefix) is judged by the latter.
    Tunnels (6to4, Teredo) count as private, since their ends are unknown.

    >>> [is_public(ip_address(text)) for text in ("93.184.215.14", "127.0.0.1", "169.254.169.254", "10.0.0.8")]
    [True, False, False, False]
    >>> [is_public(ip_address(text)) for text in ("2606:4700::1", "::1", "::ffff:10.0.0.8", "64:ff9b::127.0.0.1")]
    [True, False, False, False]
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if address not in _UNICAST or address.sixtofour is not None or address.teredo is not None:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address == _HOST_AGENT)


async def resolve(host: str, port: int, allow: Sequence[Network] = ()) -> list[str]:
    """The addresses of a host, all of them public or in a network of ``allow``.

    The host may be an address in any notation that the system reads (127.1, 0x7f000001 and the like). A host with any
    other address is refused. Raises FetchError.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError(f"{host} cannot be resolved: {error}") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for text in addresses:
        address = ip_address(text.partition("%")[0])
        if not is_public(address) and not any(address in network for network in allow):
            raise FetchError(f"{host} resolves to {text}, but only public addresses are fetched")
    return addresses


CONTENT_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "application/pdf")
"""Kinds of pages that are read."""
_LONGEST_URL = 4096
_REDIRECTS = {301, 302, 303, 307, 308}
_HEADERS = {"user-agent": USER_AGENT, "accept": ", ".join(CONTENT_TYPES), "accept-encoding": "gzip"}
_CONNECT = {"connect": CONNECT_TIMEOUT}
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as the server sent it."""

    url: str
    """Its address after redirects."""
    content_type: str
    """One of ``CONTENT_TYPES``."""
    charset: str
    """The encoding that the server names; empty if none."""
    body: bytes
    """Decompressed."""


class Fetcher:
    """Fetches pages of the public web.

    Args:
        allow: networks that may be reached although they are not public, e.g. "10.1.0.0/16" for your own wiki.
        max_bytes: maximal size of a page, compressed and decompressed.
        seconds: time limit for a page, including redirects.
        redirects: maximal number of redirects.
        at_once: maximal number of concurrent requests.

    Raises:
        ConfigError: an invalid network.
    """

    def __init__(
        self,
        allow: Iterable[str] = (),
        *,
        max_bytes: int = 5_000_000,
        seconds: float = 20.0,
        redirects: int = 5,
        at_once: int = 8,
    ) -> None:
        try:
            self._allow: tuple[Network, ...] = tuple(ip_network(network) for network in allow)
        except ValueError as error:
            raise ConfigError(f"{error}; expected a network such as 10.1.0.0/16") from None
        self._max_bytes, self._seconds, self._redirects = max_bytes, seconds, redirects
        self._slots = PerLoop(lambda: asyncio.Semaphore(at_once))

    async def fetch(self, url: str) -> Page:
        """Fetch a page.

        Raises FetchError if the address or a redirect is not allowed, the page is missing, too large or of another
        type, or the time limit is exceeded.
        """
        try:
            async with self._slots.get(), asyncio.timeout(self._seconds):
                return await self._follow(url)
        except TimeoutError:
            raise FetchError(f"{url} could not be read within {self._seconds:g} seconds") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise FetchError(f"{url} cannot be read: {transport_reason(error)}") from error

    async def _follow(self, url: str) -> Page:
        target = checked_url(url)
        for _ in range(self._redirects + 1):
            async with self._get(target) as answer:
                if answer.status_code not in _REDIRECTS:
                    return await self._read(target, answer)
                location = answer.headers.get("location", "").strip()
            if not location:
                raise FetchError(f"{target} sent a redirect without an address")
            target = checked_url(location, target)
        raise FetchError(f"{url} redirects more than {self._redirects} times")

    @asynccontextmanager
    async def _get(self, target: URL) -> AsyncGenerator[httpx2.Response]:
        """The response of one server, its body not yet read, over a new connection."""
        host = target.raw_host.decode()
        addresses = await resolve(host, _port(target), self._allow)
        headers = {**_HEADERS, "host": target.netloc.decode()}
        # The certificate must be that of the host, although an address is connected to.
        extensions = {"timeout": _CONNECT, "sni_hostname": host.rstrip(".")}
        async with AsyncExitStack() as opened:
            while True:
                place = target.copy_with(host=addresses.pop(0))
                request = httpx2.Request("GET", place, headers=headers, extensions=extensions)
                transport = await opened.enter_async_context(one_connection())
                try:
                    answer = await opened.enter_async_context(sent(transport, request))
                    break
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    if not addresses:
                        raise
            yield answer

    async def _read(self, target: URL, answer: httpx2.Response) -> Page:
        if answer.status_code != 200:
            raise FetchError(f"{target} returned status {answer.status_code}")
        content_type, charset = _kind(answer.headers.get("content-type", "").strip())
        if content_type not in CONTENT_TYPES:
            got = f"the content type {content_type}" if content_type else "no content type"
            raise FetchError(f"{target} has {got}; expected one of {', '.join(CONTENT_TYPES)}")
        body = bytearray()
        async for chunk in self._decompressed(target, answer):
            body += chunk
            self._check_size(target, len(body))
        return Page(str(target), content_type, charset, bytes(body))

    def _check_size(self, target: URL, size: int) -> None:
        if size > self._max_bytes:
            raise FetchError(f"{target} is larger than {self._max_bytes:,} bytes")

    async def _decompressed(self, target: URL, answer: httpx2.Response) -> AsyncIterator[bytes]:
        """The body in chunks, to the end of the compressed data; at most ``max_bytes`` are decompressed."""
        encoding = answer.headers.get("content-encoding", "").strip().lower() or "identity"
        if encoding not in {"identity", "gzip", "x-gzip"}:
            raise FetchError(f"{target} is compressed with {encoding}, expected gzip")
        unpack = None if encoding == "identity" else zlib.decompressobj(16 + zlib.MAX_WBITS)
        sent = 0
        async for chunk in answer.aiter_raw():
            sent += len(chunk)
            self._check_size(target, sent)
            try:
                yield chunk if unpack is None else unpack.decompress(chunk, self._max_bytes + 1)
            except zlib.error as error:
                raise FetchError(f"{target} cannot be decompressed: {error}") from error
            if unpack is not None and unpack.eof:
                return
        if unpack is not None and not unpack.eof:
            raise FetchError(f"the response of {target} was cut off")


def checked_url(url: str, base: URL | None = None) -> URL:
    """Parse and check the address of a page, without a lookup; it may be relative to the page ``base``.

    Raises FetchError if it is not valid, not http or https, or has a user name or password.
    """
    shown = url[:200]
    if len(url) > _LONGEST_URL:
        raise FetchError(f"an address must have at most {_LONGEST_URL:,} characters, got {len(url):,}: {shown!r}...")
    if not url.isprintable() or " " in url:
        raise FetchError(f"{shown!r} is not a valid address: it contains a space or a control character")
    try:
        target = base.join(URL(url)) if base else URL(url)
    except (ValueError, httpx2.InvalidURL) as error:
        raise FetchError(f"{shown!r} is not a valid address: {error}") from None
    if target.scheme not in _PORTS:
        raise FetchError(f"expected an http or https address, got {shown!r}")
    if not target.host or not 0 < _port(target) < 65536:
        raise FetchError(f"expected an address with a host and a port between 1 and 65535, got {shown!r}")
    if target.userinfo:
        raise FetchError("an address must not contain a user name or a password")
    return target.copy_with(fragment=None)


def _port(target: URL) -> int:
    return _PORTS[target.scheme] if target.port is None else target.port


def _kind(content_type: str) -> tuple[str, str]:
    """The content type and charset of a header."""
    parsed = Message()
    parsed["content-type"] = content_type
    return content_type.partition(";")[0].strip().lower(), parsed.get_content_charset() or ""
