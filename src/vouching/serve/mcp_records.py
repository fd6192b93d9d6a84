"""What the tools of the MCP server take and return: their JSON schemas are made from these models.

The records are those of ``vouch schema``, without the sources, which the caller has already.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vouching.evidence_windows import JudgedWindow
from vouching.types import (
    CitationResult,
    ContextReport,
    ItemResult,
    PairResult,
    Report,
    Source,
    UnitResult,
    Unverified,
    Verdict,
    VerdictWarning,
)


class SourceText(BaseModel):
    """A document to check against."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="The document's text.")
    id: str | None = Field(None, description="A name that the verdict refers to; doc_id is accepted too.")
    doc_id: str | None = Field(None, description="Another name for id.")
    title: str = Field("", description="Its title, if any.")
    url: str = Field("", description="Where it is, if known; it is never fetched.")

    def source(self, number: int) -> Source:
        """The source; ``number`` names one without an id."""
        return Source(self.text, self.id or self.doc_id or f"source-{number}", self.title, self.url)


class ClaimAnswer(BaseModel):
    """The outcome of one claim."""

    label: Literal["Attributable", "Not Attributable", "Unverified"] = Field(
        description="Whether the sources support the claim; Unverified if the judge failed, which is no judgement."
    )
    finding: Verdict | Unverified = Field(description="The whole record, see `vouch schema verdict`.")

    @classmethod
    def of(cls, finding: Verdict | Unverified) -> ClaimAnswer:
        """The answer for an outcome."""
        return cls(label="Unverified" if isinstance(finding, Unverified) else finding.label, finding=finding)


class ResponseAnswer(BaseModel):
    """The outcome of a whole response."""

    passed: bool | None = Field(
        description="True if there is a finding and all passed, false if one did not, null if it is unknown."
    )
    counts: str = Field(description="The findings by outcome, in words.")
    findings: list[Verdict | ItemResult | UnitResult | PairResult | Unverified] = Field(
        description="One per claim, item or number, in order."
    )
    citations: list[CitationResult] = Field(
        description="One per citation of an API's answer, in order: whether its source supports the sentence."
    )
    coverage: float = Field(description="Share of the response that became a finding or was skipped for a reason.")
    score: float | None = Field(description="How good the response is as a whole, in [0, 1], to rank by.")
    revised_response: str | None = Field(description="The response with its verified fixes, if a repair was asked for.")
    warnings: list[VerdictWarning] = Field(description="Warnings about the response or the sources as a whole.")

    @classmethod
    def of(cls, report: Report) -> ResponseAnswer:
        """The answer for a report."""
        return cls(
            passed=report.passed,
            counts=report.counts or "nothing to check",
            findings=[*report.findings],
            citations=[*report.citations],
            coverage=report.coverage,
            score=report.score,
            revised_response=report.revised_response,
            warnings=[*report.warnings],
        )


class ConversationAnswer(BaseModel):
    """The outcome of each answer of a conversation."""

    turns: list[ResponseAnswer] = Field(
        description="One per answer of the model, in order; the spans of evidence name the result of the tool."
    )


class ContextAnswer(BaseModel):
    """Whether documents are enough for a question."""

    sufficient: bool | None = Field(
        description="Whether the documents together are enough to answer the question; null if the judge failed."
    )
    finding: ContextReport | Unverified = Field(description="The whole record, see `vouch schema context`.")

    @classmethod
    def of(cls, finding: ContextReport | Unverified) -> ContextAnswer:
        """The answer for a record."""
        return cls(sufficient=None if isinstance(finding, Unverified) else finding.sufficient.holds, finding=finding)


class FoundPassage(BaseModel):
    """A passage and what it says about the claim."""

    text: str = Field(description="The passage, as it is in the source.")
    source_id: str = Field(description="Name of its source.")
    start: int = Field(description="Offset of its first character in the source.")
    end: int = Field(description="Offset after its last character.")
    label: Literal["Attributable", "Not Attributable", "Unverified"] = Field(
        description="Whether this passage alone supports the claim."
    )
    relation: str | None = Field(description="supported, contradicted, not_found or conflicting; null if unverified.")
    score: float | None = Field(description="Probability that this passage supports the claim, in [0, 1].")
    title: str = Field(description="Title of the source, if any.")
    url: str = Field(description="Where the source is, if known.")

    @classmethod
    def of(cls, window: JudgedWindow) -> FoundPassage:
        """The record of a judged window."""
        span, outcome = window.span, window.outcome
        return cls(
            text=span.text,
            source_id=span.source_id or "",
            start=span.start,
            end=span.end,
            label="Unverified" if isinstance(outcome, Unverified) else outcome.label,
            relation=None if isinstance(outcome, Unverified) else outcome.relation,
            score=window.score,
            title=window.title,
            url=window.url,
        )


class EvidenceAnswer(BaseModel):
    """The passages that speak about a claim."""

    passages: list[FoundPassage] = Field(
        description="Those that support or contradict the claim first, by their score."
    )
    searched: int = Field(description="Number of passages that were judged.")
