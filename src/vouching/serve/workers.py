"""Run the HTTP API: in this process, or in several that share one socket and are replaced when they die.

A worker gets the policy and the shared folder by the environment, since it starts as a new process.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import tempfile
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from vouching.errors import needed
from vouching.serve.app import build_app
from vouching.serve.policy import Policy

if TYPE_CHECKING:
    from fastapi import FastAPI

_POLICY = "VOUCH_SERVE_POLICY"
_FOLDER = "VOUCH_SERVE_FOLDER"
_NUMBERS = "PROMETHEUS_MULTIPROC_DIR"
_LONGEST_HEADERS = 32_768
"""Bytes of the request line and headers together."""


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose headers do not arrive: a slow client holds no place for long."""

    header_seconds = 10.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to wait for the first headers."""
        self.access_log = False  # a query may hold a secret; the gate logs routes
        super().connection_made(transport)  # pyright: ignore[reportArgumentType]
        self._headers: asyncio.TimerHandle | None = None
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of the headers if the data does not complete them."""
        super().data_received(data)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        if self._headers is not None:
            self._headers.cancel()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        if self._headers is None and self._between_requests:
            self._headers = self.loop.call_later(self.header_seconds, self._close_if_slow)

    @property
    def _between_requests(self) -> bool:
        # The cycle is None before the first request.
        return self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]

    def _close_if_slow(self) -> None:
        self._headers = None
        if self._between_requests and self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self.transport.close()


def worker_app() -> FastAPI:
    """The application of a worker, from the environment."""
    from pydantic import TypeAdapter

    policy = TypeAdapter(Policy).validate_json(os.environ[_POLICY])
    TimedProtocol.header_seconds = policy.limits.header_seconds
    if numbers := os.environ.get(_NUMBERS):
        _forget_dead(Path(numbers))
    return build_app(policy, Path(os.environ[_FOLDER]))


def serve(policy: Policy, listening: socket.socket) -> None:
    """Serve until stopped by SIGINT or SIGTERM; open requests then get ``shutdown_seconds`` to end.

    Raises as :func:`vouching.serve.app.build_app`.
    """
    with tempfile.TemporaryDirectory(prefix="vouch-serve-") as folder:
        os.environ[_POLICY] = _policy_json(policy)
        os.environ[_FOLDER] = folder
        if policy.serve.workers == 1:
            signal.signal(signal.SIGTERM, _stopped)  # uvicorn raises the signal again once it has stopped
            Server(_config(policy, worker_app())).run(sockets=[listening])
            return
        build_app(policy, Path(folder)).state.service.close()  # an error shows here, before any worker starts
        os.environ[_NUMBERS] = str(Path(folder) / "numbers")
        Path(os.environ[_NUMBERS]).mkdir()
        Multiprocess(_config(policy, "vouching.serve.workers:worker_app"), sockets=[listening]).run()


def _stopped(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _config(policy: Policy, app: Any) -> Config:
    return Config(
        app,
        factory=isinstance(app, str),
        http=TimedProtocol,
        workers=policy.serve.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=policy.limits.connections,
        h11_max_incomplete_event_size=_LONGEST_HEADERS,
        timeout_graceful_shutdown=policy.serve.shutdown_seconds,
        ws="none",
    )


def _policy_json(policy: Policy) -> str:
    from pydantic_core import to_json

    return to_json(asdict(policy)).decode()


def _forget_dead(numbers: Path) -> None:
    """Drop what workers that died had not finished from the numbers of all."""
    multiprocess = needed("prometheus_client.multiprocess", "serve", "metrics")
    for file in numbers.glob("gauge_live*.db"):
        found = re.search(r"_(\d+)\.db$", file.name)
        if found and not Path(f"/proc/{found[1]}").exists():
            multiprocess.mark_process_dead(int(found[1]), str(numbers))
