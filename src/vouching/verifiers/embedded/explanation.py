"""The argument in words: one step per part of the claim, each with what the source says there."""

from __future__ import annotations

from vouching.types import Alignment, Judgment, ReasoningStep, Span
from vouching.verifiers.embedded.evidence import SourceIndex
from vouching.verifiers.embedded.features import Segment
from vouching.verifiers.embedded.scene import Comparison

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
