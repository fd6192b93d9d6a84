"""Verdicts and reports as one HTML file that fetches nothing: for one claim, one response, or a million rows.

All of it is written out here, in Python: the page holds finished text, so that it can be read and printed without
script, no offset is counted twice in two languages, and nothing foreign is ever turned into markup by the browser. The
script only chooses what is in view. Counts and charts take in every entry; the claims themselves are shown up to a
limit, those that need attention first. Left out: editing, and paging through more claims than the limit; the JSON has
them all.
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
from vouching.report.points import (
    Edit,
    Point,
    non_claims_words,
    word_edits,
)
from vouching.report.skeleton import page_target, write_page
from vouching.types import Finding, Report, Source, Span, Unverified, Verdict, VerdictWarning
from vouching.types.visible import shorten, visible_line

LIMIT = 2_000
"""Claims that a page shows in full."""
_UNPACKED = 200
"""Claims up to which a page works without script as well; of more a browser would parse too long."""
_LONGEST_CLAIM = 4_000
_LONGEST_ROW = 400
_LONGEST_NAME = 120
_LONGEST_TITLE = 100

Record: TypeAlias = Verdict | Unverified | Report
"""What a check gives."""
GiveSources: TypeAlias = Callable[[], tuple[Source, ...]]
"""Gives the sources of a claim, for which it may have to search."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record and what it was checked against."""

    record: Record
    """What came out."""
    sources: SourcesLike | GiveSources = ()
    """The sources of a claim, as the check took them, or what gives them if it is shown; a report has its own."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A finding that the page shows in full."""

    number: int
    """Its place among all findings, from 1."""
    finding: Finding
    """The finding itself."""
    record: Record
    """Where it comes from."""
    sources: tuple[Source, ...]
    """The sources of a claim."""


@dataclass(frozen=True, slots=True)
class Card:
    """All that the page says about one finding."""

    number: int
    """Its place among all findings, from 1."""
    name: str
    """Id of its row; empty where nothing but the number names it."""
    view: FindingView
    """What it says for itself."""
    line: str
    """What it is about, on one line."""
    claim: tuple[Piece, ...]
    """What it is about, with its parts marked."""
    points: tuple[tuple[Point, str], ...]
    """Its evidence, each with the link to its place; empty where there is none."""
    edits: tuple[Edit, ...]
    """How the claim becomes the revised one."""
    warnings: tuple[VerdictWarning, ...]
    """What to know about it that the page does not say once for all."""
    texts: tuple[str, ...]
    """Anchors of the texts to show beside it."""
    asked: str = ""
    """The instruction of the response that an item is about, where the page does not have it once for all."""

    @property
    def finding(self) -> Finding:
        """The finding itself."""
        return self.view.finding


def write_report(
    path: str | Path, entries: Entry | Record | Iterable[Entry | Record], *, title: str = "", limit: int = LIMIT
) -> None:
    """Write verdicts and reports as one HTML file, whole or not at all.

    Args:
        path: the file to write; an existing one is replaced.
        entries: what to show, in order, or a single one; a record without sources may stand for its entry. Read once,
            and of those beyond ``limit`` only the numbers are kept.
        title: the page's heading; without one, the words of a single claim, else "Report".
        limit: how many claims to show in full: those that are not attributable or not verified first, then the others,
            each in their order. A single response shows its claims in the order of its text.

    Raises:
        InputError: the path is a folder or no regular file, its folder is missing, or it cannot be written; an entry
            is no record, or its sources are none.

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
    overview, selection = Overview(), _Selection(limit)
    seen: list[Record] = []
    for record, sources in _read(entries):
        # Two are enough to know that there is more than one.
        seen = [*seen, record][:2]
        selection.add(overview.findings, record, sources)
        overview.add(record)
    alone = seen[0] if len(seen) == 1 else None
    report = alone if isinstance(alone, Report) else None
    chosen = sorted(selection.chosen(), key=lambda one: one.number) if report else selection.chosen()
    cards, texts, response = _lay_out(chosen, report)
    write_page(
        path,
        "report.html.jinja",
        title=title or _title(alone),
        lead=" · ".join(filter(None, [overview.subject_words(), overview.made_by_words()])),
        overview=overview,
        cards=cards,
        packed=len(cards) > _UNPACKED,
        texts=texts,
        report=report,
        response=response,
        passed_over=non_claims_words(report) if report else "",
        repair=_repair(report) if report else None,
        unrepaired=[finding.subject for finding in report.unrepaired] if report else [],
    )


def _read(entries: object) -> Iterator[tuple[Record, tuple[Source, ...] | GiveSources]]:
    """Each record with its sources, or what gives them."""
    single = isinstance(entries, Entry | Record) or not isinstance(entries, Iterable)
    for number, value in enumerate(cast("Iterable[object]", [entries] if single else entries), 1):
        record, given = (value.record, value.sources) if isinstance(value, Entry) else (value, ())
        if not isinstance(record, Record):
            raise InputError(
                f"entry {number} is of type {type(record).__name__}, wanted what a check gave (Verdict, Unverified or "
                "Report), or that with its sources: Entry(verdict, sources)"
            )
        if callable(given):
            yield record, given
            continue
        sources = tuple(each_of(given))
        if len({source.id for source in sources if isinstance(source, Source)}) < len(sources):
            # What is no Source yet, or shares an id, gets the id that the check gave it: the evidence refers to that.
            sources = _as_sources(sources, number)
        yield record, sources


def _as_sources(sources: SourcesLike, number: int) -> tuple[Source, ...]:
    try:
        return as_sources(sources)
    except InputError as error:
        raise InputError(f"entry {number}: {error}") from None


def _title(record: Record | None) -> str:
    claim = "" if record is None or isinstance(record, Report) else record.subject
    return shorten(visible_line(claim), _LONGEST_TITLE) or "Report"


class _Selection:
    """Keeps the findings to show in full: first those that need attention."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pressing: list[Chosen] = []
        self._others: list[Chosen] = []
        self._sources: dict[Source, Source] = {}

    def add(self, before: int, record: Record, sources: tuple[Source, ...] | GiveSources) -> None:
        """Consider the findings of a record; ``before`` it came so many."""
        findings = record.findings if isinstance(record, Report) else (record,)
        for number, finding in enumerate(findings, before + 1):
            if finding.status != "match" and len(self._pressing) < self._limit:
                self._pressing.append(Chosen(number, finding, record, self._kept(sources)))
                del self._others[self._limit - len(self._pressing) :]
            elif finding.status == "match" and len(self._pressing) + len(self._others) < self._limit:
                self._others.append(Chosen(number, finding, record, self._kept(sources)))

    def _kept(self, sources: tuple[Source, ...] | GiveSources) -> tuple[Source, ...]:
        """The sources; rows that share one bring a copy each, of which one is kept."""
        given = sources() if callable(sources) else sources
        return tuple(self._sources.setdefault(source, source) for source in given)

    def chosen(self) -> list[Chosen]:
        return self._pressing + self._others


def _lay_out(chosen: list[Chosen], alone: Report | None) -> tuple[list[Card], list[Document], Document | None]:
    """The cards, the texts beside them, and the response that stands in front of them if there is only one."""
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
        name="" if alone else shorten(_name(view, record), _LONGEST_NAME),
        view=view,
        line=shorten(visible_line(view.finding.subject or view.message), _LONGEST_ROW),
        claim=tuple(_claim_pieces(view)),
        points=tuple((p, links.get(p.span, "") if p.span else "") for p in view.points),
        edits=_edits(view.fix) if view.fix else (),
        warnings=tuple(warning for warning in view.finding.warnings if warning not in known),
        texts=tuple(texts),
        asked=(record.question or "") if isinstance(record, Report) and not alone else "",
    )


def _edits(fix: Fix) -> tuple[Edit, ...]:
    """How the claim becomes the revised one; empty without one, or where comparing them would take too long."""
    old, new = fix.old, fix.new
    return tuple(word_edits(old, new)) if new is not None and max(len(old), len(new)) <= _LONGEST_CLAIM else ()


def _name(view: FindingView, record: Record) -> str:
    return " · ".join(filter(None, [record.id or "", view.name])) if isinstance(record, Report) else view.name


def _claim_pieces(view: FindingView) -> list[Piece]:
    text = view.finding.subject
    marks = [Mark(s.start, s.end, status) for s, status in view.parts if text[s.start : s.end] == s.text]
    return pieces_of(text, marks, None if len(text) <= _LONGEST_CLAIM else _LONGEST_CLAIM // 8)


def _repair(report: Report) -> list[Edit] | None:
    """How the response becomes the repaired one; None if no repair was asked for, empty if nothing changed."""
    if report.revised_response is None:
        return None
    changed = report.revised_response != report.response
    return word_edits(report.response, report.revised_response) if changed else []


__all__: list[str] = ["LIMIT", "Entry", "write_report"]
