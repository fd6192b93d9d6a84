"""The texts beside the findings: each source and each response once, whole if there is room, else around its marks.

Left out: texts that no shown finding refers to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vouching.report.findings import span_of, status_of
from vouching.report.segments import Mark, Piece, pieces_of, shown_length
from vouching.types import Finding, PairResult, Report, Source, Span, Unverified, Verdict

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
            self.mark(anchor, span_of(finding), status_of(finding), number)
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
    shelf: Shelf, number: int, finding: Finding, sources: Sequence[Source]
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

    if isinstance(finding, Verdict):
        for entry in finding.evidence_alignment:
            mark(entry.source_span, entry.status, number)
    if isinstance(finding, PairResult):
        for place in finding.places:
            mark(place, status_of(finding), number)
    if isinstance(finding, Verdict | Unverified):
        for warning in finding.warnings:
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
