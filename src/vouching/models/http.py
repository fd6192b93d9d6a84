"""Any OpenAI-compatible server, over HTTP: vLLM, llama.cpp, Ollama, hosted ones.

What a server cannot do it says by refusing (400 or 422), or does not say at all. A refused request is put again with
less: a JSON schema as "any JSON", then not at all; several completions one at a time; a bound on the length under its
newer name, and no temperature where a model has only one. What was accepted in the end is remembered. One that sends
fewer completions than asked for is asked for the rest, with other seeds.

Left out: streaming, and retries, limits and deadlines, which are wrappers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import get_args

from aiohttp import ClientError

from vouching.errors import ConfigError, ModelRefusedError
from vouching.models.base import Completion, Message, Sampling
from vouching.models.connections import Connections, checked_address
from vouching.models.http_body import (
    Endpoint,
    Format,
    encode_body,
    read_completions,
    refused_field,
    request_body,
    without_fields,
)
from vouching.models.http_errors import error_of_status, error_of_transport, read_object

TIMEOUT = 300.0
"""Seconds without a byte from the server after which a request is given up."""
_PATHS: dict[Endpoint, str] = {"chat": "chat/completions", "text": "completions"}
_FORMATS: tuple[Format, ...] = get_args(Format)
_UNABLE = {400, 422}


class HttpModel:
    """A model on a server that speaks OpenAI's chat completions, or its older completions.

    Args:
        base_url: the address up to and with the version, e.g. "http://localhost:8000/v1".
        model: the model's name on that server.
        api_key: sent as a bearer token; None sends none.
        endpoint: "chat" for conversations, "text" for a model without a chat template.
        timeout: seconds without a byte after which a request is given up.

    Raises:
        ConfigError: an address that is none, or a key that no header can hold.

    >>> HttpModel("http://localhost:8000/v1/", "qwen").name
    'http://localhost:8000/v1#qwen'
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        endpoint: Endpoint = "chat",
        timeout: float = TIMEOUT,
    ) -> None:
        self.base_url = checked_address(base_url, "a model", "http://host:8000/v1", "VOUCH_API_KEY")
        self.model = model
        self.endpoint: Endpoint = endpoint
        key = (api_key or "").strip()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError("the key of a model holds a line break or a letter that no header can hold: see its file")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        url = f"{self.base_url}/{_PATHS[endpoint]}"
        self._connections = Connections(url, {"content-type": "application/json", **headers}, timeout)
        self._many = True
        self._form: Format = _FORMATS[0]
        self._refused: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Address and name, as ``open_model`` takes them."""
        return f"{self.base_url}{'/completions' if self.endpoint == 'text' else ''}#{self.model}"

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions.

        Raises:
            ModelError: no usable answer; see ``http_errors`` for what is which.
            ConfigError: a wrong key, address or name.
        """
        completions: list[Completion] = []
        while (missing := sampling.n - len(completions)) > 0:
            seed = None if sampling.seed is None else sampling.seed + len(completions)
            completions += (await self._ask(messages, sampling, missing, seed))[:missing]
        return completions

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connections.aclose()

    async def _ask(self, messages: Sequence[Message], sampling: Sampling, n: int, seed: int | None) -> list[Completion]:
        """Completions of one request, at least one; put again with less as long as the server refuses."""
        refusal: ModelRefusedError | None = None
        for many, form in self._ways(sampling, n):
            body = request_body(self.model, messages, sampling, self.endpoint, form, n if many else 1, seed)
            try:
                completions = await self._put(body)
            except ModelRefusedError as error:
                if error.status not in _UNABLE:
                    raise
                refusal = error
                continue
            if refusal:
                self._remember(many or n == 1, form if sampling.json_schema is not None else self._form)
            return completions
        assert refusal  # there is always one way at least
        raise refusal

    def _remember(self, many: bool, form: Format) -> None:
        """What a server accepted after it had refused more; several calls may find out at once."""
        self._many = self._many and many
        self._form = _FORMATS[max(_FORMATS.index(self._form), _FORMATS.index(form))]

    def _ways(self, sampling: Sampling, n: int) -> Iterator[tuple[bool, Format]]:
        """What to try in turn: whether to ask for all completions at once, and how to ask for JSON."""
        forms = _FORMATS[_FORMATS.index(self._form if sampling.json_schema is not None else "plain") :]
        for many in (True, False) if n > 1 and self._many else (False,):
            for form in forms:
                yield many, form

    async def _put(self, body: dict[str, object]) -> list[Completion]:
        """Completions of one body, without the fields that this model has been found to refuse."""
        while True:
            refused = self._refused
            try:
                return await self._post(without_fields(body, refused))
            except ModelRefusedError as error:
                field = refused_field(str(error)) if error.status in _UNABLE else None
                if field is None or field in refused:
                    raise
                self._refused |= {field}

    async def _post(self, body: dict[str, object]) -> list[Completion]:
        content = encode_body(body)
        started = time.perf_counter()
        try:
            answer = await self._connections.post(content)
        except (ClientError, OSError) as error:
            raise error_of_transport(error, self.name) from error
        if error := error_of_status(answer, self.name):
            raise error
        return read_completions(read_object(answer, self.name), time.perf_counter() - started, self.name)
