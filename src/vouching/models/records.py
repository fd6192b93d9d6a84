"""A call as JSON: what tells two requests apart, and completions to keep."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from vouching.errors import ConfigError, InputError
from vouching.models.base import Completion, Message, Sampling
from vouching.models.tools import ToolCall
from vouching.types import Usage


def request_key(name: str, messages: Sequence[Message], sampling: Sampling) -> str:
    """A digest of everything that an answer depends on: the model's name, the messages and the whole sampling.

    Raises:
        ConfigError: the sampling holds something that is no JSON.

    >>> ask = [Message("user", "Is it?")]
    >>> request_key("m", ask, Sampling(seed=1)) == request_key("m", ask, Sampling(seed=2))
    False
    """
    asked = asdict(sampling)
    if not sampling.tools:
        del asked["tools"]
    request = {"model": name, "messages": [message.json for message in messages], "sampling": asked}
    try:
        text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"json_schema and extra must be JSON: {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def completions_to_json(completions: Sequence[Completion]) -> list[dict[str, Any]]:
    """Completions as what ``json`` can write."""
    return [asdict(completion) for completion in completions]


def completions_from_json(found: Any, place: str) -> list[Completion]:
    """Completions as they were. Raises InputError, which names the place, if they are none.

    >>> said = [Completion("Yes.", "stop", Usage(calls=1), (-0.5,))]
    >>> completions_from_json(json.loads(json.dumps(completions_to_json(said))), "here") == said
    True
    """
    try:
        return [
            Completion(
                one["text"],
                one["finish_reason"],
                Usage(**one["usage"]),
                None if one["logprobs"] is None else tuple(one["logprobs"]),
                tuple(ToolCall(**call) for call in one.get("tool_calls", ())),
            )
            for one in found
        ]
    except (TypeError, KeyError) as error:
        raise InputError(f"{place} holds no completions ({type(error).__name__}: {error}): remove it") from None
