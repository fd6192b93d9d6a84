"""An end to every call, whatever happens inside: slow answers, retries, requests for the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vouching.errors import ConfigError, ModelDeadlineError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.wrapper import Wrapper


class Deadline(Wrapper):
    """Cancels a call that takes longer, all its retries together.

    Args:
        model: the model inside.
        seconds: how long a call may take, above 0.

    >>> from vouching.models.scripted import ScriptedModel
    >>> model = Deadline(ScriptedModel(["Yes."]), seconds=60)
    >>> asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))[0].text
    'Yes.'
    """

    def __init__(self, model: Model, seconds: float) -> None:
        if not seconds > 0:
            raise ConfigError(f"a deadline must lie above 0 seconds, got {seconds}")
        super().__init__(model)
        self._seconds = seconds

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """What the model inside says in time. Raises ModelDeadlineError if it does not."""
        scope = asyncio.timeout(self._seconds)
        try:
            async with scope:
                return await self.model.generate(messages, sampling)
        except TimeoutError:
            if not scope.expired():
                raise
            raise ModelDeadlineError(
                f"{self.name} gave no answer within {self._seconds:g} seconds, retries included: allow more or ask less"
            ) from None
