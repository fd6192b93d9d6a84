"""The report on a whole response, claim by claim, and verdicts reviewed by a person.

A reviewed verdict is one line of a ledger export, and a row with a gold label: it has ``claim``, ``sources``, ``label``
and ``group`` under the names that every reader of labelled rows knows. The history of reviews stays in the ledger.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from vouching.types.assurance import UnitResult
from vouching.types.citations import CitationResult
from vouching.types.findings import ItemResult, PairResult
from vouching.types.notebook import framed, notes, plain_body, shown
from vouching.types.spans import ErrorType, Label, Source, Span
from vouching.types.verdict import VERDICT_VERSION, Unverified, Usage, Verdict, VerdictWarning, all_passed
from vouching.types.visible import percent, visible

Finding: TypeAlias = Verdict | ItemResult | UnitResult | PairResult | Unverified


@dataclass(frozen=True, slots=True)
class NonClaim:
    """A stretch of the response without a checkable statement."""

    span: Span
    """Where it is in the response."""
    reason: Literal[
        "greeting", "question", "heading", "opinion", "instruction", "fragment", "abstained", "thought", "code"
    ]
    """Why it is not a claim; "abstained": it says that the answer is not known, or not in the sources;
    "thought": it is what a model thought before it answered, in a tag such as <think>; "code":
    what it does is not checked."""
    topic: Span | None = None
    """Of an abstention: the words of the response for what it does not know; None if it names nothing."""
    in_sources: bool | None = None
    """Of an abstention: whether the sources have its topic. False: they have no word of it. None: no topic, no
    source, or open: whether a text has it in other words is for a reader."""
    place: Span | None = None
    """Of an abstention: the sentence of a source that has its topic, if one clearly does."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of findings by outcome."""

    attributable: int = 0
    """Claims the sources support."""
    not_attributable: int = 0
    """Claims they contradict or do not mention."""
    unverified: int = 0
    """Claims the judge failed on."""
    by_error_type: tuple[tuple[str, int], ...] = ()
    """Error types of the Not Attributable claims with their counts, most frequent first."""
    conflicting: int = 0
    """Not Attributable claims on which the sources disagree."""


@dataclass(frozen=True, slots=True)
class Report:
    """The findings for each claim of a response.

    >>> from vouching import check_response
    >>> report = check_response("It opened in 1937. It has two towers.", "It opened in 1973. It has two towers.")
    >>> [finding.label for finding in report.findings], report.attributable
    (['Not Attributable', 'Attributable'], False)
    >>> report.totals.by_error_type
    (('temporal_shift', 1),)
    """

    response: str
    """The checked text, unchanged."""
    sources: tuple[Source, ...]
    """What it was checked against."""
    findings: tuple[Finding, ...]
    """One per claim, in the response's order."""
    question: str | None = None
    """The question the response answers, if given."""
    non_claims: tuple[NonClaim, ...] = ()
    """What was skipped, and why."""
    coverage: float = 1.0
    """Share of what the method looks at that became a finding or was skipped for a reason, in [0, 1]: for claims, of
    the response's non-space characters; for a blinded audit, of its numbers; for items always 1."""
    totals: Totals = Totals()
    """Counts over the findings."""
    score: float | None = None
    """How good the response is as a whole, in [0, 1], to rank responses by; None without a judged finding, or where
    a judge failed. The mean of the claims' scores (and of the support of the whole text, where measured), of the
    votes on items, or of questions with the same answer. It is not the probability that every finding is right:
    ``passed`` says whether each passed."""
    revised_response: str | None = None
    """The response after repair; None if no repair was asked for."""
    unrepaired: tuple[Finding, ...] = ()
    """Findings that could not be repaired."""
    warnings: tuple[VerdictWarning, ...] = ()
    """Warnings about the response or the sources as a whole."""
    usage: Usage = field(default_factory=Usage)
    """Sum over the findings."""
    citations: tuple[CitationResult, ...] = ()
    """The citations that an API returned with the response, in order, and whether they hold."""
    id: str | None = None
    """Name of its row, if it came from ``check_many``."""
    kind: Literal["report"] = "report"
    """Distinguishes records in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def passed(self) -> bool | None:
        """True if there is a finding and all passed; False if one did not; None if unknown."""
        return all_passed(self.findings)

    @property
    def abstained(self) -> tuple[NonClaim, ...]:
        """Where the response says that it does not know. It is no claim and no failure: the claims alone decide.

        >>> from vouching import check_response
        >>> [said] = check_response("The text does not mention the fare.", "The fare is 3 euros.").abstained
        >>> said.in_sources, said.place.text
        (True, 'The fare is 3 euros.')
        """
        return tuple(passage for passage in self.non_claims if passage.reason == "abstained")

    @property
    def without_claims(self) -> str:
        """What to say of a response without findings, in words."""
        found = [f'the sources have "{said.topic.text}"' for said in self.abstained if said.in_sources and said.topic]
        if self.abstained:
            return f"the text abstains and makes no claim{f', but {found[0]}' if found else ''}"
        return "the text has no claim that could be checked"

    @property
    def attributable(self) -> bool:
        """True if there is at least one claim and the sources support all."""
        return bool(self.passed) and {finding.kind for finding in self.findings} <= {"verdict", "pair"}

    @property
    def counts(self) -> str:
        """Counts of findings by outcome, in words; empty without findings.

        >>> Report("It has 2.", (), (PairResult("It has ____.", "2", "same"),), coverage=1.0).counts
        '1 question: 1 same; 100 % of the numbers were asked about'
        >>> Report("Hi.", (), (ItemResult("Is it short?", (True,), 1.0, True),)).counts
        '1 item: 1 passed, 0 failed'
        """
        number, noun = len(self.findings), self.noun
        if noun == "item":
            judged = [finding.passed for finding in self.findings if finding.kind == "item"]
            parts = [f"{sum(judged)} passed", f"{len(judged) - sum(judged)} failed"]
            failed = number - len(judged)
        elif noun == "question":
            pairs = [finding for finding in self.findings if finding.kind == "pair"]
            parts = [f"{count} {label.lower()}" for label, count in Counter(pair.label for pair in pairs).items()]
            number, failed = len(pairs), number - len(pairs)
        else:
            parts = [f"{self.totals.attributable} attributable", f"{self.totals.not_attributable} not attributable"]
            disputed = self.totals.conflicting
            parts[1] += f" ({disputed} because the sources disagree)" if disputed else ""
            failed = self.totals.unverified
        parts += [f"{failed} unverified"] if failed else []
        asked = f"; {percent(self.coverage)} of the numbers were asked about" if noun == "question" else ""
        return f"{number} {noun}{'' if number == 1 else 's'}: {', '.join(parts)}{asked}" if self.findings else ""

    @property
    def review_first(self) -> tuple[tuple[int, str], ...]:
        """Which claims a person should look at first, by number from 1, and why; the least certain verdict first.

        These are claims that could not be verified, on which sources disagree, that cite another source than the one
        that supports them, or whose verdict is unsure or disagrees with one of its parts.

        >>> from vouching import check_response
        >>> check_response("It has two towers.", ["It has two towers.", "It has 3 towers."]).review_first
        ((1, 'the sources disagree'),)
        """
        unsure: list[tuple[float, int, str]] = []
        for number, finding in enumerate(self.findings, 1):
            if finding.kind == "unverified":
                unsure.append((0.0, number, finding.reason.replace("_", " ")))
            elif finding.kind == "verdict" and (why := _doubt(finding)):
                unsure.append((finding.confidence, number, why))
        return tuple((number, why) for _, number, why in sorted(unsure))

    @property
    def noun(self) -> Literal["claim", "item", "question"]:
        """What its findings are about."""
        kinds = {finding.kind for finding in self.findings}
        if "item" in kinds or any(
            f.kind == "unverified" and f.claim.id.startswith(("item-", "checklist")) for f in self.findings
        ):
            return "item"
        return "question" if "pair" in kinds else "claim"

    def __str__(self) -> str:
        lines = [self.counts or "No claims to check"]
        for finding in self.findings:
            lines += ["", visible(str(finding))]
        lines += ["", "Citations:", *(visible(one.words) for one in self.citations)] if self.citations else []
        if self.revised_response is not None:
            lines += ["", "Repaired response:", visible(self.revised_response)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        bodies = (f.notebook_body() if f.kind == "verdict" else plain_body(str(f)) for f in self.findings)
        repaired = ""
        if self.revised_response is not None:
            text = shown(self.revised_response)
            repaired = f"<div class='finding'><div class='head'>Repaired response</div><pre>{text}</pre></div>"
        head = f"<div class='head'>{shown(self.counts or 'No claims to check')}</div>"
        return framed(f"{head}{notes(w.message for w in self.warnings)}{''.join(bodies)}{repaired}")


_UNSURE = 0.6
"""Confidence below which a verdict needs a second look."""


def _doubt(verdict: Verdict) -> str:
    """Why a verdict needs a second look; "" if it does not."""
    kinds = {warning.kind for warning in verdict.warnings}
    if "conflict" in kinds:
        return "the sources disagree"
    if "misattributed" in kinds:
        return "it cites another source"
    if verdict.confidence < _UNSURE:
        return f"{percent(verdict.confidence)} sure"
    differs = verdict.attributable and any(entry.status == "mismatch" for entry in verdict.evidence_alignment)
    return "a part of it differs" if differs else ""


REVIEWED_VERSION = "1.1"
"""Version of the record's JSON. Changes within 1.x only add fields."""


@dataclass(frozen=True, slots=True)
class ReviewedVerdict:
    """A person's review of a verdict, or of a claim that could not be verified.

    Raises ValueError for another claim than the judged one, an error type without the label Not Attributable, or a time
    without a zone.

    >>> from vouching.types import Claim
    >>> judged = Verdict(Claim("It opened in 1937."), "Attributable", 0.9, 0.9, 0.5, "supported")
    >>> source = Source("It opened in 1973.")
    >>> review = ReviewedVerdict("v1", "It opened in 1937.", (source,), "Not Attributable", judged, "reviewer-1",
    ...     "2026-05-04T09:30:00+00:00", "temporal_shift")
    >>> review.label
    'Not Attributable'
    """

    id: str
    """Name of the verdict in the ledger; it may have several reviews."""
    claim: str
    """The judged claim, as written."""
    sources: tuple[Source, ...]
    """What it was judged against, in full."""
    label: Label | None
    """The reviewer's label, relative to these sources, not "true"; None if they could not decide."""
    verdict: Verdict | Unverified
    """The original decision."""
    reviewer: str
    """A name given by the ledger, the same for all their reviews."""
    reviewed_at: str
    """When: ISO 8601 with a zone."""
    error_type: ErrorType | None = None
    """The reviewer's error type; None for an Attributable claim, or if not given."""
    revised_claim: str | None = None
    """The claim as it should read, if given."""
    note: str = ""
    """Other remarks, for people: never part of a prompt."""
    group: str | None = None
    """Document, or response, of the claim; rows of one group must not be split."""
    spans: tuple[Span, ...] = ()
    """The wrong parts of the claim, if the reviewer marked any."""
    question: str | None = None
    """The question of the response, if any."""
    kind: Literal["reviewed"] = "reviewed"
    """Distinguishes records in JSON."""
    version: str = REVIEWED_VERSION
    """Version of this record."""

    def __post_init__(self) -> None:
        if self.claim != self.verdict.claim.text:
            raise ValueError(f"the claim is {self.claim[:80]!r}, but the verdict is about {self.verdict.claim.text!r}")
        if self.error_type is not None and self.label != "Not Attributable":
            raise ValueError(f"label must be Not Attributable for the error type {self.error_type}, got {self.label}")
        if datetime.fromisoformat(self.reviewed_at).tzinfo is None:
            raise ValueError(f"reviewed_at must have a time zone, such as +00:00, got {self.reviewed_at!r}")
