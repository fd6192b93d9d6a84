"""What is wrong with a claim, given the outcomes of its parts, and how it is explained.

In a sum of features a long, well-covered claim can hide one wrong number or unknown name. Each kind of decisive
difference therefore caps the score at the share of training claims with such a difference that were Attributable.
Annotators disagree on overstating qualifiers; their cap follows SEVA's taxonomy, which counts an added intensifier as
an error (Fig. 4, case F3). A claim copied verbatim gets a floor, fitted in the same way.

Where several error types fit, the first in ``ERROR_TYPES`` is reported: differences decided by arithmetic (number,
date), then by words (negation, then name), then overstatement, and last fabrication, which only means that something
was not found. With the encoder, its error-type head detects fabrication, and its least supported token locates an error
in a number, date, qualifier or negation. Not supported: several errors in one claim; the verdict names one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from vouching.encoder.reading import SoftReading
from vouching.methods.embedded.evidence import SourceIndex
from vouching.methods.embedded.features import Segment, comparisons_of
from vouching.methods.embedded.language import looks_english
from vouching.methods.embedded.parts import PartKind
from vouching.methods.embedded.scene import Comparison
from vouching.methods.embedded.soft_reading import MAX_CHARACTERS, is_too_long
from vouching.text.cues import Qualifier
from vouching.types import ERROR_TYPES, Alignment, ErrorType, Judgment, ReasoningStep, Relation, Span, VerdictWarning

Decisive = Literal[
    "quantity_differs", "quantity_absent", "date_differs", "date_absent", "entity_differs", "entity_absent",
    "opposite", "negated", "unhedged", "overstated",
]  # fmt: skip
_FITTED: dict[tuple[str, str], Decisive] = {
    ("quantity", "differs"): "quantity_differs",
    ("quantity", "absent"): "quantity_absent",
    ("date", "differs"): "date_differs",
    ("date", "absent"): "date_absent",
    ("entity", "differs"): "entity_differs",
    ("predicate", "differs"): "entity_differs",
    ("entity", "absent"): "entity_absent",
}
FITTED_KINDS: tuple[Decisive, ...] = (*dict.fromkeys(_FITTED.values()), "opposite", "negated", "unhedged")
"""Kinds whose cap is fitted."""

OVERSTATED_CEILING = 0.48
"""Set by the taxonomy, not fitted."""
_INTENSIFIER_STRENGTH = 0.8
_MIN_WORDS = 4
_ABSOLUTES = ("all", "every", "everyone", "everybody", "always")


def decisive(comparisons: Sequence[Comparison]) -> Iterator[Decisive]:
    """Yield the kind of each decisive difference among ``comparisons``."""
    for comparison in comparisons:
        kind = _FITTED.get((comparison.part.kind, comparison.outcome))
        if kind is not None:
            yield kind
        elif comparison.outcome == "reordered":
            yield "opposite"
        elif comparison.outcome in ("opposite", "negated", "unhedged"):
            yield comparison.outcome
        elif comparison.outcome == "overstated" and _is_intensifier(comparison):
            yield "overstated"


def _is_intensifier(comparison: Comparison) -> bool:
    value = comparison.part.value
    if not isinstance(value, Qualifier):
        return False
    if comparison.value_end:  # the source has a weaker one in its place
        return True
    return value.word in _ABSOLUTES or (value.scale == "degree" and value.strength >= _INTENSIFIER_STRENGTH)


def is_verbatim(segments: Sequence[Segment], index: SourceIndex) -> bool:
    """True if every sentence of the claim is a whole sentence of the sources, word for word."""
    return all(
        len(segment.reading.words) >= _MIN_WORDS
        and bool(segment.focus.sentences)
        and [w.lower for w in segment.reading.words] == [w.lower for w in index.read(segment.focus.sentences[0]).words]
        for segment in segments
    )


_OF_DIFFERENT: dict[str, ErrorType] = {"quantity": "numerical_exaggeration", "date": "temporal_shift"}
_OF_OUTCOME: dict[str, ErrorType] = {
    "opposite": "negation_flip", "negated": "negation_flip", "reordered": "temporal_shift",
    "replaced": "entity_substitution", "overstated": "scope_inflation", "unhedged": "scope_inflation",
    "absent": "fabrication",
}  # fmt: skip
_DIFFERENT = frozenset({"differs", "opposite", "negated", "reordered", "replaced"})


def error_of(comparison: Comparison) -> ErrorType | None:
    """Error type of one comparison; None where the part is supported."""
    if comparison.outcome == "differs":
        return _OF_DIFFERENT.get(comparison.part.kind, "entity_substitution")
    return _OF_OUTCOME.get(comparison.outcome)


def diagnose(comparisons: Sequence[Comparison]) -> ErrorType:
    """Error type of a Not Attributable claim by the rules alone; fabrication if nothing more exact fits."""
    found: set[ErrorType] = {error for comparison in comparisons if (error := error_of(comparison))}
    return min(found or {"fabrication"}, key=ERROR_TYPES.index)


def relation_of(attributable: bool, comparisons: Sequence[Comparison], soft: SoftReading | None = None) -> Relation:
    """supported, contradicted (by the rules or the encoder), or not_found."""
    if attributable:
        return "supported"
    if any(c.outcome in _DIFFERENT for c in comparisons):
        return "contradicted"
    contradicted = soft is not None and soft.relation["contradicted"] > soft.relation["not_found"]
    return "contradicted" if contradicted else "not_found"


_UNSUPPORTED = 0.3
"""Support below which a token locates the error."""
_MADE_UP = 0.8
"""P(fabrication) above which the encoder overrides differences of words."""
_OF_KIND: dict[PartKind, ErrorType] = {
    "quantity": "numerical_exaggeration",
    "date": "temporal_shift",
    "qualifier": "scope_inflation",
}


def diagnose_softly(segments: Sequence[Segment], soft: SoftReading) -> ErrorType:
    """Error type of a Not Attributable claim by rules and encoder."""
    comparisons = comparisons_of(segments)
    sure = [c for c in comparisons if c.outcome in ("negated", "opposite", "reordered")]
    sure += [c for c in comparisons if c.outcome == "differs" and c.part.kind in ("quantity", "date")]
    if sure:
        return diagnose(sure)
    found = {error for comparison in comparisons if (error := error_of(comparison))}
    likeliest = max(soft.error_type, key=lambda kind: soft.error_type[kind])
    if likeliest == "fabrication" and (found <= {"fabrication"} or soft.error_type[likeliest] > _MADE_UP):
        return likeliest
    located = _where_least_supported(segments, soft)
    if located is not None:
        return located
    if found <= {"fabrication"}:
        return likeliest
    return diagnose([comparison for comparison in comparisons if error_of(comparison) != "fabrication"])


def _where_least_supported(segments: Sequence[Segment], soft: SoftReading) -> ErrorType | None:
    """Error type of the part with the least supported token; None for other words, names, or if all are supported."""
    worst = min(_lowest_supports(segments, soft), key=lambda pair: pair[0], default=(1.0, None))
    return worst[1] if worst[0] < _UNSUPPORTED else None


def _lowest_supports(segments: Sequence[Segment], soft: SoftReading) -> Iterator[tuple[float, ErrorType | None]]:
    """The lowest token support of each value, qualifier, predicate and negation, with its error type."""
    for segment in segments:
        offset = segment.reading.offset
        stretches: list[tuple[int, int, ErrorType | None]] = [
            (c.part.value_start, c.part.value_end, _OF_KIND.get(c.part.kind)) for c in segment.comparisons
        ]
        stretches.extend((cue.start, cue.end, "negation_flip") for cue in segment.reading.negations)
        for start, end, error in stretches:
            inside = [
                m.support
                for m in soft.matches
                if offset + start <= m.claim_span.start and m.claim_span.end <= offset + end
            ]
            if inside:
                yield min(inside), error


NOT_FOUND = "NOT_FOUND"
"""SEVA's marker for a part that nothing in the source corresponds to."""


def align(segment: Segment, index: SourceIndex) -> list[Alignment]:
    """The alignment of one sentence of a claim, with offsets in the claim and in the sources."""
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
    kind: str = comparison.outcome
    if kind == "equal":
        kind = "quoted" if evidence.lower() == claimed.lower() else "agrees" if part.kind in _VALUES else kind
    elif kind == "elsewhere" and part.kind == "qualifier":
        kind = "implied"
    elif kind == "overstated" and found:
        kind = "stronger"
    judgment, reason = _ARGUMENTS[kind]
    return judgment, reason.format(claimed=claimed, value=value, evidence=evidence, found=found)


_VALUES = ("quantity", "date")
_ARGUMENTS: dict[str, tuple[Judgment, str]] = {
    "quoted": ("supported", 'The source says "{evidence}".'),
    "agrees": ("supported", '"{value}" and "{found}" agree.'),
    "equal": ("supported", '"{claimed}" corresponds to "{evidence}".'),
    "implied": ("supported", '"{value}" claims no more than the source.'),
    "paraphrased": ("supported", '"{claimed}" is not in the source; closest in meaning is "{evidence}".'),
    "elsewhere": (
        "partially_supported",
        '"{claimed}" occurs in the source, but not near the rest of the claim.',
    ),
    "unhedged": ("partially_supported", 'The source only says "{found}"; the claim asserts it.'),
    "differs": ("not_supported", "The claim says {value}, the source says {found}."),
    "opposite": ("not_supported", '"{value}" is the opposite of "{found}".'),
    "reordered": (
        "not_supported",
        'The claim and the source have "{value}" and "{found}" in opposite order of time.',
    ),
    "negated": (
        "not_supported",
        'The claim and the source disagree on whether "{found}" holds: one of them denies it.',
    ),
    "replaced": ("not_supported", 'Where the claim has "{value}", the source has "{found}".'),
    "stronger": ("not_supported", '"{value}" is stronger than the source\'s "{found}".'),
    "overstated": ("not_supported", 'The source has neither "{value}" nor anything as strong.'),
    "absent": ("not_supported", 'Nothing in the source corresponds to "{claimed}".'),
}
"""The conclusion of each outcome, and its reason."""


def source_warnings(index: SourceIndex) -> Iterator[VerdictWarning]:
    """Warn of sentences excluded from evidence, and of sources without text."""
    for number, found in index.injections:
        source = index.sources[number]
        span = Span(source.text[found.start : found.end], found.start, found.end, source.id)
        yield VerdictWarning(
            "injection", f"A sentence of {source.id} tries to influence the verdict; it was not used as evidence.", span
        )
    for source in index.sources:
        if not source.text.strip():
            yield VerdictWarning("unread", f"{source.id} is empty: there is nothing to attribute to.")


def conflict_warnings(comparisons: Sequence[Comparison], index: SourceIndex) -> Iterator[VerdictWarning]:
    """Warn where one sentence supports the claim and another, in the same words, has another value."""
    for comparison in comparisons:
        if comparison.rival is not None:
            span = index.span(*comparison.rival)
            yield VerdictWarning(
                "conflict", f'The sources disagree: {span.source_id} also says "{span.text}" in the same place.', span
            )


def claim_warnings(claim: str, attributable: bool, comparisons: Sequence[Comparison]) -> Iterator[VerdictWarning]:
    """Warn of other languages, questions, and verdicts that disagree with one of their own steps."""
    if not looks_english(claim):
        yield VerdictWarning(
            "language", "The claim does not look English; only numbers, dates and identical words were compared."
        )
    if claim.rstrip().endswith(("?", "？", "؟")):
        yield VerdictWarning("question", "The claim is a question, which no source can support.")
    doubts = [c for c in comparisons if error_of(c) not in (None, "fabrication")]
    if attributable and doubts:
        parts = "one part of it does" if len(doubts) == 1 else f"{len(doubts)} parts of it do"
        message = f"As a whole the claim scored Attributable, but {parts} not match: read the reasons."
        yield VerdictWarning("inconsistency", message)


def reading_warnings(claim: str, soft: SoftReading | None, index: SourceIndex) -> Iterator[VerdictWarning]:
    """Warn of what the encoder did not read; the rules search all of a source."""
    if is_too_long(index):
        message = f"The sources have more than {MAX_CHARACTERS:,} characters: only the rules searched them."
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
