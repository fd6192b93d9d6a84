"""What a model has cost so far: calls, tokens, and money at the caller's prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.wrapper import Wrapper
from vouching.types import Usage, total_usage


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in any currency."""

    prompt: float
    """For a million tokens that are sent."""
    completion: float
    """For a million tokens that come back."""


class Metered(Wrapper):
    """Adds up what the calls cost that succeed. Around a cache it counts what was asked anew.

    Args:
        model: the model inside.
        price: what its tokens cost; None counts tokens only.

    >>> import asyncio
    >>> from vouching.models.scripted import ScriptedModel
    >>> model = Metered(ScriptedModel(["Yes, it is."]), Price(prompt=2.0, completion=10.0))
    >>> said = asyncio.run(model.generate([Message("user", "Is it?")], Sampling()))
    >>> model.usage.prompt_tokens, model.usage.completion_tokens, round(model.cost, 9)  # 2 * 2 / 1e6 + 3 * 10 / 1e6
    (2, 3, 3.4e-05)
    """

    def __init__(self, model: Model, price: Price | None = None) -> None:
        super().__init__(model)
        self._price = price
        self.usage = Usage()
        """The sum so far; seconds are those of the calls, which may run side by side."""

    @property
    def cost(self) -> float | None:
        """The sum so far in the price's currency; None without a price."""
        if self._price is None:
            return None
        tokens = self.usage.prompt_tokens * self._price.prompt + self.usage.completion_tokens * self._price.completion
        return tokens / 1e6

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """What the model inside says, counted."""
        completions = await self.model.generate(messages, sampling)
        self.usage = total_usage([self, *completions])
        return completions
