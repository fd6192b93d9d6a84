"""How a record shows itself: a few lines of plain text, or a small piece of HTML for a notebook.

Only the standard library. Whatever a claim, a source or a judge wrote passes through ``vouching.types.visible``: no
control sequence of it takes effect. Left out: colours for the terminal and whole pages, which ``vouching.report``
draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from textwrap import dedent
from typing import TYPE_CHECKING

from vouching.types.visible import visible, visible_line

if TYPE_CHECKING:
    from vouching.types.findings import ItemResult, PairResult
    from vouching.types.report import Finding, Report
    from vouching.types.search import Ranking
    from vouching.types.spans import Span
    from vouching.types.verdict import Alignment, ReasoningStep, Unverified, Verdict

SYMBOLS = {"match": "✓", "mismatch": "✗", "not_found": "∅"}
"""One sign per alignment status, so that nothing depends on colour."""

ELSEWHERE = "occurs elsewhere in the sources"
"""Stands in the place of a quotation for words that match, but not where the rest of the claim is spoken of."""

# Colours are translucent and the text keeps the page's own, so that light and dark notebooks both stay readable.
_STYLE = """<style>
.vouch{font:14px/1.5 system-ui,sans-serif;color:inherit;max-width:64em;margin:.4em 0}
.vouch .head{font-weight:600}
.vouch .finding{margin-top:.6em;padding-left:.8em;border-left:3px solid #8886}
.vouch .finding.supported{border-color:#2a9d5c}
.vouch .finding.unsupported{border-color:#d9534f}
.vouch .claim{margin:.2em 0}
.vouch mark{color:inherit;padding:0 .15em;border-radius:.2em;background:#8883}
.vouch mark.match{background:#2a9d5c40;border-bottom:2px solid #2a9d5c}
.vouch mark.mismatch{background:#d9534f40;border-bottom:2px solid #d9534f}
.vouch mark.not_found{background:#d08a1e40;border-bottom:2px dashed #d08a1e}
.vouch table{border-collapse:collapse;margin:.3em 0;font-size:.93em;color:inherit}
.vouch th,.vouch td{text-align:left;vertical-align:top;padding:.15em 1em .15em 0;border:0;background:none}
.vouch th{font-weight:400;opacity:.65}
.vouch .note{opacity:.8}
.vouch pre{white-space:pre-wrap;font:inherit;margin:.2em 0}
</style>"""


def percent(share: float) -> str:
    """A probability as people read it.

    >>> percent(0.914)
    '91 %'
    """
    return f"{100 * share:.0f} %"


def headline(verdict: Verdict) -> str:
    """Label, confidence and error type in one line.

    >>> from vouching.types import Claim, Verdict
    >>> headline(Verdict(Claim("It opened in 1973."), "Attributable", 0.97, 0.97, 0.5, "supported"))
    '✓ Attributable (97 % sure)'
    """
    sign = "✓" if verdict.attributable else "✗"
    kind = f" · {verdict.error_type.replace('_', ' ')}" if verdict.error_type else ""
    return f"{sign} {verdict.label} ({percent(verdict.confidence)} sure){kind}"


def fix_title(verdict: Verdict) -> str:
    """What to call ``fix_suggestion``: "Fix" if the claim it leads to was judged again and passed.

    >>> from vouching.types import Claim, Verdict
    >>> fix_title(Verdict(Claim("It opened."), "Not Attributable", 0.3, 0.7, 0.5, "not_found", fix_suggestion="Go."))
    'Suggestion, not checked'
    """
    return "Suggestion, not checked" if verdict.revised_claim is None else "Fix"


def verdict_text(verdict: Verdict) -> str:
    """A verdict in plain text, a line for each part, with nothing in it that could disturb a terminal."""
    lines = [headline(verdict), f"  {visible_line(verdict.claim.text)}"]
    for entry in verdict.evidence_alignment:
        claimed, found = f'"{entry.claim_span.text}"', _found(entry, verdict.reasoning_chain)
        lines.append("  ".join(["", f"{SYMBOLS[entry.status]} {visible_line(claimed)}", *map(visible_line, found)]))
    if verdict.fix_suggestion:
        lines.append(f"  {fix_title(verdict)}: {visible_line(verdict.fix_suggestion)}")
        lines += [f"  -> {visible_line(verdict.revised_claim)}"] if verdict.revised_claim is not None else []
    lines.extend(f"  ! {visible_line(warning.message)}" for warning in verdict.warnings)
    return "\n".join(lines)


def _found(entry: Alignment, steps: Sequence[ReasoningStep]) -> list[str]:
    """What the sources have in place of a part; empty where a step supports it without a quotation."""
    if entry.source_span:
        return [f'"{entry.source_span.text}"']
    if entry.status != "match":
        return ["not in the sources"]
    # A qualifier that adds nothing is supported although no source has it: to say that it occurs would be wrong.
    supported = any(s.claim_part == entry.claim_span.text and s.judgment == "supported" for s in steps)
    return [] if supported else [ELSEWHERE]


def verdict_html(verdict: Verdict) -> str:
    """A verdict for a notebook: the claim with its parts marked, and the reasons in a table."""
    return _framed(_verdict_body(verdict))


def _framed(body: str) -> str:
    return f"{_STYLE}<div class='vouch'>{body}</div>"


def _verdict_body(verdict: Verdict) -> str:
    spans = [(entry.claim_span, entry.status) for entry in verdict.evidence_alignment]
    rows = "".join(
        f"<tr><td>{_shown(step.claim_part)}</td><td>{_evidence(step)}</td>"
        f"<td>{escape(step.judgment.replace('_', ' '))}</td><td>{_shown(step.explanation)}</td></tr>"
        for step in verdict.reasoning_chain
    )
    table = f"<table><tr><th>Claim</th><th>Source</th><th>Judgment</th><th>Why</th></tr>{rows}</table>" if rows else ""
    fix = ""
    if verdict.fix_suggestion:
        revised = "" if verdict.revised_claim is None else f" → <em>{_shown(verdict.revised_claim)}</em>"
        fix = f"<div>{fix_title(verdict)}: {_shown(verdict.fix_suggestion)}{revised}</div>"
    notes = "".join(f"<div class='note'>! {_shown(warning.message)}</div>" for warning in verdict.warnings)
    return (
        f"<div class='finding {'supported' if verdict.attributable else 'unsupported'}'>"
        f"<div class='head'>{escape(headline(verdict))}</div>"
        f"<div class='claim'>{marked(verdict.claim.text, spans)}</div>{table}{fix}{notes}</div>"
    )


def _evidence(step: ReasoningStep) -> str:
    if step.source_evidence != "NOT_FOUND":
        return _shown(step.source_evidence)
    return ELSEWHERE if step.judgment == "partially_supported" else "–"


def _shown(text: str) -> str:
    """Foreign text as HTML: neither its markup nor its control characters take effect."""
    return escape(visible(text))


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
            out.append(_shown(text[done : span.start]))
            out.append(f"<mark class='{escape(status)}'>{_shown(text[span.start : span.end])}</mark>")
            done = span.end
    out.append(_shown(text[done:]))
    return "".join(out)


def unverified_text(outcome: Unverified) -> str:
    """A failure of the judge in plain text."""
    title = f"? Unverified ({outcome.reason}): {visible_line(outcome.message)}"
    return f"{title}\n  {visible_line(outcome.claim.text)}" if outcome.claim.text else title


def unverified_html(outcome: Unverified) -> str:
    """A failure of the judge for a notebook."""
    return _framed(_plain_body(outcome))


def _plain_body(finding: Finding) -> str:
    """A finding without parts to mark: its lines, the first in bold."""
    first, _, rest = str(finding).partition("\n")
    return f"<div class='finding'><div class='head'>{_shown(first)}</div><pre>{_shown(dedent(rest))}</pre></div>"


def item_text(item: ItemResult) -> str:
    """A judged item in plain text: its sign, the item, who decided, and why.

    >>> from vouching.types import ItemResult
    >>> item_text(ItemResult("Is it red?", (True, None, False), 1 / 3, False, "It is blue."))
    '✗ Is it red? (1 of 3 votes say yes, 1 unclear): It is blue.'
    """
    reason = f": {visible_line(item.reason)}" if item.reason else ""
    return f"{'✓' if item.passed else '✗'} {visible_line(item.question)} ({visible_line(decided_words(item))}){reason}"


def decided_words(item: ItemResult) -> str:
    """Who decided an item: a rule by its name, or so many votes.

    >>> from vouching.types import ItemResult
    >>> decided_words(ItemResult("Use no commas.", (True,), 1.0, True, rule="punctuation:no_comma"))
    'rule punctuation:no_comma'
    """
    if item.rule is not None:
        return f"rule {item.rule}"
    unclear = sum(vote is None for vote in item.votes)
    doubts = f", {unclear} unclear" if unclear else ""
    return f"{sum(vote is True for vote in item.votes)} of {len(item.votes)} votes say yes{doubts}"


def pair_text(pair: PairResult) -> str:
    """A question asked blind, in plain text: the outcome, the question, both values and the reason.

    >>> from vouching.types import PairResult
    >>> print(pair_text(PairResult("It opened in ____.", "1937", "different", ("1973",), reason="Another year.")))
    ✗ Different: It opened in ____.
      response: 1937
      documents: 1973
      Another year.
    """
    sign = "✓" if pair.attributable else SYMBOLS["not_found"] if pair.outcome == "not_found" else "✗"
    lines = [f"{'?' if pair.outcome == 'leaked' else sign} {outcome_words(pair)}: {visible_line(pair.question)}"]
    return "\n".join([*lines, *(f"  {line}" for line in (*value_lines(pair), visible_line(pair.reason)) if line)])


def outcome_words(pair: PairResult) -> str:
    """How the answers compare, as people read it.

    >>> from vouching.types import PairResult
    >>> outcome_words(PairResult("Q", "1", "not_found"))
    'Not in the documents'
    """
    words = {"not_found": "not in the documents", "contradictory": "contradictory documents"}
    return words.get(pair.outcome, pair.outcome).capitalize()


def value_lines(pair: PairResult) -> list[str]:
    """What the response says, and what the documents say and where, a line each.

    >>> from vouching.types import PairResult, Span
    >>> value_lines(PairResult("Q", "2", "contradictory", ("3", "4"), (Span("3", 7, 8, "a.txt"),)))
    ['response: 2', 'documents: 3 (a.txt, character 7) | 4']
    """
    places = [f" ({place.source_id}, character {place.start})" for place in pair.places]
    places += [""] * (len(pair.found) - len(places))
    found = " | ".join(visible_line(f"{value}{place}") for value, place in zip(pair.found, places, strict=False))
    return [f"response: {visible_line(pair.answer)}", *([f"documents: {found}"] if found else [])]


def pair_counts(report: Report) -> str | None:
    """How many questions of a blinded audit came out how; None for another report.

    >>> from vouching.types import PairResult, Report
    >>> pair_counts(Report("It has 2.", (), (PairResult("It has ____.", "2", "same"),), coverage=1.0))
    '1 question: 1 same; 100 % of the numbers asked about'
    """
    pairs = [finding for finding in report.findings if finding.kind == "pair"]
    if not pairs:
        return None
    counts = Counter(outcome_words(pair).lower() for pair in pairs)
    others = len(report.findings) - len(pairs)
    parts = [f"{count} {words}" for words, count in counts.items()] + ([f"{others} unverified"] if others else [])
    asked = f"{percent(report.coverage)} of the numbers asked about"
    return f"{len(pairs)} question{'' if len(pairs) == 1 else 's'}: {', '.join(parts)}; {asked}"


def item_counts(report: Report) -> str | None:
    """How many items of a checklist came out how; None for a report on claims.

    >>> from vouching.types import ItemResult, Report
    >>> item_counts(Report("Hi.", (), (ItemResult("Is it short?", (True,), 1.0, True),)))
    '1 item: 1 passed, 0 failed'
    """
    passed = [finding.passed for finding in report.findings if finding.kind == "item"]
    if not passed and not any(
        f.kind == "unverified" and f.claim.id.startswith(("item-", "checklist")) for f in report.findings
    ):
        return None
    parts = [f"{sum(passed)} passed", f"{len(passed) - sum(passed)} failed"]
    unverified = len(report.findings) - len(passed)
    parts += [f"{unverified} unverified"] if unverified else []
    count = len(report.findings)
    return f"{count} item{'' if count == 1 else 's'}: {', '.join(parts)}"


def totals_line(report: Report) -> str:
    """How many claims or items came out how, in words."""
    items = item_counts(report) or pair_counts(report)
    if items is not None:
        return items
    totals = report.totals
    parts = [f"{totals.attributable} attributable", f"{totals.not_attributable} not attributable"]
    if totals.unverified:
        parts.append(f"{totals.unverified} unverified")
    count = len(report.findings)
    return f"{count} claim{'' if count == 1 else 's'}: {', '.join(parts)}" if count else "No claims to check"


def report_text(report: Report) -> str:
    """A report in plain text."""
    lines = [totals_line(report)]
    for finding in report.findings:
        lines += ["", visible(str(finding))]
    if report.revised_response is not None:
        lines += ["", "Repaired response:", visible(report.revised_response)]
    return "\n".join(lines)


def report_html(report: Report) -> str:
    """A report for a notebook."""
    bodies = (_verdict_body(f) if f.kind == "verdict" else _plain_body(f) for f in report.findings)
    notes = "".join(f"<div class='note'>! {_shown(warning.message)}</div>" for warning in report.warnings)
    repaired = ""
    if report.revised_response is not None:
        text = _shown(report.revised_response)
        repaired = f"<div class='finding'><div class='head'>Repaired response</div><pre>{text}</pre></div>"
    return _framed(f"<div class='head'>{escape(totals_line(report))}</div>{notes}{''.join(bodies)}{repaired}")


def score_words(score: float) -> str:
    """A score that is no probability, as people read it.

    >>> score_words(0.91444), score_words(-3.0), score_words(0.0001234)
    ('0.914', '-3', '0.000123')
    """
    digits = 3 if score == 0 or abs(score) >= 0.1 else min(9, 2 - math.floor(math.log10(abs(score))))
    return f"{score:.{digits}f}".rstrip("0").rstrip(".")


def ranking_text(ranking: Ranking) -> str:
    """A ranking in plain text: a line for each answer, then those without a score."""
    lines = [f"  {a.place}  {score_words(a.score):>8}  {visible_line(a.text)}" for a in ranking.answers]
    lines += [visible(str(failed)) for failed in ranking.unverified]
    if ranking.invalid is not None:
        lines.insert(0, f"? No ranking: {visible_line(ranking.invalid)}")
    return "\n".join([visible_line(ranking.question), *lines])


def ranking_html(ranking: Ranking) -> str:
    """A ranking for a notebook."""
    first, _, rest = str(ranking).partition("\n")
    notes = "".join(f"<div class='note'>! {_shown(warning.message)}</div>" for warning in ranking.warnings)
    return _framed(f"<div class='head'>{_shown(first)}</div>{notes}<pre>{_shown(rest)}</pre>")


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
    "ELSEWHERE", "SYMBOLS", "fix_title", "headline", "marked", "percent", "ranking_html", "ranking_text",
    "report_html", "report_text", "score_words", "shorten", "totals_line", "unverified_html", "unverified_text",
    "verdict_html", "verdict_text",
]  # fmt: skip
