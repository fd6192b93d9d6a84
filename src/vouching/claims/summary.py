"""The report on a response from the verdicts on its claims: coverage, totals, score and shared warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vouching.claims.decomposition import Decomposition
from vouching.claims.missing import looked_up
from vouching.types import Claim, NonClaim, Report, Source, Totals, Unverified, Verdict, VerdictWarning, total_usage


def claims_report(
    response: str,
    sources: tuple[Source, ...],
    outcomes: Sequence[Verdict | Unverified],
    decomposition: Decomposition,
    support: float | None = None,
    question: str | None = None,
) -> Report:
    """The report on a response whose claims were judged."""
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    failed = len(outcomes) - len(verdicts)
    return Report(
        response=response,
        sources=sources,
        findings=tuple(outcomes),
        question=question,
        non_claims=looked_up(decomposition.non_claims, sources),
        coverage=_coverage(response, decomposition.claims, decomposition.non_claims),
        totals=_totals(verdicts, failed),
        score=None if failed else _response_score(verdicts, support),
        warnings=_shared_warnings(verdicts),
        usage=total_usage(outcomes),
    )


def _coverage(response: str, claims: Sequence[Claim], non_claims: Sequence[NonClaim]) -> float:
    """Share of the response's non-space characters that are in a claim or a non-claim."""
    spans = [c.span for c in claims if c.span is not None] + [n.span for n in non_claims]
    seen = sum(len("".join(span.text.split())) for span in spans)
    return min(1.0, seen / max(1, len("".join(response.split()))))


def _response_score(verdicts: Sequence[Verdict], support: float | None) -> float | None:
    """Mean of the claims' scores and, if the verifier measures it, of the support of the whole text.

    Chosen among ten such scores on training sets: ``recipes/embedded/response_score.py``. There is no score if a judge
    failed: a mean over the other claims would be too high where it failed on wrong ones.
    """
    if not verdicts:
        return None
    mean = sum(verdict.score for verdict in verdicts) / len(verdicts)
    return mean if support is None else (mean + support) / 2


def _totals(verdicts: Sequence[Verdict], failed: int) -> Totals:
    types = Counter(verdict.error_type for verdict in verdicts if verdict.error_type)
    return Totals(
        attributable=sum(verdict.attributable for verdict in verdicts),
        not_attributable=sum(not verdict.attributable for verdict in verdicts),
        unverified=failed,
        by_error_type=tuple(types.most_common()),
        conflicting=sum(verdict.relation == "conflicting" for verdict in verdicts),
    )


def _shared_warnings(verdicts: Sequence[Verdict]) -> tuple[VerdictWarning, ...]:
    """Warnings about the sources and, where every verdict has it, the judge, once."""
    kinds = {"injection", "unread"}
    if all(any(w.kind == "uncalibrated" for w in verdict.warnings) for verdict in verdicts):
        kinds.add("uncalibrated")
    return tuple(dict.fromkeys(w for verdict in verdicts for w in verdict.warnings if w.kind in kinds))
