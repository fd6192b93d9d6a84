"""A text cut at the ends of its marks, and around them where it is too long to be shown whole.

Offsets are counted here, in characters as Python counts them, so that a browser, which counts UTF-16 units, never has
to. Left out: what a mark looks like.

The texts beside the findings: each source and each response once, whole if there is room, else around its marks.

Left out: texts that no shown finding refers to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vouching.report.findings import FindingView
from vouching.types import Finding, Report, Source, Span


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a text that something is said about."""

    start: int
    """Offset of its first character."""
    end: int
    """Offset after its last character."""
    status: str
    """What is said about it, e.g. "match"."""
    finding: int = 0
    """Number of the finding that says it; 0 if it holds for all."""
    note: str = ""
    """A word to show behind it; empty for none."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text under the same marks from end to end, or a gap."""

    start: int
    """Offset of its first character."""
    text: str
    """The characters; empty for a gap."""
    marks: tuple[Mark, ...] = ()
    """The marks that cover it, in the order they were given."""
    hidden: int = 0
    """How many characters are left out here; 0 unless this is a gap."""

    @property
    def findings_by_status(self) -> dict[str, list[int]]:
        """The findings that mark it, by what they say.

        >>> Piece(0, "60%", (Mark(0, 3, "match", 2), Mark(0, 9, "match", 5))).findings_by_status
        {'match': [2, 5]}
        """
        found: dict[str, dict[int, None]] = defaultdict(dict)
        for mark in self.marks:
            found[mark.status][mark.finding] = None
        return {status: [*numbers] for status, numbers in found.items()}


def pieces_of(text: str, marks: Iterable[Mark], reach: int | None = None) -> list[Piece]:
    """``text`` cut at the ends of ``marks``; marks that are empty or lie outside the text are passed over.

    Args:
        text: the text.
        marks: in any order; they may overlap.
        reach: how many characters around each mark to keep; None keeps everything. Without a mark, the beginning is
            kept.

    >>> pieces = pieces_of("It opened in 1973 or so.", [Mark(13, 17, "match")], reach=3)
    >>> [(piece.text, piece.hidden) for piece in pieces]
    [('', 10), ('in ', 0), ('1973', 0), (' or', 0), ('', 4)]
    """
    inside = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    windows = list(_windows(len(text), inside, reach))
    opening: dict[int, list[int]] = defaultdict(list)
    closing: dict[int, list[int]] = defaultdict(list)
    for place, mark in enumerate(inside):
        opening[mark.start].append(place)
        closing[mark.end].append(place)
    starts, ends = {start for start, _ in windows}, {end for _, end in windows}
    pieces: list[Piece] = []
    open_marks: dict[int, None] = {}
    for at, after in pairwise(sorted({0, len(text), *starts, *ends, *opening, *closing})):
        for place in closing.get(at, ()):
            del open_marks[place]
        open_marks |= dict.fromkeys(opening.get(at, ()))
        if at in ends or (at == 0 and at not in starts):
            pieces.append(Piece(at, "", hidden=after - at))
        else:
            pieces.append(Piece(at, text[at:after], tuple(inside[place] for place in sorted(open_marks))))
    return pieces


def shown_length(length: int, marks: Iterable[Mark], reach: int | None) -> int:
    """How many of ``length`` characters are kept around ``marks``.

    >>> shown_length(1000, [Mark(500, 510, "match")], reach=20)
    50
    """
    return sum(end - start for start, end in _windows(length, marks, reach))


def _windows(length: int, marks: Iterable[Mark], reach: int | None) -> Iterator[tuple[int, int]]:
    """The stretches to keep, in order and apart from each other."""
    if reach is None:
        yield 0, length
        return
    around = sorted((max(0, mark.start - reach), min(length, mark.end + reach)) for mark in marks)
    start, end = around[0] if around else (0, min(length, 2 * reach))
    for following, last in around[1:]:
        if following > end:
            yield start, end
            start = following
        end = max(end, last)
    yield start, end


ROOM = 10_000_000
"""Characters that all texts of a page may take together."""
_STEPS = ((50_000, 2_000), (8_000, 1_000), (2_000, 400), (500, 120), (0, 40), (0, 0))
"""Up to how many characters a text is shown whole, and how many are kept around each mark of a longer one; the first
step at which all texts fit is taken."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the page."""

    anchor: str
    """Its name in links."""
    source: Source | None
    """The source; None for a response."""
    length: int
    """Characters of the whole text."""
    pieces: tuple[Piece, ...]
    """What is shown of it."""


class Shelf:
    """Collects texts and what is marked in them.

    >>> shelf = Shelf()
    >>> anchor = shelf.add_source(Source("It opened in 1973."))
    >>> shelf.add_source(Source("It opened in 1973.")) == anchor
    True
    >>> shelf.mark(anchor, Span("1973", 13, 17, "source-1"), "match", 1)
    'text-1-13'
    >>> [piece.text for piece in shelf.documents()[0].pieces]
    ['It opened in ', '1973', '.']
    """

    def __init__(self) -> None:
        self._anchors: dict[Source, str] = {}
        self._texts: dict[str, str] = {}
        self._marks: dict[str, dict[Mark, None]] = {}

    def add_source(self, source: Source) -> str:
        """Put a source on the shelf, unless the same one stands there; returns its anchor."""
        if source not in self._anchors:
            self._anchors[source] = self._add(source.text)
        return self._anchors[source]

    def add_response(self, report: Report, shown: Iterable[tuple[int, Finding]]) -> str:
        """Put a response on the shelf with the findings that are shown and the passages that state nothing."""
        anchor = self._add(report.response)
        for number, finding in shown:
            self.mark(anchor, finding.span, finding.status, number)
        for passage in report.non_claims:
            self.mark(anchor, passage.span, "passed-over", note=passage.reason)
        return anchor

    def mark(self, anchor: str, span: Span | None, status: str, finding: int = 0, note: str = "") -> str:
        """Mark a span in a text; returns the name of the place, empty if the text does not have the span there."""
        text = self._texts[anchor]
        if span is None or span.start == span.end or text[span.start : span.end] != span.text:
            return ""
        self._marks[anchor][Mark(span.start, span.end, status, finding, note)] = None
        return f"{anchor}-{span.start}"

    def documents(self, room: int = ROOM) -> list[Document]:
        """Every text, cut so that all together take no more than about ``room`` characters."""
        whole, reach = next((step for step in _STEPS if self._length(*step) <= room), _STEPS[-1])
        sources = {anchor: source for source, anchor in self._anchors.items()}
        return [
            Document(
                anchor,
                sources.get(anchor),
                len(text),
                tuple(pieces_of(text, self._marks[anchor], None if len(text) <= whole else reach)),
            )
            for anchor, text in self._texts.items()
        ]

    def _add(self, text: str) -> str:
        anchor = f"text-{len(self._texts) + 1}"
        self._texts[anchor] = text
        self._marks[anchor] = {}
        return anchor

    def _length(self, whole: int, reach: int) -> int:
        return sum(
            shown_length(len(text), self._marks[anchor], None if len(text) <= whole else reach)
            for anchor, text in self._texts.items()
        )


def place_evidence(
    shelf: Shelf, number: int, view: FindingView, sources: Sequence[Source]
) -> tuple[list[str], dict[Span, str]]:
    """Put the sources of a finding on the shelf and mark its evidence and its warnings there.

    Returns:
        The anchors of the sources, and the place of each span that was found where it says.
    """
    anchors: dict[str, str] = {}
    for source in sources:
        # Of sources with the same id the first one is meant.
        anchors.setdefault(source.id, shelf.add_source(source))
    places: dict[Span, str] = {}

    def mark(span: Span | None, status: str, finding: int, note: str = "") -> None:
        anchor = _anchor_of(span, anchors)
        if span and anchor and (place := shelf.mark(anchor, span, status, finding, note)):
            places[span] = place

    for place, status in view.places:
        mark(place, status, number)
    for warning in view.finding.warnings:
        if warning.kind == "injection":
            mark(warning.span, warning.kind, 0, "not used as evidence")
        else:
            mark(warning.span, warning.kind, number)
    return list(dict.fromkeys(anchors.values())), places


def _anchor_of(span: Span | None, anchors: dict[str, str]) -> str | None:
    """The text that a span lies in; a span that names none lies in the only one."""
    if span is None:
        return None
    if span.source_id is None and len(anchors) == 1:
        return next(iter(anchors.values()))
    return anchors.get(span.source_id or "")
