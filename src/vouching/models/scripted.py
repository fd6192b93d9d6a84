"""A model that answers from a script, for tests, examples and dry runs: no network, no weights, deterministic.

Token counts in ``usage`` are words. Not supported: log-probabilities and token ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from vouching.errors import ModelError
from vouching.models.base import Completion, Message, Sampling
from vouching.types import Usage

Answer: TypeAlias = str | Completion | Exception
"""A text; a whole completion, e.g. with tool calls; or an exception to raise."""
Script: TypeAlias = Sequence[Answer] | Mapping[str, Answer] | Callable[[Sequence[Message], Sampling], Answer]
"""Answers in turn; or by regular expression, the first that matches in the last message; or a function that is called
once for each completion."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of a ScriptedModel."""

    messages: tuple[Message, ...]
    """The messages."""
    sampling: Sampling
    """The sampling."""

    @property
    def last(self) -> str:
        """The text of the last message; "" if there is none."""
        return self.messages[-1].content if self.messages else ""


class ScriptedModel:
    """A model that answers from a script and keeps the calls that it got.

    An answer longer than ``max_tokens`` words is cut off there, with the finish reason "length"; an answer with a stop
    text ends before it. A list serves one answer to each completion, so a call with n = 3 takes three; a call after the
    last one is an error.

    Args:
        script: see ``Script``.
        name: the name of the model.

    >>> import asyncio
    >>> model = ScriptedModel({"capital of France": "Paris.", ".": "I do not know."})
    >>> [said] = asyncio.run(model.generate([Message("user", "What is the capital of France?")], Sampling()))
    >>> said.text, said.finish_reason
    ('Paris.', 'stop')
    >>> model.asked[0].last
    'What is the capital of France?'
    """

    def __init__(self, script: Script, name: str = "scripted") -> None:
        self.name = name
        self.asked: list[Asked] = []
        """Every call so far, in order."""
        self.closed = False
        """Whether it was closed; it still answers."""
        self._script = script
        self._served = 0

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions by the script. Raises ModelError if it has none for this call."""
        self.asked.append(Asked(tuple(messages), sampling))
        answers = [self._answer(messages, sampling) for _ in range(sampling.n)]
        read = sum(len(message.content.split()) for message in messages)
        usages = [Usage(prompt_tokens=read, calls=1), *(Usage() for _ in answers[1:])]
        return [_complete(answer, sampling, usage) for answer, usage in zip(answers, usages, strict=True)]

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.closed = True

    def _answer(self, messages: Sequence[Message], sampling: Sampling) -> str | Completion:
        answer = self._find(messages, sampling)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _find(self, messages: Sequence[Message], sampling: Sampling) -> Answer:
        script = self._script
        if callable(script):
            return script(messages, sampling)
        if isinstance(script, Mapping):
            last = self.asked[-1].last
            for pattern, answer in script.items():
                if re.search(pattern, last):
                    return answer
            return ModelError(f"no pattern of the script matches {last[:80]!r}, expected one of: {', '.join(script)}")
        self._served += 1
        if self._served > len(script):
            return ModelError(
                f"the script has {len(script)} answers, but completion {self._served} was requested: add answers"
            )
        return script[self._served - 1]


def _complete(said: str | Completion, sampling: Sampling, usage: Usage) -> Completion:
    if isinstance(said, Completion):
        texts = [said.text, *(call.arguments for call in said.tool_calls)]
        return replace(said, usage=replace(usage, completion_tokens=sum(len(text.split()) for text in texts)))
    stops = [place for stop in sampling.stop if (place := said.find(stop)) >= 0]
    text = said[: min(stops)] if stops else said
    words = [*re.finditer(r"\S+", text)]
    usage = replace(usage, completion_tokens=min(len(words), sampling.max_tokens))
    if len(words) > sampling.max_tokens:
        return Completion(text[: words[sampling.max_tokens - 1].end()], "length", usage)
    return Completion(text, "stop", usage)
