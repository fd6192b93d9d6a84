"""A sampler that says what it was told to say: every game can be played to the letter without a model.

Left out: log-probabilities; a script has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vouching.models.base import Message
from vouching.types import Rollout

Line: TypeAlias = Callable[[Sequence[Message], str, int], str]
"""What is said to a prompt by a role, the how-manieth of its completions this is, from 0."""


def _bytes(text: str) -> list[int]:
    return list(text.encode())


@dataclass(frozen=True, slots=True)
class ScriptedSampler:
    """Speaks by a script.

    >>> import asyncio
    >>> sampler = ScriptedSampler(lambda prompt, role, number: f"{role} {number}: {prompt[-1].content}!")
    >>> [[first, second]] = asyncio.run(sampler.sample([[Message("user", "yes")]], "verifier", 2))
    >>> second.text, second.completion_ids[-1], second.finish_reason
    ('verifier 1: yes!', 33, 'stop')
    """

    script: Line
    """Gives each completion."""
    encode: Callable[[str], Sequence[int]] = _bytes
    """Tokens of a text; its bytes if nothing else is asked for."""
    end: tuple[int, ...] = ()
    """Tokens that end a completion, after those of its text."""

    async def sample(
        self, prompts: Sequence[Sequence[Message]], role: str, n: int, policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:  # fmt: skip
        """What the script says."""
        return [
            [self._spoken(prompt, self.script(prompt, role, number), role, policy, "stop") for number in range(n)]
            for prompt in prompts
        ]

    async def forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """What it is made to say."""
        return self._spoken(prompt, text, role, policy, "forced")

    def _spoken(self, prompt: Sequence[Message], text: str, role: str, policy: str, reason: str) -> Rollout:
        asked = "\n".join(message.content for message in prompt)
        said = (*self.encode(text), *self.end)
        return Rollout(role, (*self.encode(asked),), said, (1,) * len(said), None, reason, text=text, policy=policy)
