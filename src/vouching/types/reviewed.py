"""A verdict that a person has looked at: one line of what a ledger exports, and itself a row with a gold label.

It has ``claim``, ``sources``, ``label`` and ``group`` under the names that every reader of labelled rows knows, beside
the verdict it is about. Left out: the history of a review, and who may review; that is the ledger's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from vouching.types.labels import ErrorType, Label
from vouching.types.spans import Source
from vouching.types.verdict import Unverified, Verdict

REVIEWED_VERSION = "1.0"
"""Version of the record's JSON. Changes within 1.x only add fields."""


@dataclass(frozen=True, slots=True)
class ReviewedVerdict:
    """What a person said about a verdict, or about a claim that could not be verified.

    Raises:
        ValueError: the claim is not the one that was judged, an error without the label Not Attributable, or a time
            without its zone.

    >>> from vouching.types import Claim
    >>> judged = Verdict(Claim("It opened in 1937."), "Attributable", 0.9, 0.9, 0.5, "supported")
    >>> source = Source("It opened in 1973.")
    >>> said = ReviewedVerdict("v1", "It opened in 1937.", (source,), "Not Attributable", judged, "reviewer-1",
    ...     "2026-05-04T09:30:00+00:00", "temporal_shift")
    >>> said.overruled
    True
    """

    id: str
    """Name of the verdict in the ledger; several persons may review one."""
    claim: str
    """The claim that was judged, as written."""
    sources: tuple[Source, ...]
    """What it was judged against, in whole."""
    label: Label | None
    """What the person says; None where they looked and could not tell. Supported by these sources, not "true"."""
    verdict: Verdict | Unverified
    """What was decided before."""
    reviewer: str
    """Who looked: a name that the ledger gave them, the same for all that they review."""
    reviewed_at: str
    """When: ISO 8601 with a zone."""
    error_type: ErrorType | None = None
    """What the person says is wrong; None for an Attributable claim, or where they do not say."""
    revised_claim: str | None = None
    """The claim as it should read; None where nobody wrote it."""
    note: str = ""
    """What else they say. For people: no model is shown it."""
    group: str | None = None
    """Document, or response, that the claim belongs to; rows of one group must not be split."""
    kind: Literal["reviewed"] = "reviewed"
    """Tells records apart in JSON."""
    version: str = REVIEWED_VERSION
    """Version of this record."""

    def __post_init__(self) -> None:
        if self.claim != self.verdict.claim.text:
            raise ValueError(f"the claim is {self.claim[:80]!r}, but the verdict is about {self.verdict.claim.text!r}")
        if self.error_type is not None and self.label != "Not Attributable":
            raise ValueError(f"the error is {self.error_type}, so the label must be Not Attributable, got {self.label}")
        if datetime.fromisoformat(self.reviewed_at).tzinfo is None:
            raise ValueError(f"reviewed_at must have a zone, such as +00:00, got {self.reviewed_at!r}")

    @property
    def overruled(self) -> bool:
        """Whether the person gave another label than the verdict has; False where either gave none."""
        before = self.verdict.label if isinstance(self.verdict, Verdict) else None
        return None not in (before, self.label) and before != self.label
