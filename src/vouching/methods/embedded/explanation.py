"""The argument in words: one step per part of the claim, each with what the source says there.

What a reader should know before trusting a verdict of the embedded verifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vouching.encoder.reading import SoftReading
from vouching.methods.embedded.diagnosis import error_of
from vouching.methods.embedded.evidence import SourceIndex
from vouching.methods.embedded.features import Segment
from vouching.methods.embedded.language import looks_english
from vouching.methods.embedded.scene import Comparison
from vouching.methods.embedded.soft_reading import MOST_CHARACTERS, is_too_long
from vouching.types import Alignment, Judgment, ReasoningStep, Span, VerdictWarning

NOT_FOUND = "NOT_FOUND"
"""What SEVA writes where nothing in the source corresponds."""


def align(segment: Segment, index: SourceIndex) -> list[Alignment]:
    """The alignment entries of one sentence of a claim, with offsets in the claim and in the sources."""
    return [
        Alignment(_claim_span(segment, comparison), _source_span(comparison, index), comparison.status)
        for comparison in segment.comparisons
    ]


def explain(segment: Segment, index: SourceIndex) -> list[ReasoningStep]:
    """The reasoning steps of one sentence of a claim."""
    steps: list[ReasoningStep] = []
    for comparison in segment.comparisons:
        claimed = _claim_span(segment, comparison).text
        found = _source_span(comparison, index)
        evidence = found.text if found else NOT_FOUND
        judgment, reason = _argue(segment, comparison, claimed, evidence, index)
        steps.append(ReasoningStep(claimed, evidence, judgment, reason))
    return steps


def _claim_span(segment: Segment, comparison: Comparison) -> Span:
    part, reading = comparison.part, segment.reading
    return Span(reading.text[part.start : part.end], reading.offset + part.start, reading.offset + part.end)


def _source_span(comparison: Comparison, index: SourceIndex) -> Span | None:
    if comparison.sentence is None or comparison.end == 0 or comparison.status == "not_found":
        return None
    return index.span(comparison.sentence, comparison.start, comparison.end)


def _argue(
    segment: Segment, comparison: Comparison, claimed: str, evidence: str, index: SourceIndex
) -> tuple[Judgment, str]:
    part = comparison.part
    value = segment.reading.text[part.value_start : part.value_end]
    found = ""
    if comparison.sentence is not None and comparison.value_end:
        found = index.read(comparison.sentence).text[comparison.value_start : comparison.value_end]
    match comparison.outcome:
        case "equal" if evidence.lower() == claimed.lower():
            return "supported", f'The source says "{evidence}".'
        case "equal" if part.kind in ("quantity", "date"):
            return "supported", f'"{value}" and "{found}" agree.'
        case "equal":
            return "supported", f'"{claimed}" corresponds to "{evidence}".'
        case "elsewhere" if part.kind == "qualifier":
            return "supported", f'"{value}" adds no strength that the source lacks.'
        case "elsewhere":
            return (
                "partially_supported",
                f'"{claimed}" occurs, but not where the source speaks of the rest of the claim.',
            )
        case "paraphrased":
            return "supported", f'"{claimed}" is not in the source; closest in meaning is "{evidence}".'
        case "differs":
            return "not_supported", f"The claim says {value}, the source says {found}."
        case "opposite":
            return "not_supported", f'"{value}" is the opposite of "{found}".'
        case "reordered":
            return "not_supported", f'The claim and the source have "{value}" and "{found}" in opposite order of time.'
        case "negated":
            return (
                "not_supported",
                f'The claim and the source disagree on whether "{found}" holds: one of them denies it.',
            )
        case "replaced":
            return "not_supported", f'Where the claim has "{value}", the source has "{found}".'
        case "overstated" if found:
            return "not_supported", f'"{value}" is stronger than the source\'s "{found}".'
        case "overstated":
            return "not_supported", f'The source has no "{value}" or anything as strong.'
        case "unhedged":
            return "partially_supported", f'The source only says "{found}"; the claim asserts it.'
        case "absent":
            return "not_supported", f'Nothing in the source corresponds to "{claimed}".'


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
