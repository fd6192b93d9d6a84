"""Verdicts and reports as Markdown (GitHub's dialect), the same text for the same record.

Foreign text is escaped, so that it shows as it is and adds no markup. Left out: HTML.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from vouching.report.findings import SIGNS, span_of, status_of, subject_of, title_of
from vouching.report.points import (
    LONGEST_QUOTATION,
    Point,
    around_blanks,
    error_counts_words,
    non_claims_words,
    origin_words,
    pair_points,
    points_of,
    relation_words,
    totals_words,
    word_edits,
)
from vouching.types import Finding, ItemResult, PairResult, Report, Unverified, Verdict, VerdictWarning
from vouching.types.display import fix_title, item_counts, shorten
from vouching.types.visible import visible, visible_line

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
    The sources support it. That does not make it true.
    <BLANKLINE>
    *score 0.90, threshold 0.50; unknown, vouching unknown*
    <BLANKLINE>
    """
    blocks = list(_finding_blocks(verdict))
    if isinstance(verdict, Verdict):
        blocks.append(f"*{escape(origin_words(verdict))}*")
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
    blocks += [escape(line) for line in (error_counts_words(report), non_claims_words(report)) if line]
    blocks += [f"**Question:** {escape(report.question)}"] if report.question else []
    blocks += _warning_blocks(report.warnings)
    blocks += ["## Response", _quote(_signed_response(report))]
    numbered = list(enumerate(report.findings, 1))
    pressing = [(number, finding) for number, finding in numbered if status_of(finding) != "match"]
    blocks += ["## Needs attention"] if pressing else []
    for number, finding in pressing:
        blocks += _finding_blocks(finding, number, report.warnings)
    supported = [
        _lines(finding, number, report.warnings) for number, finding in numbered if status_of(finding) == "match"
    ]
    if supported:
        blocks += ["## Supported" if item_counts(report) is None else "## Passed", "\n".join(supported)]
    blocks += _repair_blocks(report)
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    r"""Text on one line that Markdown shows as it is.

    >>> escape("a|b <i>\n1. c"), escape("- x")
    ('a\\|b \\<i\\> 1. c', '\\- x')
    """
    return _escape_line(visible_line(text))


def _escape_line(line: str) -> str:
    return _AT_LINE_START.sub(_escape_start, _SPECIAL.sub(r"\\\g<0>", line))


def _escape_start(found: re.Match[str]) -> str:
    # A list number is escaped at the point after it: a backslash before a digit is itself shown.
    return f"{found[1]}\\{found[2]}" if not found[2].isdigit() else f"{found[1]}{found[2]}\\"


def _escape_lines(text: str) -> str:
    """Text with its line breaks, each a hard one."""
    return "\n".join(_escape_line(line) for line in visible(text).split("\n"))


def _quote(markdown: str) -> str:
    """A block quote; two blanks at a line's end keep its break."""
    return "\n".join(f"> {line}  " if line.strip() else ">" for line in markdown.split("\n")).rstrip()


def _finding_blocks(
    finding: Finding, number: int | None = None, known: Collection[VerdictWarning] = ()
) -> Iterator[str]:
    name = f"{number}. " if number else ""
    yield f"### {name}{SIGNS[status_of(finding)]} {escape(' · '.join(title_of(finding)))}"
    if isinstance(finding, Verdict):
        yield f"> {_marked_claim(finding)}"
        yield escape(relation_words(finding))
        points = points_of(finding)
        if points:
            yield _table(points)
        if finding.fix_suggestion:
            yield f"**{fix_title(finding)}:** {escape(finding.fix_suggestion)}"
            if finding.revised_claim is not None:
                yield f"> {_difference(visible_line(finding.claim.text), visible_line(finding.revised_claim))}"
        elif not finding.attributable:
            yield "No fix: no edit was found that the sources support."
        yield from _warning_blocks(finding.warnings, known)
    elif isinstance(finding, Unverified):
        yield f"> {escape(finding.claim.text)}"
        yield escape(finding.message)
        yield from _warning_blocks(finding.warnings, known)
    elif isinstance(finding, PairResult):
        yield f"> {escape(finding.question)}"
        yield _table(pair_points(finding))


def _table(points: Iterable[Point]) -> str:
    return "\n".join(["| | claim | source | place | reason |", "|---|---|---|---|---|", *map(_row, points)])


def _row(point: Point) -> str:
    found = f'"{point.found}"' if point.found else "not in the sources" if point.absent else ""
    cells = (SIGNS[point.status], *map(escape, (point.claimed, found, point.place, point.reason)))
    return f"| {' | '.join(cells)} |"


def _marked_claim(verdict: Verdict) -> str:
    claim, done = verdict.claim.text, 0
    shown: list[str] = []
    for entry in sorted(verdict.evidence_alignment, key=lambda entry: entry.claim_span.start):
        span = entry.claim_span
        if entry.status != "match" and done <= span.start < span.end <= len(claim):
            shown += [claim[done : span.start], claim[span.start : span.end]]
            done = span.end
    shown.append(claim[done:])
    # Odd pieces are the faulty parts.
    pieces = [
        around_blanks(escape(piece), "**", "**") if number % 2 else escape(piece) for number, piece in enumerate(shown)
    ]
    return "".join(pieces)


def _difference(old: str, new: str) -> str:
    """How one text becomes the other: struck out what goes, bold what comes."""
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
    marks = [(span, number, status_of(f)) for number, f in enumerate(report.findings, 1) if (span := span_of(f))]
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


def _lines(finding: Finding, number: int, known: Collection[VerdictWarning]) -> str:
    """A supported finding as an item of a list, with what there is to know about it below."""
    line = f"- {SIGNS['match']}{number} {escape(subject_of(finding))}"
    if isinstance(finding, ItemResult) and finding.reason and finding.rule is None:
        return f"{line} · {escape(finding.reason)}"
    if not isinstance(finding, Verdict):
        return line
    doubts = [
        f"- {SIGNS['mismatch']} {escape(point.claimed)} · {escape(point.reason or point.found)}"
        for point in points_of(finding)
        if point.status == "mismatch"
    ]
    below = (f"  {part}" for part in [*doubts, *_warning_lines(finding.warnings, known)])
    return "\n".join([f"{line} · {title_of(finding)[-1]}", *below])


def _warning_blocks(warnings: Iterable[VerdictWarning], known: Collection[VerdictWarning] = ()) -> Iterator[str]:
    lines = _warning_lines(warnings, known)
    if lines:
        yield "\n".join(lines)


def _warning_lines(warnings: Iterable[VerdictWarning], known: Collection[VerdictWarning]) -> list[str]:
    return [
        f"- **{warning.kind}:** {escape(warning.message)}"
        + (f' "{escape(shorten(warning.span.text, LONGEST_QUOTATION))}"' if warning.span else "")
        for warning in warnings
        if warning not in known
    ]


def _repair_blocks(report: Report) -> Iterator[str]:
    if report.revised_response is None:
        return
    yield "## Repaired response"
    if report.revised_response == report.response:
        yield "Nothing to change."
    else:
        yield _quote(_difference(report.response, report.revised_response))
    if report.unrepaired:
        yield "## Not repaired"
        yield "\n".join(f"- {SIGNS[status_of(finding)]} {escape(subject_of(finding))}" for finding in report.unrepaired)
