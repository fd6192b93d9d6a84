"""What judges an answer that a model wrote: by any method that gives a report, and whether it passes.

Left out: judging by the instruction; ``vouch check --method checklist`` does that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeAlias

from vouching.checker import Checker
from vouching.methods.blinded.verify import open_blinded
from vouching.types import Finding, ItemResult, PairResult, Report, Source, Verdict

Audit: TypeAlias = Callable[[str, str, Sequence[Source]], Awaitable[Report]]
"""Question, response and sources to a report."""
AuditMethod: TypeAlias = Literal["blinded", "embedded", "structured", "label"]
"""How answers are judged: asked again blind, or claim by claim."""


def open_audit(judge: str = "embedded", method: AuditMethod = "blinded", threshold: float = 0.5) -> Audit:
    """The audit by a judge.

    Args:
        judge: name of what judges, as ``vouch check --model`` takes it.
        method: how; "embedded" is claim by claim without a language model, "structured" and "label" with one.
        threshold: score from which a claim counts as Attributable; the blinded audit has none.

    Raises:
        ConfigError: an unknown judge, or a method that it does not have.

    >>> import asyncio
    >>> audit = open_audit("embedded:rules", "embedded")
    >>> report = asyncio.run(audit("When?", "It opened in 1973.", [Source("It opened in 1973.", "a")]))
    >>> passed(report)
    True
    """
    if method == "blinded":
        return open_blinded(judge).verify
    checker = Checker(judge, threshold, method=method)

    async def audit(question: str, response: str, sources: Sequence[Source]) -> Report:
        return await checker.acheck_response(response, sources, question)

    return audit


def passed(report: Report) -> bool | None:
    """Whether an audit found nothing wrong.

    Returns:
        None if it could not tell: the judge failed, a number was not asked about, or there was nothing to judge.

    >>> from vouching.types import Claim, Unverified
    >>> passed(Report("Hi.", (), ())), passed(Report("Hi.", (), (Unverified(Claim("Hi."), "backend", "gone"),)))
    (None, None)
    """
    good = [_good(finding) for finding in report.findings]
    if False in good:
        return False
    return None if None in good or not good else True


def _good(finding: Finding) -> bool | None:
    match finding:
        case Verdict():
            return finding.attributable
        case PairResult():
            return None if finding.outcome == "leaked" else finding.attributable
        case ItemResult():
            return finding.passed
        case _:
            return None
