"""A checklist, the items it consists of, and one item judged (Soft-RLVR, section 3: items, votes, share of yes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vouching.types.spans import Span
from vouching.types.verdict import VERDICT_VERSION


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One yes/no question about a response: put to a judge, or decided by a rule.

    >>> ChecklistItem("Does the response use a friendly tone?").rule is None
    True
    """

    text: str
    """The question; for an item that a rule decides, the requirement in words."""
    rule: str | None = None
    """Name of the exact checker that decides the item, e.g. "punctuation:no_comma"; None if a judge is to be asked."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """What the checker is called with, e.g. ``{"num_words": 300, "relation": "at least"}``; empty without a rule."""
    span: Span | None = None
    """The words of the instruction that ask for it, where known."""

    def __post_init__(self) -> None:
        if self.rule is None and self.arguments:
            raise ValueError(f"an item without a rule takes no arguments, got {dict(self.arguments)!r}")


@dataclass(frozen=True, slots=True)
class Checklist:
    """What a good response to one instruction must fulfil, in order.

    >>> checklist = Checklist("Write a short poem.", (ChecklistItem("Is the response a poem?"),))
    >>> [item.text for item in checklist.items]
    ['Is the response a poem?']
    """

    instruction: str
    """The instruction, or the conversation, it was made for."""
    items: tuple[ChecklistItem, ...]
    """The essential questions; K of them."""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One yes/no question about a response, answered by J votes or by a rule."""

    question: str
    """The item."""
    votes: tuple[bool | None, ...]
    """One per vote: yes, no, or None where the answer was unclear; a rule gives a single one."""
    score: float
    """Share of yes among all J votes, in [0, 1]; an unclear vote counts as no."""
    passed: bool
    """Whether ``score`` reached the item threshold."""
    reason: str = ""
    """Why, in a sentence, where the judge was asked or the rule says so."""
    span: Span | None = None
    """The words of the response that decide it, where known."""
    rule: str | None = None
    """Name of the exact checker that decided; None if a judge voted."""
    kind: Literal["item"] = "item"
    """Tells the findings of a report apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    def __str__(self) -> str:
        from vouching.types.display import item_text

        return item_text(self)
