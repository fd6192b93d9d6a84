"""Compare the answers of a blinded audit with those of the response.

The questions are located in the response and the checkers' answers in the documents; then the answers are compared,
value by value (:mod:`vouching.judging.matching`), and by direction where both sides state one. A checker never sees the
response's direction ("fell by 10 %"); the documents' own is read beside the value that it found ("rose by 10 %").

Not supported: a direction on one side only, which does not contradict the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from vouching.judging.matching import Match, Ruling, consensus, same_answer
from vouching.judging.values import find_values
from vouching.judging.windows import ScreenedSources
from vouching.text.directions import find_direction, opposed, swapped
from vouching.text.locate import locate
from vouching.types import Checked, Pair, PairResult, Source, Span


def placed(pairs: Sequence[Pair], response: str) -> tuple[Pair, ...]:
    """Locate the pairs' answers in the response; each value of the response is assigned to one pair.

    A repeated pair is kept as often as the response states its answer.
    """
    stated = find_values(response)
    kept: list[Pair] = []
    for pair in pairs:
        if kept.count(pair) < max(1, sum(same_answer(value.text, pair.answer) for value in stated)):
            kept.append(pair)
    left = list(stated)
    found: list[Pair] = []
    for pair in kept:
        value = next((one for one in left if same_answer(one.text, pair.answer)), None)
        if value is not None:
            left.remove(value)
        place = value or locate(pair.answer, response)
        span = Span(response[place.start : place.end], place.start, place.end) if place else None
        found.append(replace(pair, span=span))
    return tuple(found)


def sourced(parts: Sequence[Checked | None], evidence: ScreenedSources, sources: Sequence[Source]) -> Checked | None:
    """Merge one checker's answers from all windows, with places and directions; None if all are unreadable."""
    read = [part for part in parts if part is not None]
    if not read:
        return None
    answers: list[str] = []
    places: list[Span | None] = []
    ways: list[Span | None] = []
    for part in read:
        quoted = evidence.find(part.evidence) if part.evidence else None
        for answer in part.answers:
            if not any(same_answer(answer, other) for other in answers):
                place = _inside(answer, quoted) if quoted else evidence.find(answer)
                answers.append(answer)
                places.append(place)
                ways.append(_direction_of(answer, place, quoted is not None, sources))
    # Places belong to the answers one by one; unless all are known, none is shown.
    known = tuple(place for place in places if place)
    shown = known if len(known) == len(answers) else ()
    quotes = " … ".join(part.evidence for part in read if part.evidence)
    return Checked(tuple(answers), shown, quotes, directions=tuple(ways))


def beside(source: Source, start: int, end: int, text: str | None = None, base: int = 0) -> Span | None:
    """The span from a value at ``start``, ``end`` to the word of its direction ("rose by 10 %"); None if there is none.

    ``text`` is the part of the source to search and ``base`` its offset; None searches the whole source.
    """
    went = find_direction(source.text if text is None else text, start - base, end - base)
    if went is None:
        return None
    start, end = min(start, went.start + base), max(end, went.end + base)
    return Span(source.text[start:end], start, end, source.id)


def compared(
    pair: Pair,
    ruling: Ruling,
    samples: Sequence[Checked | None],
    response: str,
    sources: Sequence[Source],
    match: Match = "units",
) -> PairResult:
    """The finding for a question: the ruling on its values, with places, votes and directions.

    >>> from vouching.judging.matching import rule
    >>> from vouching.types import Question
    >>> source = Source("Sales rose by 10 % in May.")
    >>> [pair] = placed([Pair(Question("What is the change in May?"), "10 %")], "Sales fell by 10 % in May.")
    >>> checked = sourced([Checked(("10 %",))], ScreenedSources([source]), [source])
    >>> ruling = rule(pair.question.text, pair.answer, [checked])
    >>> found = compared(pair, ruling, [checked], "Sales fell by 10 % in May.", [source])
    >>> ruling.outcome, found.outcome, found.answer, found.found
    ('same', 'different', 'fell by 10 %', ('rose by 10 %',))
    """
    read = [one for one in samples if one is not None]
    agreed = consensus(read, match)
    finding = PairResult(
        question=pair.question.text,
        answer=pair.answer,
        outcome=ruling.outcome,
        found=ruling.found,
        places=_places(ruling, [agreed] if agreed else read),
        votes=tuple(" | ".join(one.answers) if one and one.answers else None for one in samples),
        reason=ruling.reason,
        span=pair.span,
    )
    return finding if agreed is None else _directed(finding, response, agreed, sources)


def _directed(finding: PairResult, response: str, agreed: Checked, sources: Sequence[Source]) -> PairResult:
    """The finding as "different" where the value is the same but the direction is opposite."""
    if finding.outcome != "same" or not finding.span:
        return finding
    went = find_direction(response, finding.span.start, finding.span.end)
    known = dict(zip(agreed.answers, agreed.directions, strict=False))
    theirs = [way for answer in finding.found if (way := known.get(answer)) is not None]
    if went is None or not theirs or len(theirs) < len(finding.found):
        return finding
    start, end = min(went.start, finding.span.start), max(went.end, finding.span.end)
    shown, texts = response[start:end], {source.id: source.text for source in sources}
    if not all(opposed(shown, way.text) for way in theirs) or any(
        swapped(response, (start, end), texts.get(way.source_id or "", ""), (way.start, way.end)) for way in theirs
    ):
        return finding
    between = response[min(went.end, finding.span.end) : max(went.start, finding.span.start)]
    # With another value between number and direction, mark the number alone.
    mark = finding.span if any(map(str.isnumeric, between)) else Span(shown, start, end)
    return replace(
        finding,
        answer=shown,
        span=mark,
        outcome="different",
        found=tuple(way.text for way in theirs),
        places=tuple(way for way in theirs if way.source_id),
        reason="the documents give the same number and the opposite direction",
    )


def _direction_of(answer: str, place: Span | None, quoted: bool, sources: Sequence[Source]) -> Span | None:
    """The direction of an answer: where it is quoted, else wherever it occurs, if those places agree.

    An answer that occurs nowhere is searched itself: a checker may answer "rose by 10 %".
    """
    if place is None:
        return _way(Source(answer, id=""), 0, len(answer))
    if quoted:
        return next((_way(one, place.start, place.end) for one in sources if one.id == place.source_id), None)
    words = re.compile(rf"(?<!\w){re.escape(place.text)}(?!\w)")
    ways = [_way(source, *found.span()) for source in sources for found in words.finditer(source.text)]
    first = ways[0] if ways else None
    return first if first and all(way and not opposed(first.text, way.text) for way in ways) else None


def _way(source: Source, start: int, end: int) -> Span | None:
    """The direction of the one value in a stretch of a source."""
    values = find_values(source.text[start:end])
    return beside(source, start + values[0].start, start + values[0].end) if len(values) == 1 else None


def _inside(answer: str, quoted: Span) -> Span:
    """Where quoted words contain an answer; the whole quotation if they do not."""
    found = locate(answer, quoted.text)
    if found is None:
        return quoted
    start, end = quoted.start + found.start, quoted.start + found.end
    return Span(quoted.text[found.start : found.end], start, end, quoted.source_id)


def _places(ruling: Ruling, read: Sequence[Checked]) -> tuple[Span, ...]:
    """The places of the answers found, if all are known."""
    known = {answer: place for one in read for answer, place in zip(one.answers, one.places, strict=False)}
    return tuple(known[answer] for answer in ruling.found) if all(a in known for a in ruling.found) else ()
