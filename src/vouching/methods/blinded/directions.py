"""Which way a number went: the response's word for it against the documents', once the number is found to be the same.

The checker never sees the response's word; it reads its own beside the value. Left out: a direction on one side only,
which says nothing against the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vouching.errors import ModelError
from vouching.methods.blinded.roles import Samples
from vouching.text.directions import find_direction, opposed, swapped
from vouching.types import PairResult, Source, Span, Unverified


def directed(
    finding: PairResult | Unverified, response: str, samples: Samples | ModelError, sources: Sequence[Source]
) -> PairResult | Unverified:
    """A value that is the same, but fell in the response and rose in the documents, is another one.

    Args:
        finding: what came of a question.
        response: the whole text.
        samples: what the checker read, with the directions beside it.
        sources: the documents.
    """
    if not isinstance(finding, PairResult) or finding.outcome != "same" or not finding.span or not finding.places:
        return finding
    went = find_direction(response, finding.span.start, finding.span.end)
    read = () if isinstance(samples, ModelError) else samples
    known = {place: way for one in read if one for place, way in zip(one.places, one.directions, strict=False)}
    theirs = [way for place in finding.places if (way := known.get(place)) is not None]
    if went is None or len(theirs) < len(finding.places):
        return finding
    start, end = min(went.start, finding.span.start), max(went.end, finding.span.end)
    said, texts = response[start:end], {source.id: source.text for source in sources}
    if not all(opposed(said, way.text) for way in theirs) or any(
        swapped(response, (start, end), texts.get(way.source_id or "", ""), (way.start, way.end)) for way in theirs
    ):
        return finding
    between = response[min(went.end, finding.span.end) : max(went.start, finding.span.start)]
    # Another value between number and word keeps its own mark.
    mark = finding.span if any(map(str.isnumeric, between)) else Span(said, start, end)
    return replace(
        finding,
        answer=said,
        span=mark,
        outcome="different",
        found=tuple(way.text for way in theirs),
        places=tuple(theirs),
        reason="the documents give the same number and the opposite direction",
    )
