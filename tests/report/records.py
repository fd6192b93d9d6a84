"""Records made by hand, to be drawn."""

from __future__ import annotations

from vouching.types import (
    Alignment,
    Claim,
    NonClaim,
    Provenance,
    ReasoningStep,
    Report,
    Source,
    Span,
    Totals,
    Unverified,
    Verdict,
    VerdictWarning,
)

RESPONSE = "Sure!\n\nThe bridge opened in 1937. It has two towers. It is blue. It is 2 km long."
SOURCE = "The bridge was opened in 1973. It has 2 towers."


def span_in(text: str, part: str, source_id: str | None = None) -> Span:
    """Where a part that occurs once stands in a text."""
    start = text.index(part)
    return Span(part, start, start + len(part), source_id)


def wrong_year(claim: Claim | None = None) -> Verdict:
    """The named case 1937 / 1973."""
    claim = claim or Claim("The bridge opened in 1937.")
    return Verdict(
        claim,
        "Not Attributable",
        score=0.06,
        confidence=0.94,
        threshold=0.5,
        relation="contradicted",
        evidence_alignment=(
            Alignment(
                span_in(claim.text, "The bridge opened"),
                span_in(SOURCE, "The bridge was opened", "bridge.txt"),
                "match",
            ),
            Alignment(span_in(claim.text, "1937"), span_in(SOURCE, "1973", "bridge.txt"), "mismatch"),
        ),
        reasoning_chain=(
            ReasoningStep("The bridge opened", "The bridge was opened", "supported", "The two say the same."),
            ReasoningStep("1937", "1973", "not_supported", "The claim says 1937, the source says 1973."),
        ),
        error_type="temporal_shift",
        fix_suggestion="Change 1937 to 1973.",
        revised_claim=claim.text.replace("1937", "1973"),
        provenance=Provenance("embedded:rules", "0.1.0"),
    )


def supported(claim: Claim | None = None) -> Verdict:
    """A claim that its source supports."""
    return Verdict(claim or Claim("It has two towers."), "Attributable", 0.97, 0.97, 0.5, "supported")


def unsupported(claim: Claim) -> Verdict:
    """A claim of which the source knows nothing."""
    missing = Alignment(span_in(claim.text, "blue"), None, "not_found")
    step = ReasoningStep("blue", "NOT_FOUND", "not_supported", 'Nothing in the source corresponds to "blue".')
    return Verdict(claim, "Not Attributable", 0.2, 0.8, 0.5, "not_found", (missing,), (step,), error_type="fabrication")


def report() -> Report:
    """A response with a supported claim, two that are not, one that nobody could check, and a repair."""

    def claim(text: str, number: int) -> Claim:
        return Claim(text, f"claim-{number}", span_in(RESPONSE, text))

    findings = (
        wrong_year(claim("The bridge opened in 1937.", 1)),
        supported(claim("It has two towers.", 2)),
        unsupported(claim("It is blue.", 3)),
        Unverified(claim("It is 2 km long.", 4), "backend", "The endpoint did not answer; try again later."),
    )
    revised = RESPONSE.replace("1937", "1973").replace("blue.", "blue. [not supported by the sources]")
    return Report(
        RESPONSE,
        (Source(SOURCE, "bridge.txt"),),
        findings,
        non_claims=(NonClaim(span_in(RESPONSE, "Sure!"), "greeting"),),
        totals=Totals(1, 2, 1, (("temporal_shift", 1), ("fabrication", 1))),
        revised_response=revised,
        unrepaired=(findings[2],),
        warnings=(VerdictWarning("injection", "A sentence of bridge.txt addresses the verdict."),),
    )
