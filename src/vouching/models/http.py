"""Models on OpenAI-compatible servers, through the ``openai`` client: vLLM, llama.cpp, Ollama, hosted models.

A request that a server refuses (400 or 422) is sent again with less: a JSON schema becomes "any JSON" where the
prompt speaks of JSON, then plain text; several completions are asked for one at a time; ``max_tokens`` gets its newer
name; temperature and top_p are dropped where only their defaults are allowed; system messages become the user's where
there is no such role. What the server accepts is remembered. A server that sends fewer completions than asked for is
asked for the rest, with other seeds. Fields that equal the default are not sent, since some servers refuse fields that
they do not know. Not supported: streaming; retries and limits, which are wrappers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast, get_args

from vouching.errors import ConfigError, ModelAnswerError, ModelContextError, ModelRefusedError, ModelUnavailableError
from vouching.models.base import NO_SYSTEM_ROLE, Completion, FinishReason, Message, Sampling, system_in_user
from vouching.models.connections import (
    EXCERPT,
)
from vouching.models.facts import served_names
from vouching.models.json_fields import json_object
from vouching.models.limits import ServerFacts, TimeLimits, usage_of
from vouching.models.logprobs import read_alternatives, read_logprobs
from vouching.models.posting import ModelServer
from vouching.models.tools import ToolCall
from vouching.types import Usage
from vouching.types.visible import shown_json

Endpoint: TypeAlias = Literal["chat", "text"]
"""Which interface: /chat/completions for conversations or /completions for texts to continue."""
Format: TypeAlias = Literal["json_schema", "json_object", "plain"]
"""How a server is asked for JSON: by a schema, as any JSON object, or by the prompt alone."""

_PATHS: dict[Endpoint, str] = {"chat": "chat/completions", "text": "completions"}
_FORMATS: tuple[Format, ...] = get_args(Format)
_UNSUPPORTED = re.compile(r"(?i:unsupported (?:value|parameter)): '(temperature|top_p)'")
_FEW = 5
"""Alternatives of a token that servers give which refuse more, such as Fireworks and DashScope."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENDS: dict[str, FinishReason] = {
    "stop": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "tool_calls": "stop",
    "length": "length",
    "max_tokens": "length",
}


def request_body(
    name: str,
    messages: Sequence[Message],
    sampling: Sampling,
    endpoint: Endpoint,
    form: Format,
    n: int,
    seed: int | None,
) -> dict[str, Any]:
    """The body of a request for ``n`` completions with ``seed``, whatever the sampling's own ``n`` and seed.

    Raises:
        ModelRefusedError: tools with an endpoint for texts.

    >>> request_body("m", [Message("user", "Hi")], Sampling(max_tokens=9), "text", "plain", 1, None)
    {'model': 'm', 'prompt': 'Hi', 'max_tokens': 9, 'temperature': 0.0}
    """
    body: dict[str, Any] = {"model": name}
    if endpoint == "chat":
        body["messages"] = [message.json for message in messages]
    elif sampling.tools:
        raise ModelRefusedError("/completions does not support tools: use /chat/completions")
    else:
        body["prompt"] = "\n\n".join(message.content for message in messages)
    body |= {"max_tokens": sampling.max_tokens, "temperature": sampling.temperature}
    if sampling.top_p != 1.0:
        body["top_p"] = sampling.top_p
    if n > 1:
        body["n"] = n
    if seed is not None:
        body["seed"] = seed
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if sampling.logprobs:
        body["logprobs"] = True if endpoint == "chat" else max(1, sampling.top_logprobs)
    if sampling.top_logprobs and endpoint == "chat":
        body |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
    if sampling.json_schema is not None and form == "json_schema":
        schema = {"name": "answer", "schema": dict(sampling.json_schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif sampling.json_schema is not None and form == "json_object":
        body["response_format"] = {"type": "json_object"}
    if sampling.tools:
        body["tools"] = [tool.json for tool in sampling.tools]
    body |= sampling.extra
    return {key: value for key, value in body.items() if value is not None}


def refused_field(refusal: str) -> str | None:
    """The field that a refusal names, if the request can do without it.

    >>> refused_field("Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead.")
    'max_tokens'
    >>> refused_field("`logprobs` is not supported with this model")
    'logprobs'
    """
    if "max_completion_tokens" in refusal:
        return "max_tokens"
    if "logprobs" in refusal:
        return "logprobs"
    field = _UNSUPPORTED.search(refusal)
    return "system" if NO_SYSTEM_ROLE.search(refusal) else field and field[1]


def without_fields(body: dict[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """A body without what a server refuses; ``max_tokens`` is sent under its newer name, system messages as the user's.

    Of the alternatives of a token, fewer are asked for before none are.

    >>> without_fields({"model": "o", "max_tokens": 9, "temperature": 0.0}, {"max_tokens", "temperature"})
    {'model': 'o', 'max_completion_tokens': 9}
    """
    left_out = {*refused, "top_logprobs"} if "logprobs" in refused else {*refused} - {"top_logprobs"}
    kept = {key: value for key, value in body.items() if key not in left_out}
    if "top_logprobs" in refused and "top_logprobs" in kept:
        kept["top_logprobs"] = min(kept["top_logprobs"], _FEW)
    if "max_tokens" in refused and "max_tokens" in body:
        kept["max_completion_tokens"] = body["max_tokens"]
    folded = system_in_user(body.get("messages", ())) if "system" in refused else []
    return {**kept, "messages": folded} if folded else kept


def read_completions(body: dict[str, Any], seconds: float, where: str) -> list[Completion]:
    """The completions in an answer, at least one.

    Args:
        body: the answer.
        seconds: how long it took.
        where: the server, for messages.

    Raises:
        ModelAnswerError: there are none, or one has no text.

    >>> answer = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    >>> read_completions(answer, 0.5, "http://host")
    [Completion(text='Hi', finish_reason='stop',
        usage=Usage(seconds=0.5, prompt_tokens=3, completion_tokens=0, calls=1, cost=0.0), logprobs=None,
        tool_calls=(), alternatives=())]
    """
    choices = cast("list[Any]", body["choices"]) if isinstance(body.get("choices"), list) else []
    if not choices:
        raise ModelAnswerError(
            f"the answer from {where} has no choices: {shown_json(body.get('error', body), EXCERPT)}"
        )
    usages = [usage_of(body.get("usage"), seconds), *(Usage() for _ in choices[1:])]
    return [_completion(json_object(choice), usage, where) for choice, usage in zip(choices, usages, strict=True)]


def _completion(choice: dict[str, Any], usage: Usage, where: str) -> Completion:
    message = json_object(choice.get("message"))
    reason = choice.get("finish_reason")
    end = _ENDS.get(reason, "other") if isinstance(reason, str) else "other"
    if isinstance(message.get("refusal"), str):
        return Completion(message["refusal"], "other", usage)
    text = message.get("content", "") if message else choice.get("text")
    if text is None and message:
        text = ""  # all tokens went into reasoning or a tool call
    if not isinstance(text, str):
        raise ModelAnswerError(f"the answer from {where} has a choice without text: {shown_json(choice, EXCERPT)}")
    found = json_object(choice.get("logprobs"))
    return Completion(_whole(text), end, usage, read_logprobs(found), _calls(message), read_alternatives(found))


def _calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    """Tool calls; one that cannot be parsed has no name."""
    found = message.get("tool_calls")
    calls = cast("list[Any]", found) if isinstance(found, list) else []
    return tuple(_call(json_object(call), number) for number, call in enumerate(calls, 1))


def _call(call: dict[str, Any], number: int) -> ToolCall:
    function = json_object(call.get("function"))
    arguments, name = function.get("arguments"), function.get("name")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)  # some servers send an object
    name = _whole(name) if isinstance(name, str) else ""
    return ToolCall(str(call.get("id") or f"call-{number}"), name, _whole(arguments))


def _whole(text: str) -> str:
    """A text without lone surrogates, which a server sends if it cuts a character between two tokens."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


class HttpModel:
    """A model on a server with OpenAI's chat completions, or its older completions.

    Args:
        base_url: the address including the version, e.g. "http://localhost:8000/v1".
        model: its name on that server.
        api_key: sent as a bearer token; None sends none.
        endpoint: "text" for a model without a chat template.
        timeout: seconds for a reply, or limits for each phase of a request.

    Raises:
        ConfigError: the address is malformed, or the key cannot be sent in a header.

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
        timeout: float | TimeLimits = TimeLimits(),  # noqa: B008 - frozen
    ) -> None:
        time = timeout if isinstance(timeout, TimeLimits) else TimeLimits.given(timeout)
        self._server = ModelServer(base_url, api_key, time)
        self.base_url = self._server.address
        self.model = model
        self.endpoint: Endpoint = endpoint
        self._url = f"{self.base_url}/{_PATHS[endpoint]}"
        self._many = True
        self._form: Format = _FORMATS[0]
        self._refused: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Address and name, as ``open_model`` accepts them."""
        return f"{self.base_url}{'/completions' if self.endpoint == 'text' else ''}#{self.model}"

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions.

        Raises:
            ModelError, ConfigError: see ``connections``.
        """
        completions: list[Completion] = []
        while (missing := sampling.n - len(completions)) > 0:
            seed = None if sampling.seed is None else sampling.seed + len(completions)
            completions += (await self._ask(messages, sampling, missing, seed))[:missing]
        return completions

    async def facts(self) -> ServerFacts:
        """What the server says about itself; it is asked once."""
        return await self._server.facts(self.base_url, self.model)

    async def served(self) -> tuple[str, ...]:
        """The names of the models on the server; empty if it does not list them."""
        return await served_names(self.base_url, self._server.headers, self._server.proxy)

    @property
    def refused(self) -> tuple[str, ...]:
        """What the server has refused so far, and is no longer sent: fields, the role "system", schemas, several n."""
        kinds = {"json_schema": self._form != _FORMATS[0], "json_object": self._form == "plain", "n": not self._many}
        return (*sorted(self._refused), *(name for name, is_refused in kinds.items() if is_refused))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    async def _ask(self, messages: Sequence[Message], sampling: Sampling, n: int, seed: int | None) -> list[Completion]:
        """Completions of one request, at least one; sent with less as long as the server refuses it."""
        refusal: ModelRefusedError | None = None
        speaks_of_json = any("json" in message.content.lower() for message in messages)
        for many, form in self._ways(sampling, n, speaks_of_json):
            body = request_body(self.model, messages, sampling, self.endpoint, form, n if many else 1, seed)
            try:
                completions = await self._send(body)
            except ModelRefusedError as error:
                if error.status not in {400, 422} or isinstance(error, ModelContextError):
                    raise
                refusal = error
                continue
            if refusal:
                left = form if speaks_of_json or form == "json_schema" else "json_object"
                self._remember(many or n == 1, left if sampling.json_schema is not None else self._form)
            return completions
        assert refusal  # at least one way was tried
        if not sampling.top_logprobs or "logprobs" in self._refused:
            raise refusal
        completions = await self._ask(messages, replace(sampling, logprobs=False, top_logprobs=0), n, seed)
        self._refused |= {"logprobs"}
        return completions

    def _remember(self, many: bool, form: Format) -> None:
        """Note what a server accepted after it had refused more; several calls may learn it at the same time."""
        self._many = self._many and many
        self._form = _FORMATS[max(_FORMATS.index(self._form), _FORMATS.index(form))]

    def _ways(self, sampling: Sampling, n: int, speaks_of_json: bool) -> Iterator[tuple[bool, Format]]:
        """What to try in turn: whether to ask for all completions together, and how to ask for JSON.

        Any JSON is asked for only where the prompt speaks of it: without its form, a model writes an endless object.
        """
        forms = _FORMATS[_FORMATS.index(self._form if sampling.json_schema is not None else "plain") :]
        for many in (True, False) if n > 1 and self._many else (False,):
            for form in forms:
                if speaks_of_json or form != "json_object":
                    yield many, form

    async def _send(self, body: dict[str, Any]) -> list[Completion]:
        """Completions of one body, without the fields that this server is known to refuse."""
        while True:
            refused = self._refused
            try:
                return await self._post(without_fields(body, refused))
            except (ModelRefusedError, ModelUnavailableError, ConfigError) as error:
                field = None if isinstance(error, ModelContextError) else refused_field(str(error))
                # OpenAI refuses log-probabilities of models that think with 403, the status of a wrong key, and
                # llama-cpp-python those that it was not told to keep with 500.
                other = not isinstance(error, ModelRefusedError) and not (field == "logprobs" and "logprobs" in body)
                if field == "logprobs" and body.get("top_logprobs", 0) > _FEW and "top_logprobs" not in refused:
                    field = "top_logprobs"
                if field is None or field in refused or other:
                    raise
                self._refused |= {field}

    async def _post(self, body: dict[str, object]) -> list[Completion]:
        found, seconds = await self._server.post(self._url, body, self.name)
        return read_completions(found, seconds, self.name)
