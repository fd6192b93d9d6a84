"""The HTTP API as an ASGI application: ``build_app(policy)``. ``/openapi.json`` describes it, with examples.

Every record is the one that the command line prints for the same texts, and every error is a problem object. The state
of the application has what other routes need: ``app.state.service``.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vouching.client.problems import problem_of
from vouching.errors import InputError, VouchError, needed
from vouching.serve.bodies import fault_words
from vouching.serve.frame import problem_page, wants_page
from vouching.serve.gate import Gate, problem_headers, problem_json
from vouching.serve.policy import Policy
from vouching.serve.service import Service
from vouching.serve.work import FAILED, Rejected
from vouching.version import __version__

if TYPE_CHECKING:
    from fastapi import FastAPI, Request, Response

_DESCRIPTION = """\
Checks what language models say against the evidence, and says why. A verdict says whether the given sources support a
claim, not whether it is true. Unverified means that the judge failed: it is no judgement."""

# FastAPI's own spans and logs would have queries and parts of bodies: what is searched and judged. The gate has spans.
_NO_TELEMETRY = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def build_app(policy: Policy, folder: Path | None = None, on_stop: Callable[[], object] = lambda: None) -> FastAPI:
    """The application of a policy.

    Args:
        policy: how it runs and judges.
        folder: what the workers of one server share: uploaded sources, and how much each key has used of its limit;
            None for a temporary one of this application.
        on_stop: called when the application stops, before it closes anything.

    Raises:
        ConfigError: a model is unknown or does not judge claims, or the keys cannot be read.
        MissingExtraError: the extra "serve" is not installed.
    """
    fastapi = needed("fastapi", "serve", "the HTTP API")
    from vouching.serve.routes import add_routes
    from vouching.serve.strict_route import StrictRoute

    resources = ExitStack()
    if folder is None:
        folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="vouch-serve-")))
    service = Service(policy, folder)
    resources.callback(service.close)
    resources.callback(on_stop)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        with resources:
            yield
            await service.answered()

    app: FastAPI = fastapi.FastAPI(
        title="Vouch",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        telemetry=_NO_TELEMETRY,
    )
    app.state.service = service
    _add_problems(app, service)
    app.router.route_class = StrictRoute
    add_routes(app, service)
    app.add_middleware(Gate, service=service)
    if policy.serve.cors_origins:
        from starlette.middleware.cors import CORSMiddleware

        app.add_middleware(
            CORSMiddleware,
            allow_origins=policy.serve.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    return app


def _add_problems(app: FastAPI, service: Service) -> None:
    """Answer every error with a problem object, or a browser that asks for a page with one."""
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import Response
    from starlette.exceptions import HTTPException

    def answer(request: Request, error: VouchError, status: int | None = None) -> Response:
        problem = problem_of(error, status)
        if wants_page(request.scope):
            body, headers = problem_page(service, request.scope, problem)
            return Response(body, problem.status, headers)
        return Response(problem_json(problem), problem.status, problem_headers(problem))

    async def deliberate(request: Request, error: Exception) -> Response:
        assert isinstance(error, VouchError)
        return answer(request, error, error.status if isinstance(error, Rejected) else None)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return answer(request, InputError(_invalid_words(error.errors())))

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        words = {
            400: "the body cannot be read: send a JSON object in UTF-8, not compressed and not nested deeply",
            404: "there is no such path: see /openapi.json",
            405: "the path does not have this method",
        }
        return answer(request, InputError(words.get(error.status_code, str(error.detail))), error.status_code)

    async def unexpected(request: Request, error: Exception) -> Response:
        # The traceback goes to the log only: it may name paths of this machine.
        logging.getLogger("vouching.serve").error("error in %s", request.url.path, exc_info=error)
        return answer(request, VouchError(FAILED))

    app.add_exception_handler(VouchError, deliberate)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unknown)
    app.add_exception_handler(Exception, unexpected)


def _invalid_words(errors: Any) -> str:
    """The first fault of a body in words."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return f"the body is not valid JSON: {first.get('ctx', {}).get('error', 'it ends too early')}"
    if isinstance(first.get("input"), bytes):
        return "the body was not read as JSON: send the header  Content-Type: application/json"
    return fault_words([{**one, "loc": one["loc"][1:]} for one in errors], "the body", "/openapi.json")
