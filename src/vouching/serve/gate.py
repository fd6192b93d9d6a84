"""What every request passes before its route: the key and its scope, the rate of the key, the size of the body.

Scopes are looked up by path in one table, so that a route without a scope cannot be served by mistake: a path under
/v1/ that the table lacks is refused. A refused request is answered before its body is read.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Any, TypeAlias

from vouching.client.problems import MEDIA_TYPE, Problem, problem_of
from vouching.errors import AccessError, InputError, ServerUnavailableError, VouchError
from vouching.serve.keys import ANYONE, Key, KeyFile, Scope
from vouching.serve.measures import Measures, span
from vouching.serve.policy import LimitSettings
from vouching.serve.shared_folder import Rates

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

ROUTE_SCOPES: dict[str, Scope] = {
    "/v1/check": "check", "/v1/check-response": "check", "/v1/stream": "check", "/v1/audit": "check",
    "/v1/pairs": "check", "/v1/follow": "check", "/v1/rank": "check", "/v1/challenge": "check", "/v1/sources": "check",
    "/v1/reward": "reward", "/v1/verdicts": "read", "/v1/reviews": "review", "/v1/page": "check", "/metrics": "metrics",
}  # fmt: skip
"""The scope of each path, and of the paths below it."""

logger = logging.getLogger("vouching.serve")


def scope_of(path: str) -> Scope | None:
    """The scope that a path needs; None for an open path. Raises Rejected for a path under /v1/ without one.

    >>> scope_of("/v1/reward/structured"), scope_of("/healthz")
    ('reward', None)
    """
    if path == "/metrics":
        return "metrics"
    if not path.startswith("/v1"):
        return None
    if (route := route_of(path)) in ROUTE_SCOPES:
        return ROUTE_SCOPES[route]
    raise Rejected(f"there is no {path[:100]!r}: see /openapi.json", HTTPStatus.NOT_FOUND)


def route_of(path: str) -> str:
    """The route of a path, for numbers and logs: a path of which there may be any number is "other".

    >>> route_of("/v1/reward/blinded"), route_of("/v1/check-response"), route_of("/v1/checks")
    ('/v1/reward', '/v1/check-response', 'other')
    """
    parts = path.split("/")
    route = "/".join(parts[:3])
    return route if route in ROUTE_SCOPES or path in ("/healthz", "/readyz") else "other"


class Gate:
    """The ASGI middleware."""

    def __init__(self, app: App, limits: LimitSettings, keys: KeyFile | None, rates: Rates, measures: Measures) -> None:
        self.app = app
        self.limits = limits
        self.keys = keys
        self.rates = rates
        self.measures = measures

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve a request, or answer it with a problem."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        route = route_of(scope["path"])
        status = 500
        caller = "-"

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        attributes = {"http.request.method": scope["method"], "http.route": route}
        with self.measures.open.track_inprogress(), span(f"{scope['method']} {route}", **attributes) as own:
            try:
                key = self._admit(scope)
                caller = key.id
                scope.setdefault("state", {})["key"] = key
                body = await self._body(scope, receive)
                await self.app(scope, _replayed(body, receive), sending)
            except Rejected as error:
                await send_problem(problem_of(error, error.status), sending)
            except VouchError as error:
                await send_problem(problem_of(error), sending)
            except ConnectionError:
                status = 499
            finally:
                seconds = time.perf_counter() - started
                if own is not None:
                    own.set_attribute("http.response.status_code", status)
                self.measures.requests.labels(route, str(status)).inc()
                self.measures.seconds.labels(route).observe(seconds)
                logger.info("%s %s %d %.0f ms key %s", scope["method"], route, status, 1000 * seconds, caller)

    def _admit(self, scope: MutableMapping[str, Any]) -> Key:
        """The key of the caller. Raises AccessError or ServerUnavailableError."""
        needed = scope_of(scope["path"])
        if needed is None or self.keys is None:
            return ANYONE
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, secret = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
        if kind.lower() != "bearer" or not secret:
            raise AccessError("the request has no API key: send the header  Authorization: Bearer KEY")
        key = self.keys.find(secret.strip())
        if not key.allows(needed):
            scopes = ", ".join(key.scopes)
            raise AccessError(f"the API key {key.id} has the scopes {scopes}, but this call needs {needed}", 403)
        limit = self.limits.requests_per_minute if key.requests_per_minute is None else key.requests_per_minute
        wait = self.rates.wait(key.id, limit)
        if wait:
            message = f"the API key {key.id} has used its {limit:,} requests per minute: try again in {wait:.1f} s"
            raise ServerUnavailableError(message, wait, 429)
        return key

    async def _body(self, scope: MutableMapping[str, Any], receive: Receive) -> bytes:
        """The whole body. Raises Rejected if it is large or slow, ConnectionError if it is cut off."""
        limit = self.limits.body_bytes
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > limit:
            raise _too_large(f"{int(declared):,}", limit)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ConnectionError
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limit:
                        raise _too_large("more", limit)
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Rejected(
                f"only {size:,} bytes of the body arrived within {self.limits.body_seconds:g} s: send it faster",
                HTTPStatus.REQUEST_TIMEOUT,
            ) from None
        return b"".join(parts)


class Rejected(InputError):
    """A request that no route sees."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def _too_large(size: str, limit: int) -> Rejected:
    return Rejected(
        f"the body has {size} bytes, but this server accepts {limit:,}: send fewer texts, or upload each "
        "source once to /v1/sources",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that has the body at once, then waits for the caller to leave."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def send_problem(problem: Problem, send: Send) -> None:
    """Answer with a problem object; the connection is closed, since its body may be unread."""
    headers = [(name.encode(), value.encode()) for name, value in problem_headers(problem).items()]
    body = problem_json(problem)
    headers += [(b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def problem_headers(problem: Problem) -> dict[str, str]:
    """The headers of a problem: its type, and when to try again."""
    headers = {"content-type": MEDIA_TYPE}
    if problem.retry_after is not None:
        headers["retry-after"] = str(max(1, round(problem.retry_after)))
    if problem.status == HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    return headers


def problem_json(problem: Problem) -> bytes:
    """A problem object as JSON."""
    return json.dumps({key: value for key, value in asdict(problem).items() if value is not None}).encode()
