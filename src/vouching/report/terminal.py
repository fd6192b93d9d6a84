"""Verdicts, reports and rankings for a terminal: signs as well as colours, at any width, with any encoding.

Foreign text is printed as plain characters; its markup and control sequences take no effect. Not supported: paging;
pipe the output into a pager.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vouching.report.findings import FindingView, view_of
from vouching.report.points import (
    MAX_QUOTATION,
    Point,
    around_blanks,
    error_counts_words,
    non_claims_words,
    points_of,
    review_words,
    totals_words,
    unchanged_words,
    word_edits,
)
from vouching.types import (
    Finding,
    RankedAnswer,
    Ranking,
    Report,
    Unverified,
    Verdict,
    VerdictWarning,
)
from vouching.types.spans import SIGNS
from vouching.types.visible import percent, score_words, shorten, visible, visible_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NARROW = 80
"""Columns below which a point takes several lines instead of a row of a table."""

_CITATION = re.compile(r"\s*(?:\[\d{1,3}\]\s*)+")
_PLAIN_SIGNS = {"match": "+", "mismatch": "x", "not_found": "-", "unverified": "?"}
_STYLES = {"match": "green", "mismatch": "bold red", "not_found": "bold yellow", "unverified": "bold magenta"}


def print_verdict(console: Console, verdict: Verdict | Unverified) -> None:
    """Print a verdict: the claim with its parts marked, the evidence for each, the reasons, the fix.

    >>> import sys
    >>> from rich.console import Console
    >>> from vouching.types import Claim
    >>> verdict = Verdict(Claim("It opened in 1937."), "Attributable", 0.97, 0.97, 0.5, "supported")
    >>> print_verdict(Console(file=sys.stdout, width=60), verdict)
    ✓ Attributable · very high confidence (97%)
      It opened in 1937.
      The sources support the claim. That does not make it true.
    <BLANKLINE>
      score 0.97, threshold 0.50; unknown, vouching unknown
    """
    page = _Page.of(console)
    page.print_finding(verdict)
    if origin := view_of(verdict).origin:
        page.blank()
        page.put(page.text(origin, "dim"), 2)


def print_report(console: Console, report: Report) -> None:
    """Print a report: the response with a sign at each claim, what needs attention, and one line for each other."""
    page = _Page.of(console)
    page.put(page.text(totals_words(report), "bold"))
    cited = (citation.words for citation in report.citations)
    for line in filter(None, (error_counts_words(report), review_words(report), non_claims_words(report), *cited)):
        page.put(page.text(line, "dim"), 2)
    page.print_warnings(report.warnings)
    page.blank()
    page.put(page.response(report), 2)
    page.print_findings(report)
    page.print_repair(report)


def print_ranking(console: Console, ranking: Ranking) -> None:
    """Print a ranking: each answer with place, score and evidence, then those without a score."""
    page = _Page.of(console)
    page.put(page.text(ranking.question, "bold"))
    count = len(ranking.answers) + len(ranking.unverified)
    what = f"{count} answer{'s' * (count != 1)} ranked by {ranking.provenance.model}, mode {ranking.mode}"
    page.put(page.text(what, "dim"), 2)
    page.print_warnings(ranking.warnings)
    if ranking.invalid is not None:
        page.put(Text.assemble(page.sign("unverified"), " ", page.text(f"No ranking: {ranking.invalid}")))
    if ranking.explanation:
        page.put(page.text(ranking.explanation), 2)
    for answer in ranking.answers:
        page.blank()
        page.print_answer(answer, ranking)
    for failed in ranking.unverified:
        page.blank()
        page.print_finding(failed)


@dataclass(frozen=True, slots=True)
class _Page:
    """A console and what it can show."""

    console: Console
    signs: dict[str, str]
    """The sign of each status, in characters that the console can show."""
    coloured: bool
    """Whether styles are visible; if not, brackets mark what is wrong."""

    @classmethod
    def of(cls, console: Console) -> _Page:
        try:
            "✓✗∅·".encode(console.encoding)
        except UnicodeEncodeError:
            signs = _PLAIN_SIGNS
        else:
            signs = SIGNS
        return cls(console, signs, console.color_system is not None and not console.no_color)

    def put(self, what: RenderableType, indent: int = 0) -> None:
        self.console.print(Padding(what, (0, 0, 0, indent)) if indent else what)

    def blank(self) -> None:
        self.console.print()

    def text(self, content: str, style: str = "") -> Text:
        """Foreign or own words on one line, made safe for this console."""
        return Text(self.encodable(visible_line(content)), style)

    def encodable(self, content: str) -> str:
        encoding = self.console.encoding
        if self.signs is _PLAIN_SIGNS:
            content = content.replace(" · ", " - ")
        return content.encode(encoding, "backslashreplace").decode(encoding)

    def sign(self, status: str, number: int | None = None) -> Text:
        return Text(self.signs[status] + (str(number) if number else ""), _STYLES[status])

    def print_finding(
        self, finding: Finding, number: int | None = None, known: Collection[VerdictWarning] = ()
    ) -> None:
        """One finding in full, without the warnings that are already known."""
        view = view_of(finding)
        self.put(self.heading(view, number))
        if view.quoted:
            self.put(self.marked_subject(view), 2)
        if view.relation:
            self.put(self.text(view.relation, "dim"), 2)
        if view.message:
            self.put(self.text(view.message), 2)
        if view.reply:
            self.put(self.text(f'The model replied: "{view.reply}"', "dim"), 2)
        self.print_points(view.points)
        self.print_fix(view)
        self.print_warnings(finding.warnings, known)

    def print_answer(self, answer: RankedAnswer, ranking: Ranking) -> None:
        """One answer of a ranking with the part of its alignment that is not about the question, which all share."""
        chance = "" if answer.probability is None else f", {percent(answer.probability)} likely supported"
        tied = " tied" if sum(other.place == answer.place for other in ranking.answers) > 1 else ""
        place = Text(f"{answer.place}{tied}  ", "bold")
        words = self.text(answer.text, "bold" if answer.place == 1 else "")
        self.put(Text.assemble(place, words, "  ", self.text(f"score {score_words(answer.score)}{chance}", "dim")))
        if answer.reasoning:
            self.put(self.text(answer.reasoning), 2)
        own = len(answer.claim.text) - len(answer.text.strip())
        entries = tuple(entry for entry in answer.evidence_alignment if entry.claim_span.end > own)
        unseen = [entry.claim_span.text for entry in reversed(entries)]
        steps = tuple(step for step in reversed(answer.reasoning_chain) if _taken(unseen, step.claim_part))[::-1]
        self.print_points(points_of(replace(answer, evidence_alignment=entries, reasoning_chain=steps)))
        self.print_warnings(answer.warnings, ranking.warnings)

    def heading(self, view: FindingView, number: int | None) -> Text:
        status = view.finding.status
        return Text.assemble(self.sign(status, number), " ", self.text(" · ".join(view.title), _STYLES[status]))

    def marked_subject(self, view: FindingView) -> Text:
        """The subject with the style of each part; without colours, faulty parts are in brackets."""
        claim, done = view.finding.subject, 0
        shown = Text()
        for span, status in sorted(view.parts, key=lambda part: part[0].start):
            if not done <= span.start < span.end <= len(claim) or _CITATION.fullmatch(claim, span.start, span.end):
                continue
            shown.append_text(self.text(claim[done : span.start]))
            part = self.text(claim[span.start : span.end], _STYLES[status])
            if status != "match" and not self.coloured:
                part = Text(f"[{part.plain}]{self.signs[status]}")
            shown.append_text(part)
            done = span.end
        return shown.append_text(self.text(claim[done:]))

    def print_points(self, points: Sequence[Point], spaced: bool = True) -> None:
        if not points:
            return
        if spaced:
            self.blank()
        if self.console.width < NARROW:
            for point in points:
                self.put(Text.assemble(self.sign(point.status), " ", self.text(point.claimed)), 2)
                self.put(self.found(point), 4)
            return
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column()
        table.add_column(max_width=self.console.width * 2 // 5, overflow="fold")
        table.add_column(overflow="fold")
        for point in points:
            table.add_row(self.sign(point.status), self.text(point.claimed), self.found(point))
        self.put(table, 2)

    def found(self, point: Point) -> Text:
        """The counterpart of a part in the sources, its place, and the reason for the outcome."""
        if point.found:
            quoted = self.text(f'"{point.found}"', "green" if point.status == "match" else "")
            first = Text.assemble(quoted, "  ", self.text(point.place, "dim"))
        else:
            first = Text("not in the sources" if point.absent else "", "dim")
        first.rstrip()
        reason = self.text(point.reason, "" if point.status != "match" else "dim")
        return Text("\n").join(part for part in (first, reason) if part)

    def print_fix(self, view: FindingView) -> None:
        if view.no_fix:
            self.blank()
            self.put(self.text(view.no_fix, "dim"), 2)
        elif view.fix is not None and view.finding.status != "match":
            self.blank()
            self.put(Text.assemble((f"{view.fix.title}  ", "bold cyan"), self.text(view.fix.words)), 2)
            if view.fix.new is not None:
                self.put(self.difference(visible_line(view.fix.old), visible_line(view.fix.new)), 7)

    def difference(self, old: str, new: str) -> Text:
        """The change from one text to the other; without colours as [-old-]{+new+}."""
        shown, before = Text(), ""
        for edit in word_edits(old, new):
            words = self.encodable(visible(edit.text))
            if edit.kind == "same":
                shown.append(words)
            elif self.coloured:
                # Not every terminal can strike out: without the space, old and new would run together.
                shown.append(" " if before == "old" else "")
                shown.append(words, "strike red" if edit.kind == "old" else "bold green")
            else:
                shown.append(around_blanks(words, *(("[-", "-]") if edit.kind == "old" else ("{+", "+}"))))
            before = edit.kind
        return shown

    def print_warnings(self, warnings: Iterable[VerdictWarning], known: Collection[VerdictWarning] = ()) -> None:
        for warning in warnings:
            if warning in known:
                continue
            if warning.kind == "search":  # where the evidence is from, not a reason for doubt
                self.put(self.text(warning.message, "dim"), 2)
                continue
            self.put(Text.assemble(("! ", "bold yellow"), self.text(f"{warning.kind}: {warning.message}", "yellow")), 2)
            if warning.span:
                self.put(self.text(f'"{shorten(warning.span.text, MAX_QUOTATION)}"', "dim"), 4)

    def response(self, report: Report) -> Text:
        """The response with sign and number before each claim, and the rest dimmed."""
        marks = [(f.span, number, f.status) for number, f in enumerate(report.findings, 1) if f.span]
        shown, done = Text(), 0
        for span, number, status in sorted(marks, key=lambda mark: mark[0].start):
            if not done <= span.start < span.end <= len(report.response):
                continue
            shown.append(self.encodable(visible(report.response[done : span.start])), "dim")
            shown.append_text(self.sign(status, number)).append(" ")
            words = self.encodable(visible(report.response[span.start : span.end]))
            shown.append(words, "" if status == "match" else _STYLES[status])
            done = span.end
        shown.append(self.encodable(visible(report.response[done:])), "dim")
        shown.rstrip()
        return shown

    def print_findings(self, report: Report) -> None:
        """In full what is not supported or not verified; the others in one line, with parts that do not match."""
        numbered = list(enumerate(report.findings, 1))
        for number, finding in numbered:
            if finding.status != "match":
                self.blank()
                self.print_finding(finding, number, report.warnings)
        supported = [(number, view_of(finding)) for number, finding in numbered if finding.status == "match"]
        if supported:
            self.blank()
            for number, view in supported:
                self.put(self.line(view, number))
                self.print_points([point for point in view.points if point.status == "mismatch"], spaced=False)
                self.print_warnings(view.finding.warnings, report.warnings)
                if view.note:
                    self.put(self.text(view.note, "dim"), 2)

    def line(self, view: FindingView, number: int) -> Text:
        """A finding cut to one line, with its confidence at the end."""
        end = view.confidence
        line = Text.assemble(self.sign(view.finding.status, number), " ", self.text(view.finding.subject))
        room = self.console.width - len(end) - 2
        if line.cell_len > room:
            line.truncate(room - 3)
            line.append("...")
        return line.append(f"  {end}", "dim") if end else line

    def print_repair(self, report: Report) -> None:
        if report.revised_response is None:
            return
        self.blank()
        if report.revised_response == report.response:
            self.put(self.text(f"Repaired response: {unchanged_words(report)}.", "bold"))
        else:
            self.put(self.text("Repaired response", "bold"))
            self.put(self.difference(report.response.rstrip(), report.revised_response.rstrip()), 2)
        if report.unrepaired:
            self.blank()
            self.put(self.text(f"Not repaired: {len(report.unrepaired)}", "bold"))
            for finding in report.unrepaired:
                self.put(Text.assemble(self.sign(finding.status), " ", self.text(finding.subject)), 2)


def _taken(parts: list[str], part: str) -> bool:
    """Whether a part was still in the list, from which it is removed."""
    if part not in parts:
        return False
    parts.remove(part)
    return True
