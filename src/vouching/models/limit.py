"""At most so many calls at once; the others wait in line."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vouching.errors import ConfigError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.loops import PerLoop
from vouching.models.wrapper import Wrapper


class Limited(Wrapper):
    """Bounds the calls that are under way, within one process and one event loop.

    Around ``Deadline`` and ``Retrying`` the time in line does not count against a deadline, and a call that waits to be
    tried again keeps its place, so that a busy server is asked less.

    Args:
        model: the model inside.
        at_once: calls under way, at least 1.

    >>> from vouching.models.scripted import ScriptedModel
    >>> model = Limited(ScriptedModel(["Yes."]), at_once=8)
    >>> asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))[0].text
    'Yes.'
    """

    def __init__(self, model: Model, at_once: int) -> None:
        if at_once < 1:
            raise ConfigError(f"the number of calls at once must be at least 1, got {at_once}")
        super().__init__(model)
        self._slots = PerLoop(lambda: asyncio.Semaphore(at_once))

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """What the model inside says, when there is a place for the call."""
        async with self._slots.get():
            return await self.model.generate(messages, sampling)
