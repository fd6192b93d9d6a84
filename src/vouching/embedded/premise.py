"""What the encoder reads of the sources: the sentences and table rows that the rules found for a claim.

A small encoder judges a claim best beside the few sentences that decide. These are joined in the order of the document,
each below its heading; a row of a table is written as "Plan: Team; Price: 49". Every stretch keeps its place in its
source. Not supported: sentences that share no word, synonym or heading with the claim, except in short sources.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from vouching.embedded.features import Segment
from vouching.reading.evidence import Sentence, SourceIndex
from vouching.types import Span

LONGEST = 900
"""Characters of sentences in a premise; the next one is skipped, and sources up to this length are read in full."""
_BEST = 4
"""Sentences of each sentence of the claim, besides the neighbours of the first."""
_NEIGHBOUR_RANK = 2.5
"""Neighbours of the best sentence come after this many of the best sentences."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a premise that is copied from a source."""

    start: int
    """Offset in the premise."""
    length: int
    source: int
    """Position of the source in the call."""
    offset: int
    """Offset in the source in plain form."""


@dataclass(frozen=True, slots=True)
class Premise:
    """A text for the encoder, and where each of its stretches is from."""

    text: str
    pieces: tuple[Piece, ...]

    def span(self, start: int, end: int, index: SourceIndex) -> Span:
        """The stretch of a source in plain form for ``start..end`` of the premise.

        Punctuation between two pieces counts to the former. The premise must have a piece.
        """
        at = max(0, bisect_right(self.pieces, start, key=lambda piece: piece.start) - 1)
        piece = self.pieces[at]
        first = min(max(0, start - piece.start), piece.length - 1)
        last = max(first + 1, min(end - piece.start, piece.length))
        first, last = piece.offset + first, piece.offset + last
        return Span(index.plain[piece.source].text[first:last], first, last, index.sources[piece.source].id)


def premise_for(segments: Sequence[Segment], index: SourceIndex, longest: int = LONGEST) -> Premise:
    r"""The premise, of at most about ``longest`` characters, of a claim that the rules have compared with the sources.

    >>> from vouching.reading.evidence import index_sources
    >>> from vouching.embedded.features import compare_claim
    >>> from vouching.types import Source
    >>> index = index_sources([Source("# Prices\n| Plan | Price |\n|---|---|\n| Basic | $10 |\n")])
    >>> premise_for(compare_claim("Basic costs $10.", index), index).text
    'Prices: Plan: Basic; Price: $10.'
    """
    texts: list[str] = []
    pieces: list[Piece] = []
    length = 0
    for text, place in _stretches(_chosen(segments, index, longest), index):
        if place is not None:
            pieces.append(Piece(length, len(text), *place))
        texts.append(text)
        length += len(text)
    return Premise("".join(texts).rstrip(), tuple(pieces))


def _chosen(segments: Sequence[Segment], index: SourceIndex, longest: int) -> list[int]:
    """Positions of the sentences of the premise, in order."""
    everything = _everything_if_short(index, longest)
    if everything is not None:
        return everything
    wanted: list[tuple[float, int]] = []
    for segment in segments:
        best = segment.focus.sentences[:_BEST]
        wanted += zip(count(), best)
        wanted += (
            (_NEIGHBOUR_RANK, s) for home in best[:1] for s in (home - 1, home + 1) if _same_source(index, home, s)
        )
    chosen: dict[int, None] = {}
    length = 0
    for _, sentence in sorted(wanted, key=lambda entry: entry[0]) or zip(count(), range(len(index.sentences))):
        added = _length(index.sentences[sentence])
        if sentence not in chosen and not _is_title(index, sentence) and (not chosen or length + added <= longest):
            chosen[sentence] = None
            length += added
    return sorted(chosen)


def _everything_if_short(index: SourceIndex, longest: int) -> list[int] | None:
    """All sentences if they are within the limit, else None; a long source is not read to its end."""
    found: list[int] = []
    length = 0
    for position, sentence in enumerate(index.sentences):
        if not _is_title(index, position):
            found.append(position)
            length += _length(sentence)
            if length > longest:
                return None
    return found


def _is_title(index: SourceIndex, position: int) -> bool:
    """Whether a sentence is only a heading, or the heads of a table, which stand before what is below them anyway."""
    sentence = index.sentences[position]
    if sentence.row:
        return sentence.row.is_head
    return sentence.heading is not None and sentence.heading[1] >= sentence.end


def _same_source(index: SourceIndex, one: int, other: int) -> bool:
    return 0 <= other < len(index.sentences) and index.sentences[one].source == index.sentences[other].source


def _length(sentence: Sentence) -> int:
    return sentence.end - sentence.start


_Place = tuple[int, int]
"""Position of a source, and an offset in it."""


def _stretches(chosen: Sequence[int], index: SourceIndex) -> Iterator[tuple[str, _Place | None]]:
    """The texts of a premise, each with its place; None for punctuation."""
    shown: tuple[int, tuple[int, int]] | None = None
    for position in chosen:
        sentence = index.sentences[position]
        text = index.plain[sentence.source].text
        heading = sentence.heading
        if heading and (sentence.source, heading) != shown:
            yield from _stretch(text, *heading, sentence.source)
            yield ": ", None
        shown = (sentence.source, heading) if heading else None
        if sentence.row is None:
            start = max(sentence.start, heading[1]) if heading and heading[0] < sentence.end else sentence.start
            yield from _stretch(text, start, sentence.end, sentence.source)
            yield " ", None
            continue
        for number, cell in enumerate(cell for cell in sentence.row.cells if cell.start < cell.end):
            if number:
                yield "; ", None
            if cell.column[0] < cell.column[1]:
                yield from _stretch(text, *cell.column, sentence.source)
                yield ": ", None
            yield from _stretch(text, cell.start, cell.end, sentence.source)
        yield ". ", None


def _stretch(text: str, start: int, end: int, source: int) -> Iterator[tuple[str, _Place]]:
    """A stretch of a source without marks of layout at its ends."""
    marks = " \t\r\n#*_`>|"
    bare = text[start:end].lstrip(marks)
    first = end - len(bare)
    bare = bare.rstrip(marks)
    if bare:
        yield bare, (source, first)
