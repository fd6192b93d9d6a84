"""A server of the HTTP API in this process, on a free port, for tests."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from uvicorn import Config, Server

from vouching.serve.app import build_app
from vouching.serve.listening import open_socket, url_of
from vouching.serve.policy import JudgeSettings, LimitSettings, Policy, ServeSettings
from vouching.serve.protocol import TimedProtocol
from vouching.serve.service import Service

BRIDGE = {"text": "The bridge opened to traffic in 1973. It has three towers.", "id": "bridge.txt"}


def policy(limits: dict[str, Any] | None = None, **serve: Any) -> Policy:
    """A policy whose judge is the rules."""
    rules = {"default": JudgeSettings("embedded:rules")}
    return Policy(ServeSettings(**serve), LimitSettings(**(limits or {})), rules)


@contextmanager
def served(given: Policy) -> Generator[tuple[str, Service]]:
    """The address of a running server, and its service."""
    app = build_app(given)
    TimedProtocol.obey(given.limits)
    config = Config(
        app,
        http=TimedProtocol,
        log_config=None,
        access_log=False,
        lifespan="on",
        limit_concurrency=given.limits.connections,
    )
    server = Server(config)
    with open_socket("127.0.0.1:0") as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.01)
        yield url_of(listening), app.state.service
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
