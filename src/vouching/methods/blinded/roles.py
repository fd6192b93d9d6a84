"""The two roles of a blinded audit: who asks sees the responses, who answers sees the documents.

Each role is asked for all responses of a call at once, so that a policy under training speaks once a turn. What they
say is compared by :mod:`vouching.methods.blinded.compare`, whoever spoke.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from vouching.judging.ask import Unread
from vouching.judging.values import Value, find_numbers, find_values
from vouching.models.base import Completion
from vouching.types import Checked, Pair, Question, Source

Scope: TypeAlias = Literal["numbers", "facts"]
"""What is asked about: numbers, years among them (the paper), or also dates, names and other short answers."""
Samples: TypeAlias = tuple[Checked | None, ...]
"""One per checker: what it found; None where a judge gave no answer that could be read."""
MAX_QUESTIONS = 20
"""In one prompt."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Questions about a response with the answers that it gives."""

    pairs: tuple[Pair, ...]
    """In the response's order."""
    said: tuple[Completion, ...] = ()
    """What a language model wrote, for its cost."""
    failure: str | None = None
    """Why there are no questions although there is something to ask about."""
    cut_off: bool = False
    """Whether the list was cut off at the limit of its length."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a checker is asked about one response."""

    batches: tuple[tuple[Question, ...], ...]
    """Questions of different batches do not meet; there may be none."""
    sources: tuple[Source, ...]
    """The documents."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back from the checkers."""

    samples: tuple[Samples | Unread, ...]
    """One per question, in order; Unread where the model failed."""
    said: tuple[Completion, ...] = ()
    """What a language model wrote, for its cost."""
    cut_off: bool = False
    """Whether an answer was cut off at the limit of its length."""


def values_of(response: str, scope: Scope) -> tuple[Value, ...]:
    """The values of a response that must be asked about.

    >>> [len(values_of("On 3 May 1937 all 12 came.", scope)) for scope in ("numbers", "facts")]
    [1, 2]
    """
    return find_numbers(response) if scope == "numbers" else find_values(response)


class Proposer(Protocol):
    """Sees the responses."""

    async def propose(self, responses: Sequence[str], scope: Scope, least: int) -> list[Proposal]:
        """Questions about what each response states, ``least`` of them where it states so much."""
        ...

    async def aclose(self) -> None:
        """Let go of the model."""
        ...


class BlindChecker(Protocol):
    """Sees the documents and questions. Neither the response nor an answer of it is ever passed here."""

    @property
    def max_at_once(self) -> int:
        """How many questions it takes in one go."""
        ...

    async def answer(self, asked: Sequence[Asked]) -> list[Answered]:
        """The answers to the questions about each response."""
        ...

    async def aclose(self) -> None:
        """Let go of the model."""
        ...
