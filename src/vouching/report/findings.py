"""What every kind of finding has to say for itself: its sign, its title, what it is about, where that stands.

Left out: the reasons of a verdict, which are in ``vouching.report.points``.
"""

from __future__ import annotations

from typing import Literal

from vouching.report.points import confidence_words
from vouching.types import Finding, ItemResult, PairResult, Span, UnitResult, Unverified, Verdict
from vouching.types.display import decided_words, outcome_words

FindingStatus = Literal["match", "mismatch", "not_found", "unverified"]

SIGNS: dict[str, str] = {"match": "✓", "mismatch": "✗", "not_found": "∅", "unverified": "?"}
"""One sign per status of a part or of a finding, so that nothing depends on colour."""

_OF_OUTCOME: dict[str, FindingStatus] = {
    "same": "match", "different": "mismatch", "contradictory": "mismatch", "not_found": "not_found",
    "leaked": "unverified",
}  # fmt: skip


def status_of(finding: Finding) -> FindingStatus:
    """Whether a finding is good (match), bad (mismatch, not_found) or missing because the judge failed (unverified)."""
    match finding:
        case Verdict():
            return "match" if finding.attributable else "not_found" if finding.relation == "not_found" else "mismatch"
        case ItemResult():
            return "match" if finding.passed else "mismatch"
        case PairResult():
            return _OF_OUTCOME[finding.outcome]
        case UnitResult():
            return "mismatch" if finding.challenged else "match"
        case Unverified():
            return "unverified"


def title_of(finding: Finding) -> list[str]:
    """The outcome of a finding in a few words each: label, error type, confidence.

    >>> from vouching.types import Claim
    >>> title_of(Verdict(Claim("x"), "Attributable", 0.9, 0.9, 0.5, "supported"))
    ['Attributable', 'high confidence (90%)']
    """
    match finding:
        case Verdict():
            kind = [finding.error_type.replace("_", " ")] if finding.error_type else []
            return [finding.label, *kind, confidence_words(finding.confidence)]
        case Unverified():
            return [f"Unverified ({finding.reason})"]
        case ItemResult():
            return [finding.question, decided_words(finding), *filter(None, [finding.reason])]
        case PairResult():
            return [outcome_words(finding), finding.reason]
        case UnitResult():
            challenge = [f"challenged: {finding.claim or finding.proposal}"] if finding.challenged else []
            return [f"{finding.unit_id}: {finding.submitted}", *challenge]


def subject_of(finding: Finding) -> str:
    """What a finding is about, in the words of whoever stated it."""
    match finding:
        case Verdict() | Unverified():
            return finding.claim.text
        case ItemResult() | PairResult():
            return finding.question
        case UnitResult():
            return f"{finding.unit_id}: {finding.submitted}"


def span_of(finding: Finding) -> Span | None:
    """Where in the response stands what the finding is about; None if that is unknown."""
    match finding:
        case Verdict() | Unverified():
            return finding.claim.span
        case ItemResult() | PairResult():
            return finding.span
        case UnitResult():
            return None


def label_of(finding: Finding) -> str:
    """The outcome of a finding in one word or two, the same for all that came out alike.

    >>> from vouching.types import Claim
    >>> label_of(Unverified(Claim("x"), "backend", "No answer."))
    'Unverified'
    """
    match finding:
        case Verdict():
            return finding.label
        case Unverified():
            return "Unverified"
        case ItemResult():
            return "Passed" if finding.passed else "Failed"
        case PairResult():
            return outcome_words(finding)
        case UnitResult():
            return "Challenged" if finding.challenged else "Let pass"
