"""The seam to any language model: messages and a sampling go in, completions come out.

A model implements one async method. Caching, retries, limits and the like are wrappers, models around a model, so that
each can be left out or replaced. Failures are classified where they happen: a call ends with completions, with a
ModelError that says whether a retry can help, or with a ConfigError where nothing but a change of settings can. What a
model thinks aloud between <think> and </think> (or <thinking>) is told from what it says by ``spoken``.

Not supported: streaming, images, and thoughts in other marks; servers that know a model's own take them out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from vouching.errors import ConfigError
from vouching.models.tools import Tool, ToolCall
from vouching.types import Usage

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
FinishReason: TypeAlias = Literal["stop", "length", "other"]
"""Why a completion ended: by itself, at a stop text or with a call; cut off at ``max_tokens`` or the context's end; or
otherwise."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    """Who speaks."""
    content: str
    """What is said."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls of tools that the assistant made with it."""
    tool_call_id: str | None = None
    """In a message of role "tool": the call that it answers."""

    @property
    def json(self) -> dict[str, Any]:
        """The message as OpenAI-compatible servers take it.

        >>> Message("tool", "1973", tool_call_id="call-1").json
        {'role': 'tool', 'content': '1973', 'tool_call_id': 'call-1'}
        """
        calls = {"tool_calls": [call.json for call in self.tool_calls]} if self.tool_calls else {}
        answered = {"tool_call_id": self.tool_call_id} if self.tool_call_id else {}
        return {"role": self.role, "content": self.content, **calls, **answered}


@dataclass(frozen=True, slots=True)
class Sampling:
    """How completions are drawn.

    Raises:
        ConfigError: a number out of its range.

    >>> Sampling(temperature=0.7, n=4, seed=1).n
    4
    >>> Sampling(n=0)
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: n must be at least 1, got 0
    """

    max_tokens: int = 1024
    """Tokens after which a completion is cut off, at least 1."""
    temperature: float = 0.0
    """0 takes the likeliest token each time; higher is more varied."""
    top_p: float = 1.0
    """Draw from the likeliest tokens that make up this share of the probability, in (0, 1]."""
    n: int = 1
    """How many completions."""
    seed: int | None = None
    """Same seed, same completions, as far as the engine keeps that promise; None leaves it to the engine."""
    stop: tuple[str, ...] = ()
    """Texts that end a completion; they are not part of it."""
    json_schema: Mapping[str, Any] | None = None
    """JSON Schema that the completion shall follow; say it in the prompt too, since not every engine can enforce it."""
    logprobs: bool = False
    """Whether completions carry log-probabilities, where the engine has them."""
    tools: tuple[Tool, ...] = ()
    """What the model may call. One that cannot call tools refuses: ModelRefusedError."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields for the body of the request as they are; None takes a field out. Engines in process know none."""

    def __post_init__(self) -> None:
        for name in ("max_tokens", "n"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not self.temperature >= 0:
            raise ConfigError(f"temperature must be at least 0, got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p must lie in (0, 1], got {self.top_p}")


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model."""

    text: str
    """What it said."""
    finish_reason: FinishReason
    """Why it ended; "length" means that the text is cut off."""
    usage: Usage
    """What it cost. What a call costs as a whole stands at its first completion: ``total_usage`` of a call is exact,
    the usage of one of several completions is not."""
    logprobs: tuple[float, ...] | None = None
    """Natural log-probability of each token of the completion; None if not asked for or not known."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Tools that it calls, in its order; they are not part of ``text``."""


@dataclass(frozen=True, slots=True)
class PolicyCompletion:
    """One answer of a model that is trained, token by token: the fields of a ``Rollout`` that the model knows."""

    text: str
    """The completion's text, special tokens aside."""
    finish_reason: FinishReason
    """Why it ended. A forced text ended where it was given to end: "stop"."""
    usage: Usage
    """What it cost, as in ``Completion``."""
    prompt_ids: tuple[int, ...]
    """Token ids that were read, as the chat template made them."""
    completion_ids: tuple[int, ...]
    """Token ids that followed, with the end token if there is one."""
    logprobs: tuple[float, ...]
    """Natural log-probability of each of ``completion_ids`` at temperature 1, under the weights that answered."""


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """What answers, as in ``provenance``: e.g. "http://host:8000/v1#name"."""
        ...

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions.

        Raises:
            ModelError: no usable answer; ``can_retry`` says whether the same call may succeed later.
            ConfigError: the model cannot be used like this at all: a wrong key, an unknown name.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections, files and threads; closing twice is fine."""
        ...


class Policy(Model, Protocol):
    """A model that can be trained: it shows token ids and their log-probabilities."""

    async def sample(self, messages: Sequence[Message], sampling: Sampling) -> list[PolicyCompletion]:
        """What ``generate`` returns, with its tokens."""
        ...

    async def force(self, messages: Sequence[Message], text: str) -> PolicyCompletion:
        """A text put into the policy's mouth, with the log-probabilities that the policy gives it."""
        ...


_THOUGHT = re.compile(
    r"\A(?:(?!<think(?:ing)?>).)*</think(?:ing)?>|<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)",
    re.DOTALL,
)


def spoken(text: str) -> str:
    """The text with blanks for all that was thought, so that places stay what they are.

    A thought that begins in the prompt goes to the last </think> before another one; one that was cut off, to the end.

    >>> spoken("<think>1937?</think>In 1973."), spoken("or 1937?</think>In 1973."), spoken("In 1973. <think>or")
    ('                    In 1973.', '                In 1973.', 'In 1973.          ')
    """
    return _THOUGHT.sub(lambda found: " " * len(found[0]), text)
