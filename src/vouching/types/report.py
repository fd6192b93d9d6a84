"""The report: a whole response, claim by claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vouching.types.assurance import UnitResult
from vouching.types.blinded import PairResult
from vouching.types.checklist import ItemResult
from vouching.types.spans import Source, Span
from vouching.types.verdict import VERDICT_VERSION, Unverified, Usage, Verdict, VerdictWarning

Finding: TypeAlias = Verdict | ItemResult | UnitResult | PairResult | Unverified


@dataclass(frozen=True, slots=True)
class NonClaim:
    """A stretch of the response that states nothing that could be checked."""

    span: Span
    """Where it stands in the response."""
    reason: Literal["greeting", "question", "heading", "opinion", "instruction", "fragment"]
    """Why it is no claim."""


@dataclass(frozen=True, slots=True)
class Totals:
    """How many findings came out how."""

    attributable: int = 0
    """Claims the sources support."""
    not_attributable: int = 0
    """Claims they contradict or do not mention."""
    unverified: int = 0
    """Claims the judge failed on."""
    by_error_type: tuple[tuple[str, int], ...] = ()
    """Error types of the Not Attributable claims with their counts, most frequent first."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of each claim of a response.

    >>> from vouching import check_response
    >>> report = check_response("It opened in 1937. It has two towers.", "It opened in 1973. It has two towers.")
    >>> [finding.label for finding in report.findings], report.attributable
    (['Not Attributable', 'Attributable'], False)
    >>> report.totals.by_error_type
    (('temporal_shift', 1),)
    """

    response: str
    """The text that was checked, untouched."""
    sources: tuple[Source, ...]
    """What it was checked against."""
    findings: tuple[Finding, ...]
    """One per claim, in the response's order."""
    question: str | None = None
    """The question the response answers, if given."""
    non_claims: tuple[NonClaim, ...] = ()
    """What was passed over, and why."""
    coverage: float = 1.0
    """Share of the response's non-space characters that lie in a claim or a non-claim, in [0, 1]; of a blinded audit,
    share of the response's numbers that were asked about."""
    totals: Totals = Totals()
    """Counts over the findings."""
    score: float | None = None
    """How well the sources support the response as a whole, in [0, 1], to rank responses by; None without a verdict, or
    where a claim or an item could not be verified. It is not the probability that every claim is right:
    ``attributable`` says whether each passed. Of a checklist: the share of items that passed; of a blinded audit: the
    share of answers that are the same."""
    revised_response: str | None = None
    """The response after repair; None if no repair was asked for."""
    unrepaired: tuple[Finding, ...] = ()
    """Findings that repair could not mend."""
    warnings: tuple[VerdictWarning, ...] = ()
    """Warnings about the response or the sources as a whole."""
    usage: Usage = field(default_factory=Usage)
    """Sum over the findings."""
    id: str | None = None
    """Name of the row it belongs to, if it came from ``check_many``."""
    kind: Literal["report"] = "report"
    """Tells records apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def attributable(self) -> bool:
        """True if there is at least one claim and the sources support every one of them."""
        verdicts = [f for f in self.findings if isinstance(f, Verdict | PairResult)]
        return bool(verdicts) and len(verdicts) == len(self.findings) and all(v.attributable for v in verdicts)

    def __str__(self) -> str:
        from vouching.types.display import report_text

        return report_text(self)

    def _repr_html_(self) -> str:
        from vouching.types.display import report_html

        return report_html(self)
