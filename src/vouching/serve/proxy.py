"""The guard proxy: an OpenAI-compatible server before another one, that checks answers against their documents.

Chat completions and responses are checked (:mod:`~vouching.serve.proxy_guard`); everything else, and every error of the
upstream server, passes unchanged. A checked answer has the field ``vouch`` and the headers ``x-vouch-outcome`` and
``x-vouch-action``. The proxy also answers LiteLLM's Generic Guardrail API and promptfoo's webhook. Not supported: web
sockets, and compressed answers, which are asked for uncompressed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2

from vouching.errors import ConfigError, InputError, needed
from vouching.inputs import as_sources, row_sources
from vouching.serve.blocking import Blocking
from vouching.serve.origins import SAFE, from_elsewhere
from vouching.serve.policy import Policy
from vouching.serve.proxy_guard import Decision, Guard, worst
from vouching.serve.proxy_messages import Asked, answers_of, members, object_of, parsed_object, read_request
from vouching.serve.proxy_streams import HeldChat, annotation, held_responses, stream_after
from vouching.serve.work import Pool
from vouching.types import Source

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_NOT_FORWARDED = {
    "host", "content-length", "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer",
    "transfer-encoding", "upgrade", "accept-encoding",
}  # fmt: skip
_NOT_RETURNED = _NOT_FORWARDED | {"content-encoding"}
_GUARDED = ("/v1/chat/completions", "/v1/responses")
LITELLM = "/beta/litellm_basic_guardrail_api"
"""The path that LiteLLM asks."""


class Proxy:
    """Forwards requests and guards answers."""

    def __init__(self, policy: Policy) -> None:
        self.settings = settings = policy.proxy
        pool = Pool(policy.serve.threads, policy.serve.queue)
        self.blocking = Blocking(policy)
        self.guard = Guard(settings, policy.judges[settings.judge], pool, self.blocking)
        self._limits = policy.limits
        self._client = httpx2.AsyncClient(timeout=httpx2.Timeout(settings.upstream_seconds, connect=10.0))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
        self.guard.close()

    async def forward(self, request: Request) -> Response:
        """Any request. If its caller leaves, the upstream request and the check end."""
        from starlette.requests import ClientDisconnect

        try:
            raw = await self._body(request)
            return await _while_connected(request, self._forward(request, raw))
        except _RefusedError as refused:
            return _problem(refused.status, str(refused), refused.kind)
        except ClientDisconnect:
            return _problem(499, "the caller left before its body had arrived", "invalid_request_error")

    async def _forward(self, request: Request, raw: bytes) -> Response:
        from starlette.responses import StreamingResponse

        asked: Asked | None = None
        path = self._path(request)
        guarded = request.method == "POST" and path in _GUARDED
        if guarded and request.headers.get("content-encoding", "identity").lower() != "identity":
            raise _RefusedError(415, "the body of a request whose answer is checked must not be compressed")
        body = parsed_object(raw) if guarded else None
        if body is not None:
            try:
                asked = read_request(body, self.settings.documents)
            except InputError as error:
                raise _RefusedError(400, f"the documents of the request cannot be read: {error}") from None
            if "documents" in body and not self.settings.forward_documents:
                del body["documents"]
                raw = json.dumps(body).encode()
        answer = await self._send(request, path, raw)
        headers = _headers(answer.headers, _NOT_RETURNED)
        kind = answer.headers.get("content-type", "")
        if asked is None or answer.status_code != 200 or not kind.startswith(("application/json", "text/event-stream")):
            return StreamingResponse(_passed(answer), answer.status_code, headers)
        if kind.startswith("text/event-stream"):
            return StreamingResponse(self._guarded_stream(answer, asked, path), 200, headers)
        return await self._guarded(answer, asked, headers)

    def _path(self, request: Request) -> str:
        """The path of a request, as the upstream server will read it. Raises _RefusedError for one not below /v1/.

        Blank and final segments are dropped, so that no spelling of a path goes unchecked.
        """
        headers = dict(request.headers.raw)
        if request.method not in SAFE and from_elsewhere(headers):
            raise _RefusedError(403, "the request comes from a page of another origin")
        first, *parts = [part for part in re.split(r"[/\\]", request.scope["path"]) if part] or [""]
        if first != "v1" or not parts:
            raise _RefusedError(404, "only paths below /v1/ are passed on: end the base URL of the client with /v1")
        if any(part in (".", "..") for part in parts):
            raise _RefusedError(400, "the path must not have the segments . and ..")
        return "/".join(["", first, *parts])

    async def _body(self, request: Request) -> bytes:
        """The body of a request. Raises _RefusedError if it is too large or too slow."""
        limits, read = self._limits, bytearray()
        try:
            async with asyncio.timeout(limits.body_seconds):
                async for chunk in request.stream():
                    read += chunk
                    if len(read) > limits.body_bytes:
                        raise _RefusedError(413, f"the body of a request may have {limits.body_bytes:,} bytes")
        except TimeoutError:
            words = f"only {len(read):,} bytes of the body arrived within {limits.body_seconds:g} s: send it faster"
            raise _RefusedError(408, words) from None
        return bytes(read)

    async def _send(self, request: Request, path: str, raw: bytes) -> httpx2.Response:
        """The answer of the upstream server, with its body still to be read. Raises _RefusedError if there is none."""
        url = f"{self.settings.upstream.rstrip('/')}{quote(path.removeprefix('/v1'))}"
        query = f"?{request.url.query}" if request.url.query else ""
        headers = {**_headers(request.headers, _NOT_FORWARDED), "accept-encoding": "identity"}
        asked = self._client.build_request(request.method, url + query, headers=headers, content=raw)
        try:
            return await self._client.send(asked, stream=True)
        except httpx2.HTTPError as error:
            raise self._failed(error, f"cannot be reached: {type(error).__name__}") from None

    def _failed(self, error: httpx2.HTTPError, words: str) -> _RefusedError:
        """The refusal for an upstream server that is silent, or that failed in some other way."""
        if isinstance(error, httpx2.TimeoutException):
            silent = f"was silent for {self.settings.upstream_seconds:g} s: try again, or raise upstream_seconds"
            return _RefusedError(504, f"the upstream server {silent}", "upstream_timeout")
        return _RefusedError(502, f"the upstream server {words}; try again", "upstream_error")

    async def _guarded(self, answer: httpx2.Response, asked: Asked, headers: dict[str, str]) -> Response:
        """A whole answer, checked."""
        from starlette.responses import Response

        try:
            raw = await answer.aread()
        except httpx2.HTTPError as error:
            raise self._failed(error, "broke off its answer") from None
        finally:
            await answer.aclose()
        body = parsed_object(raw)
        if body is None:
            if self.settings.unverified == "block":
                raise _RefusedError(502, "the answer of the upstream server cannot be read", "upstream_error")
            return Response(raw, 200, {**headers, "x-vouch-outcome": "unchecked"})
        decisions: list[Decision] = []
        for text, replace in [*answers_of(body)]:
            decision = await self.guard.decide(text, asked)
            decisions.append(decision)
            if decision.action != "none":
                replace(decision.text, decision.blocked)
        record = annotation(decisions)
        noted = {"x-vouch-outcome": record["outcome"], "x-vouch-action": record["action"]}
        if not decisions:  # tool calls, or no text
            return Response(raw, 200, {**headers, **noted})
        return Response(json.dumps({**body, "vouch": record}, ensure_ascii=False), 200, {**headers, **noted})

    async def _guarded_stream(self, answer: httpx2.Response, asked: Asked, path: str) -> AsyncGenerator[bytes]:
        """A streamed answer, checked."""
        chunks = _until_broken(answer)
        try:
            if self.settings.stream == "after":
                made = stream_after(chunks, self.guard, asked)
            elif path == _GUARDED[0]:
                made = HeldChat(self.guard, asked).stream(chunks)
            else:
                made = held_responses(chunks, self.guard, asked)
            async for event in made:
                yield event
        finally:
            await answer.aclose()

    async def litellm(self, request: Request) -> Response:
        """LiteLLM's Generic Guardrail API: texts in, an action out."""
        from starlette.responses import JSONResponse

        body = await self._read(request)
        if body.get("input_type") not in ("request", "response"):
            return _problem(400, 'expected an object with "input_type" request or response', "invalid_request_error")
        texts = [text for text in members(body.get("texts")) if isinstance(text, str)]
        if body["input_type"] == "request" or not texts:
            return JSONResponse({"action": "NONE"})
        try:
            asked = self._asked_of_litellm(body)
        except InputError as error:
            return _problem(400, str(error), "invalid_request_error")
        decisions = [await self.guard.decide(text, asked) for text in texts]
        if any(decision.blocked for decision in decisions):
            reasons = [str(decision.report or decision.message) for decision in decisions if decision.blocked]
            return JSONResponse({"action": "BLOCKED", "blocked_reason": "\n".join(reasons)})
        if any(decision.action == "repaired" for decision in decisions):
            return JSONResponse({"action": "GUARDRAIL_INTERVENED", "texts": [one.text for one in decisions]})
        return JSONResponse({"action": "NONE"})

    async def _read(self, request: Request) -> dict[str, Any]:
        """The JSON object of a request; an empty one for a body that is refused or none, or from another origin."""
        if from_elsewhere(dict(request.headers.raw)):
            return {}
        try:
            return parsed_object(await self._body(request)) or {}
        except _RefusedError:
            return {}

    def _asked_of_litellm(self, body: Mapping[str, Any]) -> Asked:
        """The documents of the messages, and those of the parameters of the guardrail."""
        read = read_request({"messages": body.get("structured_messages") or []}, self.settings.documents)
        given = row_sources(object_of(body.get("additional_provider_specific_params")), needed=False)
        more = as_sources(given) if given else ()
        sources: tuple[Source, ...] = as_sources([*more, *read.sources]) if more or read.sources else ()
        return Asked(read.question, sources)

    async def promptfoo(self, request: Request) -> Response:
        """Promptfoo's assertion "webhook": the output and the variables in, pass, score and reason out."""
        from starlette.responses import JSONResponse

        body = await self._read(request)
        variables = object_of(object_of(body.get("context")).get("vars"))
        try:
            sources = as_sources(row_sources(variables))
        except InputError as error:
            return JSONResponse({"pass": False, "score": 0, "reason": f"not checked: {error}"})
        question = variables.get("question", variables.get("query"))
        decision = await self.guard.decide(str(body.get("output", "")), Asked(question, sources))
        passed = decision.outcome == "passed"
        reason = f"{worst([decision])}: {decision.report if decision.report is not None else decision.message}"
        # The webhook has no "not scored": an output that could not be judged does not pass, and the reason says so.
        return JSONResponse({"pass": passed, "score": float(passed), "reason": reason})


def _headers(given: Mapping[str, str], without: set[str]) -> dict[str, str]:
    return {name: value for name, value in given.items() if name.lower() not in without}


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


class _RefusedError(Exception):
    """A request that gets an error of the proxy's own."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


async def _while_connected(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """The answer of ``work``, which is cancelled if the caller leaves before there is one."""
    answering, leaving = asyncio.ensure_future(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise _RefusedError(499, "the caller left before there was an answer")
        return await answering
    finally:
        for task in (answering, leaving):
            task.cancel()


def _problem(status: int, message: str, kind: str) -> Response:
    """An error in the form of the OpenAI API."""
    from starlette.responses import JSONResponse

    return JSONResponse({"error": {"message": f"vouch: {message}", "type": kind, "param": None, "code": kind}}, status)


def build_proxy(policy: Policy) -> Starlette:
    """The proxy as an ASGI application. Raises ConfigError for an unknown judge, or no upstream server."""
    starlette = needed("starlette.applications", "serve", "the proxy")
    routing = needed("starlette.routing", "serve", "the proxy")
    if not policy.proxy.upstream:
        raise ConfigError("the proxy has no upstream server: pass --upstream URL")
    proxy = Proxy(policy)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        await proxy.aclose()

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]
    routes = [
        routing.Route(LITELLM, proxy.litellm, methods=["POST"]),
        routing.Route("/promptfoo", proxy.promptfoo, methods=["POST"]),
        routing.Route("/{path:path}", proxy.forward, methods=methods),
    ]
    served = starlette.Starlette(routes=routes, lifespan=lifespan)
    served.state.warning = proxy.blocking.warning()
    return served
