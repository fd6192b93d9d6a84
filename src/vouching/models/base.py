"""The interface of every language model: messages and a sampling in, completions out.

A model implements one async method. Caching, retries and limits are wrappers, which are models around a model. A call
ends with completions, with a ModelError that says whether a retry can help, or with a ConfigError, which only other
settings can fix.

Not supported: streaming, images, and thoughts marked other than by a tag such as <think>, <reasoning> or [THINK];
servers with a reasoning parser remove those.
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
"""Why a completion ended: by itself, at a stop text or with a tool call; cut off at ``max_tokens`` or at the end of the
context; or otherwise."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    """Who speaks."""
    content: str
    """The text."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Tool calls that the assistant made with it."""
    tool_call_id: str | None = None
    """The call that a message of role "tool" answers."""

    @property
    def json(self) -> dict[str, Any]:
        """The message as OpenAI-compatible servers accept it.

        >>> Message("tool", "1973", tool_call_id="call-1").json
        {'role': 'tool', 'content': '1973', 'tool_call_id': 'call-1'}
        """
        calls = {"tool_calls": [call.json for call in self.tool_calls]} if self.tool_calls else {}
        answered = {"tool_call_id": self.tool_call_id} if self.tool_call_id else {}
        return {"role": self.role, "content": self.content, **calls, **answered}


NO_SYSTEM_ROLE = re.compile(
    r"system role (?:is )?not supported|not support (?:the |a )?system (?:role|message|prompt)|"
    r"only user(?: and|,) (?:assistant|model) roles|roles must alternate",
    re.IGNORECASE,
)
"""How chat templates and servers say that a conversation cannot begin with a system message."""


def system_in_user(turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    r"""Turns with the text of system messages before that of the first user, for models without a system role.

    >>> system_in_user([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    [{'role': 'user', 'content': 'Be brief.\n\nHi'}]
    """
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    rest = [dict(turn) for turn in turns if turn["role"] != "system"]
    first = next((turn for turn in rest if turn["role"] == "user"), None)
    if first is None:
        return [dict(turn) for turn in turns]
    first["content"] = "\n\n".join([*system, first["content"]])
    return rest


@dataclass(frozen=True, slots=True)
class Sampling:
    """How completions are drawn.

    Raises:
        ConfigError: a number is out of range.

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
    """Draw from the likeliest tokens with this total probability, in (0, 1]."""
    n: int = 1
    """How many completions."""
    seed: int | None = None
    """The same seed gives the same completions, as far as the engine guarantees it; None leaves it to the engine."""
    stop: tuple[str, ...] = ()
    """Texts that end a completion; they are not part of it."""
    json_schema: Mapping[str, Any] | None = None
    """JSON Schema of the completion; put it into the prompt too, since not every engine enforces it."""
    logprobs: bool = False
    """Whether completions carry log-probabilities, where the engine has them."""
    top_logprobs: int = 0
    """Of how many of the likeliest texts of each token a server is asked for the log-probability, 0 to 20."""
    tools: tuple[Tool, ...] = ()
    """Tools that the model may call. A model without tools raises ModelRefusedError."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Other fields for the body of the request; None removes a field. Models in this process accept none."""

    def __post_init__(self) -> None:
        for name in ("max_tokens", "n"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not self.temperature >= 0:
            raise ConfigError(f"temperature must be at least 0, got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p must be in (0, 1], got {self.top_p}")
        if not 0 <= self.top_logprobs <= 20:
            raise ConfigError(f"top_logprobs must be in 0 to 20, got {self.top_logprobs}")


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model."""

    text: str
    """The text."""
    finish_reason: FinishReason
    """Why it ended; "length" means that the text was cut off."""
    usage: Usage
    """What it cost. The first of several completions has the cost of the whole call, so ``total_usage`` is exact."""
    logprobs: tuple[float, ...] | None = None
    """Natural log-probability of each token; None if not asked for or not available."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Tool calls in order; they are not part of ``text``."""
    alternatives: tuple[Mapping[str, float], ...] = ()
    """Log-probability of the likeliest texts of each token, that of the reply first, where ``top_logprobs`` asked a
    server for them."""


@dataclass(frozen=True, slots=True)
class PolicyCompletion:
    """One answer of a model in training, with its tokens: the fields of a ``Rollout`` that the model knows."""

    text: str
    """The text without special tokens."""
    finish_reason: FinishReason
    """Why it ended; "stop" for a teacher-forced text."""
    usage: Usage
    """What it cost, as in ``Completion``."""
    prompt_ids: tuple[int, ...]
    """Token ids of the prompt, from the chat template."""
    completion_ids: tuple[int, ...]
    """Token ids of the completion, with the end token if there is one."""
    logprobs: tuple[float, ...]
    """Natural log-probability of each of ``completion_ids`` at temperature 1, under the weights that answered."""


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """The name, as in ``provenance``: e.g. "http://host:8000/v1#name"."""
        ...

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions.

        Raises:
            ModelError: no usable answer; ``can_retry`` says whether the same call may succeed later.
            ConfigError: wrong settings, such as a wrong key or an unknown name.
        """
        ...

    async def aclose(self) -> None:
        """Release connections, files and threads; closing twice is fine."""
        ...


class Policy(Model, Protocol):
    """A model that can be trained: it returns token ids and their log-probabilities."""

    async def sample(self, messages: Sequence[Message], sampling: Sampling) -> list[PolicyCompletion]:
        """Completions with their tokens."""
        ...

    async def force(self, messages: Sequence[Message], text: str) -> PolicyCompletion:
        """A text put into the policy's mouth, with the log-probabilities that the policy gives it."""
        ...


_THINKING = r"(?:think(?:ing)?|thought|reasoning|reflection|scratchpad)"
_OPENS = rf"(?<!`)(?:<{_THINKING}(?:\s[^<>]{{0,80}})?>|\[THINK\])"
_CLOSES = rf"(?:</{_THINKING}>|\[/THINK\])(?!`)"
_THOUGHT = re.compile(rf"\A(?:(?!{_OPENS}).)*{_CLOSES}|{_OPENS}.*?(?:{_CLOSES}|\Z)", re.DOTALL | re.IGNORECASE)


def thoughts(text: str) -> list[tuple[int, int]]:
    """Where the thoughts of a text are, with their marks: start and end of each, in order."""
    return [found.span() for found in _THOUGHT.finditer(text)]


def spoken(text: str) -> str:
    """The text with thoughts replaced by blanks, so that offsets stay the same.

    A thought that began in the prompt extends to its </think>; one that was cut off extends to the end.

    >>> spoken("<think>1937?</think>In 1973."), spoken("or 1937?</think>In 1973."), spoken("In 1973. <think>or")
    ('                    In 1973.', '                In 1973.', 'In 1973.          ')
    """
    return _THOUGHT.sub(lambda found: " " * len(found[0]), text)
