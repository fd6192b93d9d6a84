"""Verdicts and reports as one self-contained HTML file: for one claim, one response, or a million rows.

Everything is rendered here, in Python: the page holds finished text, so that it can be read and printed without script,
offsets are not counted again in another language, and the browser never turns foreign text into markup. The script only
selects what is visible. Counts and charts cover every entry; claims are shown up to a limit, those that need attention
first.

Not supported: editing, and paging beyond the limit; the JSON has all claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

from vouching.errors import InputError
from vouching.inputs import SourcesLike, as_sources, each_of
from vouching.report.documents import Document, Mark, Piece, Shelf, pieces_of, place_evidence
from vouching.report.findings import FindingView, Fix, view_of
from vouching.report.overview import Overview
from vouching.report.points import Edit, Point, non_claims_words, unchanged_words, word_edits
from vouching.report.skeleton import environment, page_target, write_page
from vouching.types import Finding, Report, Source, Span, Unverified, Verdict, VerdictWarning
from vouching.types.visible import shorten, visible_line

LIMIT = 2_000
"""Claims that a page shows in full."""
_UNPACKED = 200
"""Claims up to which a page works without script; a browser parses longer pages too slowly."""
_MAX_CLAIM = 4_000
_MAX_ROW = 400
_MAX_NAME = 120
_MAX_TITLE = 100

Record: TypeAlias = Verdict | Unverified | Report
"""Result of a check."""
GiveSources: TypeAlias = Callable[[], tuple[Source, ...]]
"""Returns the sources of a claim, for which it may have to search."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record and what it was checked against."""

    record: Record
    sources: SourcesLike | GiveSources = ()
    """The sources of a claim, as passed to the check, or a function that returns them; a report has its own."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A finding that the page shows in full."""

    number: int
    """Position among all findings, from 1."""
    finding: Finding
    record: Record
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a finding's card."""

    number: int
    """Position among all findings, from 1."""
    name: str
    """Id of its row; may be empty."""
    view: FindingView
    line: str
    """The subject on one line."""
    claim: tuple[Piece, ...]
    """The subject with its parts marked."""
    points: tuple[tuple[Point, str], ...]
    """Its evidence, each with the link to its place, which may be empty."""
    edits: tuple[Edit, ...]
    """From the claim to the revised one."""
    warnings: tuple[VerdictWarning, ...]
    """Its own warnings, without those of the whole page."""
    texts: tuple[str, ...]
    """Anchors of the texts to show beside it."""
    asked: str = ""
    """The instruction of an item's response, unless the page shows it once for all."""

    @property
    def finding(self) -> Finding:
        """The finding itself."""
        return self.view.finding


def write_report(
    path: str | Path, entries: Entry | Record | Iterable[Entry | Record], *, title: str = "", limit: int = LIMIT
) -> None:
    """Write verdicts and reports as one HTML file, replacing an existing one.

    Args:
        path: the file to write.
        entries: what to show, in order; a record without sources may stand for its entry. Read once; beyond ``limit``
            only counts are kept.
        title: the page's heading; without one, the text of a single claim, else "Report".
        limit: number of claims to show in full: first those that are not attributable or not verified, then the others,
            each in their order. A single response shows its claims in the order of its text.

    Raises InputError if the file cannot be written, or an entry is not a record with sources.

    >>> import tempfile, vouching
    >>> source = "The bridge opened in 1973."
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     verdict = vouching.check("It opened in 1937.", source)
    ...     write_report(f"{folder}/report.html", Entry(verdict, source), title="The bridge")
    ...     page = Path(folder, "report.html").read_text(encoding="utf-8")
    >>> "Change 1937 to 1973." in page
    True
    """
    page_target(path)
    values, alone = _content(entries, limit)
    write_page(path, "report.html.jinja", title=title or _title(alone), **values)


def workspace_html(entries: Entry | Record | Iterable[Entry | Record], limit: int = LIMIT) -> str:
    """The findings beside their texts as a piece of HTML, for a page that has the report's styles and script.

    ``entries`` and ``limit`` as for :func:`write_report`. Raises InputError for an entry that is not a record.
    """
    values, _ = _content(entries, limit)
    return environment().get_template("workspace.html.jinja").render(values)


def _content(entries: Entry | Record | Iterable[Entry | Record], limit: int) -> tuple[dict[str, object], Record | None]:
    """What the templates need, and the record if there is only one."""
    overview, selection = Overview(), _Selection(limit)
    seen: list[Record] = []
    for record, sources in _read(entries):
        # Two are enough to know whether there is more than one.
        seen = [*seen, record][:2]
        selection.add(overview.entries, record, sources)
        overview.add(record)
    alone = seen[0] if len(seen) == 1 else None
    report = alone if isinstance(alone, Report) else None
    chosen = sorted(selection.chosen(), key=lambda one: one.number) if report else selection.chosen()
    cards, texts, response = _lay_out(chosen, report)
    values: dict[str, object] = {
        "lead": " · ".join(filter(None, [overview.subject_words(), overview.made_by_words()])),
        "overview": overview,
        "cards": cards,
        "packed": len(cards) > _UNPACKED,
        "texts": texts,
        "report": report,
        "response": response,
        "passed_over": non_claims_words(report) if report else "",
        "repair": _repair(report) if report else None,
        "unrepaired": report.unrepaired if report else (),
        "unchanged": unchanged_words(report) if report else "",
    }
    return values, alone


def _read(entries: object) -> Iterator[tuple[Record, tuple[Source, ...] | GiveSources]]:
    """Each record with its sources, or a function that returns them."""
    single = isinstance(entries, Entry | Record) or not isinstance(entries, Iterable)
    for number, value in enumerate(cast("Iterable[object]", [entries] if single else entries), 1):
        record, given = (value.record, value.sources) if isinstance(value, Entry) else (value, ())
        if not isinstance(record, Record):
            raise InputError(
                f"entry {number} must be the result of a check (Verdict, Unverified or Report) or an Entry with such a "
                f"result and its sources, got {type(record).__name__}"
            )
        if callable(given):
            yield record, given
            continue
        sources = tuple(each_of(given))
        if len({source.id for source in sources if isinstance(source, Source)}) < len(sources):
            # Evidence refers to the ids that the check gave to sources without an id of their own.
            sources = _as_sources(sources, number)
        yield record, sources


def _as_sources(sources: SourcesLike, number: int) -> tuple[Source, ...]:
    try:
        return as_sources(sources)
    except InputError as error:
        raise InputError(f"entry {number}: {error}") from None


def _title(record: Record | None) -> str:
    claim = "" if record is None or isinstance(record, Report) else record.subject
    return shorten(visible_line(claim), _MAX_TITLE) or "Report"


class _Selection:
    """Selects the findings to show in full, those that need attention first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pressing: list[Chosen] = []
        self._others: list[Chosen] = []
        self._sources: dict[Source, Source] = {}

    def add(self, before: int, record: Record, sources: tuple[Source, ...] | GiveSources) -> None:
        """Consider the findings of a record; ``before`` is the number of earlier findings."""
        findings = record.findings if isinstance(record, Report) else (record,)
        for number, finding in enumerate(findings, before + 1):
            if finding.status != "match" and len(self._pressing) < self._limit:
                self._pressing.append(Chosen(number, finding, record, self._kept(sources)))
                del self._others[self._limit - len(self._pressing) :]
            elif finding.status == "match" and len(self._pressing) + len(self._others) < self._limit:
                self._others.append(Chosen(number, finding, record, self._kept(sources)))

    def _kept(self, sources: tuple[Source, ...] | GiveSources) -> tuple[Source, ...]:
        """The sources; equal ones of different rows are stored once."""
        given = sources() if callable(sources) else sources
        return tuple(self._sources.setdefault(source, source) for source in given)

    def chosen(self) -> list[Chosen]:
        return self._pressing + self._others


def _lay_out(chosen: list[Chosen], alone: Report | None) -> tuple[list[Card], list[Document], Document | None]:
    """The cards, the texts beside them, and the response above them if there is only one."""
    shelf, responses = Shelf(), dict[int, str]()
    by_record: dict[int, list[tuple[int, Finding]]] = {}
    for one in chosen:
        by_record.setdefault(id(one.record), []).append((one.number, one.finding))
    cards: list[Card] = []
    if alone:
        responses[id(alone)] = shelf.add_response(alone, by_record.get(id(alone), []))
        for source in alone.sources:
            shelf.add_source(source)
    for one in chosen:
        record = one.record
        if isinstance(record, Report) and id(record) not in responses:
            responses[id(record)] = shelf.add_response(record, by_record[id(record)])
        sources = record.sources if isinstance(record, Report) else one.sources
        view = view_of(one.finding)
        anchors, links = place_evidence(shelf, one.number, view, sources)
        own = [responses[id(record)]] if id(record) in responses and not alone else []
        cards.append(_card(one, view, links, [*own, *anchors], alone))
    documents = shelf.documents()
    response = documents[0] if alone else None
    return cards, documents[1:] if alone else documents, response


def _card(one: Chosen, view: FindingView, links: dict[Span, str], texts: list[str], alone: Report | None) -> Card:
    record, known = one.record, alone.warnings if alone else ()
    return Card(
        number=one.number,
        name="" if alone else shorten(_name(view, record), _MAX_NAME),
        view=view,
        line=shorten(visible_line(view.finding.subject or view.message), _MAX_ROW),
        claim=tuple(_claim_pieces(view)),
        points=tuple((p, links.get(p.span, "") if p.span else "") for p in view.points),
        edits=_edits(view.fix) if view.fix else (),
        warnings=tuple(warning for warning in view.finding.warnings if warning not in known),
        texts=tuple(texts),
        asked=(record.question or "") if isinstance(record, Report) and not alone else "",
    )


def _edits(fix: Fix) -> tuple[Edit, ...]:
    """The edits from the claim to the revised one; empty without one, or where comparing would take too long."""
    old, new = fix.old, fix.new
    return tuple(word_edits(old, new)) if new is not None and max(len(old), len(new)) <= _MAX_CLAIM else ()


def _name(view: FindingView, record: Record) -> str:
    return " · ".join(filter(None, [record.id or "", view.name])) if isinstance(record, Report) else view.name


def _claim_pieces(view: FindingView) -> list[Piece]:
    text = view.finding.subject
    marks = [Mark(s.start, s.end, status) for s, status in view.parts if text[s.start : s.end] == s.text]
    return pieces_of(text, marks, None if len(text) <= _MAX_CLAIM else _MAX_CLAIM // 8)


def _repair(report: Report) -> list[Edit] | None:
    """The edits from the response to the repaired one; None without a repair, empty if nothing changed."""
    if report.revised_response is None:
        return None
    changed = report.revised_response != report.response
    return word_edits(report.response, report.revised_response) if changed else []
