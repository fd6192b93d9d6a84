"""How well a verdict fills SEVA's record: format, alignment, chain, grounding, consistency (SEVA section 3.2, Table 5).

For the embedded verifier the format is right by construction; the figures are there to stand beside those of models
that write the record. Left out: what a record says of the claim, which the other figures measure.
"""

from __future__ import annotations

from collections.abc import Sequence

from vouching.methods.structured.prompt import NOT_FOUND
from vouching.methods.structured.reward import alignment_quality, chain_quality
from vouching.types import Verdict

MEASURES = ("format", "alignment", "chain", "grounded", "consistent")


def record_of(verdict: Verdict) -> dict[str, object]:
    """The verdict with SEVA's keys, as a model would write it.

    >>> from vouching import check
    >>> record_of(check("It opened in 1937.", "It opened in 1973."))["evidence_alignment"]
    [{'claim_span': 'opened in 1937', 'source_span': 'opened in 1973', 'status': 'mismatch'}]
    """
    return {
        "evidence_alignment": [
            {
                "claim_span": entry.claim_span.text,
                "source_span": entry.source_span.text if entry.source_span else NOT_FOUND,
                "status": entry.status,
            }
            for entry in verdict.evidence_alignment
        ],
        "reasoning_chain": [
            {
                "claim_part": step.claim_part,
                "source_evidence": step.source_evidence,
                "judgment": step.judgment,
                "explanation": step.explanation,
            }
            for step in verdict.reasoning_chain
        ],
        "label": verdict.label,
        "confidence": verdict.confidence,
        "error_type": verdict.error_type,
        "fix_suggestion": verdict.fix_suggestion,
    }


def structure_of(verdict: Verdict) -> dict[str, float]:
    """The measures of one verdict, each in [0, 1].

    format: 1 if alignment and chain are there and a Not Attributable claim has an error type. alignment, chain: R_a and
    R_c of SEVA's reward. grounded: share of its quotations that are in the texts. consistent: 1 if the label is
    Attributable exactly when every part of the claim matches.

    >>> from vouching import check
    >>> structure_of(check("It opened in 1937.", "It opened in 1973."))
    {'format': 1.0, 'alignment': 1.0, 'chain': 1.0, 'grounded': 1.0, 'consistent': 1.0}
    """
    record = record_of(verdict)
    statuses = [entry.status for entry in verdict.evidence_alignment]
    filled = bool(statuses) and bool(verdict.reasoning_chain) and (verdict.attributable or bool(verdict.error_type))
    return {
        "format": float(filled),
        "alignment": alignment_quality(record["evidence_alignment"]),
        "chain": chain_quality(record["reasoning_chain"]),
        "grounded": verdict.grounded,
        "consistent": float(verdict.attributable == (bool(statuses) and set(statuses) == {"match"})),
    }


def mean_structure(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The measures, averaged over the claims of a row; at least one."""
    each = [structure_of(verdict) for verdict in verdicts]
    return {name: round(sum(one[name] for one in each) / len(each), 6) for name in MEASURES}
