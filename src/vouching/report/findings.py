"""The view model of findings, whatever they are drawn with.

``view_of`` is the only place that distinguishes the kinds of findings; terminal, Markdown and HTML draw its result.
Common properties of the kinds (``label``, ``passed``, ``status``, ``span``, ``subject``) are on the findings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from vouching.report.points import (
    Point,
    confidence_words,
    made_by_words,
    pair_points,
    points_of,
    relation_words,
    score_words,
)
from vouching.types import Finding, ItemResult, PairResult, Span, UnitResult, Unverified, Verdict
from vouching.types.visible import shorten


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that would make a claim right."""

    title: str
    words: str
    """The edit in words."""
    old: str
    """The claim."""
    new: str | None
    """The edited claim; None if it was not checked."""


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding as it is shown."""

    finding: Finding
    title: tuple[str, ...]
    """The outcome in a few words each: label, error type, confidence."""
    name: str = ""
    """Id of its claim."""
    quoted: bool = True
    """Whether to show the subject below the title; else the title has it."""
    parts: tuple[tuple[Span, str], ...] = ()
    """Parts of the subject, with their statuses."""
    points: tuple[Point, ...] = ()
    """The parts, compared with the sources."""
    places: tuple[tuple[Span | None, str], ...] = ()
    """Spans of the evidence in the sources, with their statuses."""
    error: str = ""
    """The error type in words, or that the sources disagree."""
    relation: str = ""
    """What the sources say about it, in a sentence."""
    message: str = ""
    """Why there is no outcome."""
    reply: str = ""
    """What the model said, where that is why, shortened."""
    note: str = ""
    """Why it passed, where that is not obvious."""
    fix: Fix | None = None
    no_fix: str = ""
    """That there is no fix, where one is expected."""
    confidence: str = ""
    score: str = ""
    """Score and threshold."""
    made_by: str = ""
    """Model and version."""

    @property
    def origin(self) -> str:
        """Score, threshold and model."""
        return "; ".join(filter(None, [self.score, self.made_by]))

    @property
    def label(self) -> str:
        """The outcome in one or two words."""
        return UNUSABLE_ROW if is_unusable_row(self.finding) else self.finding.label


MAX_REPLY = 300
"""Characters of an unusable reply that are shown; its record has more."""
UNUSABLE_ROW = "Unusable row"


def is_unusable_row(finding: Finding) -> bool:
    """Whether it stands for a row that could not be used, so for no claim."""
    return finding.kind == "unverified" and finding.reason == "input" and not finding.claim.text


def view_of(finding: Finding) -> FindingView:
    """A finding as it is shown."""
    match finding:
        case Verdict():
            return _verdict_view(finding)
        case Unverified():
            return _unverified_view(finding)
        case ItemResult():
            title = (finding.question, finding.decided_by, *filter(None, [finding.reason]))
            return FindingView(finding, title, quoted=False, note="" if finding.rule else finding.reason)
        case PairResult():
            return FindingView(
                finding,
                (finding.label, finding.reason),
                points=tuple(pair_points(finding)),
                places=tuple((place, finding.status) for place in finding.places),
            )
        case UnitResult():
            challenge = [f"challenged: {finding.claim or finding.proposal}"] if finding.challenged else []
            return FindingView(finding, (finding.subject, *challenge), quoted=False)


def _unverified_view(finding: Unverified) -> FindingView:
    """Why there is no verdict; with one that was not sure enough, its evidence, reasons and fix, but no label."""
    title = (f"Unverified ({finding.reason})",)
    if finding.verdict is None:
        reply = shorten(finding.reply or "", MAX_REPLY)
        return FindingView(finding, title, finding.claim.id, message=finding.message, reply=reply)
    unsure = _verdict_view(finding.verdict)
    return replace(
        unsure, finding=finding, title=title, message=finding.message, error="", relation="", no_fix="", confidence=""
    )


def _verdict_view(verdict: Verdict) -> FindingView:
    error = verdict.problem
    confidence, fix = confidence_words(verdict.confidence), None
    if verdict.fix_suggestion:
        fix = Fix(verdict.fix_title, verdict.fix_suggestion, verdict.claim.text, verdict.revised_claim)
    missing = fix is None and not verdict.attributable and verdict.relation != "conflicting"
    return FindingView(
        verdict,
        (verdict.label, *filter(None, [error]), confidence),
        verdict.claim.id,
        parts=tuple((entry.claim_span, entry.status) for entry in verdict.evidence_alignment),
        points=tuple(points_of(verdict)),
        places=tuple((entry.source_span, entry.status) for entry in verdict.evidence_alignment),
        error=error,
        relation=relation_words(verdict),
        fix=fix,
        no_fix="No fix was found that the sources support." if missing else "",
        confidence=confidence,
        score=score_words(verdict),
        made_by=made_by_words(verdict),
    )
