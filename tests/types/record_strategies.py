"""Records with any content, for properties."""

from __future__ import annotations

from hypothesis import strategies as st

from vouching.types import (
    ERROR_TYPES,
    Alignment,
    Claim,
    ItemResult,
    NonClaim,
    Provenance,
    ReasoningStep,
    Report,
    Source,
    Span,
    Totals,
    UnitResult,
    Unverified,
    Usage,
    Verdict,
    VerdictWarning,
)

TEXTS = st.text(max_size=12)
SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 9)
SPANS = st.builds(
    lambda text, start, source_id: Span(text, start, start + len(text), source_id), TEXTS, COUNTS, st.none() | TEXTS
)
CLAIMS = st.builds(Claim, TEXTS, id=TEXTS, span=st.none() | SPANS, context=TEXTS)
ALIGNMENTS = st.builds(Alignment, SPANS, st.none() | SPANS, st.sampled_from(["match", "mismatch", "not_found"]))
STEPS = st.builds(
    ReasoningStep, TEXTS, TEXTS, st.sampled_from(["supported", "not_supported", "partially_supported"]), TEXTS
)
WARNINGS = st.builds(VerdictWarning, st.sampled_from(["injection", "unread", "language"]), TEXTS, st.none() | SPANS)
PROVENANCES = st.builds(Provenance, TEXTS, TEXTS, st.none() | TEXTS, st.none() | TEXTS, st.none() | COUNTS)
USAGES = st.builds(Usage, st.floats(0, 1e6), COUNTS, COUNTS, COUNTS)


def few(records: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    """Tuples of at most two."""
    return st.lists(records, max_size=2).map(tuple)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    """Any verdict that keeps its own rules."""
    score, threshold = draw(SHARES), draw(SHARES)
    attributable = score >= threshold
    return Verdict(
        claim=draw(CLAIMS),
        label="Attributable" if attributable else "Not Attributable",
        score=score,
        confidence=score if attributable else 1 - score,
        threshold=threshold,
        relation=draw(st.sampled_from(["supported", "contradicted", "not_found"])),
        evidence_alignment=draw(few(ALIGNMENTS)),
        reasoning_chain=draw(few(STEPS)),
        error_type=None if attributable else draw(st.none() | st.sampled_from(ERROR_TYPES)),
        fix_suggestion=draw(st.none() | TEXTS),
        revised_claim=draw(st.none() | TEXTS),
        grounded=draw(SHARES),
        stated_confidence=draw(st.none() | SHARES),
        warnings=draw(few(WARNINGS)),
        provenance=draw(PROVENANCES),
        usage=draw(USAGES),
    )


UNVERIFIED = st.builds(
    Unverified,
    CLAIMS,
    st.sampled_from(["backend", "unparsable", "input"]),
    TEXTS,
    warnings=few(WARNINGS),
    usage=USAGES,
    verdict=st.none() | verdicts(),
)
ITEMS = st.builds(
    ItemResult,
    TEXTS,
    few(st.none() | st.booleans()),
    SHARES,
    st.booleans(),
    TEXTS,
    st.none() | SPANS,
    rule=st.none() | TEXTS,
)
UNITS = st.builds(
    UnitResult,
    TEXTS,
    TEXTS,
    st.booleans(),
    st.sampled_from([None, "keep", "revise"]),
    TEXTS,
    evidence=few(st.tuples(TEXTS, TEXTS)),
)
FINDINGS = st.one_of(verdicts(), UNVERIFIED, ITEMS, UNITS)
REPORTS = st.builds(
    Report,
    TEXTS,
    few(st.builds(Source, TEXTS, TEXTS, TEXTS, TEXTS)),
    few(FINDINGS),
    st.none() | TEXTS,
    few(
        st.builds(
            NonClaim,
            SPANS,
            st.sampled_from(["greeting", "question", "abstained"]),
            st.none() | SPANS,
            st.none() | st.booleans(),
            st.none() | SPANS,
        )
    ),
    SHARES,
    st.builds(Totals, COUNTS, COUNTS, COUNTS, few(st.tuples(st.sampled_from(ERROR_TYPES), COUNTS))),
    revised_response=st.none() | TEXTS,
    unrepaired=few(FINDINGS),
    warnings=few(WARNINGS),
    usage=USAGES,
)
