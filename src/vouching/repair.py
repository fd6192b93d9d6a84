"""A response with its verified fixes applied, read again, and the rest marked, removed or kept.

Only fixes that passed a re-check are applied. Left out: rewriting with a language model.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from vouching.types import Finding, Report, Verdict

Rest: TypeAlias = Literal["mark", "remove", "keep"]
"""What to do with claims that cannot be mended."""

MARK = " [not supported by the sources]"
"""What "mark" puts behind an unsupported claim."""


async def repair(report: Report, check_again: Callable[[str], Awaitable[Report]], rest: Rest = "mark") -> Report:
    """Apply the verified fixes of ``report``, check the result again, and treat what is left as ``rest`` says.

    Args:
        report: the findings on the original response.
        check_again: checks a response against the same sources.
        rest: "mark" appends a note to each claim that stays Not Attributable, "remove" takes it out, "keep" leaves it.

    Returns:
        ``report`` with ``revised_response`` and ``unrepaired`` filled in.
    """
    mended = _replace_spans(report.response, _fixes(report.findings))
    again = await check_again(mended)
    unrepaired = tuple(f for f in again.findings if isinstance(f, Verdict) and not f.attributable)
    revised = _replace_spans(mended, _treat(unrepaired, rest))
    return replace(report, revised_response=revised, unrepaired=unrepaired)


def _fixes(findings: Sequence[Finding]) -> list[tuple[int, int, str]]:
    """Replacements of response spans by corrected claims."""
    fixes: list[tuple[int, int, str]] = []
    for finding in findings:
        if not isinstance(finding, Verdict) or finding.revised_claim is None or finding.claim.span is None:
            continue
        span = finding.claim.span
        # A split sentence's second half was given its subject for checking; it has none in the response.
        lead = finding.claim.text.removesuffix(span.text)
        if finding.revised_claim.startswith(lead):
            fixes.append((span.start, span.end, finding.revised_claim[len(lead) :]))
    return fixes


def _treat(unrepaired: Sequence[Verdict], rest: Rest) -> list[tuple[int, int, str]]:
    spans = [verdict.claim.span for verdict in unrepaired if verdict.claim.span is not None]
    if rest == "keep":
        return []
    if rest == "remove":
        return [(span.start, span.end, "") for span in spans]
    return [(span.end, span.end, MARK) for span in spans]


def _replace_spans(text: str, replacements: Sequence[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(replacements, reverse=True):
        if not new and start < end:
            # With a removed sentence goes one of the blanks around it, but no line break.
            end += len(text[end:]) - len(text[end:].lstrip(" "))
        text = text[:start] + new + text[end:]
    return text
