"""One item of a checklist, judged (Soft-RLVR, section 3: items, votes, share of yes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vouching.types.spans import Span
from vouching.types.verdict import VERDICT_VERSION


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One yes/no question about a response, answered by J votes."""

    question: str
    """The item."""
    votes: tuple[bool | None, ...]
    """One per vote: yes, no, or None where the answer was unclear."""
    score: float
    """Share of yes among all J votes, in [0, 1]; an unclear vote counts as no."""
    passed: bool
    """Whether ``score`` reached the item threshold."""
    reason: str = ""
    """Why, in a sentence, where the judge was asked."""
    span: Span | None = None
    """The words of the response that decide it, where known."""
    kind: Literal["item"] = "item"
    """Tells the findings of a report apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""
