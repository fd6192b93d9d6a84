"""The view model: what every kind of finding has to say for itself, whatever it is drawn with.

``view_of`` is the only place that tells the kinds of findings apart; terminal, Markdown and HTML draw what it gives.
What the kinds have in common (``label``, ``passed``, ``status``, ``span``, ``subject``) stands on the findings.
"""

from __future__ import annotations

from dataclasses import dataclass

from vouching.report.points import Point, confidence_words, origin_words, pair_points, points_of, relation_words
from vouching.types import Finding, ItemResult, PairResult, Span, UnitResult, Unverified, Verdict


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that would make a claim right."""

    title: str
    """What to call it."""
    words: str
    """The edit in words."""
    old: str
    """The claim."""
    new: str | None
    """The claim with the edit; None if nobody judged that."""


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding as it is shown."""

    finding: Finding
    """The finding itself."""
    title: tuple[str, ...]
    """The outcome in a few words each: label, error type, confidence."""
    name: str = ""
    """Id of its claim; empty where it has none."""
    quoted: bool = True
    """Whether what it is about stands below the title; else the title says it."""
    parts: tuple[tuple[Span, str], ...] = ()
    """Parts of what it is about, with their statuses."""
    points: tuple[Point, ...] = ()
    """The parts beside what the sources have in their place."""
    places: tuple[tuple[Span | None, str], ...] = ()
    """Where in the sources the evidence stands, with its status."""
    error: str = ""
    """What is wrong, in words."""
    relation: str = ""
    """How the sources stand to it, in a sentence."""
    message: str = ""
    """Why there is no outcome."""
    note: str = ""
    """Why it passed, where that is no matter of course."""
    fix: Fix | None = None
    """How to put it right."""
    no_fix: str = ""
    """That there is no fix, where one would be wanted."""
    confidence: str = ""
    """How sure the verdict is, in words."""
    origin: str = ""
    """Score, threshold and what produced the verdict."""


def view_of(finding: Finding) -> FindingView:
    """A finding as it is shown.

    >>> from vouching.types import Claim
    >>> view_of(Verdict(Claim("x"), "Attributable", 0.9, 0.9, 0.5, "supported")).title
    ('Attributable', 'high confidence (90%)')
    """
    match finding:
        case Verdict():
            return _verdict_view(finding)
        case Unverified():
            title = f"Unverified ({finding.reason})"
            return FindingView(finding, (title,), finding.claim.id, message=finding.message)
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


def _verdict_view(verdict: Verdict) -> FindingView:
    error = verdict.error_type.replace("_", " ") if verdict.error_type else ""
    confidence, fix = confidence_words(verdict.confidence), None
    if verdict.fix_suggestion:
        fix = Fix(verdict.fix_title, verdict.fix_suggestion, verdict.claim.text, verdict.revised_claim)
    wanted = fix is None and not verdict.attributable
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
        no_fix="No fix: no edit was found that the sources support." if wanted else "",
        confidence=confidence,
        origin=origin_words(verdict),
    )
