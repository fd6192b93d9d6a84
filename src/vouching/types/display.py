"""How a record shows itself: a few lines of plain text, or a small piece of HTML for a notebook.

Only the standard library. Left out: colours for the terminal and whole pages, which ``vouching.report`` draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vouching.types.report import Report
    from vouching.types.spans import Span
    from vouching.types.verdict import Unverified, Verdict

SYMBOLS = {"match": "✓", "mismatch": "✗", "not_found": "∅"}
"""One sign per alignment status, so that nothing depends on colour."""

_STYLE = (
    "<style>.vouch{font:14px/1.5 system-ui,sans-serif;max-width:60em}.vouch mark{padding:0 .15em;border-radius:.2em;"
    "color:inherit;background:#8883}.vouch mark.match{background:#2a7f4733;border-bottom:2px solid #2a7f47}"
    ".vouch mark.mismatch{background:#c0392b33;border-bottom:2px solid #c0392b}"
    ".vouch mark.not_found{background:#b9770e33;border-bottom:2px dashed #b9770e}"
    ".vouch td{text-align:left;vertical-align:top;padding:.15em .8em .15em 0}.vouch .head{font-weight:600}</style>"
)


def percent(share: float) -> str:
    """A probability as people read it.

    >>> percent(0.914)
    '91 %'
    """
    return f"{100 * share:.0f} %"


def headline(verdict: Verdict) -> str:
    """Label, confidence and error type in one line."""
    sign = "✓" if verdict.attributable else "✗"
    kind = f" · {verdict.error_type.replace('_', ' ')}" if verdict.error_type else ""
    return f"{sign} {verdict.label} ({percent(verdict.confidence)} sure){kind}"


def verdict_text(verdict: Verdict) -> str:
    """A verdict in plain text."""
    lines = [headline(verdict), f"  {verdict.claim.text}"]
    for entry in verdict.evidence_alignment:
        beside = f'"{entry.source_span.text}"' if entry.source_span else "not in the sources"
        lines.append(f'  {SYMBOLS[entry.status]} "{entry.claim_span.text}"  {beside}')
    if verdict.fix_suggestion:
        lines += [f"  Fix: {verdict.fix_suggestion}", f"  -> {verdict.revised_claim}"]
    lines.extend(f"  ! {warning.message}" for warning in verdict.warnings)
    return "\n".join(lines)


def verdict_html(verdict: Verdict) -> str:
    """A verdict for a notebook: the claim with its parts marked, and the reasons in a table."""
    spans = [(entry.claim_span, entry.status) for entry in verdict.evidence_alignment]
    rows = "".join(
        f"<tr><td>{escape(step.claim_part)}</td><td>{escape(step.source_evidence)}</td>"
        f"<td>{escape(step.judgment.replace('_', ' '))}</td><td>{escape(step.explanation)}</td></tr>"
        for step in verdict.reasoning_chain
    )
    fix = ""
    if verdict.fix_suggestion:
        fix = f"<div>Fix: {escape(verdict.fix_suggestion)} → <em>{escape(verdict.revised_claim or '')}</em></div>"
    notes = "".join(f"<div>! {escape(warning.message)}</div>" for warning in verdict.warnings)
    return (
        f"{_STYLE}<div class='vouch'><div class='head'>{escape(headline(verdict))}</div>"
        f"<div>{marked(verdict.claim.text, spans)}</div><table>{rows}</table>{fix}{notes}</div>"
    )


def marked(text: str, spans: Iterable[tuple[Span, str]]) -> str:
    """``text`` as HTML with spans marked by their status; overlapping spans after the first are skipped.

    >>> from vouching.types.spans import Span
    >>> marked("60% improved", [(Span("60%", 0, 3), "match")])
    "<mark class='match'>60%</mark> improved"
    """
    out: list[str] = []
    done = 0
    for span, status in sorted(spans, key=lambda pair: pair[0].start):
        if span.start >= done:
            out.append(escape(text[done : span.start]))
            out.append(f"<mark class='{escape(status)}'>{escape(text[span.start : span.end])}</mark>")
            done = span.end
    out.append(escape(text[done:]))
    return "".join(out)


def unverified_html(outcome: Unverified) -> str:
    """A failure of the judge for a notebook."""
    return f"{_STYLE}<div class='vouch'><div class='head'>{escape(str(outcome))}</div><div>{escape(outcome.claim.text)}</div></div>"


def totals_line(report: Report) -> str:
    """How many claims came out how, in words."""
    totals = report.totals
    parts = [f"{totals.attributable} attributable", f"{totals.not_attributable} not attributable"]
    if totals.unverified:
        parts.append(f"{totals.unverified} unverified")
    return f"{len(report.findings)} claims: " + ", ".join(parts)


def report_text(report: Report) -> str:
    """A report in plain text."""
    lines = [totals_line(report)]
    for finding in report.findings:
        lines += ["", str(finding)]
    if report.revised_response is not None:
        lines += ["", "Repaired response:", report.revised_response]
    return "\n".join(lines)


def report_html(report: Report) -> str:
    """A report for a notebook."""
    body = "".join(_finding_html(finding) for finding in report.findings)
    return f"<div class='vouch head'>{escape(totals_line(report))}</div>{body}"


def _finding_html(finding: object) -> str:
    html = getattr(finding, "_repr_html_", None)
    return html() if html else f"<pre>{escape(str(finding))}</pre>"


def shorten(text: str, width: int) -> str:
    """``text`` cut in the middle to ``width`` characters, for one line of a table.

    >>> shorten("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[:half]}…{text[len(text) - half :]}"


__all__: Sequence[str] = [
    "SYMBOLS", "headline", "marked", "percent", "report_html", "report_text", "shorten", "totals_line", "unverified_html",
    "verdict_html", "verdict_text",
]  # fmt: skip
