"""Run an ASGI application on a socket that is open before it starts, so that its address is known: also for port 0."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vouching.errors import ConfigError, InputError, needed

if TYPE_CHECKING:
    from types import FrameType

    from uvicorn import Server

    from vouching.serve.policy import LimitSettings


def open_socket(address: str) -> socket.socket:
    """A listening socket for HOST:PORT; port 0 takes a free one, and IPv6 hosts are written [::1].

    Raises:
        ConfigError: not of this form.
        InputError: the address is taken or not of this machine.

    >>> with open_socket("127.0.0.1:0") as listening:
    ...     url_of(listening).startswith("http://127.0.0.1:")
    True
    """
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or int(port) > 65_535:
        raise ConfigError(f"expected HOST:PORT, such as 127.0.0.1:8765, got {address!r}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, int(port)), family=family)
    except OSError as error:
        raise InputError(f"cannot listen at {address}: {error.strerror or error}; choose another address") from None
    # Accepted connections inherit it. asyncio sets it on its own sockets only; without it each answer on a connection
    # that is kept open waits 40 ms, since its head and its body are two packets.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def url_of(listening: socket.socket) -> str:
    """The address of a listening socket as a URL."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_app(app: Callable[..., Any], listening: socket.socket, limits: LimitSettings | None = None) -> None:
    """Serve until SIGINT or SIGTERM, within the limits of connections, if given; open requests get five seconds."""
    uvicorn = needed("uvicorn", "serve", "an HTTP server")
    more: dict[str, Any] = {}
    if limits is not None:
        from vouching.serve.protocol import TimedProtocol

        TimedProtocol.obey(limits)
        more = {"http": TimedProtocol, "limit_concurrency": limits.connections}
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5, server_header=False, **more)
    run_server(uvicorn.Server(config), listening)


def run_server(server: Server, listening: socket.socket) -> None:
    """Run a server; one that is stopped by a signal answers what it cuts off, and its process ends with status 0."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stopped)  # uvicorn raises the signal again once it has stopped
    server.run(sockets=[listening])


def _stopped(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)
