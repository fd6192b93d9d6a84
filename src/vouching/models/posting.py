"""Requests to the server of a model: JSON there and back, through the ``openai`` client, each failure in our words.

Bodies are built and read by the callers, not by the client's typed models: servers send fields of wrong types, and
building the models takes longer than the rest of a call.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, cast

import aiohttp
import httpx2
from openai import APIStatusError, AsyncStream, Omit, OpenAIError

from vouching.errors import ConfigError, ModelDeadlineError, ModelRefusedError
from vouching.models.connections import (
    KEY,
    checked_address,
    error_of_status,
    error_of_transport,
    is_read_timeout,
    proxy_of,
    read_content,
    read_object,
)
from vouching.models.facts import ask_server
from vouching.models.limits import ServerFacts, TimeLimits
from vouching.models.running import OpenPerLoop, PerLoop
from vouching.models.transport import openai_client

_UNSENT = {"x-stainless-retry-count": Omit(), "x-stainless-read-timeout": Omit()}
"""Headers that the client would add to each request; its others are replaced by those of ``openai_client``."""


class ModelServer:
    """The server of a model.

    Args:
        address: where it is.
        api_key: sent as a bearer token; None sends none.
        time: seconds for a reply, or limits for each phase of a request.
        key_header: another header for the key, which is then sent without "Bearer".
        key_name: the variable of the environment that has the key, for messages.

    Raises:
        ConfigError: the address is malformed, or the key cannot be sent in a header.

    >>> ModelServer("http://localhost:8000/v1/", None, TimeLimits()).address
    'http://localhost:8000/v1'
    """

    def __init__(
        self, address: str, api_key: str | None, time: TimeLimits, key_header: str = "", key_name: str = KEY
    ) -> None:
        self.address = checked_address(address, "a model", "http://host:8000/v1", key_name)
        key = (api_key or "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError(
                "the API key contains characters that are not allowed in a header, such as a line break: check the key"
            )
        named = {key_header: key} if key_header else {"authorization": f"Bearer {key}"}
        self.headers = named if key else {}
        """With the key."""
        # The client takes a key from the environment where it gets none: that one is for OpenAI alone.
        self._headers = {"authorization": Omit(), **_UNSENT, **self.headers}
        self.proxy = proxy_of(self.address)
        self._time, self._key_name = time, key_name
        self._clients = OpenPerLoop(lambda: openai_client(self.address, self.proxy, self._time))
        self._asking = PerLoop(asyncio.Lock)
        self._facts: ServerFacts | None = None

    async def post(
        self, url: str, body: dict[str, Any], name: str, strict: bool = False
    ) -> tuple[dict[str, Any], float]:
        """The JSON object that answers a body, and the seconds that it took; ``name`` is the model's, for messages.

        ``strict`` refuses an object in which a key occurs twice.

        Raises ModelError and ConfigError, see ``connections``.
        """
        content = encode_body(body)
        client = await self._clients.get()
        started = time.perf_counter()
        scope = asyncio.timeout(self._time.reply)
        try:
            # A stream, so that the body is read below, where its size is limited.
            options: Any = {"cast_to": httpx2.Response, "stream": True, "stream_cls": AsyncStream[Any]}
            async with scope:
                sent = client.post(url, content=content, options={"headers": self._headers}, **options)
                response = cast("httpx2.Response", await sent)
                try:
                    answer = await read_content(response, name)
                finally:
                    await response.aclose()
        except APIStatusError as error:
            raise error_of_status(error.response, error.response.content, name, key=self._key_name) or error from None
        except (OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, aiohttp.ClientError, OSError) as error:
            if scope.expired() or is_read_timeout(error):
                raise _too_slow(name, time.perf_counter() - started) from None
            raise error_of_transport(error, name) from error
        return read_object(response, answer, name, strict), time.perf_counter() - started

    async def facts(self, base_url: str, model: str) -> ServerFacts:
        """What the server says about itself and a model; it is asked once. ``base_url`` includes the version."""
        async with self._asking.get():
            if self._facts is None:
                self._facts = await ask_server(base_url, model, self.headers, self.proxy)
        return self._facts

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.aclose()


def encode_body(body: dict[str, Any]) -> bytes:
    """The bytes of a request.

    Raises:
        ModelRefusedError: a lone surrogate.
        ConfigError: ``extra`` or ``json_schema`` holds something that is not JSON.

    >>> encode_body({"prompt": "café"}).decode()
    '{"prompt":"café"}'
    """
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise ModelRefusedError(f"the messages cannot be sent: {error}; remove lone surrogates") from None
    except (TypeError, ValueError) as error:
        raise ConfigError(f"json_schema and extra must be valid JSON: {error}") from None


def _too_slow(name: str, seconds: float) -> ModelDeadlineError:
    return ModelDeadlineError(
        f"{name} did not answer within {seconds:.3g} seconds: allow more (VOUCH_TIMEOUT, --timeout), make "
        "fewer calls at once (VOUCH_MAX_CALLS=1), or ask for fewer tokens (--max-tokens)"
    )
