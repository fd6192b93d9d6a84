"""The guard proxy: an OpenAI-compatible server before another one, that checks answers against their documents.

Chat completions, responses and messages of Anthropic are checked (:mod:`~vouching.serve.proxy_guard`), with their
citations; everything else, and every error of the upstream server, passes unchanged. A checked answer has the field
``vouch`` and the headers ``x-vouch-outcome``, ``x-vouch-action`` and ``x-vouch-documents``: what was taken as a
document, also in the log. The proxy also answers LiteLLM's Generic Guardrail API and promptfoo's webhook
(:mod:`~vouching.serve.proxy_hooks`). Not supported: web sockets; compressed answers, which are asked for uncompressed;
responses that run in the background, which are fetched unchecked.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import quote

import httpx2

from vouching.errors import ConfigError, InputError, needed
from vouching.serve.blocking import Blocking
from vouching.serve.events import kept_alive
from vouching.serve.measures import span
from vouching.serve.origins import SAFE
from vouching.serve.policy import Policy
from vouching.serve.proxy_guard import Decision, Guard
from vouching.serve.proxy_hooks import LITELLM, PROMPTFOO, Hooks
from vouching.serve.proxy_messages import Asked, Given, Replace, answers_of, members, parsed_object, read_request
from vouching.serve.proxy_refusals import RefusedError, read_body, refuse_foreign
from vouching.serve.proxy_streams import HeldChat, annotation, held_responses, stream_after
from vouching.serve.proxy_unread import strange_answer
from vouching.serve.work import Pool, stopping
from vouching.types.visible import shorten

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_NOT_FORWARDED = {
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "accept-encoding",
}
_NOT_RETURNED = _NOT_FORWARDED | {"content-encoding"}
T = TypeVar("T")
_Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
_GUARDED = ("/v1/chat/completions", "/v1/responses", "/v1/messages")
LARGEST_ANSWER = 64_000_000
"""Bytes of a whole answer that is checked."""
_READ_AT_ONCE = 100_000
"""Bytes of a request or an answer that is read while other requests wait, mostly for some milliseconds."""
_DOCUMENTS = "x-vouch-documents"
_OWN = {"x-vouch-outcome", "x-vouch-action", _DOCUMENTS}
"""Headers of a checked answer, which no other server may set."""


_log = logging.getLogger("vouching.serve")


class Proxy:
    """Forwards requests and guards answers."""

    def __init__(self, policy: Policy) -> None:
        self.settings = settings = policy.proxy
        pool = Pool(policy.serve.threads, policy.serve.queue, policy.limits.memory_bytes)
        self.blocking = Blocking(policy)
        self.guard = Guard(settings, policy.judges[settings.judge], pool, self.blocking, policy.limits)
        self._limits = policy.limits
        self._reader = ThreadPoolExecutor(1, "vouch-read")
        self._warned = False
        self._client = httpx2.AsyncClient(timeout=httpx2.Timeout(settings.upstream_seconds, connect=10.0))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
        self._reader.shutdown(wait=False, cancel_futures=True)
        self.guard.close()

    async def forward(self, request: Request) -> Response:
        """Any request. If its caller leaves, the upstream request and the check end."""
        try:
            raw = await read_body(request, self._limits)
            return await _while_connected(request, self._forward(request, raw))
        except RefusedError as refused:
            return refused.answer()
        except asyncio.CancelledError:  # the server stops, and the time for open requests is over
            return RefusedError(503, str(stopping()), "server_stopping").answer()

    async def _forward(self, request: Request, raw: bytes) -> Response:
        from starlette.responses import StreamingResponse

        asked: Asked | None = None
        path = self._path(request)
        plain = _guarded_path(path)
        guarded = request.method not in SAFE and bool(plain)
        if guarded and request.headers.get("content-encoding", "identity").lower() != "identity":
            raise RefusedError(415, "the body of a request whose answer is checked must not be compressed")
        if guarded:
            asked, raw = await self._apart(len(raw), partial(self._read_request, raw))
        if asked is not None:
            asked = replace(asked, caller=_caller_of(request))
            self._note(asked)
        answer = await self._send(request, path, raw)
        headers = _headers(answer.headers.raw, _NOT_RETURNED)
        if asked is None or not answer.is_success:
            return _with_headers(StreamingResponse(_passed(answer), answer.status_code), headers)
        kind = answer.headers.get("content-type", "").lower()
        if kind.startswith("text/event-stream"):
            stream = StreamingResponse(kept_alive(self._guarded_stream(answer, asked, plain)), answer.status_code)
            return _with_headers(stream, headers, {_DOCUMENTS: asked.named})
        if "json" in kind:
            return await self._guarded(answer, asked, headers)
        if self.settings.blocks_unverified:
            await answer.aclose()
            got = f"the type {shorten(kind, 100)!r}" if kind else "no type"
            raise RefusedError(
                502, f"the answer of the upstream server has {got}, not application/json", "upstream_error"
            )
        noted = {"x-vouch-outcome": "unchecked", _DOCUMENTS: asked.named}
        return _with_headers(StreamingResponse(_passed(answer), answer.status_code), headers, noted)

    async def _apart(self, size: int, work: Callable[[], T]) -> T:
        """The result of reading ``size`` bytes; many are read in a thread, so that other requests need not wait."""
        if size <= _READ_AT_ONCE:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._reader, work)

    def _read_request(self, raw: bytes) -> tuple[Asked | None, bytes]:
        """What a request asks, None if it cannot be read, and the body to forward. Raises RefusedError."""
        body = parsed_object(raw, self.settings.blocks)
        if body is None and self.settings.blocks:
            raise RefusedError(
                400,
                "the body of a request whose answer may be blocked must be a JSON object in UTF-8, with each key once "
                "and without NaN or Infinity",
            )
        if body is None:
            return None, raw
        try:
            asked = read_request(body, self.settings.documents, self._limits)
        except InputError as error:
            raise RefusedError(400, f"the documents of the request cannot be read: {error}") from None
        if "documents" in body and not self.settings.forward_documents:
            del body["documents"]
            raw = json.dumps(body).encode()
        return asked, raw

    def _note(self, asked: Asked) -> None:
        """Log what was taken as a document; the first request without any says so once."""
        _log.info("documents of a request: %s", asked.named)
        if not asked.sources and not asked.refused and not self._warned:
            self._warned = True
            origins = ", ".join(self.settings.documents)
            _log.warning("a request has no documents (%s), so its answer is not checked; said only once", origins)

    def _path(self, request: Request) -> str:
        """The path of a request, as the upstream server will read it. Raises RefusedError for one not below /v1/.

        Blank and final segments are dropped, so that no spelling of a path goes unchecked.
        """
        refuse_foreign(request, self.settings)
        first, *parts = [part for part in re.split(r"[/\\]", request.scope["path"]) if part] or [""]
        if first != "v1" or not parts:
            raise RefusedError(404, "only paths below /v1/ are passed on: end the base URL of the client with /v1")
        if any(part in (".", "..") for part in parts):
            raise RefusedError(400, "the path must not have the segments . and ..")
        return "/".join(["", first, *parts])

    async def _send(self, request: Request, path: str, raw: bytes) -> httpx2.Response:
        """The answer of the upstream server, with its body still to be read. Raises RefusedError if there is none."""
        url = f"{self.settings.upstream.rstrip('/')}{quote(path.removeprefix('/v1'))}"
        query = f"?{request.url.query}" if request.url.query else ""
        headers = [*_headers(request.headers.raw, _NOT_FORWARDED), (b"accept-encoding", b"identity")]
        asked = self._client.build_request(request.method, url + query, headers=headers, content=raw)
        try:
            return await self._client.send(asked, stream=True)
        except httpx2.HTTPError as error:
            raise self._failed(error, f"cannot be reached: {type(error).__name__}") from None

    def _failed(self, error: httpx2.HTTPError, words: str) -> RefusedError:
        """The refusal for an upstream server that is silent, or that failed in some other way."""
        if isinstance(error, httpx2.TimeoutException):
            silent = f"was silent for {self.settings.upstream_seconds:g} s: try again, or raise upstream_seconds"
            return RefusedError(504, f"the upstream server {silent}", "upstream_timeout")
        return RefusedError(502, f"the upstream server {words}; try again", "upstream_error")

    async def _guarded(self, answer: httpx2.Response, asked: Asked, headers: _Headers) -> Response:
        """A whole answer, checked."""
        from starlette.responses import Response

        try:
            raw = bytearray()
            async for chunk in answer.aiter_bytes():
                raw += chunk
                if len(raw) > LARGEST_ANSWER:
                    words = f"the answer of the upstream server has more than {LARGEST_ANSWER:,} bytes"
                    raise RefusedError(502, words, "upstream_error")
        except httpx2.HTTPError as error:
            raise self._failed(error, "broke off its answer") from None
        finally:
            await answer.aclose()
        body, answers = await self._apart(len(raw), partial(self._read_answer, bytes(raw)))
        status = answer.status_code
        if body is None:
            noted = {"x-vouch-outcome": "unchecked", _DOCUMENTS: asked.named}
            return _with_headers(Response(bytes(raw), status), headers, noted)
        decisions: list[Decision] = []
        given_texts = [given for given, _ in answers]
        asked = self.guard.with_found(asked, members(body.get("output")), given_texts, body.get("id"))
        for given, write in answers:
            decision = await self.guard.decide(given, asked)
            decisions.append(decision)
            if decision.action != "none":
                write(decision.text, decision.blocked)
        record = annotation(decisions)
        noted = {
            "x-vouch-outcome": record["outcome"],
            "x-vouch-action": record["action"],
            _DOCUMENTS: asked.named,
        }
        if not decisions:  # tool calls, or no text
            return _with_headers(Response(bytes(raw), status), headers, noted)
        checked = json.dumps({**body, "vouch": record})
        return _with_headers(Response(checked, status), headers, noted)

    def _read_answer(self, raw: bytes) -> tuple[dict[str, Any] | None, list[tuple[Given, Replace]]]:
        """A whole answer, None if it cannot be read, and its texts. Raises RefusedError for what must not pass."""
        body = parsed_object(raw, self.settings.blocks_unverified)
        if self.settings.blocks_unverified:
            strange = "cannot be read" if body is None else strange_answer(body)
            if strange:
                raise RefusedError(502, f"the answer of the upstream server {strange}", "upstream_error")
        return body, [*answers_of(body or {})]

    async def _guarded_stream(self, answer: httpx2.Response, asked: Asked, path: str) -> AsyncGenerator[bytes]:
        """A streamed answer, checked."""
        chunks = _until_broken(answer)
        try:
            if self.settings.stream == "after":
                made = stream_after(chunks, self.guard, asked, path == _GUARDED[0])
            elif path == _GUARDED[0]:
                made = HeldChat(self.guard, asked).stream(chunks)
            else:
                made = held_responses(chunks, self.guard, asked)
            async for event in made:
                yield event
        finally:
            await answer.aclose()


def _caller_of(request: Request) -> str:
    """Whose request it is: its key, if it has one, and its address."""
    keys = [request.headers.get(name, "") for name in ("authorization", "x-api-key", "api-key")]
    return " ".join([request.client.host if request.client else "", *keys])


def _guarded_path(path: str) -> str:
    """The path whose answers are checked that a lenient server may read, below any other one; empty if there is none.

    >>> _guarded_path("/v1/v1/Chat;a=b/completions?x"), _guarded_path("/v1/models")
    ('/v1/chat/completions', '')
    """
    address = re.split(r"[?#\0]", path, maxsplit=1)[0].lower()
    cut = re.split(r"[;\s]", address, maxsplit=1)[0]
    readings = (cut, re.sub(r"[;\s][^/]*", "", address))  # parameters end a path, or a segment
    ends = {one.removeprefix("/v1") if one == _GUARDED[0] else one: one for one in _GUARDED}
    return next((one for end, one in ends.items() for reading in readings if reading.endswith(end)), "")


def _headers(given: _Headers, without: set[str]) -> _Headers:
    """Headers but for some; one that is there twice stays so."""
    return [(name.lower(), value) for name, value in given if name.decode("latin-1").lower() not in without]


def _with_headers(answer: Response, headers: _Headers, own: Mapping[str, str] | None = None) -> Response:
    """An answer with the headers of the upstream server; ``own`` ones take the place of its."""
    added = {name.encode(): value.encode() for name, value in (own or {}).items()}
    answer.raw_headers += [(name, value) for name, value in headers if name.decode("latin-1") not in _OWN or not added]
    answer.raw_headers += added.items()
    return answer


async def _passed(answer: httpx2.Response) -> AsyncGenerator[bytes]:
    """The bytes of an answer."""
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    finally:
        await answer.aclose()


async def _until_broken(answer: httpx2.Response) -> AsyncIterator[bytes]:
    """The bytes of a stream; one that breaks off ends without its last event."""
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    except httpx2.HTTPError:
        return


async def _while_connected(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """The answer of ``work``, which is cancelled if the caller leaves before there is one."""
    answering, leaving = asyncio.ensure_future(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise RefusedError(499, "the caller left before there was an answer")
        return await answering
    finally:
        for task in (answering, leaving):
            task.cancel()


class _Spans:
    """ASGI middleware: a request is a span, until the end of its answer, on which the events of its checks are."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route = scope["path"] if scope["path"] in (*_GUARDED, LITELLM, PROMPTFOO) else "other"
        attributes = {"http.request.method": scope["method"], "http.route": route}
        with span(f"{scope['method']} {route}", dict(scope["headers"]), **attributes) as own:

            async def sending(message: Any) -> None:
                if own is not None and message["type"] == "http.response.start":
                    own.set_attribute("http.response.status_code", message["status"])
                await send(message)

            await self._app(scope, receive, sending)


def build_proxy(policy: Policy) -> Starlette:
    """The proxy as an ASGI application. Raises ConfigError for an unknown judge, or no upstream server."""
    starlette = needed("starlette.applications", "serve", "the proxy")
    routing, layers = (needed(f"starlette.{name}", "serve", "the proxy") for name in ("routing", "middleware"))
    if not policy.proxy.upstream:
        raise ConfigError("the proxy has no upstream server: pass --upstream URL")
    proxy = Proxy(policy)
    hooks = Hooks(proxy.guard, policy.limits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        proxy.guard.start()
        yield
        await proxy.aclose()

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]
    routes = [
        routing.Route(LITELLM, hooks.litellm, methods=["POST"]),
        routing.Route(PROMPTFOO, hooks.promptfoo, methods=["POST"]),
        routing.Route("/{path:path}", proxy.forward, methods=methods),
    ]
    served = starlette.Starlette(routes=routes, lifespan=lifespan, middleware=[layers.Middleware(_Spans)])
    served.state.warning = proxy.blocking.warning()
    return served
