"""What every request passes before its route: its origin, the key or session and its scope, the rate, the body's size.

Scopes are looked up by path in one table, so that a route without a scope cannot be served by mistake: a path under
/v1/ that the table lacks is refused. A refused request is answered before its body is read.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import asdict, replace
from http import HTTPStatus
from typing import Any, TypeAlias

from vouching.client.problems import MEDIA_TYPE, Problem, problem_of
from vouching.errors import AccessError, VouchError
from vouching.serve.frame import problem_page, wants_page
from vouching.serve.keys import ANYONE, STRANGER, Key, Scope
from vouching.serve.measures import span
from vouching.serve.origins import SAFE, from_elsewhere, from_here, is_named_elsewhere
from vouching.serve.service import Service
from vouching.serve.sessions import Session, token_of
from vouching.serve.work import Rejected, stopping

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

ROUTE_SCOPES: dict[str, Scope] = {
    "/v1/check": "check",
    "/v1/check-response": "check",
    "/v1/stream": "check",
    "/v1/audit": "check",
    "/v1/follow": "check",
    "/v1/rank": "check",
    "/v1/context": "check",
    "/v1/challenge": "check",
    "/v1/sources": "check",
    "/v1/reward": "reward",
    "/v1/verdicts": "read",
    "/v1/reviews": "review",
    "/v1/queue": "review",
    "/v1/page": "check",
    "/metrics": "metrics",
    "/v1/systemone": "check",
    "/v1/decisions": "check",
    "/v1/models": "check",
    "/v1/check-trace": "check",
}
"""The scope of each path, and of the paths below it."""
PAGES = ("/", "/history", "/review", "/v1/session")
"""Paths that show a stranger how to sign in; what they show others depends on the scopes of their key."""

logger = logging.getLogger("vouching.serve")


def scope_of(path: str) -> Scope | None:
    """The scope that a path needs; None for an open path. Raises Rejected for a path under /v1/ without one.

    >>> scope_of("/v1/reward/structured"), scope_of("/healthz")
    ('reward', None)
    """
    if path == "/metrics":
        return "metrics"
    if not path.startswith("/v1") or path == "/v1/session":
        return None
    if path.startswith("/v1/queue/") and path.endswith("/object"):
        return "check"  # a caller objects to a verdict of its own
    if (route := route_of(path)) in ROUTE_SCOPES:
        return ROUTE_SCOPES[route]
    raise Rejected(f"there is no {path[:100]!r}: see /openapi.json", HTTPStatus.NOT_FOUND)


def route_of(path: str) -> str:
    """The route of a path, for numbers and logs: a path of which there may be any number is "other".

    >>> route_of("/v1/reward/blinded"), route_of("/v1/check-response"), route_of("/v1/checks"), route_of("*")
    ('/v1/reward', '/v1/check-response', 'other', 'other')
    """
    parts = path.split("/")
    route = "/".join(parts[:3])
    if route in ROUTE_SCOPES or path in ("/healthz", "/readyz", "/v1/session"):
        return route
    page = "/".join(parts[:2])  # the path of  OPTIONS *  has no slash
    return page if page in PAGES else "other"


class Gate:
    """The ASGI middleware."""

    def __init__(self, app: App, service: Service) -> None:
        self.app = app
        self.service = service
        self.limits = service.policy.limits
        self.measures = service.measures
        self._origins = service.policy.serve.cors_origins

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve a request, or answer it with a problem."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        route = route_of(scope["path"])
        status, has_begun = 500, False
        caller = "-"

        async def sending(message: Message) -> None:
            nonlocal status, has_begun
            if message["type"] == "http.response.start":
                status, has_begun = message["status"], True
            await send(message)

        attributes = {"http.request.method": scope["method"], "http.route": route}
        with (
            self.service.open_request(),
            self.measures.open.track_inprogress(),
            span(f"{scope['method']} {route}", dict(scope["headers"]), **attributes) as own,
        ):
            try:
                key, session = self._admit(scope)
                caller = key.id
                scope.setdefault("state", {}).update(key=key, session=session)
                body = await self._body(scope, receive)
                await self.app(scope, _replayed(body, receive), sending)
            except Rejected as error:
                await self._refuse(problem_of(error, error.status), scope, sending)
            except VouchError as error:
                await self._refuse(problem_of(error), scope, sending)
            except ConnectionError:
                status = 499
            except asyncio.CancelledError:
                # The server stops, and the time for open requests is over. A stream that has begun just breaks off.
                if not has_begun:
                    await self._refuse(problem_of(stopping()), scope, sending)
            finally:
                seconds = time.perf_counter() - started
                if own is not None:
                    own.set_attribute("http.response.status_code", status)
                self.measures.requests.labels(route, str(status)).inc()
                self.measures.seconds.labels(route).observe(seconds)
                logger.info("%s %s %d %.0f ms key %s", scope["method"], route, status, 1000 * seconds, caller)

    async def _refuse(self, problem: Problem, scope: MutableMapping[str, Any], send: Send) -> None:
        """Answer with a problem object, or a browser that asks for a page with one; the body may be unread."""
        if wants_page(scope):
            body, headers = problem_page(self.service, scope, problem)
        else:
            body, headers = problem_json(problem), problem_headers(problem)
        sent = [(name.encode(), value.encode()) for name, value in headers.items()]
        sent += [(b"content-length", str(len(body)).encode()), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": problem.status, "headers": sent})
        await send({"type": "http.response.body", "body": body})

    def _admit(self, scope: MutableMapping[str, Any]) -> tuple[Key, Session | None]:
        """The key of the caller, and the session. Raises AccessError, Rejected or ServerUnavailableError."""
        needed = scope_of(scope["path"])
        headers: dict[bytes, bytes] = dict(scope["headers"])
        self._refuse_foreign(scope["method"], headers)
        if needed is None and route_of(scope["path"]) not in PAGES:
            return ANYONE, None
        if b"authorization" in headers and self.service.keys is not None:
            key, session = self._keyed(scope), None
        else:
            key, session = self._signed_in(scope)
            if session is not None and scope["method"] not in SAFE and not from_here(headers):
                raise Rejected("a request with a session must come from a page of this server", HTTPStatus.FORBIDDEN)
        if needed is None:
            if key is not STRANGER:
                self.service.take_request(key)
            return key, session
        if key is STRANGER:
            raise AccessError("the request has no API key: send the header  Authorization: Bearer KEY")
        if not key.allows(needed):
            scopes = ", ".join(key.scopes)
            raise AccessError(f"the API key {key.id} has the scopes {scopes}, but this call needs {needed}", 403)
        self.service.take_request(key)
        return key, session

    def _refuse_foreign(self, method: str, headers: dict[bytes, bytes]) -> None:
        """Raises Rejected for a request that a page of somebody else sent."""
        if method not in SAFE and from_elsewhere(headers, self._origins):
            raise Rejected(
                "the request comes from a page of another origin: name it in serve.cors_origins to allow it",
                HTTPStatus.FORBIDDEN,
            )
        if self.service.keys is None and (name := is_named_elsewhere(headers, self._origins)):
            raise Rejected(
                f"this server has no keys and answers to names of this machine only, not to {name[:100]!r}: ask "
                "127.0.0.1, use keys, or name the origin in serve.cors_origins",
                HTTPStatus.FORBIDDEN,
            )

    def _keyed(self, scope: MutableMapping[str, Any]) -> Key:
        """The key in the header of a request. Raises AccessError."""
        assert self.service.keys is not None
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, secret = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
        if kind.lower() != "bearer" or not secret:
            raise AccessError("the request has no API key: send the header  Authorization: Bearer KEY")
        return self.service.keys.find(secret.strip())

    def _signed_in(self, scope: MutableMapping[str, Any]) -> tuple[Key, Session | None]:
        """The key of the session of a request, or, without one, of anyone or a stranger."""
        token = token_of(scope["headers"])
        session = self.service.sessions.find(token) if token else None
        if self.service.keys is None:
            return (replace(ANYONE, name=session.name) if session else ANYONE), session
        key = self.service.keys.keys.get(session.key) if session else None
        return (STRANGER, None) if key is None or key.revoked is not None else (key, session)

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
