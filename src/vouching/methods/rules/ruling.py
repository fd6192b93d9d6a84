"""What an exact checker says: passed or not, what it found, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vouching.types import Span

_LONGEST_SPAN = 400
"""Characters of a response that a ruling quotes; a longer stretch decides, but is not shown."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome of one exact check of one text."""

    passed: bool
    """Whether the requirement is fulfilled."""
    reason: str
    """What was found, in a sentence."""
    span: Span | None = None
    """The words that decide it, where single words do."""


def ruled(passed: bool, reason: str, at: re.Match[str] | None = None) -> Ruling:
    """A ruling, with the words that a search found.

    >>> ruled(False, "It has a comma.", re.search(",", "So, no.")).span
    Span(text=',', start=2, end=3, source_id=None)
    """
    if at is None or not at.group() or len(at.group()) > _LONGEST_SPAN:
        return Ruling(passed, reason)
    return Ruling(passed, reason, Span(at.group(), *at.span()))


def holds(relation: str, number: int, limit: int) -> bool:
    """Whether a number is "at least" or "less than" a limit; there are no other relations.

    >>> holds("at least", 3, 3), holds("less than", 3, 3)
    (True, False)
    """
    return number >= limit if relation == "at least" else number < limit


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things as a sentence.

    >>> counted(1, "word"), counted(0, "word")
    ('It has 1 word.', 'It has 0 words.')
    """
    return f"It has {number:,} {one if number == 1 else many or one + 's'}."
