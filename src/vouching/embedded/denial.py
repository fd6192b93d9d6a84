"""Claims that deny a statement as a whole ("It is a myth that bats are blind"), judged by the statement they deny.

The statement is compared with the sources. Where they support it, the claim is contradicted; where they contradict it,
or deny it in so many words, the claim is supported; where they do neither, it is not found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vouching.types import NOT_FOUND, Alignment, ReasoningStep, Relation, Span, Verdict

if TYPE_CHECKING:
    from vouching.embedded.voice import Mentioned

_DENIED_TOO = 0.9
"""Score where a source denies the same statement."""
_NOT_FOUND = 0.3
"""Maximum score where the sources do not mention the statement."""
_SURELY_NOT = 0.5
"""Maximum score of a statement that counts as contradicted."""


def turned(verdict: Verdict, denied: Mentioned | None, place: Span | None) -> Verdict:
    """The verdict on a claim, given that on the statement which it denies.

    Args:
        verdict: that on the statement, with the claim itself.
        denied: a sentence of the sources that denies the statement.
        place: where that is.
    """
    score, relation = verdict.score, verdict.relation
    if verdict.label == "Attributable":
        score, relation = 1.0 - score, "contradicted"
        reason = "The claim denies what the source says."
    elif denied is not None:
        score, relation = max(_DENIED_TOO, 1.0 - score), "supported"
        reason = "The source denies the same statement."
    elif verdict.relation == "contradicted" and score <= _SURELY_NOT:
        score, relation = 1.0 - score, "supported"
        reason = "The claim denies a statement that the source contradicts."
    else:
        score, relation = min(score, _NOT_FOUND), "not_found"
        reason = "The source neither says nor denies what the claim denies."
    return _with(verdict, score, relation, reason, place)


def _with(verdict: Verdict, score: float, relation: Relation, reason: str, place: Span | None) -> Verdict:
    holds = score >= verdict.threshold
    whole = verdict.claim.text
    evidence = next((s.source_evidence for s in verdict.reasoning_chain if s.source_evidence != NOT_FOUND), NOT_FOUND)
    step = ReasoningStep(whole, place.text if place else evidence, "supported" if holds else "not_supported", reason)
    alignment = verdict.evidence_alignment
    if place is not None:
        status = "match" if holds else "mismatch"
        alignment = (Alignment(Span(whole, 0, len(whole)), place, status),)
    return replace(
        verdict,
        label="Attributable" if holds else "Not Attributable",
        score=score,
        confidence=score if holds else 1.0 - score,
        relation=relation,
        evidence_alignment=alignment,
        reasoning_chain=(*(() if place else verdict.reasoning_chain), step),
        error_type=None if holds else "negation_flip" if relation == "contradicted" else "fabrication",
        fix_suggestion=None,
        revised_claim=None,
    )
