"""Signing in to the pages and out again: a key, or on a server without keys a name, for the cookie of a session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from vouching.errors import AccessError, InputError
from vouching.serve import bodies
from vouching.serve.keys import SCOPES, Scope
from vouching.serve.sessions import COOKIE, SECURE_COOKIE, token_of

if TYPE_CHECKING:
    from vouching.serve.service import Service

_LONGEST_NAME = 80


class SignIn(bodies.Body):
    """Who signs in: the API key, or a name where the server has no keys."""

    model_config = bodies.example({"name": "Ada"})
    key: str | None = Field(None, max_length=500, description="An API key, where the server has keys.")
    name: str | None = Field(None, max_length=500, description="A name for reviews, where it has none.")


class SignedIn(BaseModel):
    """A session."""

    name: str = Field(description="Who signed in.")
    scopes: list[Scope] = Field(description="What it allows.")
    seconds: int = Field(description="Seconds until it ends.")


def add_sessions(app: FastAPI, service: Service, described: Any) -> None:
    """Add the routes to an application."""

    @app.post("/v1/session", response_model=SignedIn, status_code=201, **described)
    async def sign_in(body: SignIn, request: Request, response: Response) -> SignedIn:
        """Sign in to the pages: the answer sets the cookie of a session. Programs send their key in a header."""
        key_id, name, scopes = _who(service, body)
        token, session = await asyncio.to_thread(service.sessions.open, key_id, name)
        response.headers["set-cookie"] = _cookie(request, token, service.sessions.seconds)
        response.headers["cache-control"] = "no-store"
        return SignedIn(name=session.name, scopes=scopes, seconds=service.sessions.seconds)

    @app.delete("/v1/session", status_code=204, **described)
    async def sign_out(request: Request) -> Response:
        """End the session of the cookie."""
        token = token_of(request.scope["headers"])
        if token is not None:
            await asyncio.to_thread(service.sessions.close, token)
        return Response(status_code=204, headers={"set-cookie": _cookie(request, "", 0)})


def _who(service: Service, body: SignIn) -> tuple[str, str, list[Scope]]:
    """Id of the key, name and scopes of who signs in."""
    if service.keys is None:
        if body.name is None or body.key is not None:
            raise InputError('this server has no keys: sign in with {"name": "..."}')
        name = body.name.strip()
        if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
            raise InputError(f"a name must have 1 to {_LONGEST_NAME} printable characters, got {name[:80]!r}")
        return "", name, [*SCOPES]
    if body.key is None or body.name is not None:
        raise AccessError('sign in with {"key": "..."}, an API key that vouch serve keys add printed')
    key = service.keys.find(body.key.strip())
    service.take_request(key)
    return key.id, key.name, [scope for scope in SCOPES if scope in key.scopes]


def _cookie(request: Request, token: str, seconds: int) -> str:
    """The header that sets the cookie. The origin that the browser names says whether the page came over HTTPS."""
    is_secure = request.headers.get("origin", "").startswith("https://")
    name, secure = (SECURE_COOKIE, "; Secure") if is_secure else (COOKIE, "")
    return f"{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}"
