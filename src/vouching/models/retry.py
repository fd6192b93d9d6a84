"""A call that failed for now is made again, after a while.

Only ``ModelUnavailableError`` is worth a retry: busy, down, timed out, cut off. A wrong key or a refused request fails
again, and an answer that is no completion would be paid for twice.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from vouching.errors import ConfigError, ModelUnavailableError
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.wrapper import Wrapper

T = TypeVar("T")


class Retrying(Wrapper):
    """Tries again as long as the model is unavailable.

    The wait before retry k is drawn from [0, first_wait * 2^(k-1)], at most ``longest_wait`` seconds, so that callers
    that failed together do not come back together ("full jitter", Brooker 2015). If the server says how long to wait,
    that is how long, and a little more; if it says longer than ``longest_wait``, the error is raised at once.

    Args:
        model: the model inside.
        attempts: calls in all, at least 1.
        first_wait: upper bound of the first wait in seconds.
        longest_wait: upper bound of every wait in seconds.
        seed: of the waits; None for other waits each time.

    >>> from vouching.models.scripted import ScriptedModel
    >>> script = ScriptedModel([ModelUnavailableError("busy"), "Yes."])
    >>> asyncio.run(Retrying(script, first_wait=0).generate([Message("user", "Is it?")], Sampling()))[0].text
    'Yes.'
    """

    def __init__(
        self,
        model: Model,
        attempts: int = 5,
        *,
        first_wait: float = 0.5,
        longest_wait: float = 60.0,
        seed: int | None = None,
    ) -> None:
        if attempts < 1:
            raise ConfigError(f"the number of attempts must be at least 1, got {attempts}")
        super().__init__(model)
        self._attempts, self._first_wait, self._longest_wait = attempts, first_wait, longest_wait
        self._random = random.Random(seed)

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """What the model inside says in the end. Raises its last error when the attempts are used up."""

        async def call() -> list[Completion]:
            return await self.model.generate(messages, sampling)

        return await retried(call, self._attempts, self._first_wait, self._longest_wait, self._random)


async def retried(
    call: Callable[[], Awaitable[T]], attempts: int, first_wait: float, longest_wait: float, source: random.Random
) -> T:
    """What a call gives in the end, made again as :class:`Retrying` says as long as it is unavailable.

    >>> script = iter([ModelUnavailableError("busy"), "Yes."])
    >>> async def call():
    ...     if isinstance(said := next(script), Exception):
    ...         raise said
    ...     return said
    >>> asyncio.run(retried(call, 2, 0.0, 1.0, random.Random(0)))
    'Yes.'
    """
    for retry in range(1, attempts):
        try:
            return await call()
        except ModelUnavailableError as error:
            asked = error.retry_after
            if asked is not None and asked > longest_wait:
                raise
        wait = jitter(retry, first_wait, longest_wait, source)
        await asyncio.sleep(wait if asked is None else asked + wait / 10)
    return await call()


def jitter(retry: int, first: float, longest: float, source: random.Random) -> float:
    """Seconds to wait before retry 1, 2, ..., drawn from [0, first * 2^(retry - 1)] and at most ``longest``.

    >>> 0 <= jitter(3, 0.5, 60.0, random.Random(0)) <= 2.0
    True
    """
    return source.uniform(0, min(longest, first * 2.0 ** min(retry - 1, 100)))
