"""How routes read the body of a request: each key once, and no more sources than the server accepts.

Sources are counted before anything looks at each of them, which would hold up every other request.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any

from fastapi import Request
from fastapi.exceptions import HTTPException
from fastapi.responses import Response
from fastapi.routing import APIRoute

from vouching.errors import InputError
from vouching.models.json_fields import each_key_once, json_object
from vouching.rows.shapes import SOURCE_KEYS
from vouching.serve.proxy_messages import members
from vouching.text.json_values import parse_json


class StrictRoute(APIRoute):
    """A route whose bodies are read so."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        inner = super().get_route_handler()

        async def answer(request: Request) -> Response:
            return await inner(_StrictRequest(request.scope, request.receive))

        return answer


class _StrictRequest(Request):
    async def json(self) -> Any:
        """The value of the body. Raises what FastAPI answers with words of its own."""
        limits = self.app.state.service.policy.limits
        value = parse_json(await self.body(), object_pairs_hook=_once)
        for given in map(json_object(value).get, SOURCE_KEYS):
            try:
                limits.check_sources(len(members(given)))
            except InputError as error:
                raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
        return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    try:
        return each_key_once(pairs)
    except ValueError as error:
        raise JSONDecodeError(str(error), "", 0) from None
