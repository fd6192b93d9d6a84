"""What kind of error a claim makes, from what the rules and the encoder found together.

A difference that the rules are sure of comes first. Then the encoder has its say twice: its head for error types knows
what was made up, and the token that it supports least lies in a number, a date, a qualifier or a negation, whose error
it then is. Left out: two errors in one claim; the verdict names one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vouching.encoder.reading import Reading as SoftReading
from vouching.types import ErrorType
from vouching.verifiers.embedded.diagnosis import diagnose, error_of
from vouching.verifiers.embedded.features import Segment, comparisons_of
from vouching.verifiers.embedded.parts import PartKind

_UNSUPPORTED = 0.3
"""Support from which on down a token is where the error lies."""
_MADE_UP = 0.8
"""P(fabrication) from which on the encoder is believed against differences of words."""
_OF_KIND: dict[PartKind, ErrorType] = {
    "quantity": "numerical_exaggeration",
    "date": "temporal_shift",
    "qualifier": "scope_inflation",
}


def diagnose_softly(segments: Sequence[Segment], soft: SoftReading) -> ErrorType:
    """Error type of a Not Attributable claim.

    Args:
        segments: what the rules made of the claim.
        soft: what the encoder made of it.
    """
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
    """The support of the least supported token of every value, qualifier, predicate and negation, with its error."""
    for segment in segments:
        offset = segment.reading.offset
        stretches: list[tuple[int, int, ErrorType | None]] = [
            (c.part.value_start, c.part.value_end, _OF_KIND.get(c.part.kind)) for c in segment.comparisons
        ]
        for cue in segment.reading.negations:
            stretches.append((cue.start, cue.end, "negation_flip"))
        for start, end, error in stretches:
            inside = [
                m.support
                for m in soft.matches
                if offset + start <= m.claim_span.start and m.claim_span.end <= offset + end
            ]
            if inside:
                yield min(inside), error
