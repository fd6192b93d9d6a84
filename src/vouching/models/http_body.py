"""The JSON of an OpenAI-compatible server: a request from messages and a sampling, completions from an answer.

Fields that say nothing new are left out of a request, since some servers refuse fields that they do not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from math import isfinite
from typing import Any, Literal, TypeAlias, cast

from vouching.errors import ConfigError, ModelAnswerError, ModelRefusedError
from vouching.models.base import Completion, FinishReason, Message, Sampling
from vouching.models.http_errors import EXCERPT
from vouching.models.tools import ToolCall
from vouching.types import Usage

Endpoint: TypeAlias = Literal["chat", "text"]
"""Which of the two ways to ask: turns of a conversation (/chat/completions) or a text to go on with (/completions)."""
Format: TypeAlias = Literal["json_schema", "json_object", "plain"]
"""How a server is told to answer in JSON: by a schema, by the word, or by the prompt alone."""

_UNSUPPORTED = re.compile(r"(?i:unsupported (?:value|parameter)): '(temperature|top_p)'")
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
    """The body of a request.

    Args:
        name: the model's name on the server.
        messages: what is asked; their texts, a blank line between, where the endpoint takes one text.
        sampling: how it is asked; its own ``n`` and ``seed`` are not used.
        endpoint: which way to ask.
        form: how a JSON schema is put, if there is one.
        n: completions wanted from this request.
        seed: seed of this request.

    Raises:
        ModelRefusedError: tools for an endpoint that takes a text.

    >>> request_body("m", [Message("user", "Hi")], Sampling(max_tokens=9), "text", "plain", 1, None)
    {'model': 'm', 'prompt': 'Hi', 'max_tokens': 9, 'temperature': 0.0}
    """
    body: dict[str, Any] = {"model": name}
    if endpoint == "chat":
        body["messages"] = [message.json for message in messages]
    elif sampling.tools:
        raise ModelRefusedError("an endpoint that goes on with a text takes no tools: use /chat/completions")
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
        body["logprobs"] = True if endpoint == "chat" else 1
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
    """The field of our requests that a server does not take, by its own words; None if they name none we can spare.

    >>> refused_field("Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead.")
    'max_tokens'
    """
    if "max_completion_tokens" in refusal:
        return "max_tokens"
    return found[1] if (found := _UNSUPPORTED.search(refusal)) else None


def without_fields(body: dict[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """A body for a server that refuses some fields: a bound on the length under its newer name, the rest left out.

    >>> without_fields({"model": "o", "max_tokens": 9, "temperature": 0.0}, {"max_tokens", "temperature"})
    {'model': 'o', 'max_completion_tokens': 9}
    """
    kept = {key: value for key, value in body.items() if key not in refused}
    if "max_tokens" in refused and "max_tokens" in body:
        kept["max_completion_tokens"] = body["max_tokens"]
    return kept


def encode_body(body: dict[str, Any]) -> bytes:
    """The bytes of a request.

    Raises:
        ModelRefusedError: a lone surrogate, which is no text.
        ConfigError: something in ``extra`` or ``json_schema`` that is no JSON.

    >>> encode_body({"prompt": "café"}).decode()
    '{"prompt":"café"}'
    """
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise ModelRefusedError(f"the messages cannot be sent: {error}; take lone surrogates out") from None
    except (TypeError, ValueError) as error:
        raise ConfigError(f"json_schema and extra must be JSON: {error}") from None


def read_completions(body: dict[str, Any], seconds: float, where: str) -> list[Completion]:
    """The completions in an answer, at least one.

    Args:
        body: the answer.
        seconds: how long it took.
        where: what answered, for the message.

    Raises:
        ModelAnswerError: there are none, or one has no text.

    >>> answer = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    >>> read_completions(answer, 0.5, "http://host")
    [Completion(text='Hi', finish_reason='stop',
        usage=Usage(seconds=0.5, prompt_tokens=3, completion_tokens=0, calls=1), logprobs=None, tool_calls=())]
    """
    choices = cast("list[Any]", body["choices"]) if isinstance(body.get("choices"), list) else []
    if not choices:
        raise ModelAnswerError(f'{where} answered without "choices": {str(body.get("error", body))[:EXCERPT]}')
    used = _object(body.get("usage"))
    cost = Usage(seconds, _count(used.get("prompt_tokens")), _count(used.get("completion_tokens")), calls=1)
    usages = [cost, *(Usage() for _ in choices[1:])]
    return [_completion(_object(choice), usage, where) for choice, usage in zip(choices, usages, strict=True)]


def _completion(choice: dict[str, Any], usage: Usage, where: str) -> Completion:
    message = _object(choice.get("message"))
    reason = choice.get("finish_reason")
    end = _ENDS.get(reason, "other") if isinstance(reason, str) else "other"
    if isinstance(message.get("refusal"), str):
        return Completion(message["refusal"], "other", usage)
    text = message.get("content", "") if message else choice.get("text")
    if text is None and message:
        text = ""  # All went into reasoning or into a call of a tool.
    if not isinstance(text, str):
        raise ModelAnswerError(f"{where} answered with a choice that has no text: {str(choice)[:EXCERPT]}")
    return Completion(_whole(text), end, usage, _logprobs(_object(choice.get("logprobs"))), _calls(message))


def _calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    """Calls of tools; one that cannot be read has no name."""
    found = message.get("tool_calls")
    calls = cast("list[Any]", found) if isinstance(found, list) else []
    return tuple(_call(_object(call), number) for number, call in enumerate(calls, 1))


def _call(call: dict[str, Any], number: int) -> ToolCall:
    function = _object(call.get("function"))
    arguments, name = function.get("arguments"), function.get("name")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)  # some servers send the object itself
    name = _whole(name) if isinstance(name, str) else ""
    return ToolCall(str(call.get("id") or f"call-{number}"), name, _whole(arguments))


def _whole(text: str) -> str:
    """JSON can hold half a character, where a server cut a text between two tokens."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def _logprobs(found: dict[str, Any]) -> tuple[float, ...] | None:
    """Of the chat's form {"content": [{"logprob": x}]} or the text's {"token_logprobs": [x]}."""
    tokens: Any = found.get("content") or found.get("token_logprobs")
    if not isinstance(tokens, list):
        return None
    members = cast("list[Any]", tokens)
    values: list[Any] = [_object(token).get("logprob") if isinstance(token, dict) else token for token in members]
    if not values or not all(isinstance(value, int | float) and isfinite(value) for value in values):
        return None
    return tuple(float(value) for value in values)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
