"""Fields that every request to a server carries, for what only that server knows: how long to think, how to route.

Left out: fields for one call; ``Sampling.extra`` has them, and they go before these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from vouching.errors import ConfigError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.wrapper import Wrapper


class WithFields(Wrapper):
    """Adds fields to the body of every request; None takes a field out.

    >>> import asyncio
    >>> from vouching.models.scripted import ScriptedModel
    >>> inside = ScriptedModel(["Yes."])
    >>> model = WithFields(inside, {"reasoning_effort": "low"})
    >>> said = asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))
    >>> inside.asked[0].sampling.extra
    {'reasoning_effort': 'low'}
    """

    def __init__(self, model: Model, fields: Mapping[str, Any]) -> None:
        super().__init__(model)
        self._fields = dict(fields)

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """What the model inside says to a request with the fields."""
        return await self.model.generate(messages, replace(sampling, extra=self._fields | dict(sampling.extra)))


def read_fields(text: str) -> dict[str, Any]:
    """Fields as ``VOUCH_EXTRA`` has them: a JSON object, or nothing.

    >>> read_fields('{"reasoning_effort": "low"}')
    {'reasoning_effort': 'low'}

    Raises:
        ConfigError: it is none.
    """
    try:
        fields: Any = json.loads(text) if text.strip() else {}
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise ConfigError(f'VOUCH_EXTRA must be a JSON object such as {{"reasoning_effort": "low"}}, got {text[:80]!r}')
    return cast(dict[str, Any], fields)
