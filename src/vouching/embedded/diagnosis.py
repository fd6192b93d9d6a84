"""What is wrong with a claim, given the outcomes of its parts, and what to warn of.

In a sum of features a long, well-covered claim can hide one wrong number or unknown name. Each kind of decisive
difference therefore caps the score at the share of training claims with such a difference that were Attributable.
Annotators disagree on overstating qualifiers; their cap follows SEVA's taxonomy, which counts an added intensifier as
an error (Fig. 4, case F3). A claim copied verbatim gets a floor, fitted in the same way.

Where several error types fit, what the sources contradict goes before what they do not have, and then the first in
``ERROR_TYPES`` is reported: differences decided by arithmetic (number, date), then by words (negation, then name), then
overstatement, and last fabrication. A number that the sources give to something else is a substitution, not an
exaggeration. With the encoder, its error-type head detects fabrication, and its least supported token locates an error
in a number, date, qualifier or negation. Not supported: several errors in one claim; the verdict names one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from vouching.embedded.features import Segment, comparisons_of
from vouching.embedded.parts import PartKind
from vouching.embedded.scene import Comparison
from vouching.encoder.reading import SoftReading
from vouching.reading.evidence import SourceIndex
from vouching.reading.language import foreign_sources, looks_english
from vouching.reading.plain import PlainText
from vouching.text.cues import Qualifier
from vouching.text.mentions import DateMention, Quantity
from vouching.types import ERROR_TYPES, ErrorType, Relation, Span, VerdictWarning

Decisive = Literal[
    "quantity_differs",
    "quantity_absent",
    "date_differs",
    "date_absent",
    "entity_differs",
    "entity_absent",
    "opposite",
    "negated",
    "unhedged",
    "overstated",
]
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
        return comparison.part.kind == "predicate"
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


_OF_OUTCOME: dict[str, ErrorType] = {
    "opposite": "negation_flip",
    "negated": "negation_flip",
    "reordered": "temporal_shift",
    "replaced": "entity_substitution",
    "overstated": "scope_inflation",
    "unhedged": "scope_inflation",
    "absent": "fabrication",
}
_DIFFERENT = frozenset({"differs", "opposite", "negated", "reordered", "replaced"})
_WEAK = {"replaced": 1, "absent": 2}
"""Outcomes that say less about the error than the others do."""
_CONDITIONS = frozenset("without unless except including included whether".split())


def error_of(comparison: Comparison) -> ErrorType | None:
    """Error type of one comparison; None where the part is supported.

    A wrong or unknown number or length of time is an exaggeration, a wrong or unknown date or time of day a shift.
    """
    part, outcome = comparison.part, comparison.outcome
    if outcome not in ("differs", "absent"):
        return _OF_OUTCOME.get(outcome)
    if isinstance(part.value, DateMention):
        return "numerical_exaggeration" if part.value.kind == "duration" else "temporal_shift"
    if isinstance(part.value, Quantity):
        return "temporal_shift" if part.value.dimension == "time_of_day" else "numerical_exaggeration"
    return "entity_substitution" if outcome == "differs" or part.kind == "entity" else "fabrication"


def _error_in(segment: Segment, comparison: Comparison, index: SourceIndex) -> ErrorType | None:
    """Error type of one comparison, given the sentence of the claim that it is from."""
    error = error_of(comparison)
    if error == "numerical_exaggeration" and is_anothers(segment, comparison, index):
        return "entity_substitution"
    if comparison.outcome == "negated":
        limits = any(q.scale in ("quantity", "exclusivity") for q in segment.reading.qualifiers)
        if limits or any(word.lower in _CONDITIONS for word in segment.reading.words):
            return "scope_inflation"
    return error


def is_anothers(segment: Segment, comparison: Comparison, index: SourceIndex) -> bool:
    """Whether a number is wrong for what the claim is about, but the sources have it, so for something else."""
    part, value = comparison.part, comparison.part.value
    if comparison.outcome != "differs" or not isinstance(value, Quantity) or comparison.sentence is None:
        return False
    words = [word for word in segment.reading.words if part.value_start <= word.start < part.value_end]
    number = [word for word in words if any(c.isdigit() for c in word.lower)] or words
    found = index.read(comparison.sentence).text[comparison.value_start : comparison.value_end].lower()
    known = {word.stem for word in segment.focus.lookups if word.exact}
    # The same number with another unit or bound is wrong in itself.
    return bool(number) and all(word.stem in known and word.lower not in found for word in number)


def diagnose(segments: Sequence[Segment], index: SourceIndex, of: Collection[Comparison] | None = None) -> ErrorType:
    """Error type of a Not Attributable claim by the rules alone; fabrication if nothing more exact fits.

    What the sources contradict goes before another word in a slot, and that before what they do not have.

    Args:
        segments: the sentences of the claim.
        index: the sources.
        of: the comparisons that count; all by default.
    """
    found = [
        (_WEAK.get(comparison.outcome, 0), ERROR_TYPES.index(error))
        for segment in segments
        for comparison in segment.comparisons
        if (of is None or comparison in of) and (error := _error_in(segment, comparison, index))
    ]
    return ERROR_TYPES[min(found)[1]] if found else "fabrication"


def relation_of(attributable: bool, comparisons: Sequence[Comparison], soft: SoftReading | None = None) -> Relation:
    """supported, contradicted (by the rules or the encoder), or not_found."""
    if attributable:
        return "supported"
    if any(c.outcome in _DIFFERENT for c in comparisons):
        return "contradicted"
    # Where a part is missing, the source may speak of something else: the encoder has to be sure.
    times = _SURELY if any(c.outcome == "absent" for c in comparisons) else 1.0
    contradicted = soft is not None and soft.relation["contradicted"] > times * soft.relation["not_found"]
    return "contradicted" if contradicted else "not_found"


_SURELY = 3.0
"""How much more probable a contradiction must be than that nothing is found."""
_UNSUPPORTED = 0.3
"""Support below which a token locates the error."""
_MADE_UP = 0.8
"""P(fabrication) above which the encoder overrides differences of words."""
_OF_KIND: dict[PartKind, ErrorType] = {
    "quantity": "numerical_exaggeration",
    "date": "temporal_shift",
    "qualifier": "scope_inflation",
}


def diagnose_softly(segments: Sequence[Segment], index: SourceIndex, soft: SoftReading) -> ErrorType:
    """Error type of a Not Attributable claim by rules and encoder."""
    comparisons = comparisons_of(segments)
    sure = [c for c in comparisons if c.outcome in ("negated", "opposite", "reordered")]
    sure += [c for c in comparisons if c.outcome == "differs" and c.part.kind in ("quantity", "date")]
    if sure:
        return diagnose(segments, index, sure)
    found = {error for comparison in comparisons if (error := error_of(comparison))}
    likeliest = max(soft.error_type, key=lambda kind: soft.error_type[kind])
    if likeliest == "fabrication" and (found <= {"fabrication"} or soft.error_type[likeliest] > _MADE_UP):
        return likeliest
    located = _where_least_supported(segments, soft)
    if located is not None:
        return located
    if found <= {"fabrication"}:
        return likeliest
    return diagnose(segments, index, [c for c in comparisons if error_of(c) != "fabrication"])


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
                for m in soft.tokens
                if offset + start <= m.claim_span.start and m.claim_span.end <= offset + end
            ]
            if inside:
                yield min(inside), error


_COMPARED = "only numbers, dates and identical words were compared, so the score means little."


def source_warnings(index: SourceIndex) -> Iterator[VerdictWarning]:
    """Warn of sentences excluded from evidence, of other languages, and of sources without text."""
    for number, found in index.injections:
        source = index.sources[number]
        span = Span(source.text[found.start : found.end], found.start, found.end, source.id)
        yield VerdictWarning(
            "injection", f"A sentence of {source.id} tries to influence the verdict; it was not used as evidence.", span
        )
    for number in foreign_sources(index):
        yield VerdictWarning("language", f"{index.sources[number].id} does not look English; {_COMPARED}")
    for source in index.sources:
        if not source.text.strip():
            yield VerdictWarning("unread", f"{source.id} is empty: there is nothing to attribute to.")


def claim_warnings(claim: str, attributable: bool, comparisons: Sequence[Comparison]) -> Iterator[VerdictWarning]:
    """Warn of other languages, questions, and verdicts that disagree with one of their own steps."""
    if not looks_english(claim):
        yield VerdictWarning("language", f"The claim does not look English; {_COMPARED}")
    if claim.rstrip().endswith(("?", "？", "؟")):
        yield VerdictWarning("question", "The claim is a question, which no source can support.")
    doubts = [c for c in comparisons if error_of(c) not in (None, "fabrication")]
    if attributable and doubts:
        parts = "one part of it does" if len(doubts) == 1 else f"{len(doubts)} parts of it do"
        message = f"As a whole the claim scored Attributable, but {parts} not match: read the reasons."
        yield VerdictWarning("inconsistency", message)


def reading_warnings(read: PlainText, claim: str, soft: SoftReading | None) -> Iterator[VerdictWarning]:
    """Warn of a claim that the encoder did not read to its end, given the claim as read and as written."""
    if soft is not None and soft.claim_read < len(read.text):
        end = read.origin(0, soft.claim_read)[1]
        span = Span(claim[end:], end, len(claim))
        yield VerdictWarning(
            "truncated",
            f"The encoder read the first {span.start} characters of the claim; only the rules read the rest.",
            span,
        )
