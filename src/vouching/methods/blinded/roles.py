"""The two roles of a blinded audit: the proposer sees the responses, the checker the documents.

Each role gets all responses of a call at once, so that a policy in training samples once per role.
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
"""Numbers, including years (the paper), or also dates, names and other short answers."""
Samples: TypeAlias = tuple[Checked | None, ...]
"""The answer of each checker; None if unreadable."""
MAX_QUESTIONS = 20
"""Questions per prompt."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Questions about a response, with the response's answers."""

    pairs: tuple[Pair, ...]
    """In the response's order."""
    completions: tuple[Completion, ...] = ()
    """A language model's replies, for their cost."""
    failure: str | None = None
    """Why there are no questions although there is something to ask about."""
    cut_off: bool = False
    """Whether the list was cut off at the token limit."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A checker's input for one response."""

    batches: tuple[tuple[Question, ...], ...]
    """Questions by prompt; may be empty."""
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """The checkers' answers for one response."""

    samples: tuple[Samples | Unread, ...]
    """For each question, in order; Unread where the model failed."""
    completions: tuple[Completion, ...] = ()
    """A language model's replies, for their cost."""
    cut_off: bool = False
    """Whether an answer was cut off at the token limit."""


def values_of(response: str, scope: Scope) -> tuple[Value, ...]:
    """The values of a response that need a question: numbers, or with the scope "facts" also dates."""
    return find_numbers(response) if scope == "numbers" else find_values(response)


class Proposer(Protocol):
    """Sees the responses."""

    async def propose(self, responses: Sequence[str], scope: Scope, least: int) -> list[Proposal]:
        """Questions about the facts of each response, at least ``least`` if it states as many."""
        ...

    async def aclose(self) -> None:
        """Release the model."""
        ...


class BlindChecker(Protocol):
    """Sees documents and questions, never the response or its answers."""

    @property
    def max_at_once(self) -> int:
        """Maximum number of questions per prompt."""
        ...

    async def answer(self, asked: Sequence[Asked]) -> list[Answered]:
        """The answers to the questions about each response."""
        ...

    async def aclose(self) -> None:
        """Release the model."""
        ...
