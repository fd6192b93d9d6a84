"""A claim with its numbers and dates in the words of the source, where arithmetic finds them equal.

"30 %" and "one-third", or "3 May 1937" and "May 3, 1937", are the comparators' business. An encoder that reads both in
the same words is not misled by their spelling. Left out: names and other words; the encoder is there for those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vouching.encoder.reading import Reading as SoftReading
from vouching.types import Span
from vouching.verifiers.embedded.evidence import SourceIndex
from vouching.verifiers.embedded.features import Segment


@dataclass(frozen=True, slots=True)
class Reworded:
    """A claim in the source's words, and the way back to its own."""

    claim: str
    """As it was."""
    text: str
    """As the encoder reads it."""
    places: tuple[tuple[int, int, int, int], ...]
    """What was exchanged, in order: start and end in the claim, start and end in the text."""

    def back(self, reading: SoftReading) -> SoftReading:
        """The reading of the text as one of the claim; a token of an exchanged value stands for the whole value."""
        if not self.places:
            return reading
        matches = (replace(match, claim_span=self._span(match.claim_span)) for match in reading.matches)
        read = self._offsets(reading.claim_read, reading.claim_read)[1]
        return replace(reading, matches=tuple(matches), claim_read=read)

    def _span(self, span: Span) -> Span:
        start, end = self._offsets(span.start, span.end)
        return Span(self.claim[start:end], start, end)

    def _offsets(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the claim that ``start..end`` of the text stands for."""
        shift = 0
        for first, last, new_first, new_last in self.places:
            if end <= new_first:
                break
            if start < new_last:
                return first, last
            shift = last - new_last
        return start + shift, end + shift


def reword(claim: str, segments: Sequence[Segment], index: SourceIndex) -> Reworded:
    """The claim with each number or date that equals the source's, in other words, as the source has it.

    >>> from vouching.types import Source
    >>> from vouching.verifiers.embedded.evidence import index_sources
    >>> from vouching.verifiers.embedded.features import compare_claim
    >>> claim, index = "It has 1.2 million users.", index_sources([Source("It has 1,200,000 users.")])
    >>> reword(claim, compare_claim(claim, index), index).text
    'It has 1,200,000 users.'
    """
    parts: list[str] = []
    places: list[tuple[int, int, int, int]] = []
    done = length = 0
    for start, end, found in sorted(_equal_values(claim, segments, index)):
        if start < done:
            continue
        parts += [claim[done:start], found]
        length += start - done + len(found)
        places.append((start, end, length - len(found), length))
        done = end
    return Reworded(claim, "".join([*parts, claim[done:]]), tuple(places))


def _equal_values(claim: str, segments: Sequence[Segment], index: SourceIndex) -> Iterator[tuple[int, int, str]]:
    """Start and end of each value in the claim that the source has in other words, and these words."""
    for segment in segments:
        for comparison in segment.comparisons:
            part = comparison.part
            if part.kind not in ("quantity", "date") or comparison.outcome != "equal" or comparison.sentence is None:
                continue
            start, end = segment.reading.offset + part.value_start, segment.reading.offset + part.value_end
            found = index.read(comparison.sentence).text[comparison.value_start : comparison.value_end]
            if found.strip() and found.lower() != claim[start:end].lower():
                yield start, end, found
