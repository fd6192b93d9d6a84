"""The texts beside the findings, cut at the ends of their marks, and around the marks where they are too long.

Each source and response is shown once: whole if there is room, else around its marks. Offsets are counted here, in
characters as Python counts them, because a browser counts UTF-16 units.

Not supported: texts that no shown finding refers to.
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
    """A marked span of a text."""

    start: int
    end: int
    status: str
    """E.g. "match"."""
    finding: int = 0
    """Number of the finding; 0 for a mark that belongs to no finding."""
    note: str = ""
    """A word to show after it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text with the same marks throughout, or a gap."""

    start: int
    text: str
    """Empty for a gap."""
    marks: tuple[Mark, ...] = ()
    """The marks that cover it, in the given order."""
    hidden: int = 0
    """Number of omitted characters of a gap."""

    @property
    def findings_by_status(self) -> dict[str, list[int]]:
        """The numbers of the findings that mark it, by status."""
        found: dict[str, dict[int, None]] = defaultdict(dict)
        for mark in self.marks:
            found[mark.status][mark.finding] = None
        return {status: [*numbers] for status, numbers in found.items()}


def pieces_of(text: str, marks: Iterable[Mark], reach: int | None = None) -> list[Piece]:
    """``text`` cut at the ends of ``marks``; marks that are empty or outside the text are ignored.

    ``reach`` is the number of characters to keep around each mark, or, without a mark, half of those at the beginning;
    None keeps everything.
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
    """Number of characters kept around ``marks``."""
    return sum(end - start for start, end in _windows(length, marks, reach))


def _windows(length: int, marks: Iterable[Mark], reach: int | None) -> Iterator[tuple[int, int]]:
    """The disjoint ranges to keep, in order."""
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
"""Length up to which a text is shown whole, and characters kept around each mark of a longer one; the first step at
which all texts fit is used."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the page."""

    anchor: str
    """Its name in links."""
    source: Source | None
    """None for a response."""
    length: int
    """Characters of the whole text."""
    pieces: tuple[Piece, ...]


class Shelf:
    """Collects texts and their marks."""

    def __init__(self) -> None:
        self._anchors: dict[Source, str] = {}
        self._texts: dict[str, str] = {}
        self._marks: dict[str, dict[Mark, None]] = {}

    def add_source(self, source: Source) -> str:
        """Add a source, unless it is there already; returns its anchor."""
        if source not in self._anchors:
            self._anchors[source] = self._add(source.text)
        return self._anchors[source]

    def add_response(self, report: Report, shown: Iterable[tuple[int, Finding]]) -> str:
        """Add a response with the shown findings and the passages without a claim; returns its anchor."""
        anchor = self._add(report.response)
        for number, finding in shown:
            self.mark(anchor, finding.span, finding.status, number)
        for passage in report.non_claims:
            self.mark(anchor, passage.span, "passed-over", note=passage.reason)
        return anchor

    def mark(self, anchor: str, span: Span | None, status: str, finding: int = 0, note: str = "") -> str:
        """Mark a span in a text; returns its anchor, empty if the text differs there."""
        text = self._texts[anchor]
        if span is None or span.start == span.end or text[span.start : span.end] != span.text:
            return ""
        self._marks[anchor][Mark(span.start, span.end, status, finding, note)] = None
        return f"{anchor}-{span.start}"

    def documents(self, room: int = ROOM) -> list[Document]:
        """Every text, cut so that all together take about ``room`` characters at most."""
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
    """Add the sources of a finding and mark its evidence and warnings.

    Returns the anchors of the sources, and that of each span that was found in its place.
    """
    anchors: dict[str, str] = {}
    for source in sources:
        # Of sources with the same id the first counts.
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
    """The text of a span; without a source id it is the only text, if there is one."""
    if span is None:
        return None
    if span.source_id is None and len(anchors) == 1:
        return next(iter(anchors.values()))
    return anchors.get(span.source_id or "")
