"""Requests to the server of a model: JSON there and back, each failure in our words.

Bodies are built and read by the callers: servers send fields of wrong types.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx2

from vouching.errors import ConfigError, ModelDeadlineError, ModelRefusedError, ModelUnavailableError
from vouching.models.connections import KEY, checked_address, proxy_of
from vouching.models.facts import ask_server
from vouching.models.limits import ServerFacts, TimeLimits
from vouching.models.running import OpenPerLoop, PerLoop
from vouching.models.transport import Connections


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
        self.proxy = proxy_of(self.address)
        self._time, self._key_name = time, key_name
        sent = {"content-type": "application/json", **self.headers}
        self._opened = OpenPerLoop(lambda: Connections(self.proxy, time.first_byte, time.connect, sent))
        self._asking = PerLoop(asyncio.Lock)
        self._facts: ServerFacts | None = None

    async def post(
        self, url: str, body: dict[str, Any], name: str, strict: bool = False
    ) -> tuple[dict[str, Any], float]:
        """The JSON object that answers a body, and the seconds that it took; ``name`` is the model's, for messages.

        ``strict`` refuses an object in which a key occurs twice, and deep nesting.

        Raises ModelError and ConfigError, see ``connections``.
        """
        content = encode_body(body)
        connections = await self._opened.get()
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._time.reply):
                found = await connections.ask("POST", url, name, key=self._key_name, strict=strict, content=content)
        except (TimeoutError, ModelUnavailableError) as error:
            if isinstance(error, TimeoutError):
                raise _too_slow(name, self._time.reply) from None
            if isinstance(error.__cause__, httpx2.ReadTimeout):
                raise _too_slow(name, self._time.first_byte) from None
            raise
        return found, time.perf_counter() - started

    async def facts(self, base_url: str, model: str) -> ServerFacts:
        """What the server says about itself and a model; it is asked once. ``base_url`` includes the version."""
        async with self._asking.get():
            if self._facts is None:
                self._facts = await ask_server(base_url, model, self.headers, self.proxy)
        return self._facts

    async def aclose(self) -> None:
        """Close the connections."""
        await self._opened.aclose()


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
        f"{name} did not answer within {seconds:g} seconds: allow more (VOUCH_TIMEOUT, --timeout), make "
        "fewer calls at once (VOUCH_MAX_CALLS=1), or ask for fewer tokens (--max-tokens)"
    )
