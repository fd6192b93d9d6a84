"""Verdicts and reports as Markdown (GitHub's dialect); the same record always gives the same text.

Foreign text is escaped, so that it shows as it is and adds no markup. Not supported: HTML.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from vouching.report.findings import FindingView, view_of
from vouching.report.points import (
    MAX_QUOTATION,
    Point,
    around_blanks,
    error_counts_words,
    non_claims_words,
    review_words,
    totals_words,
    unchanged_words,
    word_edits,
)
from vouching.types import Finding, Report, Unverified, Verdict, VerdictWarning
from vouching.types.spans import SIGNS
from vouching.types.visible import shorten, visible, visible_line

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~$]|&(?=#?\w+;)|:(?=//)")
_AT_LINE_START = re.compile(r"^(\s*)([-+=#]|\d{1,9}(?=[.)](?:\s|$)))")


def verdict_markdown(verdict: Verdict | Unverified) -> str:
    r"""A verdict as Markdown: outcome, claim with its faulty parts in bold, evidence as a table, fix, warnings.

    >>> from vouching.types import Claim
    >>> print(verdict_markdown(Verdict(Claim("2 * 3 is 6."), "Attributable", 0.9, 0.9, 0.5, "supported")))
    ### ✓ Attributable · high confidence (90%)
    <BLANKLINE>
    > 2 \* 3 is 6.
    <BLANKLINE>
    The sources support the claim. That does not make it true.
    <BLANKLINE>
    *score 0.90, threshold 0.50; unknown, vouching unknown*
    <BLANKLINE>
    """
    blocks = list(_finding_blocks(verdict))
    if origin := view_of(verdict).origin:
        blocks.append(f"*{escape(origin)}*")
    return "\n\n".join(blocks) + "\n"


def report_markdown(report: Report) -> str:
    """A report as Markdown: counts, the response with its signs, every finding, the repaired response.

    >>> print(report_markdown(Report("Hello!", (), ())))
    # Report
    <BLANKLINE>
    **Nothing to check: the response makes no claim.**
    <BLANKLINE>
    ## Response
    <BLANKLINE>
    > Hello!
    <BLANKLINE>
    """
    blocks = ["# Report", f"**{escape(totals_words(report))}**"]
    blocks += [
        escape(line) for line in (error_counts_words(report), review_words(report), non_claims_words(report)) if line
    ]
    asked = "Instruction" if any(finding.kind == "item" for finding in report.findings) else "Question"
    blocks += [f"**{asked}:** {escape(report.question)}"] if report.question else []
    blocks += _warning_blocks(report.warnings)
    blocks += (
        ["## Citations", *(f"- {escape(citation.words)}" for citation in report.citations)] if report.citations else []
    )
    blocks += ["## Response", _quote(_signed_response(report))]
    numbered = list(enumerate(report.findings, 1))
    pressing = [(number, finding) for number, finding in numbered if finding.status != "match"]
    blocks += ["## Needs attention"] if pressing else []
    for number, finding in pressing:
        blocks += _finding_blocks(finding, number, report.warnings)
    supported = [
        _lines(view_of(finding), number, report.warnings) for number, finding in numbered if finding.status == "match"
    ]
    if supported:
        blocks += ["## Passed" if report.noun == "item" else "## Supported", "\n".join(supported)]
    blocks += _repair_blocks(report)
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    r"""Text on one line, escaped so that Markdown shows it as it is."""
    return _escape_line(visible_line(text))


def _escape_line(line: str) -> str:
    return _AT_LINE_START.sub(_escape_start, _SPECIAL.sub(r"\\\g<0>", line))


def _escape_start(found: re.Match[str]) -> str:
    # A list number is escaped at the point after it: a backslash before a digit would be shown.
    return f"{found[1]}\\{found[2]}" if not found[2].isdigit() else f"{found[1]}{found[2]}\\"


def _escape_lines(text: str) -> str:
    """Text with its line breaks as hard ones."""
    return "\n".join(_escape_line(line) for line in visible(text).split("\n"))


def _quote(markdown: str) -> str:
    """A block quote; two spaces at the end of a line keep its break."""
    return "\n".join(f"> {line}  " if line.strip() else ">" for line in markdown.split("\n")).rstrip()


def _finding_blocks(
    finding: Finding, number: int | None = None, known: Collection[VerdictWarning] = ()
) -> Iterator[str]:
    view, name = view_of(finding), f"{number}. " if number else ""
    yield f"### {name}{SIGNS[finding.status]} {escape(' · '.join(view.title))}"
    if view.quoted:
        yield f"> {_marked_subject(view)}"
    replied = view.reply and f'The model replied: "{view.reply}"'
    yield from map(escape, filter(None, (view.relation, view.message, replied)))
    if view.points:
        yield _table(view.points)
    if view.fix:
        yield f"**{view.fix.title}:** {escape(view.fix.words)}"
        if view.fix.new is not None:
            yield f"> {_difference(visible_line(view.fix.old), visible_line(view.fix.new))}"
    if view.no_fix:
        yield view.no_fix
    yield from _warning_blocks(finding.warnings, known)


def _table(points: Iterable[Point]) -> str:
    return "\n".join(["| | claim | source | place | reason |", "|---|---|---|---|---|", *map(_row, points)])


def _row(point: Point) -> str:
    found = f'"{point.found}"' if point.found else "not in the sources" if point.absent else ""
    cells = (SIGNS[point.status], *map(escape, (point.claimed, found, point.place, point.reason)))
    return f"| {' | '.join(cells)} |"


def _marked_subject(view: FindingView) -> str:
    claim, done = view.finding.subject, 0
    shown: list[str] = []
    for span, status in sorted(view.parts, key=lambda part: part[0].start):
        if status != "match" and done <= span.start < span.end <= len(claim):
            shown += [claim[done : span.start], claim[span.start : span.end]]
            done = span.end
    shown.append(claim[done:])
    # Odd pieces are the faulty parts.
    pieces = [
        around_blanks(escape(piece), "**", "**") if number % 2 else escape(piece) for number, piece in enumerate(shown)
    ]
    return "".join(pieces)


def _difference(old: str, new: str) -> str:
    """The change from one text to the other: deletions struck out, insertions in bold."""
    marks = {"same": "", "old": "~~", "new": "**"}
    shown: list[str] = []
    before = ""
    for edit in word_edits(old, new):
        mark = marks[edit.kind]
        lines = [around_blanks(_escape_line(line), mark, mark) for line in visible(edit.text).split("\n")]
        shown += [" " if (before, edit.kind) == ("old", "new") else "", "\n".join(lines)]
        before = edit.kind
    return "".join(shown)


def _signed_response(report: Report) -> str:
    marks = [(f.span, number, f.status) for number, f in enumerate(report.findings, 1) if f.span]
    shown: list[str] = []
    done = 0
    for span, number, status in sorted(marks, key=lambda mark: mark[0].start):
        if not done <= span.start < span.end <= len(report.response):
            continue
        words = _escape_lines(report.response[span.start : span.end])
        shown += [_escape_lines(report.response[done : span.start]), f"{SIGNS[status]}{number} {words}"]
        done = span.end
    shown.append(_escape_lines(report.response[done:]))
    return "".join(shown).strip()


def _lines(view: FindingView, number: int, known: Collection[VerdictWarning]) -> str:
    """A supported finding as a list item, with doubts and warnings below."""
    summary = " · ".join(filter(None, (escape(view.finding.subject), escape(view.note), view.confidence)))
    doubts = [
        f"- {SIGNS['mismatch']} {escape(point.claimed)} · {escape(point.reason or point.found)}"
        for point in view.points
        if point.status == "mismatch"
    ]
    below = (f"  {part}" for part in [*doubts, *_warning_lines(view.finding.warnings, known)])
    return "\n".join([f"- {SIGNS['match']}{number} {summary}", *below])


def _warning_blocks(warnings: Iterable[VerdictWarning], known: Collection[VerdictWarning] = ()) -> Iterator[str]:
    lines = _warning_lines(warnings, known)
    if lines:
        yield "\n".join(lines)


def _warning_lines(warnings: Iterable[VerdictWarning], known: Collection[VerdictWarning]) -> list[str]:
    return [
        f"- **{warning.kind}:** {escape(warning.message)}"
        + (f' "{escape(shorten(warning.span.text, MAX_QUOTATION))}"' if warning.span else "")
        for warning in warnings
        if warning not in known
    ]


def _repair_blocks(report: Report) -> Iterator[str]:
    if report.revised_response is None:
        return
    yield "## Repaired response"
    if report.revised_response == report.response:
        yield f"{unchanged_words(report).capitalize()}."
    else:
        yield _quote(_difference(report.response, report.revised_response))
    if report.unrepaired:
        yield "## Not repaired"
        yield "\n".join(f"- {SIGNS[finding.status]} {escape(finding.subject)}" for finding in report.unrepaired)
