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

import httpx

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
