"""What a reader should know before trusting a verdict of the embedded verifier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vouching.encoder.reading import Reading as SoftReading
from vouching.types import Span, VerdictWarning
from vouching.verifiers.embedded.diagnosis import error_of
from vouching.verifiers.embedded.evidence import SourceIndex
from vouching.verifiers.embedded.language import looks_english
from vouching.verifiers.embedded.scene import Comparison
from vouching.verifiers.embedded.soft_reading import MOST_CHARACTERS, is_too_long


def source_warnings(index: SourceIndex) -> Iterator[VerdictWarning]:
    """Sentences that were left out of evidence, and sources without text."""
    for number, found in index.injections:
        source = index.sources[number]
        span = Span(source.text[found.start : found.end], found.start, found.end, source.id)
        yield VerdictWarning(
            "injection", f"A sentence of {source.id} addresses the verdict; it was not used as evidence.", span
        )
    for source in index.sources:
        if not source.text.strip():
            yield VerdictWarning("unread", f"{source.id} is empty: there is nothing to attribute to.")


def conflict_warnings(comparisons: Sequence[Comparison], index: SourceIndex) -> Iterator[VerdictWarning]:
    """Places where one sentence supports the claim and another, in the same words, has another value."""
    for comparison in comparisons:
        if comparison.rival is not None:
            span = index.span(*comparison.rival)
            yield VerdictWarning(
                "conflict", f'The sources disagree: {span.source_id} also says "{span.text}" in the same place.', span
            )


def claim_warnings(claim: str, attributable: bool, comparisons: Sequence[Comparison]) -> Iterator[VerdictWarning]:
    """Language, questions, and verdicts that disagree with one of their own steps."""
    if not looks_english(claim):
        yield VerdictWarning(
            "language", "The claim does not look English; only numbers, dates and equal words were compared."
        )
    if claim.rstrip().endswith(("?", "？", "؟")):
        yield VerdictWarning(
            "question", "The claim is a question; a question states nothing that a source could support."
        )
    doubts = [c for c in comparisons if error_of(c) not in (None, "fabrication")]
    if attributable and doubts:
        parts = "one part of it does" if len(doubts) == 1 else f"{len(doubts)} parts of it do"
        message = f"As a whole the claim scored Attributable, but {parts} not match: read the reasons."
        yield VerdictWarning("inconsistency", message)


def reading_warnings(claim: str, soft: SoftReading | None, index: SourceIndex) -> Iterator[VerdictWarning]:
    """What the encoder did not read; the rules search all of a source."""
    if is_too_long(index):
        message = f"The sources have more than {MOST_CHARACTERS:,} characters: only the rules searched them."
        yield VerdictWarning("unread", message)
    if soft is None:
        return
    if soft.windows_read < soft.windows:
        yield VerdictWarning(
            "unread",
            f"Of the {soft.windows} windows of the sources the encoder read the {soft.windows_read} that share the "
            "rarest words with the claim; only the rules searched the rest.",
        )
    if soft.claim_read < len(claim):
        span = Span(claim[soft.claim_read :], soft.claim_read, len(claim))
        yield VerdictWarning(
            "truncated",
            f"The encoder read the first {soft.claim_read} characters of the claim; only the rules read the rest.",
            span,
        )
