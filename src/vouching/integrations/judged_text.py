"""One judgement of a text, in the shape that evaluation tools share: a value, whether it passed, and why.

The adapters of this folder turn it into the records of their tools. A judge that fails, or is out of reach, gives the
value None, which each adapter writes as its tool writes "not scored", never as 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from vouching.checker import Checker, run
from vouching.errors import BackendError
from vouching.inputs import SourcesLike
from vouching.repair import Rest
from vouching.types import Report

__all__ = ["JudgedText", "ajudge_text", "judge_text", "judged_text", "shared_checker"]


@dataclass(frozen=True, slots=True)
class JudgedText:
    """The judgement of a text against its sources."""

    value: float | None
    """Share of the claims that the sources support, in [0, 1]; None if one could not be judged, or there is none."""
    passed: bool | None
    """Whether all claims are supported; None where it is unknown."""
    reason: str
    """The claims that failed with their reasons, or why there is no value."""
    report: Report | None
    """The findings; None if the judge was out of reach."""


@lru_cache(maxsize=8)
def shared_checker(model: str = "embedded", threshold: float = 0.5) -> Checker:
    """The checker for a model, opened once."""
    return Checker(model, threshold)


def judge_text(
    text: str,
    sources: SourcesLike,
    question: str | None = None,
    *,
    model: str = "embedded",
    threshold: float = 0.5,
    repair_rest: Rest | None = None,
) -> JudgedText:
    """Judge a text against its sources.

    Args:
        text: the answer; one that is empty or has no claim has no value.
        sources: as for :func:`vouching.check`.
        question: the question that it answers, if any.
        model: the judge.
        threshold: score from which a claim is attributable, in [0, 1].
        repair_rest: repairs the text, see :func:`vouching.check_response`.

    Raises:
        InputError: no source.

    >>> judged = judge_text("It has two towers. It opened in 1937.", "Opened in 1973, it has two towers.")
    >>> judged.value, judged.passed
    (0.5, False)
    """
    return run(ajudge_text(text, sources, question, model=model, threshold=threshold, repair_rest=repair_rest))


async def ajudge_text(
    text: str,
    sources: SourcesLike,
    question: str | None = None,
    *,
    model: str = "embedded",
    threshold: float = 0.5,
    repair_rest: Rest | None = None,
) -> JudgedText:
    """Async twin of :func:`judge_text`."""
    if not text.strip():
        return JudgedText(None, None, "the text is empty", None)
    try:
        report = await shared_checker(model, threshold).acheck_response(text, sources, question, repair_rest)
    except BackendError as error:
        return JudgedText(None, None, f"could not be judged: {error}", None)
    return judged_text(report)


def judged_text(report: Report) -> JudgedText:
    """The judgement that a report amounts to."""
    outcomes = [finding.passed for finding in report.findings]
    failed = "\n".join(str(finding) for finding in report.findings if not finding.passed)
    if not outcomes:
        return JudgedText(None, None, report.without_claims, report)
    value = None if None in outcomes else sum(map(bool, outcomes)) / len(outcomes)
    return JudgedText(value, report.passed, failed or report.counts, report)
