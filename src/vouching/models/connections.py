"""Connections to one server, one client each.

A client with many connections looks through all of them for every request, which costs more than the request: with 64
of them more than half of a call's processor time. So each client has one connection, and the idle clients wait in a
stack, those used last on top.

Left out: a limit; ``Limited`` sets it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from ssl import SSLContext
from urllib.parse import urlsplit

import httpx

from vouching.errors import ConfigError
from vouching.models.loops import PerLoop

CONNECT_TIMEOUT = 10.0
"""Seconds until a connection must stand."""


@cache
def certificates() -> SSLContext:
    """Whom to trust. Read once: it takes longer than a call."""
    return httpx.create_ssl_context()


class Connections:
    """Clients for one server, made as they are needed and kept for the next call.

    Args:
        headers: sent with every request.
        timeout: seconds without a byte after which a request is given up.
    """

    def __init__(self, headers: Mapping[str, str], timeout: float) -> None:
        self._headers = dict(headers)
        self._timeout = httpx.Timeout(timeout, connect=CONNECT_TIMEOUT)
        self._idle: PerLoop[list[httpx.AsyncClient]] = PerLoop(list)

    @asynccontextmanager
    async def borrow(self) -> AsyncGenerator[httpx.AsyncClient]:
        """A client for one call at a time."""
        idle = self._idle.get()
        client = idle.pop() if idle else self._connect()
        try:
            yield client
        finally:
            idle.append(client)

    async def aclose(self) -> None:
        """Close the connections that this event loop opened and that are idle."""
        await asyncio.gather(*(client.aclose() for client in self._idle.drop() or []))

    def _connect(self) -> httpx.AsyncClient:
        limits = httpx.Limits(max_connections=1)
        return httpx.AsyncClient(headers=self._headers, timeout=self._timeout, limits=limits, verify=certificates())


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
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        parts, usable = None, False
    if not parts or not usable or parts.query or parts.fragment:
        raise ConfigError(f'the address of {owner} must be like "{example}", got {address!r}')
    if parts.username or parts.password:
        instead = f"put the key into {key_variable}" if key_variable else "take it out, none is sent"
        raise ConfigError(f"the address of {owner} must hold no password: {instead}")
    return address.rstrip("/")
