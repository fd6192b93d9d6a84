"""What people say about verdicts in a ledger: items of the queue, reviews, and what they add up to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from vouching.errors import InputError
from vouching.types.spans import ErrorType, Label, Source
from vouching.types.verdict import Verdict

Policy: TypeAlias = Literal["uncertain", "disputed", "sampled"]
"""Which verdict comes next: confidence nearest to one half; reviewers disagree, or a caller objected; at random."""
ReviewState: TypeAlias = Literal["open", "disputed", "final"]
"""open: reviews are missing; disputed: reviewers disagree, or a caller objected since; final: decided."""
ReviewAction: TypeAlias = Literal["decide", "skip", "object", "undo"]


class ItemId(NamedTuple):
    """Which verdict: a row of the ledger, and the finding of its report, from 0.

    >>> str(ItemId(17, 2)), ItemId.read("17.2"), ItemId.read("17")
    ('17.2', ItemId(row=17, finding=2), ItemId(row=17, finding=0))
    """

    row: int
    finding: int = 0

    def __str__(self) -> str:
        return f"{self.row}.{self.finding}"

    @classmethod
    def read(cls, text: str) -> ItemId:
        """The id of a text such as "17.2". Raises InputError for another text."""
        found = re.fullmatch(r"([0-9]{1,18})(?:\.([0-9]{1,6}))?", text)
        if found is None:
            raise InputError(f"expected the id of an item such as 17.2, got {text[:80]!r}")
        return cls(int(found[1]), int(found[2] or 0))


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reviewer says about a verdict. Notes are data: they are kept and shown, and never part of a prompt."""

    label: Label | None = None
    """The right label, relative to the sources; None confirms the verdict's label."""
    error_type: ErrorType | None = None
    """The right error type; None confirms the verdict's, if the label stays, and else is not given."""
    span: tuple[int, int] | None = None
    """The wrong part of the claim: start and end, end-exclusive, in characters; None if not given."""
    fix: str | None = None
    """The claim as it should read; None if not given."""
    note: str = ""
    """Other remarks."""


@dataclass(frozen=True, slots=True)
class Review:
    """One entry of the audit: who did what to which verdict, when."""

    id: int
    """Id of its row in the ledger."""
    item: ItemId
    """The verdict."""
    at: str
    """When: ISO 8601, UTC."""
    reviewer: str
    """Who: the name of the API key."""
    action: ReviewAction
    """What was done."""
    label: str | None
    """The label that was given; None for a skip, an objection or an undo."""
    error_type: str | None
    """The error type that was given."""
    undone: bool
    """Whether it was taken back later."""
    policy: str | None = None
    """By which policy the verdict had been taken; None if it was not from the queue."""
    before: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Label and error type of the verdict that it is about."""
    span: tuple[int, int] | None = None
    """The wrong part of the claim; None if not given or erased."""
    fix: str | None = None
    """The claim as it should read; None if not given or erased."""
    note: str = ""
    """Remarks; empty if erased."""
    undoes: int | None = None
    """For an undo, the id of the review that it takes back."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A verdict with its texts and its reviews."""

    id: ItemId
    """Which verdict."""
    at: str
    """When it was appended: ISO 8601, UTC."""
    stream: str
    """Its chain."""
    caller: str
    """Who had asked for it."""
    verdict: Verdict
    """What was decided."""
    sources: tuple[Source, ...]
    """What it was judged against; empty if the ledger does not have the texts."""
    question: str | None
    """The question of the response, if any."""
    response: str | None
    """The response that the claim is from, if any."""
    state: ReviewState
    """State of its reviews."""
    reviews: tuple[Review, ...] = ()
    """Everything that was done to it, oldest first."""
    locked_until: float | None = None
    """Seconds since 1970 until when whoever took it has it; None if it was not taken."""


@dataclass(frozen=True, slots=True)
class ItemLine:
    """A verdict in a list, without texts."""

    id: ItemId
    """Its row and finding in the ledger."""
    at: str
    """When it was kept, in ISO 8601."""
    stream: str
    """Its chain."""
    caller: str
    """Who asked for it."""
    model: str | None
    """The judge."""
    label: str
    """The judge's label."""
    error_type: str | None
    """The judge's error type."""
    score: float
    """Support, in [0, 1]."""
    confidence: float
    """Of the label, in [.5, 1]."""
    state: ReviewState
    """Whether it is open, decided or final."""
    decided: int
    """Reviewers who decided it."""
    objected: bool
    """Whether a caller objected since the newest decision."""
    gold_label: str | None
    """What the reviewers agree on so far."""
    gold_type: str | None
    """Likewise, the error type."""


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How much is left."""

    open: int
    """Verdicts whose reviews are missing."""
    disputed: int
    """Verdicts on which reviewers disagree, or to which a caller objected since."""
    final: int
    """Verdicts that are decided."""
    locked: int
    """Verdicts that somebody has in hand."""


@dataclass(frozen=True, slots=True)
class QueueFilters:
    """Which verdicts; a filter that is None does not restrict."""

    stream: str | None = None
    """The chain."""
    caller: str | None = None
    """Who had asked for it."""
    model: str | None = None
    """Its engine."""
    label: str | None = None
    """Its label."""
    error_type: str | None = None
    """Its error type."""
    since: str | None = None
    """Appended at this time or later: ISO 8601; without a zone, UTC."""
    until: str | None = None
    """Appended before this time."""
