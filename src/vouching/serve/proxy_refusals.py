"""What the guard proxy refuses, in the form of the OpenAI API, and how it reads the body of a request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from vouching.serve.origins import SAFE, from_elsewhere, is_named_elsewhere
from vouching.serve.policy import LimitSettings, is_local
from vouching.serve.proxy_settings import ProxySettings

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


class RefusedError(Exception):
    """A request that gets an error of the proxy's own."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def answer(self) -> Response:
        """The error, as the OpenAI API writes it."""
        from starlette.responses import JSONResponse

        error = {"message": f"vouch: {self}", "type": self.kind, "param": None, "code": self.kind}
        return JSONResponse({"error": error}, self.status)


def refuse_foreign(request: Request, settings: ProxySettings) -> None:
    """Raises RefusedError for a request that a page of somebody else sent, or one whose name was made to lead here."""
    headers = dict(request.headers.raw)
    if request.method not in SAFE and from_elsewhere(headers):
        raise RefusedError(403, "the request comes from a page of another origin")
    named = [f"http://{host}" for host in settings.hosts]
    if is_local(settings.address) and (name := is_named_elsewhere(headers, named)):
        raise RefusedError(421, f"the request calls this machine {name[:100]!r}: add that name to hosts to allow it")


async def read_body(request: Request, limits: LimitSettings) -> bytes:
    """The body of a request. Raises RefusedError if it is too large or too slow, or if its caller has left."""
    from starlette.requests import ClientDisconnect

    read = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for chunk in request.stream():
                read += chunk
                if len(read) > limits.body_bytes:
                    raise RefusedError(413, f"the body of a request may have {limits.body_bytes:,} bytes")
    except TimeoutError:
        words = f"only {len(read):,} bytes of the body arrived within {limits.body_seconds:g} s: send it faster"
        raise RefusedError(408, words) from None
    except ClientDisconnect:
        raise RefusedError(499, "the caller left before its body had arrived") from None
    return bytes(read)
